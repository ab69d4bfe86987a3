/*
 * salvage_stream.c - see salvage_stream.h: logs, snapshots, ring, and the calls under way.
 *
 * The log is read first, into the tables of each segment. Then the snapshots of the segments that
 * are over, and last what the stream's own memory says, of the segment that it says it is in.
 */
#include "file/salvage_stream.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/varint.h"
#include "encode/holes.h"
#include "encode/moments.h"
#include "encode/sigs.h"
#include "encode/timing.h"
#include "file/recorded.h"
#include "file/salvage.h"
#include "file/salvage_join.h"
#include "grammar/grammar.h"
#include "merge/markers.h"
#include "rules/rules.h"

#include <string.h>

/* A segment that is over. */
struct told {
	struct rn_tables tables;
	struct rn_seg *holes, *pieces;
	struct rn_seal seal;
};

/* What stood in a hole before what is sealed. */
struct value_piece {
	struct rn_fact_values of;
	const unsigned char *bytes;
	size_t len;
};

/* What a stream becomes; recorded.h has it read-only. */
struct salvaged {
	struct rn_arena *mem;
	struct rn_founds f;
	struct rn_stream_facts *facts;
	/* Of the segment that is being read. */
	struct rn_sigs *words, *blobs, *texts;
	struct rn_seg *holes;       /* struct rn_holes *, by call; NULL: it has none */
	struct rn_seg *value_piece; /* struct value_piece */
	struct rn_grammar *grammar;
	struct rn_times *times;
	uint64_t before; /* calls in those before it */
	/* Those that are in the log. */
	struct rn_seg told; /* struct told */
	struct rn_pieces *pieces;
	struct rn_markers markers;
	const unsigned char *memory; /* of the process: the extent that begins with `live` */
	size_t memory_len;
	struct rn_live live;
	struct rn_seg chunks; /* struct rn_moment_bytes */
	uint64_t zero;        /* when they begin */
	bool failed;          /* no memory */
	/* Of the calls in the grammar. */
	uint64_t open;       /* have begun, had calls inside, and have not ended */
	enum rn_marker last; /* the latest of them */
};

/* ---- logs ---- */

static bool read_records(const struct rn_found *e, size_t used, rn_fact_fn *fn, void *arg)
{
	const unsigned char *p = e->at + sizeof(e->head);
	size_t size;

	for (size_t at = 0; at < used; at += size) {
		struct rn_record r;

		if (used - at < sizeof(r))
			return false;
		memcpy(&r, p + at, sizeof(r));
		size = sizeof(r) + (((size_t)r.bytes + 7) & ~(size_t)7);
		if (size > used - at ||
		    r.sum != rn_record_sum(&e->head, at, &r, p + at + sizeof(r)) ||
		    !fn(arg, r.type, p + at + sizeof(r), r.bytes))
			return false;
	}
	return true;
}

/* Numbers of records follow from their order, so nothing is read behind what is missing. */
bool rn_found_log(struct rn_founds f, rn_fact_fn *fn, void *arg)
{
	uint64_t before = 0;

	for (uint32_t i = 0; i < f.n; i++) {
		const struct rn_found *e = &f.extent[i];
		size_t room = e->len - sizeof(e->head);
		bool cut = e->head.used > room;

		if (e->head.kind != RN_EXTENT_LOG)
			continue;
		if (e->head.used && e->head.before != before)
			return false;
		if (!read_records(e, cut ? room : e->head.used, fn, arg) || cut)
			return false;
		before = e->head.number;
	}
	return true;
}

static bool start_tables(struct salvaged *s)
{
	s->words = rn_sigs_new(s->mem);
	s->blobs = rn_sigs_new(s->mem);
	s->texts = rn_sigs_new(s->mem);
	s->holes = rn_new(s->mem, struct rn_seg, 1);
	s->value_piece = rn_new(s->mem, struct rn_seg, 1);
	if (!s->holes || !s->value_piece)
		return false;
	rn_seg_init(s->holes, sizeof(struct rn_holes *));
	rn_seg_init(s->value_piece, sizeof(struct value_piece));
	return s->words && s->blobs && s->texts;
}

static bool take_segment(struct salvaged *s, const void *bytes, size_t len)
{
	struct told t = { { s->words, s->blobs, s->texts }, s->holes, s->value_piece, { 0 } };

	if (len != sizeof(t.seal))
		return false;
	memcpy(&t.seal, bytes, sizeof(t.seal));
	if (!rn_seg_reserve(&s->told, s->mem, 1) || !start_tables(s)) {
		s->failed = true;
		return false;
	}
	*RN_SEG_AT(&s->told, struct told, s->told.n) = t;
	s->told.n++;
	return true;
}

