/* request_numbering.c - see request_numbering.h. */
#include "read/request_numbering.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/vec.h"
#include "encode/template.h"
#include "rules/loop_stream.h"
#include "rules/rules.h"
#include "track/id_pool.h"

#define NONE       UINT32_MAX
#define SEEK_STEPS ((uint64_t)1 << 32) /* a minute */

/* What a signature does with one request, in the order of its values. */
struct step {
	enum rn_request_action what;
	uint32_t shape, slot; /* of RN_REQUEST_USED and RN_REQUEST_ENDED; NONE when there cannot be
				 such a request */
	uint32_t value;       /* entry of the signature's template */
};

struct steps {
	uint32_t first, n;
};

/* A live request. Those that are in a list are linked from the newest to the oldest; free ones by
 * `older`. */
struct request {
	uint64_t number;
	uint32_t older, newer;
};

/* The requests that one signature creates. */
struct shape {
	struct rn_idpool pool;
	struct rn_seg request; /* by slot: index of the request, or NONE */
};

/* Which slots are taken, as a hash, and how far the numbers have come. What has been run once finds
 * the signatures that it creates requests with known: only `taken` decides what it does next. */
struct point {
	uint64_t taken, next;
};

/* A rule that was met in a state and left the same requests behind, new numbers aside. */
struct memo {
	uint64_t taken, made;
	uint32_t stream; /* 0: nothing known */
};

struct frame {
	uint32_t rule, item;
	uint64_t left; /* repeats, this one included */
	uint64_t time; /* executions of the item, a loop, that are behind */
	struct point before;
};

struct rn_numbering {
	const struct rn_rules *rules;
	const struct rn_loopset *loops;
	/* What there is to do, the same for all streams. */
	struct steps *of; /* by signature */
	struct step *step;
	bool *acts;        /* by rule, then loop: whether there is anything to do in it */
	bool *literal;     /* the same by literal run */
	struct memo *memo; /* by rule */
	bool any;
	/* The stream. */
	struct rn_arena mem; /* all of it but `shape_of` */
	uint32_t stream;     /* its number; old entries of tables are those of other streams */
	struct {
		uint32_t shape, stream;
	} * shape_of;         /* by signature */
	struct rn_seg shape;  /* struct shape */
	struct rn_seg live;   /* struct request, free ones included */
	uint32_t newest, gap; /* of `live`: the newest request, the first free one; or NONE */
	uint32_t count;
	struct rn_flow flow;
	uint64_t *done; /* by loop with anything to do: executions that have begun */
	struct point now;
	uint64_t patience; /* steps left */
	bool strict;       /* stop at the first thing that is wrong, and say where */
	uint32_t wrong;    /* signature */
};

/*
 * The plan
 */

/* Whether the value is about a request, and what happens to it. */
static bool step_of(const struct rn_keywords *k, const struct rn_value *v, struct step *s)
{
	if (v->kind == RN_V_CONST && v->word == k->made) {
		*s = (struct step){ .what = RN_REQUEST_CREATED };
		return true;
	}
	if (v->kind != RN_V_PLACE || (v->word != k->live && v->word != k->gone))
		return false;
	*s = (struct step){ v->word == k->gone ? RN_REQUEST_ENDED : RN_REQUEST_USED, NONE, NONE,
			    0 };
	if (v->id < RN_REQUESTS_MAX && v->num >= 0 && v->num < RN_REQUESTS_MAX) {
		s->shape = (uint32_t)v->id;
		s->slot = (uint32_t)v->num;
	}
	return true;
}

/* Appends the steps of a signature; returns how many. */
static uint32_t find_steps(const struct rn_keywords *k, const struct rn_template *t,
			   struct rn_buf *out)
{
	uint32_t n = 0;
	struct step s;

	for (uint32_t i = 0; i < t->n; i++) {
		if (!step_of(k, &t->value[i], &s))
			continue;
		s.value = i;
		rn_buf_add(out, &s, sizeof(s));
		n++;
	}
	return n;
}

static int list_steps(struct rn_numbering *n, struct rn_templates *templates, uint32_t sigs,
		      struct rn_buf *out)
{
	uint32_t total = 0;

