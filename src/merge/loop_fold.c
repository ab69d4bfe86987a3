/* loop_fold.c - see loop_fold.h. Converts plain rules to rules with loops. */
#include "merge/loop_fold.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/saturate.h"
#include "grammar/grammar.h"
#include "merge/loop_fold_search.h"
#include "rules/rule_visit.h"
#include "rules/rules.h"
#include "series/series.h"
#include "series/units.h"

#include <string.h>

#define COUNTS  5u  /* number of distinct counts that makes a symbol a loop */
#define PASSES  16u /* maximum number of passes: one per nesting level of loops */
#define OPTIONS 32u /* maximum number of options tried per pass */

/* One pass of the folding, which proceeds from the innermost loops outwards. */
struct pass {
	const struct rn_fold_state *from;
	struct rn_arena *scratch;
	uint32_t rules, terminals;
	uint32_t *loop; /* by symbol: its loop, or RN_FOLD_NONE */
	uint32_t loops; /* number of new loops */
	bool *holds;    /* by rule: it contains a new loop or the anchor */
	/* Symbols of the old rules that are not expanded become terminals of the new grammar,
	 * numbered after the new loops. `number` maps symbols to them, or is RN_FOLD_NONE; `symbol`
	 * is the inverse. */
	uint32_t *number, *symbol;
	uint32_t numbers;
	uint32_t group; /* group that is being written */
	struct rn_grammar *grammar;
	struct rn_fold_option option; /* RN_FOLD_NONE: the pass folds varying counts */
	bool owed;     /* the anchor has occurred, and the terminal has not followed yet */
	uint32_t last; /* previous symbol */
	/* The loop that is being counted, or RN_FOLD_NONE, and its iterations so far. A rule may
	 * end inside a repetition, which then continues in the next rule. */
	uint32_t open;
	uint64_t rounds;
	struct rn_fold_counts *count; /* [new loop * groups + group] */
};

/* ---- symbols: terminals, then rules, then literal runs ---- */

static uint32_t symbol_of(const struct pass *p, const struct rn_item *it)
{
	if (it->kind == RN_KIND_TERMINAL)
		return it->id;
	return it->kind == RN_KIND_RULE ? p->terminals + it->id : p->terminals + p->rules + it->id;
}

static uint32_t symbols(const struct pass *p)
{
	return p->terminals + p->rules + rn_rules_literals(p->from->rules);
}

static struct rn_item item_of(const struct pass *p, uint32_t symbol)
{
	struct rn_item it = { .kind = RN_KIND_TERMINAL, .id = symbol, .count = 1 };

	if (symbol >= p->terminals + p->rules) {
		it.kind = RN_KIND_LITERAL;
		it.id = symbol - p->terminals - p->rules;
	} else if (symbol >= p->terminals) {
		it.kind = RN_KIND_RULE;
		it.id = symbol - p->terminals;
	}
	return it;
}

/* ---- selection of the symbols that become loops ---- */

struct seen {
	uint64_t count[COUNTS];
	uint32_t n;
};

static void see(struct seen *s, uint64_t count)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->count[i] == count)
			return;
	if (s->n < COUNTS)
		s->count[s->n++] = count;
}

static void see_all(const struct pass *p, struct seen *seen)
{
	for (uint32_t r = 0; r < p->rules; r++) {
		struct rn_body body = rn_rules_body(p->from->rules, r);

		for (uint32_t i = 0; i < body.n; i++)
			see(&seen[symbol_of(p, &body.item[i])], body.item[i].count);
	}
}

/* Selects the new loops. A rule that contains a loop or the anchor is left to the next pass. Bodies
 * refer only to rules with lower numbers. */