static bool take_shape(struct salvaged *s, const void *bytes, size_t len)
{
	struct rn_seg *shapes = &s->pieces->shape;
	uint64_t call;

	if (len != sizeof(call))
		return false;
	memcpy(&call, bytes, sizeof(call));
	if (call >= rn_sigs_count(s->words))
		return false;
	if (!rn_seg_reserve(shapes, s->mem, 1)) {
		s->failed = true;
		return false;
	}
	*RN_SEG_AT(shapes, struct rn_shape, shapes->n) =
		(struct rn_shape){ s->told.n, (uint32_t)call };
	shapes->n++;
	return true;
}

/* Times of single calls. What is in the chunk is looked at by who reads the trace. */
static bool take_moments(struct salvaged *s, const unsigned char *bytes, size_t len)
{
	unsigned char *copy;

	if (len <= sizeof(s->zero) ||
	    !rn_moments_length(bytes + sizeof(s->zero), len - sizeof(s->zero)))
		return false;
	memcpy(&s->zero, bytes, sizeof(s->zero));
	if (s->zero > INT64_MAX)
		return false;
	len -= sizeof(s->zero);
	copy = rn_new(s->mem, unsigned char, len);
	s->failed = !copy || !rn_seg_reserve(&s->chunks, s->mem, 1);
	if (s->failed)
		return false;
	memcpy(copy, bytes + sizeof(s->zero), len);
	*RN_SEG_AT(&s->chunks, struct rn_moment_bytes, s->chunks.n) =
		(struct rn_moment_bytes){ copy, len };
	s->chunks.n++;
	return true;
}

/* The holes of a call, without what stands in them. */
static bool take_holes(struct salvaged *s, uint32_t call, const uint64_t *words, size_t n)
{
	struct rn_holes *h = rn_holes_new(s->mem, words, n);

	s->failed |= !h || !rn_holes_put(s->holes, s->mem, call, h);
	return !s->failed;
}

/* The extents outlive what is read, so the bytes stay where they are. */
static bool take_values(struct salvaged *s, const unsigned char *bytes, size_t len)
{
	struct value_piece p;

	if (len < sizeof(p.of))
		return false;
	memcpy(&p.of, bytes, sizeof(p.of));
	p.bytes = bytes + sizeof(p.of);
	p.len = len - sizeof(p.of);
	if (!rn_seg_reserve(s->value_piece, s->mem, 1)) {
		s->failed = true;
		return false;
	}
	*RN_SEG_AT(s->value_piece, struct value_piece, s->value_piece->n) = p;
	s->value_piece->n++;
	return true;
}

/* The next element of one of the tables. */
static bool take_element(struct salvaged *s, uint32_t type, const void *bytes, size_t len)
{
	bool call = type == RN_FACT_CALL || type == RN_FACT_ELASTIC;
	struct rn_sigs *table = call                   ? s->words
				: type == RN_FACT_BLOB ? s->blobs
				: type == RN_FACT_TEXT ? s->texts
						       : NULL;
	uint32_t n, id;

	if (type == RN_FACT_MOMENTS)
		return take_moments(s, bytes, len);
	if (!table || (type != RN_FACT_TEXT && len % sizeof(uint64_t)) || (call && len == 0) ||
	    (type == RN_FACT_ELASTIC && !rn_holes_valid(bytes, len / sizeof(uint64_t))))
		return false;
	n = rn_sigs_count(table);
	if (rn_sigs_intern(table, bytes, len, &id) < 0) {
		s->failed = true;
		return false;
	}
	if (id != n)
		return false;
	return type != RN_FACT_ELASTIC || take_holes(s, id, bytes, len / sizeof(uint64_t));
}

static bool take_fact(void *arg, uint32_t type, const void *bytes, size_t len)
{
	if (type == RN_FACT_SEGMENT)
		return take_segment(arg, bytes, len);
	if (type == RN_FACT_SHAPE)
		return take_shape(arg, bytes, len);
	if (type == RN_FACT_MOMENTS)
		return take_moments(arg, bytes, len);
	if (type == RN_FACT_VALUES)
		return take_values(arg, bytes, len);
	return take_element(arg, type, bytes, len);
}

/* For where a stream is, nobody needs times, which may be many. */
static bool take_fact_now(void *arg, uint32_t type, const void *bytes, size_t len)
{
	return type == RN_FACT_MOMENTS || take_fact(arg, type, bytes, len);
}

/* ---- snapshot ---- */

