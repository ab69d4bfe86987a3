/* volume.c - see volume.h. */
#include "analyse/volume.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/bisect.h"
#include "base/varint.h"
#include "encode/call.h"
#include "encode/sigs.h"
#include "file/value_list.h"

/* A derived datatype, and the size that all who made it agree upon so far. */
struct derived {
	uint64_t id, size;
	bool made;
};

struct volumes {
	const struct rn_vocab *vocab;
	const struct rn_value_list *values;
	int64_t *mean;         /* of one call's holes */
	struct rn_buf typical; /* a call */
	uint64_t ranks;
	uint64_t type_word; /* of the class of datatypes */
	struct derived *derived;
	uint32_t n; /* ascending by id */
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

static struct derived *find_derived(const struct volumes *v, uint64_t id)
{
	struct rn_bisect b = { 0, v->n, 0 };

	while (rn_bisect_next(&b))
		rn_bisect_go(&b, v->derived[b.mid].id < id);
	return b.lo < v->n && v->derived[b.lo].id == id ? &v->derived[b.lo] : NULL;
}

static uint64_t type_size(const struct volumes *v, const struct rn_value *type)
{
	const char *name;
	const struct derived *d;

	if (type->kind == RN_V_OBJECT && type->word == v->type_word) {
		d = find_derived(v, type->id);
		return d && d->made ? d->size : RN_VOLUME_UNKNOWN;
	}
	name = type->kind == RN_V_CONST ? rn_vocab_word(v->vocab, type->word) : NULL;
	for (size_t i = 0; name && i < sizeof(predefined) / sizeof(*predefined); i++)
		if (strcmp(name, predefined[i].name) == 0)
			return predefined[i].size;
	return RN_VOLUME_UNKNOWN;
}

/* ---- arguments ---- */

/* A call's argument of that name. *in is left behind it, at its elements. */
static bool find_value(const struct rn_func *f, struct rn_reader *in, const char *name,
		       struct rn_value *value)
{
	for (uint32_t i = 0; i < f->nparams; i++)
		if (strcmp(f->param[i], name) == 0)
			return rn_call_argument(f, in, i, value);
	return false;
}

static bool argument(const struct rn_func *f, struct rn_reader in, const char *name,
		     struct rn_value *value)
{
	return find_value(f, &in, name, value);
}

/* A number, or the sum of a list of them. */
static uint64_t count_of(const struct rn_func *f, struct rn_reader in, const char *name)
{
	struct rn_value v;
	uint64_t sum = 0;

	if (!find_value(f, &in, name, &v))
		return RN_VOLUME_UNKNOWN;
	if (v.kind == RN_V_INT)
		return v.num < 0 ? RN_VOLUME_UNKNOWN : (uint64_t)v.num;
	if (v.kind != RN_V_LIST)
		return RN_VOLUME_UNKNOWN;
	for (uint64_t n = (uint64_t)v.num; n > 0; n--) {
		struct rn_value e;

		if (!rn_call_value(&in, &e) || e.kind != RN_V_INT || e.num < 0 ||
		    __builtin_add_overflow(sum, (uint64_t)e.num, &sum))
			return RN_VOLUME_UNKNOWN;
	}
	return sum;
}

static bool is_word(const struct volumes *v, const struct rn_func *f, struct rn_reader in,
		    const char *name, const char *word)
{
	struct rn_value value;
	const char *text;

	if (!argument(f, in, name, &value) || value.kind != RN_V_CONST)
		return false;
	text = rn_vocab_word(v->vocab, value.word);
	return text && strcmp(text, word) == 0;
}

/* ---- derived datatypes ---- */

/* What makes a datatype, and the arguments whose product says of how many old ones. */
static const struct {
	const char *name, *old, *factor[2];
} makers[] = {
	{ "MPI_Type_contiguous", "oldtype", { "count", NULL } },
	{ "MPI_Type_vector", "oldtype", { "count", "blocklength" } },
	{ "MPI_Type_hvector", "oldtype", { "count", "blocklength" } },
	{ "MPI_Type_create_hvector", "oldtype", { "count", "blocklength" } },
	{ "MPI_Type_create_indexed_block", "oldtype", { "count", "blocklength" } },
	{ "MPI_Type_create_hindexed_block", "oldtype", { "count", "blocklength" } },
	{ "MPI_Type_indexed", "oldtype", { "array_of_blocklengths", NULL } },
	{ "MPI_Type_create_hindexed", "oldtype", { "array_of_blocklengths", NULL } },
	{ "MPI_Type_create_resized", "oldtype", { NULL, NULL } },
	{ "MPI_Type_dup", "oldtype", { NULL, NULL } },
};

static uint64_t made_size(const struct volumes *v, const struct rn_func *f, struct rn_reader in)
{
	struct rn_value old;
	uint64_t size;

	for (size_t i = 0; i < sizeof(makers) / sizeof(*makers); i++) {
		if (strcmp(f->name, makers[i].name))
			continue;
		if (!argument(f, in, makers[i].old, &old))
			return RN_VOLUME_UNKNOWN;
		size = type_size(v, &old);
		for (unsigned k = 0; k < 2 && makers[i].factor[k]; k++)
			size = times(size, count_of(f, in, makers[i].factor[k]));
		return size;
	}
	return RN_VOLUME_UNKNOWN;
}

/* With the mean of what stands in its holes. */
static const void *typical_call(struct volumes *v, uint32_t i, const void *sig, size_t *len)
{
	uint32_t holes = rn_value_list_holes(v->values, i);

	if (!holes)
		return sig;
	for (uint32_t k = 0; k < holes; k++)
		v->mean[k] = rn_value_list_mean(v->values, i, k);
	rn_buf_clear(&v->typical);
	rn_call_fill(sig, *len, v->mean, &v->typical);
	*len = v->typical.len;
	return v->typical.data;
}

/* *in is valid until the next one is opened. */
static bool open_call(struct volumes *v, const struct rn_sigs *sigs, uint32_t i,
		      struct rn_reader *in, const struct rn_func **f)
{
	size_t len;
	const void *sig = rn_sigs_get(sigs, i, &len);

