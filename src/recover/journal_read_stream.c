/*
 * journal_read_stream.c - see journal_read_stream.h: the calls in flight, and the stream as a
 * whole.
 *
 * The log is read first, into the tables of each segment. Then the snapshots of closed segments are
 * read, and last the extent RN_EXTENT_LIVE, for the segment that its checkpoint names.
 */
#include "recover/journal_read_stream.h"

#include "base/arena.h"
#include "base/intern.h"
#include "encode/call_words.h"
#include "encode/call_words_visit.h"
#include "encode/time_stats.h"
#include "grammar/grammar.h"
#include "merge/process_trace.h"
#include "recover/journal_read_impl.h"
#include "rules/rules.h"

#include <string.h>

/* ---- calls in flight ---- */

static uint64_t word_at(const struct salvaged *s, size_t at)
{
	uint64_t w;

	memcpy(&w, s->under_way + at, sizeof(w));
	return w;
}

/* Converts an address of the process to a byte offset in the copy of its words. False if the
 * address is outside the words. */
static bool place_of(const struct salvaged *s, uint64_t address, size_t *at)
{
	uint64_t bytes = address - s->live.buffer;

	*at = (size_t)bytes;
	return address >= s->live.buffer && bytes <= s->words_len && bytes % sizeof(uint64_t) == 0;
}

/* Finds the calls whose words end at `top` and below it, innermost first. Each call's words are
 * followed by the address at which they begin. Returns the number of calls; 0 if the addresses are
 * invalid. */
static uint32_t chain(const struct salvaged *s, size_t top, struct under_way *out)
{
	uint32_t n = 0;

	while (top) {
		size_t from;

		if (n == RN_SALVAGE_DEEP || top < 3 * sizeof(uint64_t) ||
		    !place_of(s, word_at(s, top - sizeof(uint64_t)), &from) ||
		    from + 3 * sizeof(uint64_t) > top)
			return 0;
		out[n++] = (struct under_way){ from, top - 2 * sizeof(uint64_t) };
		top = from;
	}
	return n;
}

/* Copies the words of the expected call, the only call in flight, to their position in the copy. */
static bool put_expected(struct salvaged *s, size_t top)
{
	bool given = s->live.top & RN_LIVE_GIVEN;
	size_t len, n = given ? sizeof(uint64_t) : top - 2 * sizeof(uint64_t);
	const void *words;

	if (s->live.expected >= rn_sigs_count(rn_salvage_words(s)))
		return false;
	words = rn_sigs_get(rn_salvage_words(s), s->live.expected, &len);
	if (len < n)
		return false;
	memcpy(s->under_way, words, n);
	memcpy(s->under_way + top - sizeof(uint64_t), &s->live.buffer, sizeof(uint64_t));
	return true;
}

/* Copies the words of calls in flight, because put_expected changes them. */
static bool copy_words(struct salvaged *s, size_t top)
{
	s->under_way = rn_new(s->mem, unsigned char, top);
	s->failed |= !s->under_way;
	if (s->under_way)
		memcpy(s->under_way, s->memory + sizeof(s->live), top);
	return s->under_way != NULL;
}

uint32_t rn_salvage_under_way(struct salvaged *s, struct under_way *out)
{
	size_t top;

	s->words_len = s->memory_len - sizeof(s->live);
	if (!place_of(s, s->live.top & ~(uint64_t)RN_LIVE_GIVEN, &top) ||
	    top < 3 * sizeof(uint64_t) || !copy_words(s, top) ||
	    (s->live.expected != RN_LIVE_HERE && !put_expected(s, top)))
		return 0;
	return chain(s, top, out);
}

/* Appends a call in flight, without results. */
static bool add_unfinished(struct salvaged *s, struct under_way u, uint32_t *function)
{
	size_t n = (u.to - u.from) / sizeof(uint64_t);
	uint64_t *w = rn_new(s->mem, uint64_t, n + RN_RAW_BARE_MAX);
	uint32_t id;

	if (!w) {
		s->failed = true;
		return false;
	}
	memcpy(w, s->under_way + u.from, n * sizeof(*w));
	w[0] &= ~RN_RAW_ALIKE; /* the call has its own stack, not that of a cluster */
	if (RN_RAW_FUNCTION(w[0]) >= rn_mpi_vocab.funcs)
		return false;
	*function = RN_RAW_FUNCTION(w[0]);
	n = (size_t)(rn_raw_unset(w, w + n) - w);
	if (rn_sigs_intern(s->segment->tables.words, w, n * sizeof(*w), &id) < 0) {
		s->failed = true;
		return false;
	}
	return rn_salvage_append(s, id);
}

