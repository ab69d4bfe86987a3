/*
 * rules.c - the pool: adding rules, sealing a grammar, copying between pools, checking.
 *
 * A body is normalized in scratch memory, and copied into the pool only if it is new. Grammars and
 * pools are traversed children first with explicit stacks. The depth is not O(log n), and a
 * malformed file must not exhaust the C stack.
 */
#include "rules/rules_impl.h"

#include <string.h>

struct rn_rules *rn_rules_new(struct rn_arena *mem)
{
	struct rn_rules *r = rn_new(mem, struct rn_rules, 1);

	if (!r || rn_map_init(&r->by_hash, mem) < 0 || rn_map_init(&r->literal_by_hash, mem) < 0)
		return NULL;
	r->mem = mem;
	rn_seg_init(&r->entries, sizeof(struct entry));
	rn_seg_init(&r->literals, sizeof(struct literal));
	return r;
}

uint32_t rn_rules_count(const struct rn_rules *r)
{
	return r->entries.n;
}

uint32_t rn_rules_literals(const struct rn_rules *r)
{
	return r->literals.n;
}

struct rn_body rn_rules_body(const struct rn_rules *r, uint32_t rule)
{
	const struct entry *e = entry_at(r, rule);

	return (struct rn_body){ e->item, e->before, e->n, e->length };
}

uint64_t rn_rules_length(const struct rn_rules *r, uint32_t rule)
{
	return entry_at(r, rule)->length;
}

uint32_t rn_rules_height(const struct rn_rules *r, uint32_t rule)
{
	return entry_at(r, rule)->height;
}

const uint32_t *rn_rules_literal(const struct rn_rules *r, uint32_t lit, uint64_t *n)
{
	const struct literal *l = literal_at(r, lit);

	*n = l->n;
	return l->symbol;
}

/* ---- normal form ---- */

/* Whether the item may occur in the body of rule `self`: its kind and its id are valid. */
static bool is_item_valid(const struct rn_rules *r, const struct rn_item *item, uint32_t self)
{
	switch (item->kind) {
	case RN_KIND_TERMINAL:
		return item->id <= RN_TERMINAL_MAX;
	case RN_KIND_RULE:
		return item->id < self;
	case RN_KIND_LITERAL:
		return item->id < r->literals.n;
	default:
		return false;
	}
}

static bool same_symbol(const struct rn_item *a, const struct rn_item *b)
{
	return a->id == b->id && a->kind == b->kind;
}

/* Appends an item to a body in normal form. Returns false if a count would overflow. */
static bool put_normal(const struct rn_rules *r, struct rn_item *body, uint32_t *n,
		       struct rn_item item)
{
	if (item.kind == RN_KIND_RULE) {
		const struct entry *e = entry_at(r, item.id);

		if (e->n == 0)
			return true;
		if (e->n == 1) { /* (x^3)^4 is x^12; x is not a single-item rule itself */
			uint64_t count = item.count;

			item = e->item[0];
			if (__builtin_mul_overflow(item.count, count, &item.count))
				return false;
		}
	}
	if (item.count == 0)
		return true;
	assert(item.kind != RN_KIND_RULE || entry_at(r, item.id)->n > 1);
	if (*n && same_symbol(&body[*n - 1], &item))
		return !__builtin_add_overflow(body[*n - 1].count, item.count, &body[*n - 1].count);
	body[(*n)++] = item;
	return true;
}

static uint64_t symbol_hash(const struct rn_rules *r, const struct rn_item *item)
{
	if (item->kind == RN_KIND_RULE)
		return entry_at(r, item->id)->hash;
	if (item->kind == RN_KIND_LITERAL)
		return literal_at(r, item->id)->hash;
	return item->id;
}

/* Computes lengths, height and hash of a body in normal form. */
static int measure(const struct rn_rules *r, struct entry *e, uint64_t *before)
{
	e->length = 0;
	e->height = 1;
	e->hash = 0;
	for (uint32_t i = 0; i < e->n; i++) {
		const struct rn_item *it = &e->item[i];
		uint64_t key[4] = { e->hash, symbol_hash(r, it), it->count, it->kind }, part;

		assert(it->count > 0);
		if (before)
			before[i] = e->length;
		if (__builtin_mul_overflow(unit_length(r, it), it->count, &part) ||
		    part > LENGTH_MAX - e->length)
			return RN_E_RANGE;
		e->length += part;
		e->hash = rn_hash(key, sizeof(key));
		if (it->kind == RN_KIND_RULE && entry_at(r, it->id)->height >= e->height)
			e->height = entry_at(r, it->id)->height + 1;
	}
	return RN_OK;
}