static const struct rn_found *extent_at(struct rn_founds f, enum rn_extent_kind kind, uint64_t page)
{
	for (uint32_t i = 0; i < f.n; i++)
		if (f.extent[i].head.kind == kind && f.extent[i].head.number == page)
			return &f.extent[i];
	return NULL;
}

static enum rn_marker marker_of(const struct salvaged *s, uint32_t id)
{
	size_t len;
	const uint64_t *w = rn_sigs_get(s->words, id, &len);

	return rn_marker_function(&s->markers, RN_RAW_FUNCTION(w[0]));
}

static uint64_t opens(enum rn_marker m)
{
	return m == RN_MARKER_ENTER ? 1 : m == RN_MARKER_LEAVE ? UINT64_MAX : 0;
}

static bool literals_fit(const struct salvaged *s, const struct rn_rules *r, uint64_t *open)
{
	for (uint32_t i = 0; i < rn_rules_literals(r); i++) {
		uint64_t n;
		const uint32_t *symbol = rn_rules_literal(r, i, &n);

		for (uint64_t k = 0; k < n; k++) {
			if (symbol[k] >= rn_sigs_count(s->words))
				return false;
			open[i] += opens(marker_of(s, symbol[k]));
		}
	}
	return true;
}

/* Whether every symbol is that of a call; and how many more calls are under way behind the rule
 * than before it, modulo 2^64. */
static bool rules_fit(const struct salvaged *s, const struct rn_rules *r, const uint64_t *literal,
		      uint64_t *open)
{
	for (uint32_t i = 0; i < rn_rules_count(r); i++) {
		struct rn_body b = rn_rules_body(r, i);

		for (uint32_t k = 0; k < b.n; k++) {
			const struct rn_item *it = &b.item[k];

			if (it->kind == RN_KIND_TERMINAL && it->id >= rn_sigs_count(s->words))
				return false;
			open[i] += it->count * (it->kind == RN_KIND_RULE ? open[it->id]
						: it->kind == RN_KIND_LITERAL
							? literal[it->id]
							: opens(marker_of(s, it->id)));
		}
	}
	return true;
}

static bool get_last(struct salvaged *s, const struct rn_rules *r, uint32_t root,
		     struct rn_arena *scratch)
{
	struct rn_walk w;
	uint32_t id;

	if (rn_walk_init(&w, r, root, scratch) < 0)
		return false;
	if (rn_walk_seek(&w, rn_rules_length(r, root)) == RN_OK && rn_walk_prev(&w, &id))
		s->last = marker_of(s, id);
	return true;
}

static bool look_at_rules(struct salvaged *s, const struct rn_rules *r, uint32_t root,
			  struct rn_arena *scratch)
{
	uint64_t *literal = rn_new(scratch, uint64_t, (size_t)rn_rules_literals(r) + 1);
	uint64_t *open = rn_new(scratch, uint64_t, (size_t)rn_rules_count(r) + 1);

	if (!literal || !open) {
		s->failed = true;
		return false;
	}
	if (!literals_fit(s, r, literal) || !rules_fit(s, r, literal, open))
		return false;
	s->open = open[root];
	s->failed = !get_last(s, r, root, scratch);
	return !s->failed;
}

/* Whether a grammar is one of these calls, and of so many. */
static bool grammar_fits(struct salvaged *s, const struct rn_grammar *g, uint64_t calls)
{
	struct rn_arena scratch;
	struct rn_rules *r;
	uint32_t root;
	bool fits = false;
	int rc;

	rn_arena_init(&scratch, SIZE_MAX);
	r = rn_rules_new(&scratch);
	rc = r ? rn_rules_seal(r, g, &root) : RN_E_NOMEM;
	if (rc == RN_E_NOMEM)
		s->failed = true;
	if (rc == RN_OK && rn_rules_length(r, root) == calls)
		fits = look_at_rules(s, r, root, &scratch);
	rn_arena_free(&scratch);
	return fits;
}

static bool restore_grammar(struct salvaged *s, const unsigned char *bytes, size_t len,
			    uint64_t calls)
{
	struct rn_grammar *g;
	int rc = rn_grammar_restore(s->mem, bytes, len, &g, NULL);

	if (rc == RN_E_NOMEM)
		s->failed = true;
	if (rc < 0 || !grammar_fits(s, g, calls))
		return false;
	s->grammar = g;
	return true;
}