	sig = typical_call(v, i, sig, &len);
	*in = rn_reader(sig, len);
	*f = rn_vocab_func(v->vocab, rn_get_u64(in));
	return *f;
}

/* The datatype that a call makes. */
static bool makes_type(const struct volumes *v, const struct rn_func *f, struct rn_reader in,
		       uint64_t *id)
{
	struct rn_value type;

	if (strncmp(f->name, "MPI_Type_", 9) || !argument(f, in, "newtype", &type) ||
	    type.kind != RN_V_OBJECT || type.word != v->type_word)
		return false;
	*id = type.id;
	return true;
}

static int by_id(const void *a, const void *b)
{
	const struct derived *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static void list_derived(struct volumes *v, const struct rn_sigs *sigs)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < rn_sigs_count(sigs); i++) {
		struct rn_reader in;
		const struct rn_func *f;

		if (open_call(v, sigs, i, &in, &f) && makes_type(v, f, in, &v->derived[v->n].id))
			v->n++;
	}
	qsort(v->derived, v->n, sizeof(*v->derived), by_id);
	for (uint32_t i = 0; i < v->n; i++)
		if (n == 0 || v->derived[n - 1].id != v->derived[i].id)
			v->derived[n++] = v->derived[i];
	v->n = n;
}

/* One pass in the order of the signatures, which is mostly that of the program: a datatype that is
 * made of one that comes later stays unknown. */
static void size_derived(struct volumes *v, const struct rn_sigs *sigs)
{
	for (uint32_t i = 0; i < rn_sigs_count(sigs); i++) {
		struct rn_reader in;
		const struct rn_func *f;
		struct derived *d;
		uint64_t id, size;

		if (!open_call(v, sigs, i, &in, &f) || !makes_type(v, f, in, &id))
			continue;
		d = find_derived(v, id);
		size = made_size(v, f, in);
		if (d->made && d->size != size)
			size = RN_VOLUME_UNKNOWN;
		d->made = true;
		d->size = size;
	}
}

/* ---- calls ---- */

/* What hands data over: how its name begins behind MPI_ and, if it is one of those, I or R; and its
 * arguments. The first that fits. */
static const struct {
	const char *name, *count, *type;
	bool each; /* for each rank of the communicator */
} movers[] = {
	{ "sendrecv_replace", "count", "datatype", false },
	{ "sendrecv", "sendcount", "sendtype", false },
	{ "send", "count", "datatype", false },
	{ "bsend", "count", "datatype", false },
	{ "ssend", "count", "datatype", false },
	{ "rsend", "count", "datatype", false },
	{ "bcast", "count", "datatype", false },
	{ "reduce_scatter_block", "recvcount", "datatype", true },
	{ "reduce_scatter", "recvcounts", "datatype", false },
	{ "reduce", "count", "datatype", false },
	{ "allreduce", "count", "datatype", false },
	{ "scan", "count", "datatype", false },
	{ "exscan", "count", "datatype", false },
	{ "gather", "sendcount", "sendtype", false },
	{ "gatherv", "sendcount", "sendtype", false },
	{ "allgather", "sendcount", "sendtype", false },
	{ "allgatherv", "sendcount", "sendtype", false },
	{ "scatter", "recvcount", "recvtype", false },
	{ "scatterv", "recvcount", "recvtype", false },
	{ "alltoall", "sendcount", "sendtype", true },
	{ "alltoallv", "sendcounts", "sendtype", false },
	{ "alltoallw", NULL, NULL, false },
	{ "neighbor_allgather", NULL, NULL, false },
	{ "neighbor_allgatherv", NULL, NULL, false },
	{ "neighbor_alltoall", NULL, NULL, false },
	{ "neighbor_alltoallv", "sendcounts", "sendtype", false },
	{ "neighbor_alltoallw", NULL, NULL, false },
	{ "put", "origin_count", "origin_datatype", false },
	{ "get", "origin_count", "origin_datatype", false },
	{ "accumulate", "origin_count", "origin_datatype", false },
	{ "get_accumulate", "origin_count", "origin_datatype", false },
	{ "start", NULL, NULL, false },
	{ "startall", NULL, NULL, false },
};

