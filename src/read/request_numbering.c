/* request_numbering.c - see request_numbering.h. */
#include "read/request_numbering.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/vec.h"
#include "encode/template.h"
#include "rules/rule_search.h"
#include "rules/rules.h"
#include "track/id_pool.h"

#define NONE       UINT32_MAX
#define SEEK_STEPS ((uint64_t)1 << 32) /* about a minute */

/* The action of a signature on one request. The steps of a signature are in the order of its
 * values. */
struct step {
	enum rn_request_action what;
	uint32_t shape, slot; /* of a request that is used or ended; NONE: out of range */
	uint32_t value;       /* index of the value in the signature's template */
};

struct steps {
	uint32_t first, n;
};

/* A live request, linked into a list from the newest to the oldest. Free entries are linked by
 * `older`. */
struct request {
	uint64_t number;
	uint32_t older, newer;
};

/* The requests that one signature created. */
struct shape {
	struct rn_idpool pool;
	struct rn_seg request; /* by slot: index of the request, or NONE */
};

/* State of the numbering: a hash of the occupied slots, and the next request number. When an item
 * has been processed once, all its request-creating signatures have a shape. From then on, `taken`
 * alone determines the effect of the item. */
struct point {
	uint64_t taken, next;
};

/* Cached effect of a rule that began in state `taken` and restored it, and of which no new request
 * is live: it created `made` requests. */
struct memo {
	uint64_t taken, made;
	uint32_t stream; /* stream of the entry; 0: empty */
};

struct rn_numbering {
	const struct rn_rules *rules;
	const struct rn_loopset *loops;
	/* Request operations of the trace, common to all streams. */
	struct steps *of; /* by signature */
	struct step *step;
	bool *acts;        /* by rule, then by loop: it contains request operations */
	bool *literal;     /* by literal run: it contains request operations */
	struct memo *memo; /* by rule */
	bool any;
	/* Current stream. */
	struct rn_arena mem; /* all tables of the stream except `shape_of` */
	uint32_t stream;     /* sequence number of the stream; table entries with another number are
				stale */
	struct {
		uint32_t shape, stream;
	} * shape_of;        /* by signature */
	struct rn_seg shape; /* struct shape */
	struct rn_seg live;  /* struct request, including free entries */
	/* Indexes in `live` of the newest request and of the first free entry, or NONE. */
	uint32_t newest, gap;
	uint32_t count;
	struct point now;
	bool strict;    /* stop at the first error, and set `wrong` */
	uint32_t wrong; /* signature of the error */
};

/*
 * Request operations of signatures and rules
 */

/* Sets *s if the value is a request. Returns whether it is. */
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

/* Appends the steps of a signature and returns their number. */
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

static bool item_acts(const struct rn_numbering *n, const struct rn_item *it)
{
	uint32_t symbols = rn_loopset_symbols(n->loops);

	switch (it->kind) {
	case RN_KIND_RULE:
		return n->acts[it->id];
	case RN_KIND_TERMINAL:
		return it->id < symbols ? n->of[it->id].n > 0
					: n->acts[rn_rules_count(n->rules) + it->id - symbols];
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
	if (++n->stream == 0) /* 0 marks empty table entries */
		n->stream = 1;
	rn_arena_free(&n->mem);
	rn_seg_init(&n->shape, sizeof(struct shape));
	rn_seg_init(&n->live, sizeof(struct request));
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
	n->memo = rn_new(mem, struct memo, rn_rules_count(rules));
	if (!n->of || !n->shape_of || !n->acts || !n->literal || !n->memo ||
	    plan_signatures(n, mem, vocab, sigs) < 0)
		return NULL;
	plan_rules(n);
	rn_arena_init(&n->mem, SIZE_MAX);
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

/* Returns the table entry with the index of a request, or NULL. */
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

/* Toggles a slot in the hash of the occupied slots. The hash is an exclusive or over all occupied
 * slots, so equal sets of slots have equal hashes. */
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

/* Returns the index of an unused entry for a request; NONE without memory. */
static uint32_t new_request(struct rn_numbering *n)
{
	uint32_t i = n->gap;

	if (i != NONE) {
		n->gap = request_at(n, i)->older;
		return i;
	}
	return rn_seg_reserve(&n->live, &n->mem, 1) ? n->live.n++ : NONE;
}

/* Links the request as the newest one. */
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
	s->request.n++; /* the lowest free slot is at most the number of slots */
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

/* Errors of the stream are ignored unless the check is strict, because a reader continues after
 * them. */
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
	}
	return RN_OK;
}

/*
 * Seeking: a walk from the beginning of the stream that skips every item that changes nothing, or
 * changes only request numbers.
 */

/* One repeat of an item that the walk has entered. Frames are indexed by the depth of the walk. */
struct frame {
	const struct rn_item *item;
	struct point before;
};

struct pass {
	struct rn_search search; /* first */
	struct rn_numbering *n;
	struct rn_walk walk;
	uint64_t end; /* position where the walk ends */
	struct frame *frame;
	uint32_t frames;
	/* The item that may be skipped; NULL: none. Each repeat of it creates `made` requests. The
	 * live requests with numbers >= `from` were created by its last repeat. */
	const struct rn_item *item;
	uint64_t from, made;
	int rc; /* result of the calls so far */
};