	for (uint32_t i = 0; i < sigs; i++) {
		const struct rn_template *t = rn_templates_get(templates, i);

		if (!t)
			return RN_E_NOMEM;
		n->of[i] = (struct steps){ total, find_steps(&templates->keywords, t, out) };
		if (__builtin_add_overflow(total, n->of[i].n, &total))
			return RN_E_NOMEM;
	}
	n->any = total > 0;
	return rn_buf_status(out);
}

static int plan_signatures(struct rn_numbering *n, struct rn_arena *mem,
			   const struct rn_vocab *vocab, const struct rn_sigs *sigs)
{
	struct rn_buf steps = { 0 };
	struct rn_templates templates;
	int rc = rn_templates_init(&templates, mem, vocab, sigs);

	if (rc == RN_OK)
		rc = list_steps(n, &templates, rn_sigs_count(sigs), &steps);
	n->step = rn_alloc(mem, 1, _Alignof(struct step), steps.len);
	if (rc == RN_OK && n->step && steps.len)
		memcpy(n->step, steps.data, steps.len);
	rn_templates_free(&templates);
	rn_buf_free(&steps);
	return n->step ? rc : RN_E_NOMEM;
}

/* The loop that an item is; false: it is none. */
static bool loop_of(const struct rn_numbering *n, const struct rn_item *it, uint32_t *loop)
{
	uint32_t symbols = rn_loopset_symbols(n->loops);

	if (it->kind != RN_KIND_TERMINAL || it->id < symbols)
		return false;
	*loop = it->id - symbols;
	return true;
}

static bool item_acts(const struct rn_numbering *n, const struct rn_item *it)
{
	uint32_t k;

	switch (it->kind) {
	case RN_KIND_RULE:
		return n->acts[it->id];
	case RN_KIND_TERMINAL:
		return loop_of(n, it, &k) ? n->acts[rn_rules_count(n->rules) + k]
					  : n->of[it->id].n > 0;
	default:
		return n->literal[it->id];
	}
}

static bool body_acts(const struct rn_numbering *n, struct rn_body b)
{
	bool acts = false;

	for (uint32_t k = 0; k < b.n && !acts; k++)
		acts = item_acts(n, &b.item[k]);
	return acts;
}

static void plan_rules(struct rn_numbering *n)
{
	uint32_t rules = rn_rules_count(n->rules);

	for (uint32_t i = 0; i < rn_rules_literals(n->rules); i++) {
		uint64_t len;
		const uint32_t *symbol = rn_rules_literal(n->rules, i, &len);

		for (uint64_t k = 0; k < len && !n->literal[i]; k++)
			n->literal[i] = n->of[symbol[k]].n > 0;
	}
	for (uint32_t i = 0; i < rules + rn_loopset_count(n->loops); i++) {
		uint32_t id = rn_loopset_order(n->loops, i);

		n->acts[id] = body_acts(n, rn_loopset_body(n->loops, n->rules, id));
	}
}

/*
 * The requests of a stream
 */

static void begin(struct rn_numbering *n)
{
	if (++n->stream == 0) /* a number that is in no table */
		n->stream = 1;
	rn_arena_free(&n->mem);
	rn_seg_init(&n->shape, sizeof(struct shape));
	rn_seg_init(&n->live, sizeof(struct request));
	memset(n->done, 0, rn_loopset_count(n->loops) * sizeof(*n->done));
	n->newest = n->gap = NONE;
	n->count = 0;
	n->now = (struct point){ 0 };
}