static bool add_leave(struct salvaged *s)
{
	const uint64_t w[2] = { s->markers.leave, 0 };
	uint32_t id;

	if (rn_sigs_intern(s->segment->tables.words, w, sizeof(w), &id) < 0) {
		s->failed = true;
		return false;
	}
	return rn_salvage_append(s, id);
}

/* Whether the user has excluded the calls of this function. */
static bool is_unwanted(const struct salvaged *s, uint64_t function)
{
	return (s->live.off & (RN_OFF_RANK | RN_OFF_ORDER)) ||
	       ((s->live.off & RN_OFF_CALLS) && s->facts->wanted && function < rn_mpi_vocab.funcs &&
		!s->facts->wanted[function]);
}

/* If only order events are recorded, the call in flight is not appended, but its function is
 * stored. */
static void note_stop(struct salvaged *s, uint64_t function)
{
	if ((s->live.off & (RN_OFF_RANK | RN_OFF_ORDER)) == RN_OFF_ORDER &&
	    RN_RAW_FUNCTION(function) < rn_mpi_vocab.funcs)
		s->facts->stopped = RN_RAW_FUNCTION(function);
}

/*
 * An outer call begins with an `enter` marker and ends with a `leave` marker. All calls in flight
 * but the innermost have an `enter` marker. If the markers do not match (the tracer was switched
 * off in between, or a call was just ending), only the innermost call is added, which is always
 * valid.
 */
static bool add_all(struct salvaged *s, const struct under_way *u, uint32_t n)
{
	bool all = s->open == n || s->open == n - 1;
	bool good = true;
	uint32_t other;

	for (uint32_t i = 0; i < (all ? n : 1) && good; i++) {
		if (i == 0 && s->open != n && is_unwanted(s, word_at(s, u[0].from))) {
			note_stop(s, word_at(s, u[0].from));
			continue;
		}
		if (all && (i > 0 || s->open == n))
			good = add_leave(s);
		if (good)
			good = add_unfinished(s, u[i], i ? &other : &s->facts->stopped);
	}
	return good;
}

static bool add_under_way(struct salvaged *s)
{
	struct under_way u[RN_SALVAGE_DEEP];
	uint32_t n = rn_salvage_under_way(s, u);

	/* the next call is being recorded, and is unknown */
	return n == 0 || s->last == RN_MARKER_LEAVE || add_all(s, u, n);
}

/* ---- a stream ---- */

struct rn_grammar *rn_salvage_grammar(const struct salvaged *s)
{
	return rn_grammar_new(s->mem, &(struct rn_grammar_opts){ RN_LITERAL_LIMIT });
}

/* Completes the segment: appends the calls of the grammar to those of the rules. */
static int end_segment(struct salvaged *s)
{
	struct rn_segment *it = s->segment;
	struct rn_item both[2] = { { it->root, RN_KIND_RULE, 1 }, { 0, RN_KIND_RULE, 1 } };
	bool alone = !it->rules;
	int rc;

	if (alone)
		it->rules = rn_rules_new(s->mem);
	rc = it->rules ? rn_rules_seal(it->rules, it->grammar, &both[1].id) : RN_E_NOMEM;
	return rc == RN_OK ? rn_rules_add(it->rules, both + alone, 2u - alone, &it->root) : rc;
}

/* Makes segment i of the log the segment being read, and the last one so far. */
static void start_segment(struct salvaged *s, uint32_t i)
{
	s->segment = *RN_SEG_AT(&s->pieces->segment, struct rn_segment *, i);
	s->pieces->segment.n = i + 1;
	s->open = 0;
	s->last = RN_MARKER_NONE;
}

int rn_salvage_give(struct salvaged *s, struct rn_recorded_stream *out)
{
	if (s->failed || end_segment(s) < 0)
		return RN_E_NOMEM;
	rn_segment_give(s->segment, out);
	return RN_OK;
}

/* Stores the call times. They cover the calls of all segments, from the first call on. */
static void give_moments(struct salvaged *s, struct rn_moments *out)
{
	const struct rn_chunk *chunk = rn_salvage_flatten(s, &s->chunks);

	*out = (struct rn_moments){ { s->facts->scale, s->zero }, chunk, chunk ? s->chunks.n : 0 };
}

/* Replaying this many irregular calls takes about 10 s. */
#define REPLAY_MAX ((uint64_t)1 << 26)

/* Each snapshot of a stream is hashed a few times. A few bytes can expand to any number of calls,
 * so the number of replayed calls is limited in proportion to the size of the file. */
static void set_limits(struct salvaged *s)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < s->f.n; i++)
		bytes += s->f.extent[i].len;
	s->hash_limit = 16 * bytes;
	s->replay_limit = 64 * bytes < REPLAY_MAX ? 64 * bytes : REPLAY_MAX;
}