static void choose(struct pass *p, const struct seen *seen)
{
	for (uint32_t t = 0; t < p->terminals; t++)
		if (seen[t].n == COUNTS)
			p->loop[t] = p->loops++;
	for (uint32_t r = 0; r < p->rules; r++) {
		struct rn_body body = rn_rules_body(p->from->rules, r);

		for (uint32_t i = 0; i < body.n; i++) {
			const struct rn_item *it = &body.item[i];
			uint32_t symbol = symbol_of(p, it);

			if (p->loop[symbol] != RN_FOLD_NONE || symbol == p->option.anchor ||
			    (it->kind == RN_KIND_RULE && p->holds[it->id]))
				p->holds[r] = true;
		}
		if (!p->holds[r] && seen[p->terminals + r].n == COUNTS)
			p->loop[p->terminals + r] = p->loops++;
	}
}

static bool begin_pass(struct pass *p, const struct rn_fold_state *s, struct rn_fold_option option,
		       struct rn_arena *scratch)
{
	struct seen *seen;
	size_t n;

	*p = (struct pass){ .from = s, .scratch = scratch };
	p->rules = rn_rules_count(s->rules);
	p->terminals = s->sigs + s->loops;
	n = (size_t)symbols(p) + 1;
	p->loop = rn_new_map(scratch, n);
	p->number = rn_new_map(scratch, n);
	p->symbol = rn_new(scratch, uint32_t, n);
	p->holds = rn_new(scratch, bool, (size_t)p->rules + 1);
	seen = rn_new(scratch, struct seen, n);
	if (!p->loop || !p->number || !p->symbol || !p->holds || !seen)
		return false;
	p->option = option;
	if (option.terminal != RN_FOLD_NONE)
		p->loop[option.terminal] = p->loops++;
	else
		see_all(p, seen);
	choose(p, seen);
	p->count = rn_new(scratch, struct rn_fold_counts, (size_t)p->loops * s->groups + 1);
	return p->count != NULL;
}

/* ---- streams with loops as symbols ---- */

static uint32_t number_of(struct pass *p, uint32_t symbol)
{
	if (p->number[symbol] == RN_FOLD_NONE) {
		p->number[symbol] = p->loops + p->numbers;
		p->symbol[p->numbers++] = symbol;
	}
	return p->number[symbol];
}

static int add_count(struct pass *p, uint32_t loop, uint64_t count)
{
	struct rn_fold_counts *c = &p->count[(size_t)loop * p->from->groups + p->group];
	int64_t v = (int64_t)count, expected;

	if (!c->series) {
		c->series = rn_series_new(p->scratch);
		c->lo = c->hi = v;
	}
	if (!c->series)
		return RN_E_NOMEM;
	if (!rn_series_expect(c->series, &expected) || expected != v)
		c->surprises++;
	c->lo = v < c->lo ? v : c->lo;
	c->hi = v > c->hi ? v : c->hi;
	rn_sat_add(&c->sum, count);
	return rn_series_append(c->series, v);
}

static int close_loop(struct pass *p)
{
	uint32_t loop = p->open;
	int rc;

	if (loop == RN_FOLD_NONE)
		return RN_OK;
	p->open = RN_FOLD_NONE;
	rc = add_count(p, loop, p->rounds);
	return rc < 0 ? rc : rn_grammar_append(p->grammar, loop);
}

static int put_loop(struct pass *p, uint32_t loop, uint64_t count)
{
	int rc = p->open == loop ? RN_OK : close_loop(p);

	p->rounds = p->open == loop ? p->rounds + count : count;
	p->open = loop;
	return rc;
}

static int put_symbol(struct pass *p, uint32_t symbol, uint64_t count)
{
	uint32_t number = number_of(p, symbol);
	int rc = close_loop(p);

	return rc < 0 ? rc : rn_grammar_append_repeat(p->grammar, &number, 1, count, NULL);
}

/* ---- a terminal that occurs in some iterations only ---- */

/* Appends an execution with 0 iterations if the terminal did not follow its anchor. */
static int pay(struct pass *p)
{
	if (!p->owed)
		return RN_OK;
	p->owed = false;
	return put_loop(p, 0, 0);
}

static int put_anchor(struct pass *p, uint32_t symbol)
{
	const struct rn_fold_option *o = &p->option;
	int rc = pay(p);

	if (rc == RN_OK && !o->behind && p->last != o->terminal)
		rc = put_loop(p, 0, 0);
	if (rc == RN_OK)
		rc = put_symbol(p, symbol, 1);
	p->owed = o->behind;
	p->last = symbol;
	return rc;
}

