/* outline_build.c - see outline_build.h. */
#include "analysis/outline_build.h"

#include "base/arena.h"
#include "base/vec.h"
#include "model/markers.h"
#include "model/merged_streams.h"
#include "rules/rules.h"

#define NESTED_SHOWN 16u /* limit on nesting, and on consecutive `enter` markers */

/* ---- nodes ---- */

static struct rn_piece *add_part(struct rn_outline_build *b, uint32_t level,
				 enum rn_piece_kind kind)
{
	struct rn_piece *p = rn_new(b->mem, struct rn_piece, 1);

	if (!p)
		return NULL;
	p->kind = kind;
	p->count = 1;
	*b->tail[level] = b->last[level] = p;
	b->tail[level] = &p->next;
	b->left -= b->left > 0;
	return p;
}

/* Adds n times the weight to the rest node at the end of the level, which is created if
 * necessary. */
static int add_rest(struct rn_outline_build *b, uint32_t level, const struct rn_weight *w,
		    uint64_t n)
{
	struct rn_piece *p = b->last[level];

	if (!p || p->kind != RN_PIECE_REST)
		p = add_part(b, level, RN_PIECE_REST);
	if (!p)
		return RN_E_NOMEM;
	rn_weight_add(&p->rest, w, n);
	return RN_OK;
}

static int add_call_part(struct rn_outline_build *b, uint32_t level, uint32_t sig, uint64_t count,
			 uint32_t loop)
{
	struct rn_piece *p;

	if (b->left == 0 && !loop)
		return add_rest(b, level, &b->sig[sig].one, count);
	if (b->left == 0)
		return RN_E_RANGE;
	p = add_part(b, level, RN_PIECE_CALL);
	if (!p)
		return RN_E_NOMEM;
	p->variant = rn_new(b->mem, struct rn_variant, 1);
	if (!p->variant)
		return RN_E_NOMEM;
	p->variant->sig = sig;
	p->variant->manner = b->sig[sig].manner;
	p->function = b->sig[sig].function;
	p->marker = b->sig[sig].marker;
	p->count = count;
	p->loop = loop;
	return RN_OK;
}

/* Adds a call. `enter` markers are not combined, because each has a separate `leave`. */
static int add_call(struct rn_outline_build *b, uint32_t level, uint32_t sig, uint64_t count,
		    uint32_t loop)
{
	int rc = RN_OK;

	if (b->sig[sig].marker != RN_MARKER_ENTER || count > NESTED_SHOWN)
		return add_call_part(b, level, sig, count, loop);
	for (uint64_t i = 0; i < count && rc == RN_OK; i++)
		rc = add_call_part(b, level, sig, 1, loop);
	return rc;
}

/* Adds a loop. Subsequent nodes of the next level are its children. */
static int open_loop(struct rn_outline_build *b, uint32_t level, uint64_t count, uint32_t loop)
{
	struct rn_piece *p = add_part(b, level, RN_PIECE_LOOP);

	if (!p)
		return RN_E_NOMEM;
	p->count = count;
	p->loop = loop;
	b->tail[level + 1] = &p->child;
	b->last[level + 1] = NULL;
	return RN_OK;
}

static bool is_full(const struct rn_outline_build *b, uint32_t level)
{
	return b->left == 0 || level + 1 >= RN_OUTLINE_DEPTH;
}

static int add_run(struct rn_outline_build *b, uint32_t level, uint32_t lit, uint64_t count)
{
	uint64_t n;
	const uint32_t *run = rn_rules_literal(b->s->rules, lit, &n);
	int rc = RN_OK;

	if (is_full(b, level))
		return add_rest(b, level, &b->whole[lit], count);
	if (count > 1) {
		rc = open_loop(b, level, count, 0);
		level++;
	}
	for (uint64_t i = 0; i < n && i < RN_OUTLINE_LITERAL && rc == RN_OK; i++)
		rc = add_call(b, level, run[i], 1, 0);
	if (rc == RN_OK && n > RN_OUTLINE_LITERAL)
		rc = add_rest(b, level, &b->cut[lit], 1);
	return rc;
}

/* ---- a tree ---- */

/* A rule that is being expanded. */
struct frame {
	uint32_t rule, item, level;
};

static int push(struct rn_seg *stack, struct rn_arena *mem, uint32_t rule, uint32_t level)
{
	return RN_SEG_PUSH(stack, mem, struct frame, (struct frame){ rule, 0, level }) ? RN_OK
										       : RN_E_NOMEM;
}

static int add_rule(struct rn_outline_build *b, struct rn_seg *stack, uint32_t level,
		    const struct rn_item *it)
{
	int rc = RN_OK;

	if (is_full(b, level) && !rn_loopset_holds(rn_streams_loops(b->s), it))
		return add_rest(b, level, &b->rule[it->id], it->count);
	if (is_full(b, level))
		return RN_E_RANGE;
	if (it->count > 1)
		rc = open_loop(b, level++, it->count, 0);
	return rc < 0 ? rc : push(stack, b->scratch, it->id, level);
}