struct rn_numbering *rn_numbering_new(struct rn_arena *mem, const struct rn_vocab *vocab,
				      const struct rn_sigs *sigs, const struct rn_rules *rules,
				      const struct rn_loopset *loops)
{
	struct rn_numbering *n = rn_new(mem, struct rn_numbering, 1);

	if (!n)
		return NULL;
	n->rules = rules;
	n->loops = loops;
	n->of = rn_new(mem, struct steps, rn_sigs_count(sigs));
	n->shape_of = rn_alloc(mem, sizeof(*n->shape_of), _Alignof(uint32_t), rn_sigs_count(sigs));
	n->acts = rn_new(mem, bool, (size_t)rn_rules_count(rules) + rn_loopset_count(loops));
	n->literal = rn_new(mem, bool, rn_rules_literals(rules));
	n->done = rn_new(mem, uint64_t, (size_t)rn_loopset_count(loops) + 1);
	n->memo = rn_new(mem, struct memo, rn_rules_count(rules));
	if (!n->of || !n->shape_of || !n->acts || !n->literal || !n->done || !n->memo ||
	    plan_signatures(n, mem, vocab, sigs) < 0)
		return NULL;
	plan_rules(n);
	rn_arena_init(&n->mem, SIZE_MAX);
	n->patience = UINT64_MAX;
	begin(n);
	return n;
}

void rn_numbering_free(struct rn_numbering *n)
{
	if (n)
		rn_arena_free(&n->mem);
}

static struct request *request_at(const struct rn_numbering *n, uint32_t i)
{
	return RN_SEG_AT(&n->live, struct request, i);
}

/* Where the index of a request is kept, or NULL. */
static uint32_t *slot_at(const struct rn_numbering *n, uint32_t shape, uint32_t slot)
{
	const struct shape *s;

	if (shape >= n->shape.n)
		return NULL;
	s = RN_SEG_AT(&n->shape, struct shape, shape);
	return slot < s->request.n ? RN_SEG_AT(&s->request, uint32_t, slot) : NULL;
}

static uint32_t find(const struct rn_numbering *n, uint32_t shape, uint32_t slot)
{
	const uint32_t *at = slot_at(n, shape, slot);

	return at ? *at : NONE;
}

/* Two states are the same when the slots that are taken are: each toggles a few bits. */
static void toggle(struct rn_numbering *n, uint32_t shape, uint32_t slot)
{
	uint64_t z = ((uint64_t)shape << 32 | slot) + 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	n->now.taken ^= z ^ (z >> 31);
}

static int shape_of(struct rn_numbering *n, uint32_t sig, uint32_t *shape)
{
	struct shape *s;

	if (n->shape_of[sig].stream != n->stream) {
		if (!rn_seg_reserve(&n->shape, &n->mem, 1))
			return RN_E_NOMEM;
		n->shape_of[sig].stream = n->stream;
		n->shape_of[sig].shape = n->shape.n;
		s = RN_SEG_AT(&n->shape, struct shape, n->shape.n);
		n->shape.n++;
		rn_idpool_init(&s->pool);
		rn_seg_init(&s->request, sizeof(uint32_t));
	}
	*shape = n->shape_of[sig].shape;
	return RN_OK;
}

/* Room for one more request: its index. */
static uint32_t new_request(struct rn_numbering *n)
{
	uint32_t i = n->gap;

	if (i != NONE) {
		n->gap = request_at(n, i)->older;
		return i;
	}
	return rn_seg_reserve(&n->live, &n->mem, 1) ? n->live.n++ : NONE;
}

/* Links it as the newest one. */
static void put_newest(struct rn_numbering *n, uint32_t i)
{
	*request_at(n, i) = (struct request){ n->now.next, n->newest, NONE };
	if (n->newest != NONE)
		request_at(n, n->newest)->newer = i;
	n->newest = i;
	n->count++;
}

static int take_slot(struct rn_numbering *n, struct shape *s, uint32_t *slot)
{
	if (rn_idpool_take(&s->pool, &n->mem, slot) < 0)
		return RN_E_NOMEM;
	if (*slot < s->request.n)
		return RN_OK;
	if (!rn_seg_reserve(&s->request, &n->mem, 1))
		return RN_E_NOMEM;
	s->request.n++; /* the lowest free one is never further away */
	return RN_OK;
}