static int fold_item(void *arg, const struct rn_item *it, uint64_t time, struct rn_descent *into)
{
	struct pass *p = arg;
	uint32_t symbol = symbol_of(p, it), loop = p->loop[symbol];
	int rc;

	if (it->kind == RN_KIND_RULE && p->holds[it->id]) {
		*into = (struct rn_descent){ it->id, it->count };
		return RN_VISIT_INTO;
	}
	if (symbol == p->option.anchor) {
		rc = put_anchor(p, symbol);
		return rc < 0 || time + 1 == it->count ? rc : RN_VISIT_AGAIN;
	}
	rc = loop == RN_FOLD_NONE ? pay(p) : RN_OK;
	p->owed = false;
	p->last = symbol;
	if (rc < 0)
		return rc;
	return loop != RN_FOLD_NONE ? put_loop(p, loop, it->count)
				    : put_symbol(p, symbol, it->count);
}

/* Builds the rules of the new grammars, whose terminals are those of the pass. */
static int fold_streams(struct pass *p, struct rn_rules *rules, uint32_t *root, uint64_t *left)
{
	int rc = RN_OK;

	p->grammar = rn_grammar_new(p->scratch, NULL);
	if (!p->grammar)
		return RN_E_NOMEM;
	for (p->group = 0; p->group < p->from->groups && rc == RN_OK; p->group++) {
		rn_grammar_reset(p->grammar);
		p->last = p->open = RN_FOLD_NONE;
		rc = rn_rules_visit(p->from->rules, p->from->root[p->group], left, fold_item, p);
		if (rc == RN_OK)
			rc = pay(p);
		if (rc == RN_OK)
			rc = close_loop(p);
		if (rc == RN_OK)
			rc = rn_rules_seal(rules, p->grammar, &root[p->group]);
	}
	return rc;
}

/* ---- final rules: terminals of the pass are replaced by the old symbols ---- */

struct rewrite {
	struct pass *p;
	struct rn_rules *to;
	uint32_t *memo;    /* by old rule: its id in the new pool */
	uint32_t *literal; /* by old literal run: its id in the new pool */
};

/* Copies a symbol of the old rules to the new pool. */
static int place(const struct rewrite *w, uint32_t symbol, struct rn_item *out)
{
	const struct rn_rules *from = w->p->from->rules;
	uint64_t n;

	*out = item_of(w->p, symbol);
	if (out->kind == RN_KIND_RULE)
		return rn_rules_import(w->to, from, out->id, NULL, w->memo, &out->id);
	if (out->kind == RN_KIND_LITERAL) {
		uint32_t *to = &w->literal[out->id];
		const uint32_t *run = rn_rules_literal(from, out->id, &n);
		int rc = *to == RN_FOLD_NONE ? rn_rules_add_literal(w->to, run, n, to) : RN_OK;

		out->id = *to;
		return rc;
	}
	return RN_OK;
}

static int rewrite_item(const struct rewrite *w, const uint32_t *done, struct rn_item *it)
{
	const struct pass *p = w->p;
	struct rn_item placed;
	int rc;

	if (it->kind == RN_KIND_RULE) {
		it->id = done[it->id];
		return RN_OK;
	}
	if (it->id < p->loops) {
		it->id += p->terminals;
		return RN_OK;
	}
	rc = place(w, p->symbol[it->id - p->loops], &placed);
	it->kind = placed.kind;
	it->id = placed.id;
	return rc;
}

static int rewrite_rules(const struct rewrite *w, const struct rn_rules *made, uint32_t *done)
{
	int rc = RN_OK;

	for (uint32_t r = 0; r < rn_rules_count(made) && rc == RN_OK; r++) {
		struct rn_body body = rn_rules_body(made, r);
		struct rn_item *items = rn_new(w->p->scratch, struct rn_item, (size_t)body.n + 1);

		if (!items)
			return RN_E_NOMEM;
		if (body.n)
			memcpy(items, body.item, body.n * sizeof(*items));
		for (uint32_t i = 0; i < body.n && rc == RN_OK; i++)
			rc = rewrite_item(w, done, &items[i]);
		if (rc == RN_OK)
			rc = rn_rules_add(w->to, items, body.n, &done[r]);
	}
	return rc;
}

