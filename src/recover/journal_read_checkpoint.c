/* journal_read_checkpoint.c - see journal_read_impl.h: restores a segment from its checkpoint, and
 * replays the rings that follow it. */
#include "recover/journal_read_impl.h"

#include "base/arena.h"
#include "base/bisect.h"
#include "base/intern.h"
#include "base/varint.h"
#include "encode/elastic_slots.h"
#include "encode/time_stats.h"
#include "grammar/grammar.h"
#include "rules/rules.h"

#include <string.h>

/* Maximum number of calls of a checkpoint, so that adding the calls of a ring cannot overflow. */
#define CALLS_MAX ((uint64_t)1 << 61)

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
	const uint64_t *w = rn_sigs_get(rn_salvage_words(s), id, &len);

	return rn_marker_function(&s->markers, RN_RAW_FUNCTION(w[0]));
}

static uint64_t opens(enum rn_marker m)
{
	return m == RN_MARKER_ENTER ? 1 : m == RN_MARKER_LEAVE ? UINT64_MAX : 0;
}

/* For each literal run and each rule: the number of `enter` markers minus the number of `leave`
 * markers, modulo 2^64. */
static void count_literals(const struct salvaged *s, const struct rn_rules *r, uint64_t *open)
{
	for (uint32_t i = 0; i < rn_rules_literals(r); i++) {
		uint64_t n;
		const uint32_t *symbol = rn_rules_literal(r, i, &n);

		for (uint64_t k = 0; k < n; k++)
			open[i] += opens(rn_salvage_marker(s, symbol[k]));
	}
}

static void count_rules(const struct salvaged *s, const struct rn_rules *r, const uint64_t *literal,
			uint64_t *open)
{
	for (uint32_t i = 0; i < rn_rules_count(r); i++) {
		struct rn_body b = rn_rules_body(r, i);

		for (uint32_t k = 0; k < b.n; k++) {
			const struct rn_item *it = &b.item[k];

			open[i] += it->count * (it->kind == RN_KIND_RULE ? open[it->id]
						: it->kind == RN_KIND_LITERAL
							? literal[it->id]
							: opens(rn_salvage_marker(s, it->id)));
		}
	}
}

static int get_last(struct salvaged *s, const struct rn_rules *r, uint32_t root,
		    struct rn_arena *scratch)
{
	struct rn_walk w;
	uint32_t id;

	if (rn_walk_init(&w, r, root, scratch) < 0)
		return RN_E_NOMEM;
	if (rn_walk_seek(&w, rn_rules_length(r, root) - 1) == RN_OK && rn_walk_next(&w, &id))
		s->last = rn_salvage_marker(s, id);
	return RN_OK;
}

/* Sets the number of open `enter` markers at the end of the rules, and the marker at their end.
 * RN_OK or RN_E_NOMEM. */
static int look_at_rules(struct salvaged *s, const struct rn_rules *r, uint32_t root,
			 struct rn_arena *scratch)
{
	uint64_t *literal = rn_new(scratch, uint64_t, (size_t)rn_rules_literals(r) + 1);
	uint64_t *open = rn_new(scratch, uint64_t, (size_t)rn_rules_count(r) + 1);

	if (!literal || !open)
		return RN_E_NOMEM;
	count_literals(s, r, literal);
	count_rules(s, r, literal, open);
	s->open = open[root];
	return get_last(s, r, root, scratch);
}

/* ---- replaying rules ---- */

/* Rules that expand to more calls than this are replayed item by item. */
#define BLOCK (1u << 22)
struct replay {
	const struct rn_rules *rules;
	struct rn_grammar *grammar;
	struct rn_arena *scratch;
	uint32_t *block;
	uint64_t *left; /* salvaged.replay_limit */
};

static int append_times(struct replay *x, const uint32_t *id, uint64_t n, uint64_t times)
{
	uint64_t cost = n * (times < 4 ? times : 4);

	if (cost > *x->left)
		return RN_E_RANGE;
	*x->left -= cost;
	return rn_grammar_append_repeat(x->grammar, id, n, times, NULL);
}

