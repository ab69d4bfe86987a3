/* calls_merged.c - see calls_merged.h. */
#include "read/calls_merged.h"

#include <assert.h>

#include "base/arena.h"
#include "base/bisect.h"
#include "model/chunk_list.h"
#include "read/trace.h"

struct source {
	uint64_t stream;
	uint32_t group;
	struct rn_calls *calls;
	struct rn_call call; /* the next one */
};

struct rn_calls_merged {
	struct rn_err *err;
	struct source *source; /* by stream */
	struct source **heap;  /* sources with a next call; that of heap[0] ends first */
	uint32_t sources, n;
	bool taken; /* the call of the first source was returned */
};

static int open_source(struct rn_calls_merged *m, struct source *s, struct rn_arena *mem,
		       const struct rn_trace *t)
{
	const struct source *first = m->source; /* the other sources use its tables */
	int rc = rn_streams_find(&t->streams, s->stream, &s->group);

	s->calls = rn_calls_new(mem, t, s == first ? NULL : first->calls);
	if (rc < 0 || !s->calls)
		return rc < 0 ? rc : RN_E_NOMEM;
	return rn_calls_times(s->calls, m->err);
}

int rn_calls_merged_new(struct rn_arena *mem, const struct rn_trace *t,
			struct rn_calls_merged **out, struct rn_err *err)
{
	const struct rn_seg *streams = &t->moments->stream;
	struct rn_calls_merged *m = *out = rn_new(mem, struct rn_calls_merged, 1);
	int rc = RN_OK;

	if (!m)
		return RN_E_NOMEM;
	m->err = err;
	m->source = rn_new(mem, struct source, (size_t)streams->n + 1);
	m->heap = rn_new(mem, struct source *, (size_t)streams->n + 1);
	if (!m->source || !m->heap)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < streams->n && rc == RN_OK; i++) {
		struct source *s = &m->source[m->sources++];

		s->stream = RN_SEG_AT(streams, struct rn_chunk_stream, i)->stream;
		rc = open_source(m, s, mem, t);
	}
	return rc == RN_OK ? rn_calls_merged_seek(m, 0) : rc;
}

void rn_calls_merged_free(struct rn_calls_merged *m)
{
	for (uint32_t i = 0; m && i < m->sources; i++)
		rn_calls_free(m->source[i].calls);
}

/* Reads the next call of a stream, skipping markers. Returns 1, 0 at the end of its times, or a
 * negative code. */
static int advance(struct source *s)
{
	int rc;

	do
		rc = rn_calls_next(s->calls, &s->call);
	while (rc > 0 && s->call.marker != RN_MARKER_NONE);
	return rc > 0 && !s->call.timed ? 0 : rc;
}

static int begin_at(struct source *s, uint64_t number)
{
	int rc = rn_calls_begin(s->calls, s->stream, s->group, number, UINT64_MAX);

	return rc < 0 ? rc : advance(s);
}

/* The first call to return after the entry of call n ends no earlier for a larger n. A call that
 * encloses call n - 1 may return before call n is entered. The final scan therefore begins one call
 * before the result of the search. */
static int seek_source(struct source *s, uint64_t time)
{
	struct rn_bisect b = { 0, rn_calls_numbers(s->calls, s->group), 0 };
	int rc = RN_OK;

	while (time && rc >= 0 && rn_bisect_next(&b)) {
		rc = begin_at(s, b.mid);
		rn_bisect_go(&b, rc > 0 && s->call.end < time);
	}
	if (rc >= 0)
		rc = begin_at(s, b.lo ? b.lo - 1 : 0);
	while (rc > 0 && s->call.end < time)
		rc = advance(s);
	return rc;
}

/* ---- the heap ---- */

static bool is_before(const struct source *a, const struct source *b)
{
	return a->call.end != b->call.end ? a->call.end < b->call.end : a->stream < b->stream;
}

static void sift_down(struct rn_calls_merged *m, uint32_t i)
{
	struct source *s = m->heap[i];

	for (uint32_t k; (k = 2 * i + 1) < m->n; i = k) {
		k += k + 1 < m->n && is_before(m->heap[k + 1], m->heap[k]);
		if (!is_before(m->heap[k], s))
			break;
		m->heap[i] = m->heap[k];
	}
	m->heap[i] = s;
}

int rn_calls_merged_seek(struct rn_calls_merged *m, uint64_t time)
{
	m->n = 0;
	m->taken = false;
	for (uint32_t i = 0; i < m->sources; i++) {
		int rc = seek_source(&m->source[i], time);

		if (rc < 0)
			return rc;
		if (rc > 0)
			m->heap[m->n++] = &m->source[i];
	}
	for (uint32_t i = m->n / 2; i-- > 0;)
		sift_down(m, i);
	return RN_OK;
}

int rn_calls_merged_next(struct rn_calls_merged *m, const struct rn_call **out)
{
	int rc = m->taken && m->n ? advance(m->heap[0]) : 1;

	if (rc < 0)
		return rc;
	if (rc == 0)
		m->heap[0] = m->heap[--m->n];
	if (m->taken && m->n)
		sift_down(m, 0);
	m->taken = m->n > 0;
	*out = m->n ? &m->heap[0]->call : NULL;
	assert(!m->taken || m->heap[0]->call.timed);
	return m->n > 0;
}