/* Copies loops, with the rules of their bodies. */
static int copy_loops(const struct rn_fold_state *from, struct rn_rules *rules, uint32_t *memo,
		      struct rn_loop *to)
{
	int rc = RN_OK;

	for (uint32_t k = 0; k < from->loops && rc == RN_OK; k++) {
		to[k] = from->loop[k];
		if (to[k].kind == RN_KIND_RULE)
			rc = rn_rules_import(rules, from->rules, to[k].id, NULL, memo, &to[k].id);
	}
	return rc;
}

/* Sets the bodies of all loops, old and new. */
static int rewrite_loops(const struct rewrite *w, const struct rn_fold_state *from,
			 struct rn_fold_state *to)
{
	int rc = copy_loops(from, w->to, w->memo, to->loop);

	for (uint32_t s = 0; s < w->p->terminals + w->p->rules && rc == RN_OK; s++) {
		struct rn_item it;

		if (w->p->loop[s] == RN_FOLD_NONE)
			continue;
		rc = place(w, s, &it);
		if (rc == RN_OK && it.kind == RN_KIND_TERMINAL && it.id >= from->sigs) {
			/* A loop of a loop: its body is a rule of one item. */
			rc = rn_rules_add(w->to, &it, 1, &it.id);
			it.kind = RN_KIND_RULE;
		}
		to->loop[from->loops + w->p->loop[s]] = (struct rn_loop){ it.kind, it.id };
	}
	return rc;
}

static int rewrite(struct pass *p, const struct rn_rules *made, const uint32_t *root,
		   struct rn_fold_state *to, struct rn_arena *mem)
{
	struct rn_rules *rules = rn_rules_new(mem);
	struct rewrite w = { p, rules, rn_new_map(p->scratch, p->rules),
			     rn_new_map(p->scratch, rn_rules_literals(p->from->rules)) };
	uint32_t *done = rn_new(p->scratch, uint32_t, (size_t)rn_rules_count(made) + 1);
	int rc;

	if (!rules || !w.memo || !w.literal || !done)
		return RN_E_NOMEM;
	rc = rewrite_loops(&w, p->from, to);
	if (rc == RN_OK)
		rc = rewrite_rules(&w, made, done);
	for (uint32_t g = 0; g < to->groups && rc == RN_OK; g++)
		to->root[g] = done[root[g]];
	to->rules = rules;
	return rc;
}

/* ---- estimation of the size ---- */

/* Estimated bytes in a file. Compressing to measure them would take longer than all other steps. An
 * item of a rule needs one or two bytes; the weight is higher because rules are also read by users.
 */
#define ITEM_BYTES   4
#define LOOP_BYTES   3
#define SERIES_BYTES 6

/* Predicted values cost nothing. Each other value costs the bits that distinguish the counts. */
static size_t series_bytes(const struct rn_fold_counts *c)
{
	uint64_t range = (uint64_t)c->hi - (uint64_t)c->lo;
	unsigned bits = range ? 64 - (unsigned)__builtin_clzll(range) : 0;

	return c->series ? SERIES_BYTES + c->surprises * bits / 8 : 0;
}

/* Estimates the size. The series of the loops before `first` are already included. */
static void measure(struct rn_fold_state *s, uint32_t first)
{
	size_t items = 0;

	for (uint32_t r = 0; r < rn_rules_count(s->rules); r++)
		items += 1 + rn_rules_body(s->rules, r).n;
	for (size_t i = (size_t)first * s->groups; i < (size_t)s->loops * s->groups; i++)
		s->series_bytes += series_bytes(&s->count[i]);
	s->bytes = ITEM_BYTES * items + LOOP_BYTES * s->loops + s->series_bytes;
}

/* ---- folding ---- */

