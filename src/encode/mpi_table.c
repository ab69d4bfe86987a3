/*
 * mpi_table.c - the functions and words of api/mpi.api and api/mpi.words as tables.
 *
 * The generated lines are read several times, with the macros meaning something else each time.
 */
#include "encode/raw.h"

#define RN_DIR_in    RN_DIR_IN
#define RN_DIR_ref   RN_DIR_IN
#define RN_DIR_free  RN_DIR_IN
#define RN_DIR_done  RN_DIR_IN
#define RN_DIR_out   RN_DIR_OUT
#define RN_DIR_new   RN_DIR_OUT
#define RN_DIR_inout RN_DIR_BOTH

#define FUNC_BEGIN(n, f, text, ret)   static const struct rn_param params_##f[] = {
#define PARAM(text, how, kind, array) { text, RN_HOW_##how, RN_K_##kind, array },
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

#define FUNC_BEGIN(n, f, text, ret)   static const char *const names_##f[] = {
#define PARAM(text, how, kind, array) text,
#define FUNC_END(f) \
	""          \
	}           \
	;
#include "gen/mpi_table.h"
#undef FUNC_BEGIN
#undef PARAM
#undef FUNC_END

#define FUNC_BEGIN(n, f, text, ret)   static const unsigned char dirs_##f[] = {
#define PARAM(text, how, kind, array) RN_DIR_##how,
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
#define FUNC_BEGIN(n, f, text, ret) [n] = { text, params_##f, COUNT(params_##f) - 1, ret },
#define PARAM(text, how, kind, array)
#define FUNC_END(f)
#include "gen/mpi_table.h"
#undef FUNC_BEGIN
};

static const struct rn_func funcs[] = {
#define FUNC_BEGIN(n, f, text, ret)         \
	{ .number = n,                      \
	  .name = text,                     \
	  .param = names_##f,               \
	  .nparams = COUNT(params_##f) - 1, \
	  .dir = dirs_##f },
#include "gen/mpi_table.h"
};

static const struct rn_word words[] = {
#define WORD(n, kind, text) { n, text },
#include "gen/mpi_words.h"
};

const struct rn_vocab rn_mpi_vocab = { funcs, words, COUNT(funcs), COUNT(words) };