/* What stood in them before that. */
static bool restore_pieces(struct salvaged *s, uint64_t pieces)
{
	if (pieces > s->value_piece->n)
		return false;
	for (uint64_t i = 0; i < pieces; i++) {
		const struct value_piece *p =
			RN_SEG_AT(s->value_piece, struct value_piece, (uint32_t)i);
		struct rn_holes *h = p->of.call < rn_sigs_count(s->words)
					     ? rn_holes_of(s->holes, (uint32_t)p->of.call)
					     : NULL;
		int rc = h && p->of.hole < h->n ? rn_holes_add_done(h, s->mem, (uint32_t)p->of.hole,
								    p->bytes, p->len)
						: RN_E_DATA;

		if (rc == RN_E_NOMEM)
			s->failed = true;
		if (rc < 0)
			return false;
	}
	return true;
}

/* What stands in the holes of the calls in the snapshot. */
static bool restore_values(struct salvaged *s, const unsigned char *bytes, size_t len)
{
	struct rn_reader in = rn_reader(bytes, len);

	while (rn_left(&in)) {
		const unsigned char *p = rn_get_bytes(&in, sizeof(uint64_t));
		struct rn_holes *h = NULL;
		uint64_t call = 0;
		int rc = RN_E_DATA;

		if (p)
			memcpy(&call, p, sizeof(call));
		if (p && call < rn_sigs_count(s->words))
			h = rn_holes_of(s->holes, (uint32_t)call);
		if (h)
			rc = rn_holes_load(h, s->mem, &in);
		if (rc == RN_E_NOMEM)
			s->failed = true;
		if (rc < 0)
			return false;
	}
	return true;
}

/* Without them the calls are there all the same. */
static bool restore_times(struct salvaged *s, const unsigned char *bytes, size_t len)
{
	struct rn_times t;
	int rc = rn_times_load(s->mem, bytes, len, s->facts->scale, &t, NULL);

	if (rc == RN_E_NOMEM)
		s->failed = true;
	if (rc < 0 || t.clock.n || t.sig.n > rn_sigs_count(s->words))
		return false;
	rn_times_settle(&t, s->facts->scale);
	if (!rn_times_check(&t))
		return false;
	*s->times = t;
	return true;
}

/* The `bytes` of a snapshot, so far behind the area's head; NULL when they are not there, or
 * others. None have no sum. */
static const unsigned char *snapshot(const struct salvaged *s, uint64_t page, uint64_t at,
				     uint64_t bytes, uint64_t sum)
{
	const struct rn_found *area = extent_at(s->f, RN_EXTENT_AREA, page);
	uint64_t room = area ? area->len - sizeof(area->head) : 0;
	const unsigned char *p;

	if (!area || at > room || bytes > room - at)
		return NULL;
	p = area->at + sizeof(area->head) + at;
	return (bytes == 0 && sum == 0) || rn_area_sum(&area->head, p, bytes) == sum ? p : NULL;
}

static bool restore(struct salvaged *s, const struct rn_seal *seal)
{
	const unsigned char *p = snapshot(s, seal->area, 0, seal->grammar, seal->grammar_sum),
			    *v = snapshot(s, seal->area, rn_seal_values(seal), seal->values,
					  seal->values_sum);

	if (!p || !v || seal->upto < s->before || !restore_pieces(s, seal->pieces) ||
	    !restore_values(s, v, seal->values) ||
	    !restore_grammar(s, p, seal->grammar, seal->upto - s->before))
		return false;
	p = snapshot(s, seal->times_at, 0, seal->times, seal->times_sum);
	if (seal->times && (!p || !restore_times(s, p, seal->times)))
		s->facts->damaged = true;
	return true;
}

/* ---- ring ---- */

/* Whether a marker may come next, or a call: what follows `leave` is the call that it is about. */
static bool is_next(const struct salvaged *s, enum rn_marker m)
{
	if (s->last == RN_MARKER_LEAVE && m != RN_MARKER_NONE)
		return false;
	return m == RN_MARKER_ENTER   ? s->open < RN_NESTING_MAX
	       : m == RN_MARKER_LEAVE ? s->open > 0
				      : true;
}

static bool append(struct salvaged *s, uint32_t id)
{
	if (id >= rn_sigs_count(s->words) || !is_next(s, marker_of(s, id)))
		return false;
	if (rn_grammar_append(s->grammar, id) < 0) {
		s->failed = true;
		return false;
	}
	s->last = marker_of(s, id);
	s->open += opens(s->last);
	return true;
}

/* The ring of what stands in holes. */
struct values {
	const struct rn_found *tail;
	uint64_t next, left, places;
};