static bool make_state(struct rn_fold_state *to, const struct rn_fold_state *from, uint32_t more,
		       struct rn_arena *scratch)
{
	size_t n;

	*to = *from;
	to->loops = from->loops + more;
	n = (size_t)to->loops * to->groups;
	to->root = rn_new(scratch, uint32_t, (size_t)to->groups + 1);
	to->loop = rn_new(scratch, struct rn_loop, (size_t)to->loops + 1);
	to->count = rn_new(scratch, struct rn_fold_counts, n + 1);
	return to->root && to->loop && to->count;
}

/* Folds once if that makes *s smaller. Returns 1 if it did, 0 if nothing was gained, or an error.
 */
static int try_once(struct rn_fold_state *s, struct rn_fold_option option, struct rn_arena *scratch,
		    uint64_t *left)
{
	struct rn_rules *made = rn_rules_new(scratch);
	uint32_t *root = rn_new(scratch, uint32_t, (size_t)s->groups + 1);
	struct rn_fold_state to;
	struct pass p;
	size_t had = (size_t)s->loops * s->groups;
	int rc;

	if (!made || !root || !begin_pass(&p, s, option, scratch))
		return RN_E_NOMEM;
	if (p.loops == 0 || p.loops > RN_LOOPS_MOST - s->loops)
		return 0;
	rc = fold_streams(&p, made, root, left);
	if (rc == RN_E_RANGE)
		return 0;
	if (rc < 0 || !make_state(&to, s, p.loops, scratch))
		return RN_E_NOMEM;
	rc = rewrite(&p, made, root, &to, scratch);
	if (had)
		memcpy(to.count, s->count, had * sizeof(*to.count));
	memcpy(to.count + had, p.count, (size_t)p.loops * s->groups * sizeof(*to.count));
	if (rc < 0)
		return rc;
	measure(&to, s->loops);
	if (to.bytes >= s->bytes)
		return 0;
	*s = to;
	return 1;
}

/* Calls try_once within the remaining steps. A failed trial releases its memory. A trial visits all
 * rules a few times, so their number is also counted as steps. */
static int fold_once(struct rn_fold_state *s, struct rn_fold_option option,
		     struct rn_arena *scratch)
{
	struct rn_arena_mark mark = rn_arena_mark(scratch);
	uint64_t most = s->left < s->waste ? s->left : s->waste, rules = s->bytes / ITEM_BYTES;
	uint64_t left = most > rules ? most - rules : 0;
	int rc = left ? try_once(s, option, scratch, &left) : 0;

	s->left -= most - left;
	if (rc > 0)
		return rc;
	s->waste -= most - left;
	rn_arena_rewind(scratch, mark);
	return rc;
}

static const struct rn_fold_option no_option = { RN_FOLD_NONE, RN_FOLD_NONE, false };

/* Sets entries of `tried` to RN_FOLD_NONE: all, or only uninitialized ones. */
static void clear_tried(struct rn_fold_state *s, bool all)
{
	uint32_t from = all ? 0 : s->listed, to = s->sigs + s->loops;

	if (to > from)
		memset(s->tried + 2 * (size_t)from, 0xff,
		       2 * (size_t)(to - from) * sizeof(*s->tried));
	s->listed = to > s->listed ? to : s->listed;
}

/* Tries the options one after the other. After a successful option, options that failed before may
 * succeed, so all are tried again. Once half of the steps are used, each is tried only once.
 * Returns 1 if the size decreased, 0 if not, or an error. */
static int fold_options(struct rn_fold_state *s, struct rn_arena *scratch)
{
	unsigned tries = 0;
	int gained = 0, rc = 1;

	while (rc > 0 && tries < OPTIONS) {
		struct rn_fold_neighbours n;

		clear_tried(s, !gained || s->left > RN_FOLD_STEPS / 2);
		if (!rn_fold_find_neighbours(&n, s, scratch))
			return RN_E_NOMEM;
		for (rc = 0; rc == 0 && tries < OPTIONS && s->waste; tries++) {
			struct rn_fold_option o = rn_fold_next_option(&n);

			if (o.terminal == RN_FOLD_NONE)
				return gained;
			s->tried[2 * (size_t)o.terminal + o.behind] = o.anchor;
			rc = fold_once(s, o, scratch);
		}
		gained |= rc > 0;
	}
	return rc < 0 ? rc : gained;
}