bool rn_rules_same_body(const struct entry *a, const struct entry *b)
{
	if (a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (!same_symbol(&a->item[i], &b->item[i]) || a->item[i].count != b->item[i].count)
			return false;
	return true;
}

static uint32_t tag_of(uint64_t hash)
{
	return (uint32_t)(hash >> 32);
}

static uint32_t find_entry(const struct rn_rules *r, const struct entry *e)
{
	RN_MAP_EACH (&r->by_hash, tag_of(e->hash), i)
		if (entry_at(r, i)->hash == e->hash && rn_rules_same_body(entry_at(r, i), e))
			return i;
	return UINT32_MAX;
}

/* Copies the body into the pool as a new rule. */
static int add_entry(struct rn_rules *r, struct entry *e, uint32_t *rule)
{
	struct rn_item *body;
	uint64_t *before;

	assert(find_entry(r, e) == UINT32_MAX);
	if (!rn_seg_reserve(&r->entries, r->mem, 1) ||
	    rn_map_reserve(&r->by_hash, tag_of(e->hash)) < 0)
		return RN_E_NOMEM;
	body = rn_new(r->mem, struct rn_item, e->n);
	before = rn_new(r->mem, uint64_t, e->n);
	if (!body || !before)
		return RN_E_NOMEM;
	if (e->n)
		memcpy(body, e->item, e->n * sizeof(*body));
	e->item = body;
	e->before = before;
	measure(r, e, before);
	*rule = RN_SEG_PUT(&r->entries, struct entry, *e);
	rn_map_insert(&r->by_hash, tag_of(e->hash), *rule);
	return RN_OK;
}

/* Finds the rule with this body, which is in normal form, or adds it. */
static int intern(struct rn_rules *r, struct entry *e, uint32_t *rule)
{
	int rc = measure(r, e, NULL);

	if (rc < 0)
		return rc;
	if (e->n == 1 && e->item[0].kind == RN_KIND_RULE && e->item[0].count == 1)
		*rule = e->item[0].id;
	else
		*rule = find_entry(r, e);
	return *rule == UINT32_MAX ? add_entry(r, e, rule) : RN_OK;
}

#define SMALL 128 /* bodies and grammars below this size are handled without scratch memory */

/* Returns an array of n items: `small` if it is sufficient; NULL if memory is short. */
static struct rn_item *room_for(struct rn_arena *scratch, struct rn_item small[SMALL], uint32_t n)
{
	return n > SMALL ? rn_new(scratch, struct rn_item, n) : small;
}

int rn_rules_add(struct rn_rules *r, const struct rn_item *items, uint32_t n, uint32_t *rule)
{
	struct rn_item small[SMALL], *body;
	struct rn_arena scratch;
	struct entry e = { 0 };
	int rc = RN_OK;

	for (uint32_t i = 0; i < n; i++)
		if (!is_item_valid(r, &items[i], r->entries.n))
			return RN_E_ARG;
	rn_arena_init(&scratch, SIZE_MAX);
	body = room_for(&scratch, small, n);
	if (!body)
		rc = RN_E_NOMEM;
	for (uint32_t i = 0; i < n && rc == RN_OK; i++)
		if (!put_normal(r, body, &e.n, items[i]))
			rc = RN_E_RANGE;
	e.item = body;
	if (rc == RN_OK)
		rc = intern(r, &e, rule);
	rn_arena_free(&scratch);
	return rc;
}

static uint32_t find_literal(const struct rn_rules *r, const struct literal *l)
{
	RN_MAP_EACH (&r->literal_by_hash, tag_of(l->hash), i) {
		const struct literal *old = literal_at(r, i);

		if (old->n == l->n && !memcmp(old->symbol, l->symbol, l->n * sizeof(uint32_t)))
			return i;
	}
	return UINT32_MAX;
}

int rn_rules_add_literal(struct rn_rules *r, const uint32_t *symbols, uint64_t n, uint32_t *lit)
{
	struct literal l = { symbols, n, rn_hash(symbols, n * sizeof(uint32_t)) };
	uint32_t *copy;

	*lit = find_literal(r, &l);
	if (*lit != UINT32_MAX)
		return RN_OK;
	if (n > RN_LITERAL_MAX)
		return RN_E_RANGE;
	if (!rn_seg_reserve(&r->literals, r->mem, 1) ||
	    rn_map_reserve(&r->literal_by_hash, tag_of(l.hash)) < 0)
		return RN_E_NOMEM;
	copy = rn_new(r->mem, uint32_t, n);
	if (!copy)
		return RN_E_NOMEM;
	memcpy(copy, symbols, n * sizeof(uint32_t));
	l.symbol = copy;
	assert(r->literals.n < r->literals.cap);
	*lit = RN_SEG_PUT(&r->literals, struct literal, l);
	rn_map_insert(&r->literal_by_hash, tag_of(l.hash), *lit);
	return RN_OK;
}

/* ---- sealing a grammar ---- */

struct seal {
	struct rn_rules *r;
	const struct rn_grammar *g;
	struct rn_arena scratch;
	uint32_t *memo; /* grammar rule -> pool rule */
};

static int seal_literal(struct seal *s, uint32_t id, uint32_t *lit)
{
	uint64_t n = rn_grammar_literal_length(s->g, id);
	struct rn_arena_mark mark = rn_arena_mark(&s->scratch);
	uint32_t *t = rn_new(&s->scratch, uint32_t, n);
	int rc;

	if (!t)
		return RN_E_NOMEM;
	rn_grammar_literal_read(s->g, id, 0, t, n);
	rc = rn_rules_add_literal(s->r, t, n, lit);
	rn_arena_rewind(&s->scratch, mark);
	return rc;
}

static int seal_item(struct seal *s, const struct rn_grammar_item *from, struct rn_item *to)
{
	*to = (struct rn_item){ from->id, from->kind, from->count };
	if (from->kind == RN_KIND_RULE)
		to->id = s->memo[from->id];
	assert(to->id != UINT32_MAX); /* children are sealed first */
	return from->kind == RN_KIND_LITERAL ? seal_literal(s, from->id, &to->id) : RN_OK;
}

/* Seals `rule`, whose children have been sealed. */
static int seal_rule(struct seal *s, uint32_t rule, uint32_t items)
{
	struct rn_grammar_iter it = rn_grammar_body(s->g, rule);
	struct rn_grammar_item item;
	struct rn_arena_mark mark = rn_arena_mark(&s->scratch);
	struct rn_item small[SMALL], *body = room_for(&s->scratch, small, items);
	int rc = body ? RN_OK : RN_E_NOMEM;

	for (uint32_t n = 0; rc == RN_OK && rn_grammar_body_next(&it, &item); n++)
		rc = seal_item(s, &item, &body[n]);
	if (rc == RN_OK)
		rc = rn_rules_add(s->r, body, items, &s->memo[rule]);
	rn_arena_rewind(&s->scratch, mark);
	return rc;
}

static int seal_from_start(struct seal *s, struct rn_grammar_frame *stack)
{
	struct rn_grammar_order o = rn_grammar_order(s->g, s->memo, stack);
	uint32_t rule, items;
	int rc = RN_OK;

	while (rc == RN_OK && rn_grammar_order_next(&o, &rule, &items))
		rc = seal_rule(s, rule, items);
	return rc;
}

int rn_rules_seal(struct rn_rules *r, const struct rn_grammar *g, uint32_t *root)
{
	uint32_t n = rn_grammar_rules(g), memo[SMALL];
	struct rn_grammar_frame small[SMALL], *stack = small;
	struct seal s = { .r = r, .g = g, .memo = memo };
	int rc = RN_E_NOMEM;

	rn_arena_init(&s.scratch, SIZE_MAX);
	if (n > SMALL) {
		s.memo = rn_new(&s.scratch, uint32_t, n);
		stack = rn_new(&s.scratch, struct rn_grammar_frame, n);
	}
	if (s.memo && stack) {
		memset(s.memo, 0xff, n * sizeof(*s.memo));
		rc = seal_from_start(&s, stack);
		if (rc == RN_OK)
			*root = s.memo[0];
	}
	rn_arena_free(&s.scratch);
	return rc;
}

/* ---- copying from another pool ---- */

struct import {
	struct rn_rules *r;
	const struct rn_rules *from;
	const uint32_t *map;
	uint32_t *memo;
	struct rn_arena scratch;
};

static int import_literal(struct import *im, uint32_t id, uint32_t *lit)
{
	const struct literal *l = literal_at(im->from, id);
	struct rn_arena_mark mark = rn_arena_mark(&im->scratch);
	uint32_t *t;
	int rc;

	if (!im->map)
		return rn_rules_add_literal(im->r, l->symbol, l->n, lit);
	t = rn_new(&im->scratch, uint32_t, l->n);
	if (!t)
		return RN_E_NOMEM;
	for (uint64_t i = 0; i < l->n; i++)
		t[i] = im->map[l->symbol[i]];
	rc = rn_rules_add_literal(im->r, t, l->n, lit);
	rn_arena_rewind(&im->scratch, mark);
	return rc;
}

static int import_items(struct import *im, const struct entry *e, struct rn_item *items)
{
	for (uint32_t i = 0; i < e->n; i++) {
		items[i] = e->item[i];
		assert(items[i].kind != RN_KIND_RULE || im->memo[items[i].id] != UINT32_MAX);
		if (items[i].kind == RN_KIND_RULE)
			items[i].id = im->memo[items[i].id];
		else if (items[i].kind == RN_KIND_TERMINAL)
			items[i].id = im->map ? im->map[items[i].id] : items[i].id;
		else if (import_literal(im, e->item[i].id, &items[i].id) < 0)
			return RN_E_NOMEM;
	}
	return RN_OK;
}

static int import_rule(struct import *im, uint32_t rule)
{
	const struct entry *e = entry_at(im->from, rule);
	struct rn_arena_mark mark = rn_arena_mark(&im->scratch);
	struct rn_item small[SMALL], *items = room_for(&im->scratch, small, e->n);
	int rc;

	if (!items)
		return RN_E_NOMEM;
	rc = import_items(im, e, items);
	if (rc == RN_OK)
		rc = rn_rules_add(im->r, items, e->n, &im->memo[rule]);
	rn_arena_rewind(&im->scratch, mark);
	return rc;
}

struct import_frame {
	uint32_t rule, item;
};

static int import_from(struct import *im, uint32_t root, struct import_frame *stack)
{
	uint32_t depth = 1;

	stack[0] = (struct import_frame){ root, 0 };
	while (depth) {
		struct import_frame *f = &stack[depth - 1];
		const struct entry *e = entry_at(im->from, f->rule);
		int rc;

		while (f->item < e->n && (e->item[f->item].kind != RN_KIND_RULE ||
					  im->memo[e->item[f->item].id] != UINT32_MAX))
			f->item++;
		if (f->item < e->n) {
			assert(depth < entry_at(im->from, root)->height);
			stack[depth++] = (struct import_frame){ e->item[f->item].id, 0 };
			continue;
		}
		rc = import_rule(im, f->rule);
		if (rc < 0)
			return rc;
		depth--;
	}
	return RN_OK;
}

int rn_rules_import(struct rn_rules *r, const struct rn_rules *from, uint32_t root,
		    const uint32_t *map, uint32_t *memo, uint32_t *out)
{
	struct import im = { .r = r, .from = from, .map = map, .memo = memo };
	struct import_frame small[SMALL], *stack = small;
	uint32_t height = entry_at(from, root)->height;
	int rc = RN_OK;

	if (memo[root] != UINT32_MAX) { /* the usual case if roots are imported repeatedly */
		*out = memo[root];
		return RN_OK;
	}
	rn_arena_init(&im.scratch, SIZE_MAX);
	if (height > SMALL)
		stack = rn_new(&im.scratch, struct import_frame, height);
	if (!stack)
		rc = RN_E_NOMEM;
	else
		rc = import_from(&im, root, stack);
	if (rc == RN_OK)
		*out = memo[root];
	rn_arena_free(&im.scratch);
	return rc;
}

/* ---- checking ---- */

static bool normal(const struct rn_rules *r, uint32_t rule)
{
	const struct entry *e = entry_at(r, rule);

	for (uint32_t i = 0; i < e->n; i++) {
		const struct rn_item *it = &e->item[i];

		if (!is_item_valid(r, it, rule) || it->count == 0)
			return false;
		if (i && same_symbol(it, it - 1))
			return false;
		if (it->kind == RN_KIND_RULE && entry_at(r, it->id)->n < 2)
			return false;
	}
	return !(e->n == 1 && e->item[0].kind == RN_KIND_RULE && e->item[0].count == 1);
}

static bool entry_ok(const struct rn_rules *r, uint32_t rule)
{
	const struct entry *e = entry_at(r, rule);
	struct entry again = *e;
	uint64_t at = 0;

	if (!normal(r, rule) || measure(r, &again, NULL) < 0 || again.length != e->length ||
	    again.hash != e->hash || again.height != e->height || find_entry(r, e) != rule)
		return false;
	for (uint32_t i = 0; i < e->n; i++) {
		if (e->before[i] != at)
			return false;
		at += unit_length(r, &e->item[i]) * e->item[i].count;
	}
	return at == e->length;
}

bool rn_rules_check(const struct rn_rules *r)
{
	for (uint32_t i = 0; i < r->literals.n; i++) {
		const struct literal *l = literal_at(r, i);

		if (l->hash != rn_hash(l->symbol, l->n * sizeof(uint32_t)) ||
		    find_literal(r, l) != i)
			return false;
	}
	for (uint32_t i = 0; i < r->entries.n; i++)
		if (!entry_ok(r, i))
			return false;
	return rn_map_check(&r->by_hash) && rn_map_check(&r->literal_by_hash) &&
	       r->by_hash.used == r->entries.n && r->literal_by_hash.used == r->literals.n;
}