static struct values values_of(const struct salvaged *s, const struct rn_seal *seal)
{
	struct values v = { extent_at(s->f, RN_EXTENT_TAIL, seal->values_tail), seal->values_from,
			    seal->values_places, seal->values_places };
	uint64_t room = v.tail ? (v.tail->len - sizeof(v.tail->head)) / sizeof(int64_t) : 0;

	if (v.places > room || v.places & (v.places - 1))
		v.left = 0;
	return v;
}

static bool read_values(struct salvaged *s, struct values *v, struct rn_holes *h)
{
	int64_t number[RN_HOLES_MAX];

	if (v->left < h->n)
		return false;
	v->left -= h->n;
	for (uint32_t k = 0; k < h->n; k++, v->next++)
		memcpy(&number[k],
		       v->tail->at + sizeof(v->tail->head) +
			       (size_t)(v->next & (v->places - 1)) * sizeof(int64_t),
		       sizeof(*number));
	s->failed |= rn_holes_append_numbers(h, number) < 0;
	return !s->failed;
}

/* The calls upto .. end. False when not all are there. */
static bool read_ring(struct salvaged *s, const struct rn_seal *seal, uint64_t end)
{
	const struct rn_found *tail = extent_at(s->f, RN_EXTENT_TAIL, seal->tail);
	struct values values = values_of(s, seal);
	uint64_t places = seal->places;
	struct rn_holes *h;
	uint32_t id;

	if (end == seal->upto)
		return true;
	if (!tail || !places || places & (places - 1) || end < seal->upto ||
	    end - seal->upto > places || places > SIZE_MAX / sizeof(id))
		return false;
	for (uint64_t i = seal->upto; i < end; i++) {
		size_t at = sizeof(tail->head) + (size_t)(i & (places - 1)) * sizeof(id);

		if (at + sizeof(id) > tail->len)
			return false;
		memcpy(&id, tail->at + at, sizeof(id));
		h = rn_holes_of(s->holes, id);
		if ((h && !read_values(s, &values, h)) || !append(s, id))
			return false;
	}
	return true;
}

/* ---- calls under way ---- */

/* Calls inside calls that are looked at; deeper ones are of a program that does nothing else. */
#define DEEP 64u

struct under_way {
	size_t from, to; /* words, in the stream's memory */
};

static uint64_t word_at(const struct salvaged *s, size_t at)
{
	uint64_t w;

	memcpy(&w, s->memory + at, sizeof(w));
	return w;
}

/* Where an address of the process is in the stream's memory; 0 when it is not there. */
static size_t place_of(const struct salvaged *s, uint64_t address)
{
	uint64_t at = address - (uint64_t)(uintptr_t)s->live.self;

	return at >= sizeof(s->live) && at <= s->memory_len && at % sizeof(uint64_t) == 0
		       ? (size_t)at
		       : 0;
}

/* The calls whose words end at `top` and below, innermost first; 0 if that is not so. Behind the
 * words of each is where they begin. */
static uint32_t chain(const struct salvaged *s, size_t bottom, size_t top, struct under_way *out)
{
	uint32_t n = 0;

	while (top != bottom) {
		size_t from = top >= bottom + 3 * sizeof(uint64_t)
				      ? place_of(s, word_at(s, top - sizeof(uint64_t)))
				      : 0;

		if (n == DEEP || from < bottom || from + 3 * sizeof(uint64_t) > top)
			return 0;
		out[n++] = (struct under_way){ from, top - 2 * sizeof(uint64_t) };
		top = from;
	}
	return n;
}

/* When the innermost call has returned, its results are written where it says where it begins. Then
 * it is not known, and those that it was made inside of are looked for. */
static uint32_t find_under_way(const struct salvaged *s, struct under_way *out, bool *inner)
{
	size_t bottom = place_of(s, (uint64_t)(uintptr_t)s->live.buffer);
	size_t top = place_of(s, (uint64_t)(uintptr_t)s->live.top);
	uint32_t n = 0;

	*inner = true;
	if (!bottom || top <= bottom)
		return 0;
	while (top > bottom && !(n = chain(s, bottom, top, out))) {
		*inner = false;
		top -= sizeof(uint64_t);
	}
	return n;
}

/* One more call, as it was made, without results. */
static bool add_unfinished(struct salvaged *s, struct under_way u, uint32_t *function)
{
	size_t n = (u.to - u.from) / sizeof(uint64_t);
	uint64_t *w = rn_new(s->mem, uint64_t, n + RN_RAW_BARE_MAX);
	uint32_t id;

	if (!w) {
		s->failed = true;
		return false;
	}
	memcpy(w, s->memory + u.from, n * sizeof(*w));
	if (RN_RAW_FUNCTION(w[0]) >= rn_mpi_vocab.funcs)
		return false;
	*function = RN_RAW_FUNCTION(w[0]);
	n = (size_t)(rn_raw_unset(w, w + n) - w);
	if (rn_sigs_intern(s->words, w, n * sizeof(*w), &id) < 0) {
		s->failed = true;
		return false;
	}
	return append(s, id);
}