static int create(struct rn_numbering *n, uint32_t sig)
{
	uint32_t shape, slot, i;
	struct shape *s;

	if (shape_of(n, sig, &shape) < 0)
		return RN_E_NOMEM;
	if (n->count == RN_REQUESTS_MAX) {
		n->now.next++;
		return RN_E_DATA;
	}
	s = RN_SEG_AT(&n->shape, struct shape, shape);
	if (take_slot(n, s, &slot) < 0)
		return RN_E_NOMEM;
	i = new_request(n);
	if (i == NONE)
		return RN_E_NOMEM;
	put_newest(n, i);
	n->now.next++;
	*RN_SEG_AT(&s->request, uint32_t, slot) = i;
	toggle(n, shape, slot);
	return RN_OK;
}

static void unlink_request(struct rn_numbering *n, uint32_t i)
{
	struct request *r = request_at(n, i);

	if (r->older != NONE)
		request_at(n, r->older)->newer = r->newer;
	if (r->newer != NONE)
		request_at(n, r->newer)->older = r->older;
	else
		n->newest = r->older;
	r->older = n->gap;
	n->gap = i;
	n->count--;
}

static int end(struct rn_numbering *n, uint32_t shape, uint32_t slot)
{
	uint32_t *at = slot_at(n, shape, slot);

	if (!at || *at == NONE)
		return RN_E_DATA;
	unlink_request(n, *at);
	*at = NONE;
	rn_idpool_give(&RN_SEG_AT(&n->shape, struct shape, shape)->pool, slot);
	toggle(n, shape, slot);
	return RN_OK;
}

static int do_step(struct rn_numbering *n, uint32_t sig, const struct step *s)
{
	switch (s->what) {
	case RN_REQUEST_CREATED:
		return create(n, sig);
	case RN_REQUEST_ENDED:
		return end(n, s->shape, s->slot);
	default:
		return find(n, s->shape, s->slot) == NONE ? RN_E_DATA : RN_OK;
	}
}

/* What a stream does wrong stops nobody who only wants to read it. */
static int do_call(struct rn_numbering *n, uint32_t sig)
{
	const struct steps *of = &n->of[sig];

	for (uint32_t i = 0; i < of->n; i++) {
		int rc = do_step(n, sig, &n->step[of->first + i]);

		if (rc == RN_E_NOMEM)
			return rc;
		if (rc == RN_E_DATA && n->strict) {
			n->wrong = sig;
			return rc;
		}
		if (n->patience-- == 0)
			return RN_E_RANGE;
	}
	return RN_OK;
}

/*
 * Many calls at once
 */

/* What began at `before` has led to the same state, and so it will `times` times more: what is left
 * of the requests that it created are then those of its last time. */
static void add_repeats(struct rn_numbering *n, const struct point *before, uint64_t times)
{
	uint64_t more = (n->now.next - before->next) * times;

	for (uint32_t i = n->newest; i != NONE; i = request_at(n, i)->older) {
		struct request *r = request_at(n, i);

		if (r->number < before->next)
			break;
		r->number += more;
	}
	n->now.next += more;
}

/* The first so many symbols of an item that is a terminal or a literal run. */
static int do_flat(struct rn_numbering *n, const struct rn_item *it, uint64_t symbols)
{
	uint64_t unit = 1;
	const uint32_t *symbol = &it->id;

	if (it->kind == RN_KIND_LITERAL)
		symbol = rn_rules_literal(n->rules, it->id, &unit);
	while (symbols) {
		struct point before = n->now;
		uint64_t len = symbols < unit ? symbols : unit;

		for (uint64_t i = 0; i < len; i++) {
			int rc = do_call(n, symbol[i]);

			if (rc < 0)
				return rc;
		}
		symbols -= len;
		if (symbols >= unit && n->now.taken == before.taken) {
			add_repeats(n, &before, symbols / unit);
			symbols %= unit;
		}
	}
	return RN_OK;
}

static bool holds_loops(const struct rn_numbering *n, uint32_t rule)
{
	struct rn_item it = { .kind = RN_KIND_RULE, .id = rule };

	return rn_loopset_holds(n->loops, &it);
}

/* Whether the rule has been seen in this state; then its effect is had without it. */
static bool remembered(struct rn_numbering *n, uint32_t rule, uint64_t times)
{
	const struct memo *m = &n->memo[rule];

	if (m->stream != n->stream || m->taken != n->now.taken)
		return false;
	n->now.next += m->made * times;
	return true;
}

