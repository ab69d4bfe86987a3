/* call_times_reader.c - see call_times_reader.h. */
#include "read/call_times_reader.h"

#include <string.h>

#include "base/bisect.h"
#include "base/intern.h"
#include "encode/call_times.h"
#include "encode/time_stats.h"
#include "model/chunk_list.h"
#include "model/markers.h"
#include "read/trace.h"

struct rn_moment_view {
	const struct rn_trace *t;
	struct rn_markers markers;
	uint64_t origin;     /* origin of all times, in nanoseconds of rank 0's clock */
	struct rn_arena mem; /* memory of the current stream */
	struct rn_arena grains;
	struct rn_moment_reader reader;
	/* Current stream. */
	const struct rn_chunk_stream *moments; /* NULL: the stream has no times */
	uint32_t chunks;
	struct rn_time_clock clock;
	uint64_t *first; /* position of the first symbol of each chunk, then of the end of the last
			    one */
	struct rn_walk walk;
	uint64_t length; /* number of symbols that have times */
	uint32_t chunk;  /* index of the decoded chunk; `chunks`: no chunk is decoded */
	uint32_t symbol[RN_MOMENTS_CHUNK];
	struct rn_moment m[RN_MOMENTS_CHUNK];
};

/* ---- clocks ---- */

/* Converts `since`, the nanoseconds since a stream began at `zero`, to rank 0's clock. */
static uint64_t on_rank_0(const struct rn_time_clock *c, uint64_t zero, uint64_t since)
{
	__int128 drift = (__int128)c->drift * (int64_t)since / 1000000000;

	return zero + since + (uint64_t)c->offset + (uint64_t)(int64_t)drift;
}

static struct rn_time_clock clock_of(const struct rn_moment_view *v, uint64_t stream)
{
	struct rn_time_clock c = { 0 };

	if (v->t->times)
		rn_times_clock_of(v->t->times, stream / v->t->threads, &c);
	return c;
}

/* Sets the origin to the earliest start of a stream. Times are compared by their signed difference,
 * modulo 2^64, on the assumption that clocks are close to each other. */
static void find_origin(struct rn_moment_view *v)
{
	const struct rn_chunk_list *l = v->t->moments;

	for (uint32_t i = 0; i < l->stream.n; i++) {
		const struct rn_chunk_stream *s = rn_chunk_list_at(l, i);
		struct rn_time_clock c = clock_of(v, s->stream);
		uint64_t began = on_rank_0(&c, s->head[1], 0);

		if (i == 0 || (int64_t)(began - v->origin) < 0)
			v->origin = began;
	}
}

static uint64_t since_origin(const struct rn_moment_view *v, uint64_t ticks)
{
	uint64_t ns = rn_time_ns(ticks, v->moments->head[0]);
	uint64_t at = on_rank_0(&v->clock, v->moments->head[1], ns) - v->origin;

	return at > INT64_MAX ? 0 : at;
}

/* ---- construction ---- */

struct rn_moment_view *rn_moment_view_new(struct rn_arena *mem, const struct rn_trace *t,
					  const struct rn_moment_view *other)
{
	struct rn_moment_view *v = rn_new(mem, struct rn_moment_view, 1);

	if (!v)
		return NULL;
	v->t = t;
	v->markers = rn_markers_of(&t->vocab);
	rn_arena_init(&v->mem, SIZE_MAX);
	rn_arena_init(&v->grains, SIZE_MAX);
	if (other)
		v->origin = other->origin;
	else
		find_origin(v);
	return v;
}

void rn_moment_view_free(struct rn_moment_view *v)
{
	if (!v)
		return;
	rn_arena_free(&v->mem);
	rn_arena_free(&v->grains);
}

/* ---- a stream ---- */

/* Computes the start of each chunk. Times beyond the end of the stream are ignored. */
static int index_chunks(struct rn_moment_view *v, struct rn_err *err)
{
	uint64_t at = 0;

	v->first = rn_new(&v->mem, uint64_t, (size_t)v->chunks + 1);
	if (!v->first)
		return rn_err_nomem(err);
	for (uint32_t i = 0; i < v->chunks; i++) {
		const struct rn_chunk *c = &v->moments->chunk[i];
		uint32_t n = rn_moments_length(c->bytes, c->len);

		if (n == 0)
			return rn_err_set(err, RN_E_DATA, "a chunk of times is malformed");
		v->first[i] = at;
		at += n;
	}
	v->first[v->chunks] = at;
	v->length = at < v->length ? at : v->length;
	return RN_OK;
}