static bool add_leave(struct salvaged *s)
{
	const uint64_t w[2] = { s->markers.leave, 0 };
	uint32_t id;

	if (rn_sigs_intern(s->words, w, sizeof(w), &id) < 0) {
		s->failed = true;
		return false;
	}
	return append(s, id);
}

/* Whether the user does not want to have calls of this function. */
static bool is_unwanted(const struct salvaged *s, uint64_t function)
{
	return (s->live.off & RN_OFF_RANK) ||
	       ((s->live.off & RN_OFF_CALLS) && s->facts->wanted && function < rn_mpi_vocab.funcs &&
		!s->facts->wanted[function]);
}

/*
 * Each call that others were made inside of has begun with a marker, and ends with one. All but the
 * innermost have; where the markers say something else (the tracer was switched off in between, a
 * call was just ending), only the innermost call is added, which is right in any case.
 */
static bool add_all(struct salvaged *s, const struct under_way *u, uint32_t n, bool inner)
{
	bool all = s->open == n || (inner && s->open == n - 1);
	bool good = true;
	uint32_t other;

	if (!inner && !all)
		return true;
	for (uint32_t i = 0; i < (all ? n : 1) && good; i++) {
		if (i == 0 && s->open != n && is_unwanted(s, word_at(s, u[0].from)))
			continue;
		if (all && (i > 0 || s->open == n))
			good = add_leave(s);
		if (good)
			good = add_unfinished(s, u[i], i ? &other : &s->facts->stopped);
	}
	return good;
}

static bool add_under_way(struct salvaged *s)
{
	struct under_way u[DEEP];
	bool inner;
	uint32_t n = find_under_way(s, u, &inner);

	/* A call that is just being recorded comes next, and it is not known. */
	return n == 0 || s->last == RN_MARKER_LEAVE || add_all(s, u, n, inner);
}

/* ---- a stream ---- */

static struct rn_tables tables_of(const struct salvaged *s)
{
	return (struct rn_tables){ s->words, s->blobs, s->texts };
}

static struct told segment_being_read(const struct salvaged *s)
{
	return (struct told){ tables_of(s), s->holes, s->value_piece, { 0 } };
}

/* The segment is as far as it comes. */
static bool end_segment(struct salvaged *s)
{
	struct rn_seg *all = &s->pieces->segment;

	if (!rn_seg_reserve(all, s->mem, 1)) {
		s->failed = true;
		return false;
	}
	*RN_SEG_AT(all, struct rn_segment, all->n) =
		(struct rn_segment){ tables_of(s), s->holes, s->grammar, s->times };
	all->n++;
	return true;
}

/* One that has these tables, and no calls yet. */
static bool start_segment(struct salvaged *s, struct told of)
{
	s->words = of.tables.words;
	s->blobs = of.tables.blobs;
	s->texts = of.tables.texts;
	s->holes = of.holes;
	s->value_piece = of.pieces;
	s->grammar = rn_grammar_new(s->mem, NULL);
	s->times = rn_new(s->mem, struct rn_times, 1);
	s->open = 0;
	s->last = RN_MARKER_NONE;
	if (s->times)
		rn_times_init(s->times, s->mem, RN_TIME_SCALE_ONE);
	s->failed = !s->grammar || !s->times;
	return !s->failed;
}

/* Gives the last segment, and with it the stream if it is the only one. */
static int give(struct salvaged *s, struct rn_recorded_stream *out)
{
	if (s->failed || !end_segment(s))
		return RN_E_NOMEM;
	out->calls.words = s->words;
	out->calls.blobs = s->blobs;
	out->calls.texts = s->texts;
	out->calls.times = s->times;
	out->calls.holes = s->holes;
	out->grammar = s->grammar;
	return RN_OK;
}

/* They are of the calls from the first on, of all segments. */
static void give_moments(struct salvaged *s, struct rn_moments *out)
{
	struct rn_moment_bytes *chunk = rn_new(s->mem, struct rn_moment_bytes, s->chunks.n);

	s->failed |= !chunk;
	for (uint32_t i = 0; chunk && i < s->chunks.n; i++)
		chunk[i] = *RN_SEG_AT(&s->chunks, struct rn_moment_bytes, i);
	*out = (struct rn_moments){ s->facts->scale, s->zero, chunk, chunk ? s->chunks.n : 0 };
}

