/* salvage_seal.c - see salvage_impl.h: the snapshots of a segment, and the rings behind them. */
#include "file/salvage_impl.h"

#include "base/arena.h"
#include "base/bisect.h"
#include "base/varint.h"
#include "encode/holes.h"
#include "encode/sigs.h"
#include "encode/timing.h"
#include "grammar/grammar.h"
#include "rules/rules.h"

#include <string.h>

/* ---- snapshot ---- */

/* The extents of a stream are sorted by their pages. */
const struct rn_found *rn_salvage_extent(struct rn_founds f, enum rn_extent_kind kind,
					 uint64_t page)
{
	struct rn_bisect b = { 0, f.n, 0 };

	while (rn_bisect_next(&b))
		rn_bisect_go(&b, f.extent[b.mid].head.number < page);
	return b.lo < f.n && f.extent[b.lo].head.number == page && f.extent[b.lo].head.kind == kind
		       ? &f.extent[b.lo]
		       : NULL;
}

enum rn_marker rn_salvage_marker(const struct salvaged *s, uint32_t id)
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
			open[i] += opens(rn_salvage_marker(s, symbol[k]));
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
							: opens(rn_salvage_marker(s, it->id)));
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
		s->last = rn_salvage_marker(s, id);
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
 * others. None have no sum. Seals of a hostile file can name the same snapshot many times, so the
 * bytes that are hashed are limited. */
static const unsigned char *snapshot(struct salvaged *s, uint64_t page, uint64_t at, uint64_t bytes,
				     uint64_t sum)
{
	const struct rn_found *area = rn_salvage_extent(s->f, RN_EXTENT_AREA, page);
	uint64_t room = area ? area->len - sizeof(area->head) : 0;
	const unsigned char *p;

	if (!area || at > room || bytes > room - at || bytes > s->hash_limit)
		return NULL;
	s->hash_limit -= bytes;
	p = area->at + sizeof(area->head) + at;
	return (bytes == 0 && sum == 0) || rn_area_sum(&area->head, p, bytes) == sum ? p : NULL;
}

bool rn_salvage_restore(struct salvaged *s, const struct rn_seal *seal)
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

/* What it says is what was written, and so is the grammar that it is about, and what stands in
 * holes. */
bool rn_salvage_sound(struct salvaged *s, const struct rn_seal *seal)
{
	return seal->sum == rn_seal_sum(&s->live.extent, seal) &&
	       snapshot(s, seal->area, 0, seal->grammar, seal->grammar_sum) &&
	       snapshot(s, seal->area, rn_seal_values(seal), seal->values, seal->values_sum);
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

bool rn_salvage_append(struct salvaged *s, uint32_t id)
{
	if (id >= rn_sigs_count(s->words) || !is_next(s, rn_salvage_marker(s, id)))
		return false;
	if (rn_grammar_append(s->grammar, id) < 0) {
		s->failed = true;
		return false;
	}
	s->last = rn_salvage_marker(s, id);
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
	struct values v = { rn_salvage_extent(s->f, RN_EXTENT_TAIL, seal->values_tail),
			    seal->values_from, seal->values_places, seal->values_places };
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
bool rn_salvage_ring(struct salvaged *s, const struct rn_seal *seal, uint64_t end)
{
	const struct rn_found *tail = rn_salvage_extent(s->f, RN_EXTENT_TAIL, seal->tail);
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
		if ((h && !read_values(s, &values, h)) || !rn_salvage_append(s, id))
			return false;
	}
	return true;
}