static bool begin(struct salvaged *s)
{
	set_limits(s);
	rn_seg_init(&s->chunks, sizeof(struct rn_chunk));
	rn_seg_init(&s->order_site, sizeof(struct rn_order_site));
	rn_seg_init(&s->order_chunk, sizeof(struct rn_chunk));
	s->markers = rn_markers_of(&rn_mpi_vocab);
	rn_seg_init(&s->pieces->segment, sizeof(struct rn_segment *));
	rn_seg_init(&s->pieces->shape, sizeof(struct rn_shape));
	return rn_salvage_add_segment(s);
}

int rn_salvage_nothing(struct rn_arena *mem, struct rn_recorded_stream *out,
		       struct rn_segment_list *pieces)
{
	struct salvaged s = { .mem = mem, .pieces = pieces };

	return begin(&s) ? rn_salvage_give(&s, out) : RN_E_NOMEM;
}

bool rn_salvage_live(struct salvaged *s)
{
	for (uint32_t i = 0; i < s->f.n; i++) {
		const struct rn_found *e = &s->f.extent[i];

		if (e->head.kind != RN_EXTENT_LIVE || e->len < sizeof(s->live))
			continue;
		s->memory = e->at;
		s->memory_len = e->len;
		memcpy(&s->live, e->at, sizeof(s->live));
		return true;
	}
	return false;
}

/* Number of calls that are not in the file. */
static uint64_t lost_calls(const struct rn_live *l)
{
	return l->calls > l->limit ? l->calls - l->limit : 0;
}

/* Reads a closed segment from the log. If its snapshots are damaged, its calls are lost. */
static bool read_closed(struct salvaged *s)
{
	const struct rn_seal *seal = &s->segment->seal;
	bool lost = !rn_salvage_restore(s, seal);

	if (s->failed || seal->upto < s->before || (lost && s->facts->sealed_only))
		return false;
	if (lost) {
		s->facts->damaged = s->segment->lost = true;
		s->lost += seal->upto - s->before;
	}
	s->before = seal->upto;
	s->failed = end_segment(s) < 0;
	return !s->failed;
}

/* Reads the segment of the checkpoint, and those before it. False if the log does not contain
 * it. */
static bool read_sealed(struct salvaged *s, const struct rn_seal *seal)
{
	uint32_t last = seal->segment < s->segments ? (uint32_t)seal->segment : s->segments - 1;

	for (uint32_t i = 0; i < last; i++) {
		if (!read_closed(s))
			return false;
		start_segment(s, i + 1);
	}
	return seal->segment == last && rn_salvage_restore(s, seal);
}

/* Reads the calls of the stream. A stream without a checkpoint has no calls, and its log may be
 * incomplete. A segment that is in the log but not yet in the stream's extent has no calls either.
 * If the latest checkpoint is damaged, the previous one is restored as far as it is valid. */
static bool read_calls(struct salvaged *s)
{
	const struct rn_live *l = &s->live;
	const struct rn_seal *seal = &l->seal[l->sealed & 1], *before = &l->seal[!l->sealed];

	if (l->sealed > 1)
		return false;
	if (seal->calls.page == 0 && seal->sum == 0)
		return true;
	if (!rn_salvage_sound(s, seal)) {
		if (before->calls.page && rn_salvage_sound(s, before))
			read_sealed(s, before);
		return false;
	}
	if (!read_sealed(s, seal) || s->facts->sealed_only ||
	    !rn_salvage_ring(s, seal, l->calls < l->limit ? l->calls : l->limit))
		return false;
	return lost_calls(l) || add_under_way(s);
}

/* Reads a record, but no call times: a live position needs none, and there may be many. */
static bool skip_moments(void *arg, uint32_t type, const void *bytes, size_t len)
{
	return type == RN_FACT_MOMENTS || rn_salvage_fact(arg, type, bytes, len);
}

int rn_salvage_stream(struct rn_arena *mem, struct rn_founds f, struct rn_stream_facts *facts,
		      struct rn_recorded_stream *out, struct rn_segment_list *pieces,
		      struct rn_now *now)
{
	struct salvaged s = { .mem = mem, .f = f, .facts = facts, .pieces = pieces };

	if (!begin(&s))
		return RN_E_NOMEM;
	if (!rn_salvage_live(&s)) {
		facts->damaged = true;
		return rn_salvage_give(&s, out);
	}
	if (!rn_found_log(f, now ? skip_moments : rn_salvage_fact, &s))
		facts->damaged = true;
	if (now)
		return rn_salvage_look(&s, out, now);
	start_segment(&s, 0);
	if (!s.failed && !read_calls(&s))
		facts->damaged = true;
	out->lost = s.live.lost + lost_calls(&s.live) + s.lost;
	if (!s.failed && !rn_salvage_order(&s, out))
		facts->damaged = true;
	give_moments(&s, &out->moments);
	return rn_salvage_give(&s, out);
}