/* One repeat of a rule is over. With loops inside, the next one may be another. */
static void end_repeat(struct rn_numbering *n, struct frame *f)
{
	bool same = n->now.taken == f->before.taken && !holds_loops(n, f->rule);
	uint32_t newest = n->newest;

	if (same && (newest == NONE || request_at(n, newest)->number < f->before.next))
		n->memo[f->rule] =
			(struct memo){ n->now.taken, n->now.next - f->before.next, n->stream };
	f->left--;
	if (same) {
		add_repeats(n, &f->before, f->left);
		f->left = 0;
	}
	f->before = n->now;
	f->item = 0;
}

/* Symbols of an item that is a terminal or a literal run. */
static uint64_t flat_length(const struct rn_numbering *n, const struct rn_item *it)
{
	uint64_t unit = 1;

	if (it->kind == RN_KIND_LITERAL)
		rn_rules_literal(n->rules, it->id, &unit);
	return unit * it->count;
}

/* All repeats of an item that is no loop; may enter the rule that it is. */
static int do_repeats(struct rn_numbering *n, struct frame *stack, uint32_t *depth,
		      const struct rn_item *it)
{
	if (it->kind != RN_KIND_RULE)
		return do_flat(n, it, flat_length(n, it));
	if (it->count && !remembered(n, it->id, it->count))
		stack[(*depth)++] = (struct frame){ it->id, 0, it->count, 0, n->now };
	return RN_OK;
}

/* The rounds of the next execution of a loop. */
static struct rn_item next_execution(struct rn_numbering *n, uint32_t k)
{
	struct rn_item rounds = rn_loopset_round(n->loops, k);
	uint64_t done = n->done[k]++;

	rounds.count = rn_flow_rounds(&n->flow, k, done + 1) - rn_flow_rounds(&n->flow, k, done);
	return rounds;
}

/* The next item of the topmost rule, or its next execution. */
static int do_item(struct rn_numbering *n, struct frame *stack, uint32_t *depth,
		   const struct rn_item *it)
{
	struct frame *f = &stack[*depth - 1];
	struct rn_item rounds;
	uint32_t k;

	if (n->patience-- == 0)
		return RN_E_RANGE;
	if (!item_acts(n, it) || !loop_of(n, it, &k)) {
		f->item++;
		return item_acts(n, it) ? do_repeats(n, stack, depth, it) : RN_OK;
	}
	if (++f->time == it->count) {
		f->time = 0;
		f->item++;
	}
	rounds = next_execution(n, k);
	return do_repeats(n, stack, depth, &rounds);
}

/* All repeats of an item, to their end. The stack has room for the height of the stream, of which
 * it is a part. */
static int do_all(struct rn_numbering *n, struct frame *stack, const struct rn_item *it)
{
	uint32_t depth = 0;
	int rc = do_repeats(n, stack, &depth, it);

	while (depth && rc == RN_OK) {
		struct frame *f = &stack[depth - 1];
		struct rn_body b = rn_rules_body(n->rules, f->rule);

		if (f->item < b.n) {
			rc = do_item(n, stack, &depth, &b.item[f->item]);
		} else {
			end_repeat(n, f);
			depth -= f->left == 0;
		}
	}
	return rc;
}

static int do_executions(struct rn_numbering *n, struct frame *stack, uint32_t k, uint64_t times)
{
	int rc = RN_OK;

	for (; times && rc == RN_OK; times--) {
		struct rn_item rounds = next_execution(n, k);

		rc = n->patience-- == 0 ? RN_E_RANGE : do_all(n, stack, &rounds);
	}
	return rc;
}

/* The first so many repeats of an item; of a literal run, symbols. */
static int do_part(struct rn_numbering *n, struct frame *stack, const struct rn_item *it,
		   uint64_t iter)
{
	struct rn_item part = *it;
	uint32_t k;

	if (!item_acts(n, it))
		return RN_OK;
	if (loop_of(n, it, &k))
		return do_executions(n, stack, k, iter);
	if (it->kind != RN_KIND_RULE)
		return do_flat(n, it, iter);
	part.count = iter;
	return do_all(n, stack, &part);
}

