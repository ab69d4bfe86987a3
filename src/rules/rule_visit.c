/* rule_visit.c - see rule_visit.h. */
#include "rules/rule_visit.h"

#include <assert.h>

#include "base/vec.h"

struct frame {
	uint32_t rule, item;
	uint64_t left; /* iterations, including this one */
	uint64_t time; /* number of calls of the callback for the item */
};

static struct frame *top(struct rn_seg *stack)
{
	assert(stack->n > 0);
	return RN_SEG_AT(stack, struct frame, stack->n - 1);
}

static int push(struct rn_seg *stack, struct rn_arena *mem, struct rn_descent into)
{
	if (into.times == 0)
		return RN_OK;
	return RN_SEG_PUSH(stack, mem, struct frame, (struct frame){ into.rule, 0, into.times, 0 })
		       ? RN_OK
		       : RN_E_NOMEM;
}

/* Starts the next iteration of the innermost rule, or leaves it after the last one. */
static void next_round(struct rn_seg *stack)
{
	struct frame *f = top(stack);

	assert(f->left > 0);
	f->item = 0;
	if (--f->left == 0)
		stack->n--;
}

/* Calls the callback for the next item. */
static int ask(struct frame *f, const struct rn_item *it, rn_item_fn *fn, void *arg,
	       struct rn_descent *into)
{
	int rc = fn(arg, it, f->time, into);

	if (rc >= 0 && rc & RN_VISIT_AGAIN) {
		f->time++;
	} else {
		f->time = 0;
		f->item++;
	}
	return rc;
}

int rn_rules_visit(const struct rn_rules *r, uint32_t root, uint64_t *left, rn_item_fn *fn,
		   void *arg)
{
	struct rn_arena mem; /* separate from the arenas of the callback, which may allocate */
	struct rn_seg stack;
	int rc;

	rn_arena_init(&mem, SIZE_MAX);
	rn_seg_init(&stack, sizeof(struct frame));
	rc = push(&stack, &mem, (struct rn_descent){ root, 1 });
	while (rc == RN_OK && stack.n) {
		struct frame *f = top(&stack);
		struct rn_body body = rn_rules_body(r, f->rule);
		struct rn_descent into;

		if (*left == 0) {
			rc = RN_E_RANGE;
			break;
		}
		--*left;
		if (f->item == body.n) {
			next_round(&stack);
		} else {
			rc = ask(f, &body.item[f->item], fn, arg, &into);
			if (rc > 0)
				rc = rc & RN_VISIT_INTO ? push(&stack, &mem, into) : RN_OK;
		}
	}
	rn_arena_free(&mem);
	return rc;
}