static int append_item(struct replay *x, const struct rn_item *it)
{
	struct rn_arena_mark mark = rn_arena_mark(x->scratch);
	const uint32_t *symbol;
	struct rn_walk w;
	uint64_t n;
	int rc;

	if (it->kind == RN_KIND_TERMINAL)
		return append_times(x, &it->id, 1, it->count);
	if (it->kind == RN_KIND_LITERAL) {
		symbol = rn_rules_literal(x->rules, it->id, &n);
		return append_times(x, symbol, n, it->count);
	}
	rc = rn_walk_init(&w, x->rules, it->id, x->scratch);
	if (rc == RN_OK)
		rc = append_times(x, x->block, rn_walk_read(&w, x->block, BLOCK), it->count);
	rn_arena_rewind(x->scratch, mark);
	return rc;
}

struct replay_frame {
	uint32_t rule, item;
	uint64_t times;
};

static int replay_all(struct replay *x, struct replay_frame *stack)
{
	uint32_t depth = 1;
	int rc = RN_OK;

	while (depth && rc == RN_OK) {
		struct replay_frame *f = &stack[depth - 1];
		struct rn_body b = rn_rules_body(x->rules, f->rule);
		const struct rn_item *it = &b.item[f->item++];

		if (f->item > b.n) {
			f->item = 0;
			depth -= --f->times == 0;
		} else if (it->kind == RN_KIND_RULE && rn_rules_length(x->rules, it->id) > BLOCK) {
			stack[depth++] = (struct replay_frame){ it->id, 0, it->count };
		} else {
			rc = append_item(x, it);
		}
	}
	return rc;
}

/* Appends the calls of `root` to an empty grammar. The grammar is then as it was when the rules
 * were written. RN_OK, RN_E_NOMEM, or RN_E_RANGE: the replay limit is exceeded. */
static int replay(struct salvaged *s, const struct rn_rules *rules, uint32_t root,
		  struct rn_arena *scratch)
{
	uint64_t n = rn_rules_length(rules, root);
	struct replay x = { rules, s->segment->grammar, scratch, NULL, &s->replay_limit };
	struct replay_frame *stack =
		rn_new(scratch, struct replay_frame, rn_rules_height(rules, root));

	x.block = rn_new(scratch, uint32_t, n < BLOCK ? n : BLOCK);
	if (!stack || !x.block)
		return RN_E_NOMEM;
	stack[0] = (struct replay_frame){ root, 0, 1 };
	return replay_all(&x, stack);
}

/* Loads the calls of a checkpoint if there are `calls` of them: into the grammar, or if that
 * exceeds the replay limit, as rules that an empty grammar continues. */
static int load_calls(struct salvaged *s, const unsigned char *bytes, size_t len, uint64_t calls,
		      struct rn_arena *scratch)
{
	struct rn_reader in = rn_reader(bytes, len);
	struct rn_rules *r;
	uint32_t root;
	int rc = rn_rules_decode_grammar(s->mem, &in, rn_sigs_count(rn_salvage_words(s)), &r, &root,
					 NULL);

	if (rc < 0)
		return rc;
	if (rn_left(&in) || rn_rules_length(r, root) != calls || calls > CALLS_MAX)
		return RN_E_DATA;
	rc = look_at_rules(s, r, root, scratch);
	if (rc == RN_OK)
		rc = replay(s, r, root, scratch);
	if (rc != RN_E_RANGE)
		return rc;
	s->segment->grammar = rn_salvage_grammar(s);
	s->segment->rules = r;
	s->segment->root = root;
	return s->segment->grammar ? RN_OK : RN_E_NOMEM;
}

static bool restore_calls(struct salvaged *s, const unsigned char *bytes, size_t len,
			  uint64_t calls)
{
	struct rn_arena scratch;
	int rc;

	rn_arena_init(&scratch, SIZE_MAX);
	rc = load_calls(s, bytes, len, calls, &scratch);
	rn_arena_free(&scratch);
	s->failed |= rc == RN_E_NOMEM;
	return rc == RN_OK;
}