/* Whether all live requests have numbers below `number`. */
static bool is_newer(const struct rn_numbering *n, uint64_t number)
{
	return n->newest == NONE || request_at(n, n->newest)->number < number;
}

/* Ends the repeat of a frame. Caches the effect of a rule that restored the occupied slots. */
static void end_repeat(struct rn_numbering *n, const struct frame *f)
{
	if (f->item->kind == RN_KIND_RULE && !rn_loopset_holds(n->loops, f->item) &&
	    n->now.taken == f->before.taken && is_newer(n, f->before.next))
		n->memo[f->item->id] =
			(struct memo){ n->now.taken, n->now.next - f->before.next, n->stream };
}

static bool remembered(const struct rn_numbering *n, const struct rn_item *it, uint64_t *made)
{
	const struct memo *m = it->kind == RN_KIND_RULE ? &n->memo[it->id] : NULL;

	if (!m || m->stream != n->stream || m->taken != n->now.taken)
		return false;
	*made = m->made;
	return true;
}

/* Whether the repeat that began at `before` restored the state, so that later repeats have the same
 * effect. An item with loops is excluded, because its next repeat may differ. */
static bool repeats(const struct rn_numbering *n, const struct rn_item *it,
		    const struct point *before)
{
	return n->now.taken == before->taken && !rn_loopset_holds(n->loops, it);
}

static bool pass_enters(struct rn_search *q, const struct rn_walk *w, const struct rn_item *it)
{
	/* The walk also enters a repeat that could be skipped if the end is inside it. */
	static const struct rn_item passable = { .kind = RN_KIND_TERMINAL };
	struct pass *p = (struct pass *)q;
	struct rn_numbering *n = p->n;
	uint32_t depth = w->depth - 1;
	bool again = w->frame[depth].iter && p->frames > depth && p->frame[depth].item == it;

	while (p->frames > depth)
		end_repeat(n, &p->frame[--p->frames]);
	p->item = it;
	p->from = n->now.next;
	p->made = 0;
	if (!item_acts(n, it) || rn_walk_pos(w) == p->end)
		return false;
	if (again && repeats(n, it, &p->frame[depth].before)) {
		p->from = p->frame[depth].before.next;
		p->made = n->now.next - p->from;
		return false;
	}
	if (remembered(n, it, &p->made))
		return false;
	p->item = NULL;
	while (p->frames < depth)
		p->frame[p->frames++] = (struct frame){ &passable, n->now };
	p->frame[p->frames++] = (struct frame){ it, n->now };
	return true;
}

static bool pass_passes(const struct rn_search *q, const struct rn_passage *passage)
{
	const struct pass *p = (const struct pass *)q;

	return p->rc == RN_OK && passage->length <= p->end - rn_walk_pos(&p->walk);
}

static void add_repeats(struct pass *p, uint64_t times)
{
	struct rn_numbering *n = p->n;
	uint64_t more = p->made * times;

	for (uint32_t i = n->newest; i != NONE; i = request_at(n, i)->older) {
		struct request *r = request_at(n, i);

		if (r->number < p->from)
			break;
		r->number += more;
	}
	n->now.next += more;
}

static void pass_pass(struct rn_search *q, const struct rn_passage *passage)
{
	struct pass *p = (struct pass *)q;
	bool is_call = passage->item != p->item;
	uint64_t cost = is_call ? p->n->of[passage->item->id].n : passage->cost;

	q->left -= cost < q->left ? cost : q->left - 1;
	if (is_call)
		p->rc = do_call(p->n, passage->item->id);
	else
		add_repeats(p, passage->n);
}

/* Processes the calls of a stream before a position. Returns RN_E_RANGE if they take more than
 * *patience steps. The steps used are subtracted from *patience. */
static int pass_calls(struct rn_numbering *n, const struct rn_flow *f, uint64_t end,
		      uint64_t *patience)
{
	struct pass p = { .search = { .enters = pass_enters,
				      .passes = pass_passes,
				      .pass = pass_pass,
				      .left = *patience },
			  .n = n,
			  .end = end };

	begin(n);
	p.frame = rn_new(&n->mem, struct frame, (size_t)rn_flow_height(f) + 1);
	if (!p.frame || rn_walk_flow(&p.walk, f, &n->mem) < 0)
		return RN_E_NOMEM;
	rn_search_on(&p.search, &p.walk);
	*patience = p.search.left;
	return p.rc == RN_OK && p.search.left == 0 ? RN_E_RANGE : p.rc;
}

int rn_numbering_seek(struct rn_numbering *n, const struct rn_walk *w)
{
	struct rn_flow flow = rn_walk_stream(w);
	uint64_t patience = SEEK_STEPS;

	if (n->any && rn_walk_pos(w))
		return pass_calls(n, &flow, rn_walk_pos(w), &patience);
	begin(n);
	return RN_OK;
}

/* Stores the numbers that the requests of the call have before the call. */
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
	int rc;

	n->strict = true;
	rc = pass_calls(n, f, UINT64_MAX, patience);
	*sig = n->wrong;
	n->strict = false;
	begin(n);
	return rc;
}
