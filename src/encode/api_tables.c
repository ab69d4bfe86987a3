/*
 * api_tables.c - the functions of api/mpi.api and the keywords of api/mpi.words as tables.
 *
 * The generated lines are included several times, with different definitions of their macros.
 */
#include "encode/call_words.h"

#include <string.h>

#include "base/bisect.h"

#define RN_DIR_in    RN_DIR_IN
#define RN_DIR_ref   RN_DIR_IN
#define RN_DIR_free  RN_DIR_IN
#define RN_DIR_done  RN_DIR_IN
#define RN_DIR_out   RN_DIR_OUT
#define RN_DIR_new   RN_DIR_OUT
#define RN_DIR_inout RN_DIR_BOTH

#define SORTED(n)

#define FUNC_BEGIN(n, f, text, ret, ...)     static const struct rn_param params_##f[] = {
#define PARAM(text, how, kind, array, value) { text, RN_HOW_##how, RN_K_##kind, array, value },
#define FUNC_END(f) \
	{           \
		0   \
	}           \
	}           \
	;
#include "gen/mpi_table.h"
#undef FUNC_BEGIN
#undef PARAM
#undef FUNC_END

#define FUNC_BEGIN(n, f, text, ret, ...)     static const char *const names_##f[] = {
#define PARAM(text, how, kind, array, value) text,
#define FUNC_END(f) \
	""          \
	}           \
	;
#include "gen/mpi_table.h"
#undef FUNC_BEGIN
#undef PARAM
#undef FUNC_END

#define FUNC_BEGIN(n, f, text, ret, ...)     static const unsigned char dirs_##f[] = {
#define PARAM(text, how, kind, array, value) RN_DIR_##how,
#define FUNC_END(f) \
	0           \
	}           \
	;
#include "gen/mpi_table.h"
#undef FUNC_BEGIN
#undef PARAM
#undef FUNC_END

#define COUNT(a) ((uint32_t)(sizeof(a) / sizeof((a)[0])))

const struct rn_proto rn_mpi_protos[] = {
#define FUNC_BEGIN(n, f, text, ret, ...) \
	[n] = { text, params_##f, COUNT(params_##f) - 1, ret, { __VA_ARGS__ } },
#define PARAM(text, how, kind, array, value)
#define FUNC_END(f)
#include "gen/mpi_table.h"
#undef FUNC_BEGIN
};

static const struct rn_func funcs[] = {
#define FUNC_BEGIN(n, f, text, ret, ...)    \
	{ .number = n,                      \
	  .name = text,                     \
	  .param = names_##f,               \
	  .nparams = COUNT(params_##f) - 1, \
	  .dir = dirs_##f },
#include "gen/mpi_table.h"
#undef FUNC_BEGIN
#undef SORTED
};

/* Function numbers sorted by name. */
static const uint16_t sorted[] = {
#define FUNC_BEGIN(n, f, text, ret, ...)
#define SORTED(n) n,
#include "gen/mpi_table.h"
};

static const struct rn_word words[] = {
#define WORD(n, kind, text) { n, text },
#include "gen/mpi_words.h"
};

const struct rn_vocab rn_mpi_vocab = { funcs, words, COUNT(funcs), COUNT(words) };

/* ---- functions of traces ---- */

uint32_t rn_mpi_find(const char *name)
{
	struct rn_bisect b = { 0, COUNT(sorted), 0 };

	while (rn_bisect_next(&b))
		rn_bisect_go(&b, strcmp(rn_mpi_protos[sorted[b.mid]].name, name) < 0);
	return b.lo < COUNT(sorted) && strcmp(rn_mpi_protos[sorted[b.lo]].name, name) == 0
		       ? sorted[b.lo]
		       : UINT32_MAX;
}

const struct rn_proto *rn_mpi_known(const struct rn_func *f)
{
	uint32_t number = rn_mpi_find(f->name);
	const struct rn_func *own = number == UINT32_MAX ? NULL : &funcs[number];

	if (!own || own->nparams != f->nparams ||
	    (f->dir && memcmp(f->dir, own->dir, f->nparams) != 0))
		return NULL;
	for (uint32_t i = 0; i < f->nparams; i++)
		if (strcmp(f->param[i], own->param[i]) != 0)
			return NULL;
	return &rn_mpi_protos[number];
}

#define NO RN_NO_PARAM

const struct rn_traits *rn_func_traits(const struct rn_func *f)
{
	static const struct rn_traits none = {
		0, 0, 0, { NO, NO, NO }, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO
	};
	const struct rn_proto *known = rn_mpi_known(f);

	return known ? &known->traits : &none;
}
