/* bytes_moved.c - see bytes_moved.h. */
#include "analysis/bytes_moved.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/intern.h"
#include "encode/call_words.h"
#include "encode/template.h"
#include "model/elastic_values_codec.h"

struct volumes {
	const struct rn_vocab *vocab;
	const struct rn_value_list *values;
	int64_t *mean; /* means of the elastic values of one signature */
	struct rn_templates templates;
	bool failed; /* an allocation failed */
	uint64_t ranks;
	uint64_t type_word;      /* keyword of the datatype class */
	uint64_t nobody;         /* keyword of MPI_PROC_NULL */
	struct rn_sigs *derived; /* ids of the derived datatypes created so far */
	uint64_t *size; /* by index in derived; RN_VOLUME_UNKNOWN: unknown, or calls disagree */
};

/* ---- datatypes ---- */

static const struct {
	const char *name;
	uint64_t size;
} predefined[] = {
	{ "MPI_CHAR", 1 },
	{ "MPI_SIGNED_CHAR", 1 },
	{ "MPI_UNSIGNED_CHAR", 1 },
	{ "MPI_BYTE", 1 },
	{ "MPI_PACKED", 1 },
	{ "MPI_C_BOOL", 1 },
	{ "MPI_CXX_BOOL", 1 },
	{ "MPI_INT8_T", 1 },
	{ "MPI_UINT8_T", 1 },
	{ "MPI_CHARACTER", 1 },
	{ "MPI_SHORT", 2 },
	{ "MPI_UNSIGNED_SHORT", 2 },
	{ "MPI_INT16_T", 2 },
	{ "MPI_UINT16_T", 2 },
	{ "MPI_INT", 4 },
	{ "MPI_UNSIGNED", 4 },
	{ "MPI_INT32_T", 4 },
	{ "MPI_UINT32_T", 4 },
	{ "MPI_WCHAR", 4 },
	{ "MPI_FLOAT", 4 },
	{ "MPI_INTEGER", 4 },
	{ "MPI_REAL", 4 },
	{ "MPI_REAL4", 4 },
	{ "MPI_INTEGER4", 4 },
	{ "MPI_LOGICAL", 4 },
	{ "MPI_SHORT_INT", 6 },
	{ "MPI_LONG", 8 },
	{ "MPI_UNSIGNED_LONG", 8 },
	{ "MPI_LONG_LONG", 8 },
	{ "MPI_LONG_LONG_INT", 8 },
	{ "MPI_UNSIGNED_LONG_LONG", 8 },
	{ "MPI_INT64_T", 8 },
	{ "MPI_UINT64_T", 8 },
	{ "MPI_AINT", 8 },
	{ "MPI_COUNT", 8 },
	{ "MPI_OFFSET", 8 },
	{ "MPI_DOUBLE", 8 },
	{ "MPI_DOUBLE_PRECISION", 8 },
	{ "MPI_REAL8", 8 },
	{ "MPI_INTEGER8", 8 },
	{ "MPI_2INT", 8 },
	{ "MPI_2INTEGER", 8 },
	{ "MPI_FLOAT_INT", 8 },
	{ "MPI_COMPLEX", 8 },
	{ "MPI_C_COMPLEX", 8 },
	{ "MPI_C_FLOAT_COMPLEX", 8 },
	{ "MPI_CXX_FLOAT_COMPLEX", 8 },
	{ "MPI_DOUBLE_INT", 12 },
	{ "MPI_LONG_INT", 12 },
	{ "MPI_LONG_DOUBLE", 16 },
	{ "MPI_DOUBLE_COMPLEX", 16 },
	{ "MPI_C_DOUBLE_COMPLEX", 16 },
	{ "MPI_CXX_DOUBLE_COMPLEX", 16 },
	{ "MPI_2DOUBLE_PRECISION", 16 },
};

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t n;

	if (a == RN_VOLUME_UNKNOWN || b == RN_VOLUME_UNKNOWN || __builtin_mul_overflow(a, b, &n))
		return RN_VOLUME_UNKNOWN;
	return n;
}

static uint64_t type_size(const struct volumes *v, const struct rn_value *type)
{
	const char *name;
	uint32_t at;

	if (type->kind == RN_V_OBJECT && type->word == v->type_word)
		return rn_sigs_find(v->derived, &type->id, sizeof(type->id), &at)
			       ? v->size[at]
			       : RN_VOLUME_UNKNOWN;
	name = type->kind == RN_V_CONST ? rn_vocab_word(v->vocab, type->word) : NULL;
	for (size_t i = 0; name && i < sizeof(predefined) / sizeof(*predefined); i++)
		if (strcmp(name, predefined[i].name) == 0)
			return predefined[i].size;
	return RN_VOLUME_UNKNOWN;
}

/* ---- arguments ---- */

/* A call in which the mean replaces each elastic value. */
struct typical {
	const struct rn_template *args;
	const struct rn_proto *known; /* NULL: function unknown, or with other parameters */
};

/* An integer argument, or the sum of a list of integers. */
static uint64_t count_of(const struct typical *c, uint32_t param)
{
	const struct rn_value *v = rn_template_argument(c->args, param), *e = v + 1;
	uint64_t sum = 0;

	if (v->kind == RN_V_INT)
		return v->num < 0 ? RN_VOLUME_UNKNOWN : (uint64_t)v->num;
	if (v->kind != RN_V_LIST)
		return RN_VOLUME_UNKNOWN;
	for (int64_t i = 0; i < v->num; i++, e += e->span)
		if (e->kind != RN_V_INT || e->num < 0 ||
		    __builtin_add_overflow(sum, (uint64_t)e->num, &sum))
			return RN_VOLUME_UNKNOWN;
	return sum;
}