/* Adds a loop with an elastic count. Consecutive executions of it are enclosed in another loop. */
static int add_loop(struct rn_outline_build *b, struct rn_seg *stack, uint32_t level, uint32_t k,
		    uint64_t count)
{
	struct rn_item round = rn_loopset_round(b->s->loops->set, k);
	int rc = RN_OK;

	if (is_full(b, level + 1))
		return RN_E_RANGE;
	if (count > 1)
		rc = open_loop(b, level++, count, 0);
	if (rc < 0)
		return rc;
	if (round.kind == RN_KIND_TERMINAL)
		return add_call(b, level, round.id, 1, k + 1);
	rc = open_loop(b, level, 1, k + 1);
	return rc < 0 ? rc : push(stack, b->scratch, round.id, level + 1);
}

static int add_item(struct rn_outline_build *b, struct rn_seg *stack, uint32_t level,
		    const struct rn_item *it)
{
	if (it->kind == RN_KIND_RULE)
		return add_rule(b, stack, level, it);
	if (it->kind == RN_KIND_LITERAL)
		return add_run(b, level, it->id, it->count);
	if (it->id < b->sigs)
		return add_call(b, level, it->id, it->count, 0);
	return add_loop(b, stack, level, it->id - b->sigs, it->count);
}

static void begin_tree(struct rn_outline_build *b, struct rn_piece **list)
{
	*list = NULL;
	b->tail[0] = list;
	b->last[0] = NULL;
}

/* Rules can be nested to any depth, so an explicit stack is used. The depth of trees is bounded. */
int rn_outline_expand(struct rn_outline_build *b, uint32_t root, struct rn_piece **list)
{
	struct rn_seg stack;
	int rc;

	rn_seg_init(&stack, sizeof(struct frame));
	begin_tree(b, list);
	rc = push(&stack, b->scratch, root, 0);
	while (rc == RN_OK && stack.n) {
		struct frame *f = RN_SEG_AT(&stack, struct frame, stack.n - 1);
		struct rn_body body = rn_rules_body(b->s->rules, f->rule);

		if (f->item == body.n)
			stack.n--;
		else
			rc = add_item(b, &stack, f->level, &body.item[f->item++]);
	}
	return rc;
}

int rn_outline_rest(struct rn_outline_build *b, const struct rn_weight *w, struct rn_piece **list)
{
	begin_tree(b, list);
	return add_rest(b, 0, w, 1);
}

/* ---- nested calls ---- */

static bool is_once(const struct rn_piece *p)
{
	return p->count == 1 && !p->loop;
}

/* The call that a `leave` belongs to. If it is the first of consecutive equal calls, it is split
 * off. */
static struct rn_piece *split_first(struct rn_outline_build *b, struct rn_piece *call)
{
	struct rn_piece *rest;

	if (call->count == 1)
		return call;
	rest = rn_new(b->mem, struct rn_piece, 1);
	if (!rest)
		return NULL;
	*rest = *call;
	rest->count--;
	rest->variant = rn_new(b->mem, struct rn_variant, 1);
	if (!rest->variant)
		return NULL;
	*rest->variant = *call->variant;
	call->count = 1;
	call->next = rest;
	return call;
}

/* Moves the nodes between `enter` at *from and `leave` below the call of `leave`, and removes both
 * markers. */
static int put_inside(struct rn_outline_build *b, struct rn_piece **from, struct rn_piece **leave)
{
	struct rn_piece *call = split_first(b, (*leave)->next), *inner = (*from)->next;

	if (!call)
		return RN_E_NOMEM;
	if (inner != *leave) {
		*leave = NULL;
		call->child = inner;
	}
	*from = call;
	return RN_OK;
}

static bool ends_call(const struct rn_piece *leave)
{
	const struct rn_piece *call = leave->next;

	return leave->marker == RN_MARKER_LEAVE && is_once(leave) && call &&
	       call->kind == RN_PIECE_CALL && call->marker == RN_MARKER_NONE && !call->loop &&
	       !call->child;
}

/* Nests the calls of one list. Markers without a counterpart in the same iteration have no effect;
 * the caller removes them. */
static int nest_calls(struct rn_outline_build *b, struct rn_piece **list)
{
	struct rn_piece **open[NESTED_SHOWN], **at = list;
	uint32_t depth = 0;

	while (*at) {
		struct rn_piece *p = *at;

		if (p->marker == RN_MARKER_ENTER && is_once(p) && depth < NESTED_SHOWN)
			open[depth++] = at;
		if (depth && ends_call(p)) {
			at = open[--depth];
			for (struct rn_piece **l = at; *l; l = &(*l)->next)
				if (*l == p) {
					int rc = put_inside(b, at, l);

					if (rc < 0)
						return rc;
					break;
				}
		}
		at = &(*at)->next;
	}
	return RN_OK;
}

/* Replaces a loop around one call that is made once by that call with the loop's count. */
static void simplify(struct rn_piece *p)
{
	struct rn_piece *c = p->child;

	if (p->kind != RN_PIECE_LOOP || !c || c->next || c->kind != RN_PIECE_CALL || c->child ||
	    !is_once(c))
		return;
	p->kind = RN_PIECE_CALL;
	p->function = c->function;
	p->variant = c->variant;
	p->child = NULL;
}

int rn_outline_nest(struct rn_outline_build *b, struct rn_piece **list)
{
	int rc = nest_calls(b, list);

	for (struct rn_piece **at = list; *at && rc == RN_OK;) {
		rc = rn_outline_nest(b, &(*at)->child);
		simplify(*at);
		if ((*at)->marker != RN_MARKER_NONE ||
		    ((*at)->kind == RN_PIECE_LOOP && !(*at)->child))
			*at = (*at)->next;
		else
			at = &(*at)->next;
	}
	return rc;
}
