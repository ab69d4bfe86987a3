/* elastic_values.c - see elastic_values.h. */
#include "model/elastic_values.h"

#include "base/arena.h"
#include "base/bisect.h"
#include "base/buf.h"
#include "base/intern.h"
#include "encode/rank_expr.h"
#include "series/series.h"
#include "series/units.h"

bool rn_alike_has(const struct rn_stack_cluster *s, uint32_t number, uint32_t *at)
{
	struct rn_bisect b = { 0, s->n, 0 };

	while (rn_bisect_next(&b))
		rn_bisect_go(&b, s->number[b.mid] < number);
	*at = (uint32_t)b.lo;
	return *at < s->n && s->number[*at] == number;
}

/* Returns the value that is encoded for a stack id: its index in the cluster. */
static int64_t stack_place(const struct rn_stack_cluster *s, int64_t number)
{
	uint32_t at;

	if (number <= 0 || number > UINT32_MAX || !rn_alike_has(s, (uint32_t)number, &at))
		at = 0; /* the unknown stack, which has the lowest id if the cluster contains it */
	return s->place_of[at];
}

int rn_values_init(struct rn_values *v, struct rn_arena *mem)
{
	*v = (struct rn_values){ mem, rn_sigs_new(mem), rn_sigs_new(mem), { 0 } };
	rn_seg_init(&v->use, sizeof(struct rn_value_use));
	return v->series && v->uses ? RN_OK : RN_E_NOMEM;
}

static struct rn_value_use *use_at(const struct rn_values *v, uint32_t i)
{
	return RN_SEG_AT(&v->use, struct rn_value_use, i);
}

struct rn_value_use *rn_values_use(struct rn_values *v, struct rn_value_place at, uint32_t series)
{
	const uint32_t key[3] = { at.sig, at.hole, series };
	struct rn_value_use *u;
	uint32_t id;

	if (rn_sigs_intern(v->uses, key, sizeof(key), &id) < 0)
		return NULL;
	if (id < v->use.n)
		return use_at(v, id);
	if (id > v->use.n || !rn_seg_reserve(&v->use, v->mem, 1))
		return NULL;
	u = use_at(v, v->use.n++);
	*u = (struct rn_value_use){ .place = at, .series = series };
	rn_seg_init(&u->stream, sizeof(uint64_t));
	rn_seg_init(&u->begin, sizeof(int64_t));
	return u;
}

int rn_values_add_stream(struct rn_values *v, struct rn_value_use *u, uint64_t stream,
			 int64_t begin)
{
	if (!rn_seg_reserve(&u->stream, v->mem, 1) || !rn_seg_reserve(&u->begin, v->mem, 1))
		return RN_E_NOMEM;
	RN_SEG_PUT(&u->stream, uint64_t, stream);
	RN_SEG_PUT(&u->begin, int64_t, begin);
	return RN_OK;
}

static int64_t expressed(int64_t value, const struct rn_expressed *how)
{
	int64_t number;

	if (how->alike)
		return stack_place(how->alike, value);
	rn_peer_express(how->kind, value, how->rank, how->size, &number);
	return number;
}

/* Expresses the values of a series and converts them to differences from the first one, *begin. */
static int rebase(const struct rn_units *u, const struct rn_expressed *how, struct rn_arena *mem,
		  struct rn_arena *scratch, struct rn_units **out, int64_t *begin)
{
	struct rn_series *based = rn_series_new(mem);
	int64_t block[256];
	size_t n = 0;
	int rc = based ? RN_OK : RN_E_NOMEM;

	*begin = 0;
	for (uint64_t at = 0; rc == RN_OK && (n = rn_units_read(u, at, block, 256)) > 0; at += n) {
		if (at == 0)
			*begin = expressed(block[0], how);
		for (size_t i = 0; i < n && rc == RN_OK; i++)
			rc = rn_series_append(based, (int64_t)((uint64_t)expressed(block[i], how) -
							       (uint64_t)*begin));
	}
	return rc == RN_OK ? rn_units_seal_quickly(mem, scratch, based, out) : rc;
}

/* Appends the encoded differences of the expressed values from the first one. If expressing them
 * only adds a constant, the series is reused without reading all of its values. */
static int encode_based(const struct rn_units *u, const struct rn_expressed *how,
			struct rn_buf *out, int64_t *begin)
{
	bool moves = !how->alike && (how->kind == RN_V_INT || how->kind == RN_V_REL);
	struct rn_arena mem, scratch;
	struct rn_units *based;
	int rc;

	if (moves && rn_units_nonneg(u) && rn_units_length(u)) {
		*begin = expressed(rn_units_at(u, 0), how);
		return rn_units_encode_quickly(u, rn_units_at(u, 0), out);
	}
	rn_arena_init(&mem, SIZE_MAX);
	rn_arena_init(&scratch, SIZE_MAX);
	rc = rebase(u, how, &mem, &scratch, &based, begin);
	if (rc == RN_OK)
		rc = rn_units_encode_quickly(based, 0, out);
	rn_arena_free(&mem);
	rn_arena_free(&scratch);
	return rc;
}

int rn_values_add(struct rn_values *v, struct rn_value_place at, uint64_t stream,
		  const struct rn_units *u, const struct rn_expressed *how)
{
	struct rn_buf bytes = { 0 };
	struct rn_value_use *use;
	int64_t begin;
	uint32_t id;
	int rc = encode_based(u, how, &bytes, &begin);

	if (rc == RN_OK)
		rc = rn_sigs_intern(v->series, bytes.data, bytes.len, &id);
	rn_buf_free(&bytes);
	if (rc < 0)
		return rc;
	use = rn_values_use(v, at, id);
	return use ? rn_values_add_stream(v, use, stream, begin) : RN_E_NOMEM;
}