static bool start(struct salvaged *s)
{
	rn_seg_init(&s->chunks, sizeof(struct rn_moment_bytes));
	s->markers = rn_markers_of(&rn_mpi_vocab);
	rn_seg_init(&s->told, sizeof(struct told));
	rn_seg_init(&s->pieces->segment, sizeof(struct rn_segment));
	rn_seg_init(&s->pieces->shape, sizeof(struct rn_shape));
	return start_tables(s) && start_segment(s, segment_being_read(s));
}

int rn_salvage_nothing(struct rn_arena *mem, struct rn_recorded_stream *out,
		       struct rn_pieces *pieces)
{
	struct salvaged s = { .mem = mem, .pieces = pieces };

	return start(&s) ? give(&s, out) : RN_E_NOMEM;
}

static bool find_live(struct salvaged *s)
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

/* Calls that are not in the file. */
static uint64_t lost_calls(const struct rn_live *l)
{
	return l->calls > l->limit ? l->calls - l->limit : 0;
}

/* The segments before that one, from the log. */
static bool read_told(struct salvaged *s, uint64_t segment)
{
	for (uint32_t i = 0; i < s->told.n && i < segment; i++) {
		const struct told *t = RN_SEG_AT(&s->told, struct told, i);

		if (!start_segment(s, *t) || !restore(s, &t->seal) || !end_segment(s))
			return false;
		s->before = t->seal.upto;
	}
	return segment <= s->told.n;
}

/* What it says is what was written, and so is the grammar that it is about, and what stands in
 * holes. */
static bool is_sound(const struct salvaged *s, const struct rn_seal *seal)
{
	return seal->sum == rn_seal_sum(&s->live.extent, seal) &&
	       snapshot(s, seal->area, 0, seal->grammar, seal->grammar_sum) &&
	       snapshot(s, seal->area, rn_seal_values(seal), seal->values, seal->values_sum);
}

static bool read_sealed(struct salvaged *s, const struct rn_seal *seal)
{
	struct told last = segment_being_read(s);

	if (!read_told(s, seal->segment))
		return false;
	if (seal->segment < s->told.n)
		last = *RN_SEG_AT(&s->told, struct told, seal->segment);
	return start_segment(s, last) && restore(s, seal);
}

/* What is not sealed yet has not begun, and its log may be half written. Neither has a segment that
 * the log has, but the stream's memory not yet. Of one whose latest seal is damaged, the one before
 * it is there, as far as that goes. */
static bool read_calls(struct salvaged *s)
{
	const struct rn_live *l = &s->live;
	const struct rn_seal *seal = &l->seal[l->sealed & 1], *before = &l->seal[!l->sealed];

	if (l->sealed > 1)
		return false;
	if (seal->area == 0 && seal->sum == 0)
		return true;
	if (!is_sound(s, seal)) {
		if (before->area && is_sound(s, before))
			read_sealed(s, before);
		return false;
	}
	if (!read_sealed(s, seal) || !read_ring(s, seal, l->calls < l->limit ? l->calls : l->limit))
		return false;
	return lost_calls(l) || add_under_way(s);
}

/* ---- where it is ---- */

/* A race with the process is one that it wins; then it is at work. */
#define TRIES 100

/* How many of the latest calls are in the ring: those since the last snapshot, and those before it
 * if that did not come with a new ring. */
static uint64_t in_ring(const struct rn_live *l)
{
	const struct rn_seal *seal = &l->seal[l->sealed & 1], *other = &l->seal[~l->sealed & 1];
	uint64_t from =
		seal->tail == other->tail && other->upto < seal->upto ? other->upto : seal->upto;
	uint64_t end = l->calls < l->limit ? l->calls : l->limit;
	uint64_t n = end > from ? end - from : 0;

	return n < seal->places ? n : seal->places;
}

