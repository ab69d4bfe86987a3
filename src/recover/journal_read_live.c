/* journal_read_live.c - see journal_read_impl.h: the live position of a stream of a running
 * program. */
#include "recover/journal_read_stream.h"

#include "base/arena.h"
#include "base/intern.h"
#include "encode/call_words.h"
#include "merge/process_trace.h"
#include "recover/journal_read.h"
#include "recover/journal_read_impl.h"

#include <string.h>

/* Number of attempts to read a consistent state. If all fail, the stream is reported as busy. */
#define TRIES 100

/* Number of latest calls in the call ring: those since the latest checkpoint, and those before it
 * unless that checkpoint began a new ring. */
static uint64_t in_ring(const struct rn_live *l)
{
	const struct rn_seal *seal = &l->seal[l->sealed & 1], *other = &l->seal[~l->sealed & 1];
	uint64_t from =
		seal->tail == other->tail && other->upto < seal->upto ? other->upto : seal->upto;
	uint64_t end = l->calls < l->limit ? l->calls : l->limit;
	uint64_t n = end > from ? end - from : 0;

	return n < seal->places ? n : seal->places;
}

/* Calls fn with the ids of the latest calls, the latest first, until it returns false. */
static void back_in_ring(const struct salvaged *s, bool (*fn)(void *arg, uint32_t id), void *arg)
{
	const struct rn_live *l = &s->live;
	const struct rn_seal *seal = &l->seal[l->sealed & 1];
	const struct rn_found *tail = rn_salvage_extent(s->f, RN_EXTENT_TAIL, seal->tail);
	uint64_t end = l->calls < l->limit ? l->calls : l->limit;
	uint64_t room = tail ? (tail->len - sizeof(tail->head)) / sizeof(uint32_t) : 0;

	if (!seal->places || seal->places & (seal->places - 1) || seal->places > room)
		return;
	for (uint64_t i = 0, n = in_ring(l); i < n; i++) {
		size_t at = (size_t)((end - 1 - i) & (seal->places - 1));
		uint32_t id;

		memcpy(&id, tail->at + sizeof(tail->head) + at * sizeof(id), sizeof(id));
		if (id >= rn_sigs_count(rn_salvage_words(s)) || !fn(arg, id))
			return;
	}
}

struct latest {
	const struct salvaged *s;
	uint32_t id;
	uint64_t again;
};

static bool see_latest(void *arg, uint32_t id)
{
	struct latest *x = arg;

	if (rn_salvage_marker(x->s, id) != RN_MARKER_NONE)
		return true;
	if (x->again && x->id != id)
		return false;
	x->id = id;
	x->again++;
	return true;
}

static void find_last(const struct salvaged *s, struct rn_now *now)
{
	struct latest x = { .s = s };

	back_in_ring(s, see_latest, &x);
	now->again = x.again;
	if (!x.again)
		return;
	now->last = rn_sigs_get(rn_salvage_words(s), x.id, &now->last_n);
	now->last_n /= sizeof(uint64_t);
	if (RN_RAW_FUNCTION(now->last[0]) >= rn_mpi_vocab.funcs)
		now->last = NULL;
}

static const uint64_t *copy_words(struct salvaged *s, struct under_way u, size_t *n)
{
	uint64_t *w = rn_new(s->mem, uint64_t, (u.to - u.from) / sizeof(uint64_t) + 1);

	*n = (u.to - u.from) / sizeof(uint64_t);
	if (w) {
		memcpy(w, s->under_way + u.from, *n * sizeof(*w));
		w[0] &= ~RN_RAW_ALIKE; /* the call has its own stack, not that of a cluster */
	} else {
		s->failed = true;
	}
	return w && *n && RN_RAW_FUNCTION(w[0]) < rn_mpi_vocab.funcs ? w : NULL;
}

static void find_now(struct salvaged *s, struct rn_now *now)
{
	struct under_way u[RN_SALVAGE_DEEP];
	uint32_t n = rn_salvage_under_way(s, u);

	*now = (struct rn_now){ .calls = s->live.calls,
				.entered = s->live.entered,
				.left = s->live.left,
				.off = s->live.off };
	find_last(s, now);
	if (n)
		now->call = copy_words(s, u[0], &now->call_n);
	if (n > 1)
		now->outer = copy_words(s, u[1], &now->outer_n);
}

/* Whether the stream still has the state that was read. */
static bool is_same(const struct salvaged *s)
{
	struct rn_live now;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	memcpy(&now, s->memory, sizeof(now));
	return now.calls == s->live.calls && now.top == s->live.top &&
	       now.expected == s->live.expected && now.entered == s->live.entered &&
	       now.sealed == s->live.sealed;
}

static uint64_t segment_now(const struct salvaged *s)
{
	return s->live.seal[s->live.sealed & 1].segment;
}

/* Selects the segment of the stream's checkpoint. The log may already contain the next segment,
 * which has not begun, and never begins if there was no space for it. */
static void use_segment_now(struct salvaged *s)
{
	uint32_t last = s->segments - 1;

	if (segment_now(s) < last)
		last = (uint32_t)segment_now(s);
	s->segment = *RN_SEG_AT(&s->pieces->segment, struct rn_segment *, last);
}

/* Stores the creators of requests. Those of earlier segments are unknown, because their words refer
 * to other tables. */
static void give_makers(struct salvaged *s, struct rn_recorded_stream *out)
{
	const struct rn_seg *shapes = &s->pieces->shape;
	uint32_t *maker = rn_new(s->mem, uint32_t, (size_t)shapes->n + 1);

	s->failed |= !maker;
	for (uint32_t i = 0; maker && i < shapes->n; i++) {
		const struct rn_shape *shape = RN_SEG_AT(shapes, struct rn_shape, i);

		maker[i] = shape->segment == segment_now(s) ? shape->call : RN_NO_MAKER;
	}
	out->maker = maker;
	out->makers = maker ? shapes->n : 0;
}

int rn_salvage_look(struct salvaged *s, struct rn_recorded_stream *out, struct rn_now *now)
{
	int tries = 0;

	do {
		rn_salvage_live(s);
		use_segment_now(s);
		find_now(s, now);
	} while (!is_same(s) && ++tries < TRIES && !s->failed);
	/* The segment has just begun. */
	now->busy = tries == TRIES || segment_now(s) >= s->segments;
	give_makers(s, out);
	return rn_salvage_give(s, out);
}