#define MOVERS (sizeof(movers) / sizeof(*movers))

/* A function's row, or MOVERS. `Isend` is `send`, `Send_c` too; `Send_init` only prepares. */
static size_t find_mover(const char *name)
{
	char word[40] = "";
	size_t n;

	if (strncmp(name, "MPI_", 4) || strlen(name) >= sizeof(word))
		return MOVERS;
	memcpy(word, name + 4, strlen(name + 4) + 1);
	n = strlen(word);
	if (n > 2 && strcmp(word + n - 2, "_c") == 0)
		word[n - 2] = 0;
	for (unsigned skip = 0; skip < 2; skip++) {
		if (skip && word[0] != 'I' && word[0] != 'R')
			break;
		for (size_t i = 0; i < MOVERS; i++)
			if (strcasecmp(word + skip, movers[i].name) == 0)
				return i;
	}
	return MOVERS;
}

/* Size of a communicator, where everybody knows it. */
static uint64_t comm_size(const struct volumes *v, const struct rn_func *f, struct rn_reader in)
{
	if (is_word(v, f, in, "comm", "MPI_COMM_WORLD"))
		return v->ranks;
	return is_word(v, f, in, "comm", "MPI_COMM_SELF") ? 1 : RN_VOLUME_UNKNOWN;
}

static bool is_file_call(const char *name)
{
	return strncmp(name, "MPI_File_", 9) == 0 &&
	       (strstr(name, "write") || strstr(name, "read")) && !strstr(name, "_end");
}

static uint64_t volume_of(const struct volumes *v, const struct rn_func *f, struct rn_reader in)
{
	size_t i = find_mover(f->name);
	const char *count = "count", *type = "datatype";
	struct rn_value t;
	uint64_t size;

	if (i == MOVERS && !is_file_call(f->name))
		return 0;
	if (i < MOVERS) {
		count = movers[i].count;
		type = movers[i].type;
	}
	if (!count)
		return RN_VOLUME_UNKNOWN;
	if (is_word(v, f, in, "dest", "MPI_PROC_NULL") ||
	    is_word(v, f, in, "target_rank", "MPI_PROC_NULL"))
		return 0;
	if (!argument(f, in, type, &t))
		return RN_VOLUME_UNKNOWN;
	size = times(type_size(v, &t), count_of(f, in, count));
	return i < MOVERS && movers[i].each ? times(size, comm_size(v, f, in)) : size;
}

static uint32_t most_holes(const struct rn_value_list *l, uint32_t sigs)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < sigs; i++) {
		uint32_t n = rn_value_list_holes(l, i);

		most = n > most ? n : most;
	}
	return most;
}

int rn_volumes(const struct rn_sigs *sigs, const struct rn_value_list *values,
	       const struct rn_vocab *vocab, uint64_t ranks, struct rn_arena *scratch,
	       uint64_t *bytes)
{
	struct volumes v = { .vocab = vocab, .values = values, .ranks = ranks };
	uint32_t n = rn_sigs_count(sigs);
	int rc;

	v.type_word = rn_vocab_find(vocab, "type");
	v.derived = rn_new(scratch, struct derived, (size_t)n + 1);
	v.mean = rn_new(scratch, int64_t, (size_t)most_holes(values, n) + 1);
	if (!v.derived || !v.mean)
		return RN_E_NOMEM;
	list_derived(&v, sigs);
	size_derived(&v, sigs);
	for (uint32_t i = 0; i < n; i++) {
		struct rn_reader in;
		const struct rn_func *f;

		bytes[i] = open_call(&v, sigs, i, &in, &f) ? volume_of(&v, f, in) : 0;
	}
	rc = rn_buf_status(&v.typical);
	rn_buf_free(&v.typical);
	return rc;
}