/* The numbers of the latest calls, the latest first, as long as fn returns true. */
static void back_in_ring(const struct salvaged *s, bool (*fn)(void *arg, uint32_t id), void *arg)
{
	const struct rn_live *l = &s->live;
	const struct rn_seal *seal = &l->seal[l->sealed & 1];
	const struct rn_found *tail = extent_at(s->f, RN_EXTENT_TAIL, seal->tail);
	uint64_t end = l->calls < l->limit ? l->calls : l->limit;
	uint64_t room = tail ? (tail->len - sizeof(tail->head)) / sizeof(uint32_t) : 0;

	if (!seal->places || seal->places & (seal->places - 1) || seal->places > room)
		return;
	for (uint64_t i = 0, n = in_ring(l); i < n; i++) {
		size_t at = (size_t)((end - 1 - i) & (seal->places - 1));
		uint32_t id;

		memcpy(&id, tail->at + sizeof(tail->head) + at * sizeof(id), sizeof(id));
		if (id >= rn_sigs_count(s->words) || !fn(arg, id))
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

	if (marker_of(x->s, id) != RN_MARKER_NONE)
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
	now->last = rn_sigs_get(s->words, x.id, &now->last_n);
	now->last_n /= sizeof(uint64_t);
	if (RN_RAW_FUNCTION(now->last[0]) >= rn_mpi_vocab.funcs)
		now->last = NULL;
}

static const uint64_t *copy_words(struct salvaged *s, struct under_way u, size_t *n)
{
	uint64_t *w = rn_new(s->mem, uint64_t, (u.to - u.from) / sizeof(uint64_t) + 1);

	*n = (u.to - u.from) / sizeof(uint64_t);
	if (w)
		memcpy(w, s->memory + u.from, *n * sizeof(*w));
	else
		s->failed = true;
	return w && *n && RN_RAW_FUNCTION(w[0]) < rn_mpi_vocab.funcs ? w : NULL;
}

static void find_now(struct salvaged *s, struct rn_now *now)
{
	struct under_way u[DEEP];
	bool inner;
	uint32_t n = find_under_way(s, u, &inner);

	*now = (struct rn_now){ .calls = s->live.calls,
				.entered = s->live.entered,
				.left = s->live.left,
				.off = s->live.off };
	find_last(s, now);
	if (n && inner)
		now->call = copy_words(s, u[0], &now->call_n);
	if (n > 1 && inner)
		now->outer = copy_words(s, u[1], &now->outer_n);
}

/* Whether it still is what we have read of it. */
static bool is_same(const struct salvaged *s)
{
	struct rn_live now;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	memcpy(&now, s->memory, sizeof(now));
	return now.calls == s->live.calls && now.top == s->live.top &&
	       now.entered == s->live.entered && now.sealed == s->live.sealed;
}

static uint64_t segment_now(const struct salvaged *s)
{
	return s->live.seal[s->live.sealed & 1].segment;
}

/* The tables of the segment that its memory is in. The log may have the next one already, the
 * `last`, which has not begun, and never does if there was no room for it. */
static void use_tables_now(struct salvaged *s, struct rn_tables last)
{
	struct rn_tables t = last;

	if (segment_now(s) < s->told.n)
		t = RN_SEG_AT(&s->told, struct told, segment_now(s))->tables;
	s->words = t.words;
	s->blobs = t.blobs;
	s->texts = t.texts;
}

/* Those of earlier segments are not known any more: their words refer to other tables. */
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

int rn_salvage_stream_now(struct rn_arena *mem, struct rn_founds f, struct rn_stream_facts *facts,
			  struct rn_recorded_stream *out, struct rn_pieces *pieces,
			  struct rn_now *now)
{
	struct salvaged s = { .mem = mem, .f = f, .facts = facts, .pieces = pieces };
	struct rn_tables last;
	int tries = 0;

	if (!start(&s))
		return RN_E_NOMEM;
	if (!find_live(&s)) {
		facts->damaged = true;
		return RN_OK;
	}
	facts->damaged |= !rn_found_log(f, take_fact_now, &s);
	last = tables_of(&s);
	do {
		find_live(&s);
		use_tables_now(&s, last);
		find_now(&s, now);
	} while (!is_same(&s) && ++tries < TRIES && !s.failed);
	now->busy = tries == TRIES || segment_now(&s) > s.told.n; /* that began just now */
	give_makers(&s, out);
	give(&s, out);
	return s.failed ? RN_E_NOMEM : RN_OK;
}

/* ---- */

int rn_salvage_stream(struct rn_arena *mem, struct rn_founds f, struct rn_stream_facts *facts,
		      struct rn_recorded_stream *out, struct rn_pieces *pieces)
{
	struct salvaged s = { .mem = mem, .f = f, .facts = facts, .pieces = pieces };

	if (!start(&s))
		return RN_E_NOMEM;
	if (!find_live(&s)) {
		facts->damaged = true;
		return give(&s, out);
	}
	if (!rn_found_log(f, take_fact, &s))
		facts->damaged = true;
	if (!s.failed && !read_calls(&s))
		facts->damaged = true;
	out->lost = s.live.lost + lost_calls(&s.live);
	give_moments(&s, &out->moments);
	return give(&s, out);
}