/* The items of a body before the walker's place in it, and the repeats of that one. */
static int do_body(struct rn_numbering *n, struct frame *stack, const struct rn_walk *w,
		   const struct rn_walk_frame *to)
{
	struct rn_body b = rn_walk_body(w, to);
	int rc = RN_OK;

	if (to->rule >= RN_IN_LOOP)
		n->done[to->rule - RN_IN_LOOP]++;
	for (uint32_t i = 0; i < b.n && i <= to->item && rc == RN_OK; i++) {
		const struct rn_item *it = &b.item[i];
		uint64_t all = it->kind == RN_KIND_LITERAL ? flat_length(n, it) : it->count;

		rc = do_part(n, stack, it, i < to->item ? all : to->iter);
	}
	return rc;
}

/* At the beginning of a stream. */
static struct frame *begin_stream(struct rn_numbering *n, const struct rn_flow *f)
{
	begin(n);
	n->flow = *f;
	return rn_new(&n->mem, struct frame, (size_t)rn_flow_height(f) + 1);
}

int rn_numbering_seek(struct rn_numbering *n, const struct rn_walk *w)
{
	struct rn_flow flow;
	struct frame *stack;
	int rc = RN_OK;

	if (!n->any || w->pos == 0) {
		begin(n);
		return RN_OK;
	}
	flow = rn_walk_stream(w);
	stack = begin_stream(n, &flow);
	if (!stack)
		return RN_E_NOMEM;
	n->patience = SEEK_STEPS;
	for (uint32_t i = 0; i < w->depth && rc == RN_OK; i++)
		rc = do_body(n, stack, w, &w->frame[i]);
	n->patience = UINT64_MAX;
	return rc;
}

/* Stores the numbers that the requests of the call have before it is made. */
static void number_values(const struct rn_numbering *n, const struct steps *of,
			  struct rn_value *value)
{
	uint64_t next = n->now.next;

	for (const struct step *s = n->step + of->first, *last = s + of->n; s < last; s++) {
		uint32_t i = s->what == RN_REQUEST_CREATED ? NONE : find(n, s->shape, s->slot);
		struct rn_value *v = &value[s->value];

		v->kind = RN_V_REQUEST;
		v->num = s->what == RN_REQUEST_CREATED ? (int64_t)next++
			 : i == NONE                   ? RN_REQUEST_UNKNOWN
						       : (int64_t)request_at(n, i)->number;
		v->id = s->what;
	}
}

int rn_numbering_call(struct rn_numbering *n, uint32_t sig, struct rn_value *value)
{
	if (!n->of[sig].n)
		return RN_OK;
	if (value)
		number_values(n, &n->of[sig], value);
	return do_call(n, sig);
}

bool rn_numbering_find(const struct rn_numbering *n, uint64_t shape, int64_t slot, uint64_t *number)
{
	uint32_t i;

	if (shape >= RN_REQUESTS_MAX || slot < 0 || slot >= RN_REQUESTS_MAX)
		return false;
	i = find(n, (uint32_t)shape, (uint32_t)slot);
	if (i == NONE)
		return false;
	*number = request_at(n, i)->number;
	return true;
}

uint64_t rn_numbering_next(const struct rn_numbering *n)
{
	return n->now.next;
}

int rn_numbering_check(struct rn_numbering *n, const struct rn_flow *f, uint64_t *patience,
		       uint32_t *sig)
{
	struct rn_item all = { .kind = RN_KIND_RULE, .id = f->root, .count = 1 };
	struct frame *stack = begin_stream(n, f);
	int rc = RN_E_NOMEM;

	n->strict = true;
	n->patience = *patience;
	if (stack)
		rc = do_part(n, stack, &all, 1);
	*sig = n->wrong;
	*patience = rc == RN_E_RANGE ? 0 : n->patience;
	n->strict = false;
	n->patience = UINT64_MAX;
	begin(n);
	return rc;
}
