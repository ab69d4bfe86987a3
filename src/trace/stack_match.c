/* stack_match.c - see stack_match.h. */
#include "trace/stack_match.h"

#include "base/arena.h"
#include "base/intern.h"
#include "base/vec.h"
#include "encode/callsite.h"
#include "runtime/tracer_config.h"

#define LATEST 64u /* sets that are looked at */
#define CHAINS 1024u

/* A stack. Sets are those that are their own first one. */
struct stack {
	uint32_t first;   /* 0: alone, there was no memory */
	uint32_t members; /* of the set */
	uint32_t next;    /* the set before it of the same chain, or 0 */
};

static struct rn_seg stacks;    /* struct stack, by number - 1 */
static uint32_t chains[CHAINS]; /* the latest set of each, or 0 */
static struct rn_callsite other;

static struct stack *stack_at(uint32_t number)
{
	return RN_SEG_AT(&stacks, struct stack, number - 1);
}

/* Its first chunk never moves, nor do others: numbers are looked up while more are added. */
static bool make_room(struct rn_arena *mem, uint32_t number)
{
	if (!stacks.cap) {
		rn_seg_init(&stacks, sizeof(struct stack));
		if (!rn_seg_skip(&stacks, mem, 0))
			return false;
	}
	if (!rn_seg_grow(&stacks, mem, number))
		return false;
	stacks.n = number;
	return true;
}

static bool is_alike(const struct rn_sigs *table, uint32_t set, const struct rn_callsite *s)
{
	size_t len;
	const void *bytes = rn_sigs_get(table, set - 1, &len);

	return stack_at(set)->members < RN_CALLSITE_ALIKE && rn_callsite_read(bytes, len, &other) &&
	       rn_callsite_alike(s, &other, rn_config.callsite_slack);
}

static uint32_t *chain_of(const struct rn_callsite *s)
{
	uint64_t key = s->frame[0].offset << 7 | s->frames;

	return &chains[key * 0x9e3779b97f4a7c15u >> 54];
}

bool rn_slack_add(struct rn_arena *mem, const struct rn_sigs *table, uint32_t number,
		  const struct rn_callsite *s)
{
	uint32_t *chain, set, looked = 0;

	if (s->frames == 0 || !make_room(mem, number))
		return false;
	chain = chain_of(s);
	for (set = *chain; set && looked < LATEST; set = stack_at(set)->next, looked++) {
		if (is_alike(table, set, s)) {
			stack_at(number)->first = set;
			return ++stack_at(set)->members == 2;
		}
	}
	*stack_at(number) = (struct stack){ number, 1, *chain };
	*chain = number;
	return false;
}

bool rn_slack_alike(uint32_t number)
{
	uint32_t first = number && number <= stacks.n ? stack_at(number)->first : 0;

	return first && stack_at(first)->members > 1;
}

uint32_t rn_slack_first(uint32_t number)
{
	return stack_at(number)->first;
}