int rn_moment_view_stream(struct rn_moment_view *v, uint64_t stream, uint32_t group,
			  struct rn_err *err)
{
	const struct rn_streams *s = &v->t->streams;
	struct rn_flow flow = rn_streams_flow(s, group);

	rn_arena_rewind(&v->mem, (struct rn_arena_mark){ 0 });
	rn_arena_rewind(&v->grains, (struct rn_arena_mark){ 0 });
	v->reader.grain_bytes = NULL;
	v->length = 0;
	v->moments = rn_chunk_list_find(v->t->moments, stream);
	v->chunks = v->moments ? v->moments->chunks : 0;
	v->clock = clock_of(v, stream);
	v->chunk = v->chunks;
	v->length = flow.length;
	if (rn_walk_flow(&v->walk, &flow, &v->mem) < 0)
		return rn_err_nomem(err);
	return index_chunks(v, err);
}

uint64_t rn_moment_view_length(const struct rn_moment_view *v)
{
	return v->length;
}

/* ---- a chunk ---- */

static enum rn_moment_kind kind_of(enum rn_marker marker, enum rn_marker before)
{
	if (marker == RN_MARKER_NONE)
		return before == RN_MARKER_LEAVE ? RN_MOMENT_OUTER : RN_MOMENT_CALL;
	return marker == RN_MARKER_ENTER ? RN_MOMENT_ENTER : RN_MOMENT_NONE;
}

static uint64_t function_of(const struct rn_moment_view *v, uint32_t symbol)
{
	size_t len;
	const void *sig = rn_sigs_get(v->t->streams.sigs, symbol, &len);

	return rn_call_function(sig, len);
}

/* Reads the n symbols of a chunk, and their functions and kinds. */
static void get_symbols(struct rn_moment_view *v, uint64_t first, uint32_t n)
{
	enum rn_marker marker, before = RN_MARKER_NONE;
	uint32_t symbol;

	rn_walk_seek(&v->walk, first ? first - 1 : 0);
	if (first && rn_walk_next(&v->walk, &symbol))
		before = rn_marker_function(&v->markers, function_of(v, symbol));
	rn_walk_read(&v->walk, v->symbol, n);
	for (uint32_t i = 0; i < n; i++, before = marker) {
		uint64_t function = function_of(v, v->symbol[i]);

		marker = rn_marker_function(&v->markers, function);
		v->m[i] = (struct rn_moment){ .func = (uint32_t)function,
					      .kind = kind_of(marker, before) };
	}
}

static int read_chunk(struct rn_moment_view *v, uint32_t i, struct rn_err *err)
{
	const struct rn_chunk *c = &v->moments->chunk[i];
	uint64_t end = v->first[i + 1] < v->length ? v->first[i + 1] : v->length;
	uint32_t n = (uint32_t)(end - v->first[i]);
	int rc;

	get_symbols(v, v->first[i], n);
	v->chunk = v->chunks;
	rc = rn_moments_read(&v->reader, &v->grains, c->bytes, c->len, v->m, n, err);
	if (rc == RN_OK)
		v->chunk = i;
	return rc;
}

static uint32_t find_chunk(const struct rn_moment_view *v, uint64_t pos)
{
	struct rn_bisect b = { 0, v->chunks, 0 };

	while (rn_bisect_next(&b))
		rn_bisect_go(&b, v->first[b.mid + 1] <= pos);
	return (uint32_t)b.lo;
}

int rn_moment_view_at(struct rn_moment_view *v, uint64_t pos, uint64_t *start, uint64_t *end,
		      struct rn_err *err)
{
	uint32_t i = v->chunk;
	const struct rn_moment *m;
	int rc = RN_OK;

	if (pos >= v->length)
		return 0;
	if (i == v->chunks || pos < v->first[i] || pos >= v->first[i + 1]) {
		i = find_chunk(v, pos);
		rc = read_chunk(v, i, err);
	}
	if (rc < 0)
		return rc;
	m = &v->m[pos - v->first[i]];
	*start = since_origin(v, m->start);
	*end = since_origin(v, m->end);
	return 1;
}