/* Restores the elastic values that precede those of the checkpoint. */
static bool restore_pieces(struct salvaged *s, uint64_t pieces)
{
	if (pieces > s->segment->piece.n)
		return false;
	for (uint64_t i = 0; i < pieces; i++) {
		const struct value_piece *p =
			RN_SEG_AT(&s->segment->piece, struct value_piece, (uint32_t)i);
		struct rn_holes *h = p->of.call < rn_sigs_count(rn_salvage_words(s))
					     ? rn_holes_of(&s->segment->holes, (uint32_t)p->of.call)
					     : NULL;
		struct rn_reader in = rn_reader(p->bytes, p->len);
		int rc = h && p->of.hole < h->n
				 ? rn_holes_load(h, s->mem, (uint32_t)p->of.hole, &in)
				 : RN_E_DATA;

		if (rc == RN_E_NOMEM)
			s->failed = true;
		if (rc < 0)
			return false;
	}
	return true;
}

/* Restores the elastic values of the calls in the checkpoint. */
static bool restore_values(struct salvaged *s, const unsigned char *bytes, size_t len)
{
	struct rn_reader in = rn_reader(bytes, len);

	while (rn_left(&in)) {
		uint64_t call = rn_get_u64(&in);
		struct rn_holes *h = call < rn_sigs_count(rn_salvage_words(s))
					     ? rn_holes_of(&s->segment->holes, (uint32_t)call)
					     : NULL;
		int rc = h && !in.bad ? RN_OK : RN_E_DATA;

		for (uint32_t k = 0; rc == RN_OK && k < h->n; k++)
			rc = rn_holes_load(h, s->mem, k, &in);
		if (rc == RN_E_NOMEM)
			s->failed = true;
		if (rc < 0)
			return false;
	}
	return true;
}

/* Restores the time statistics. If they are damaged, the calls remain valid. */
static bool restore_times(struct salvaged *s, const unsigned char *bytes, size_t len)
{
	struct rn_times t;
	int rc = rn_times_load(s->mem, bytes, len, s->facts->scale, &t, NULL);

	if (rc == RN_E_NOMEM)
		s->failed = true;
	if (rc < 0 || t.clock.n || t.sig.n > rn_sigs_count(rn_salvage_words(s)))
		return false;
	rn_times_settle(&t, s->facts->scale);
	if (!rn_times_check(&t))
		return false;
	s->segment->times = t;
	return true;
}

/* Returns the bytes of a snapshot; NULL if they are missing or changed. Checkpoints of a hostile
 * file can name the same snapshot many times, so the number of bytes that are hashed is limited. */
static const unsigned char *snapshot(struct salvaged *s, const struct rn_snapshot *of)
{
	const struct rn_found *area = rn_salvage_extent(s->f, RN_EXTENT_AREA, of->page);
	const unsigned char *p;

	if (!area || of->bytes > area->len - sizeof(area->head) || of->bytes > s->hash_limit)
		return NULL;
	s->hash_limit -= of->bytes;
	p = area->at + sizeof(area->head);
	return rn_area_sum(&area->head, p, of->bytes) == of->sum ? p : NULL;
}

bool rn_salvage_restore(struct salvaged *s, const struct rn_seal *seal)
{
	const unsigned char *p = snapshot(s, &seal->calls);

	if (!p || seal->grammar > seal->calls.bytes || seal->upto < s->before ||
	    !restore_pieces(s, seal->pieces) ||
	    !restore_values(s, p + seal->grammar, seal->calls.bytes - seal->grammar) ||
	    !restore_calls(s, p, seal->grammar, seal->upto - s->before))
		return false;
	p = snapshot(s, &seal->times);
	if (!p || !restore_times(s, p, seal->times.bytes))
		s->facts->damaged = true;
	return true;
}

bool rn_salvage_sound(struct salvaged *s, const struct rn_seal *seal)
{
	return seal->sum == rn_seal_sum(&s->live.extent, seal) && snapshot(s, &seal->calls);
}

/* ---- ring ---- */

/* Whether a marker or a call may be next. A `leave` marker must be followed by the call that it
 * completes. */
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
	if (id >= rn_sigs_count(rn_salvage_words(s)) || !is_next(s, rn_salvage_marker(s, id)))
		return false;
	if (rn_grammar_append(s->segment->grammar, id) < 0) {
		s->failed = true;
		return false;
	}
	s->last = rn_salvage_marker(s, id);
	s->open += opens(s->last);
	return true;
}

/* Read position in the value ring. */
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
		h = rn_holes_of(&s->segment->holes, id);
		if ((h && !read_values(s, &values, h)) || !rn_salvage_append(s, id))
			return false;
	}
	return true;
}