static bool is_word(const struct typical *c, uint32_t param, uint64_t word)
{
	const struct rn_value *value = rn_template_argument(c->args, param);

	return value->kind == RN_V_CONST && value->word == word;
}

/* The size of MPI_COMM_WORLD or MPI_COMM_SELF. Other sizes are unknown. */
static uint64_t comm_size(const struct volumes *v, const struct typical *c, uint32_t param)
{
	if (is_word(c, param, v->templates.keywords.world))
		return v->ranks;
	return is_word(c, param, v->templates.keywords.self) ? 1 : RN_VOLUME_UNKNOWN;
}

static uint64_t factor(const struct volumes *v, const struct typical *c, uint32_t param)
{
	switch (c->known->param[param].kind) {
	case RN_K_type:
		return type_size(v, rn_template_argument(c->args, param));
	case RN_K_comm:
		return comm_size(v, c, param);
	default:
		return count_of(c, param);
	}
}

/* The number of bytes: the product of the parameters that the trait `bytes` lists. */
static uint64_t bytes_of(const struct volumes *v, const struct typical *c)
{
	const uint8_t *param = c->known->traits.bytes;
	uint64_t bytes = param[0] == RN_NO_PARAM ? RN_VOLUME_UNKNOWN : 1;

	for (unsigned i = 0; i < 3 && param[i] != RN_NO_PARAM; i++)
		bytes = times(bytes, factor(v, c, param[i]));
	return bytes;
}

/* ---- derived datatypes ---- */

/* Opens the call of signature i. *c is valid until the next call is opened. */
static bool open_call(struct volumes *v, uint32_t i, struct typical *c)
{
	struct rn_template *t = rn_templates_get(&v->templates, i);
	uint32_t holes = rn_value_list_holes(v->values, i);

	v->failed |= !t;
	if (!t)
		return false;
	for (uint32_t k = 0; k < holes; k++)
		v->mean[k] = rn_value_list_mean(v->values, i, k);
	if (holes)
		rn_template_fill(t, v->mean);
	*c = (struct typical){ t, rn_mpi_known(t->func) };
	return true;
}

/* Whether the call creates a datatype; if so, stores its id. */
static bool makes_type(const struct volumes *v, const struct typical *c, uint64_t *id)
{
	const struct rn_param *p = c->known ? c->known->param : NULL;
	uint32_t i = 0, n = c->known ? c->known->nparams : 0;
	const struct rn_value *type;

	while (i < n && (p[i].kind != RN_K_type || p[i].how != RN_HOW_new))
		i++;
	if (i == n)
		return false;
	type = rn_template_argument(c->args, i);
	if (type->kind != RN_V_OBJECT || type->word != v->type_word)
		return false;
	*id = type->id;
	return true;
}

/* Makes one pass in the order of the signatures, which is usually the order of the program. A
 * datatype that is derived from one created by a later signature remains unknown. */
static void size_derived(struct volumes *v, const struct rn_sigs *sigs)
{
	for (uint32_t i = 0; i < rn_sigs_count(sigs); i++) {
		struct typical c;
		uint64_t id, size;
		uint32_t k, n = rn_sigs_count(v->derived);

		if (!open_call(v, i, &c) || !makes_type(v, &c, &id))
			continue;
		size = bytes_of(v, &c);
		if (rn_sigs_intern(v->derived, &id, sizeof(id), &k) < 0)
			v->failed = true;
		else
			v->size[k] = k == n || v->size[k] == size ? size : RN_VOLUME_UNKNOWN;
	}
}

/* ---- calls ---- */

/* Whether the destination rank is MPI_PROC_NULL. */
static bool goes_nowhere(const struct volumes *v, const struct typical *c)
{
	const struct rn_proto *f = c->known;

	for (uint32_t i = 0; i < f->nparams; i++)
		if (f->param[i].kind == RN_K_rank && i != f->traits.source && i != f->traits.root &&
		    is_word(c, i, v->nobody))
			return true;
	return false;
}

static uint64_t volume_of(const struct volumes *v, const struct typical *c)
{
	uint32_t number = rn_mpi_find(c->args->func->name);
	uint32_t is = number == UINT32_MAX ? 0 : rn_mpi_protos[number].traits.is;

	if (!(is & RN_IS_moves) || (is & RN_IS_prepares))
		return 0;
	if (!c->known)
		return RN_VOLUME_UNKNOWN;
	return goes_nowhere(v, c) ? 0 : bytes_of(v, c);
}

int rn_volumes(const struct rn_sigs *sigs, const struct rn_value_list *values,
	       const struct rn_vocab *vocab, uint64_t ranks, struct rn_arena *scratch,
	       uint64_t *bytes)
{
	struct volumes v = { .vocab = vocab, .values = values, .ranks = ranks };
	uint32_t n = rn_sigs_count(sigs);

	v.type_word = rn_vocab_find(vocab, "type");
	v.nobody = rn_vocab_find(vocab, "MPI_PROC_NULL");
	v.derived = rn_sigs_new(scratch);
	v.size = rn_new(scratch, uint64_t, (size_t)n + 1);
	v.mean = rn_new(scratch, int64_t, (size_t)(values->share ? values->place[n] : 0) + 1);
	if (!v.derived || !v.size || !v.mean ||
	    rn_templates_init(&v.templates, scratch, vocab, sigs) < 0)
		return RN_E_NOMEM;
	size_derived(&v, sigs);
	for (uint32_t i = 0; i < n; i++) {
		struct typical c;

		bytes[i] = open_call(&v, i, &c) ? volume_of(&v, &c) : 0;
	}
	rn_templates_free(&v.templates);
	return v.failed ? RN_E_NOMEM : RN_OK;
}