static bool begin(struct rn_fold_state *s, const struct rn_streams *streams,
		  struct rn_arena *scratch)
{
	*s = (struct rn_fold_state){ .rules = streams->rules,
				     .groups = streams->groups,
				     .left = RN_FOLD_STEPS,
				     .waste = RN_FOLD_WASTE,
				     .sigs = rn_sigs_count(streams->sigs) };
	s->root = rn_new(scratch, uint32_t, (size_t)s->groups + 1);
	s->tried = rn_new(scratch, uint32_t, 2 * ((size_t)s->sigs + RN_LOOPS_MOST));
	for (uint32_t g = 0; s->root && g < s->groups; g++)
		s->root[g] = streams->group[g].root;
	return s->root && s->tried;
}

/* Encodes the series, each distinct one once. */
static int put_series(const struct rn_fold_state *s, struct rn_arena *scratch,
		      struct rn_folded *out)
{
	struct rn_buf b = { 0 };
	int rc = RN_OK;

	for (size_t i = 0; i < (size_t)s->loops * s->groups && rc == RN_OK; i++) {
		size_t loop = i / s->groups, group = i % s->groups;
		struct rn_units *units;
		uint32_t id;

		if (!s->count[i].series)
			continue;
		rn_buf_clear(&b);
		rc = rn_units_seal(scratch, s->count[i].series, &units);
		if (rc == RN_OK)
			rc = rn_units_encode(units, &b);
		if (rc == RN_OK)
			rc = rn_sigs_intern(out->series, b.data, b.len, &id);
		if (rc == RN_OK)
			out->ref[group * s->loops + loop] = id + 1;
	}
	rn_buf_free(&b);
	return rc;
}

/* Copies the result to `mem`. */
static int finish(const struct rn_fold_state *s, const struct rn_streams *streams,
		  struct rn_arena *mem, struct rn_arena *scratch, struct rn_folded *out)
{
	struct rn_rules *rules = rn_rules_new(mem);
	uint32_t *memo = rn_new_map(scratch, rn_rules_count(s->rules));
	int rc;

	out->streams = *streams;
	out->streams.rules = rules;
	out->streams.group = rn_new(mem, struct rn_stream_group, s->groups);
	out->loop = rn_new(mem, struct rn_loop, s->loops);
	out->refs = (size_t)s->loops * s->groups;
	out->ref = rn_new(mem, uint32_t, out->refs);
	out->series = rn_sigs_new(mem);
	if (!rules || !memo || !out->streams.group || !out->loop || !out->ref || !out->series)
		return RN_E_NOMEM;
	rc = copy_loops(s, rules, memo, out->loop);
	for (uint32_t g = 0; g < s->groups && rc == RN_OK; g++) {
		out->streams.group[g] = streams->group[g];
		rc = rn_rules_import(rules, s->rules, s->root[g], NULL, memo,
				     &out->streams.group[g].root);
	}
	if (rc == RN_OK)
		rc = put_series(s, scratch, out);
	out->loops = s->loops;
	return rc;
}

int rn_fold(const struct rn_streams *streams, struct rn_arena *mem, struct rn_arena *scratch,
	    struct rn_folded *out)
{
	struct rn_fold_state s;
	int rc = 1;

	*out = (struct rn_folded){ .streams = *streams };
	if (!begin(&s, streams, scratch))
		return RN_E_NOMEM;
	measure(&s, 0);
	for (unsigned pass = 0; pass < PASSES && rc > 0; pass++) {
		int more;

		rc = fold_once(&s, no_option, scratch);
		more = rc < 0 ? rc : fold_options(&s, scratch);
		rc = more < 0 ? more : rc | more;
	}
	rc = s.loops ? finish(&s, streams, mem, scratch, out) : RN_OK;
	if (rc < 0)
		*out = (struct rn_folded){ .streams = *streams };
	return rc;
}
