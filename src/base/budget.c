/* budget.c - see budget.h. */
#include "base/budget.h"

#include <stdint.h>

static size_t used, limit = SIZE_MAX, exceeded;

void rn_budget_set(size_t bytes)
{
	limit = bytes;
	exceeded = 0;
}

size_t rn_budget_limit(void)
{
	return limit;
}

bool rn_budget_charge(size_t bytes)
{
	size_t total = __atomic_add_fetch(&used, bytes, __ATOMIC_RELAXED);

	if (total <= limit && total >= bytes)
		return true;
	__atomic_sub_fetch(&used, bytes, __ATOMIC_RELAXED);
	if (!exceeded)
		exceeded = total >= bytes ? total : SIZE_MAX;
	return false;
}

void rn_budget_release(size_t bytes)
{
	__atomic_sub_fetch(&used, bytes, __ATOMIC_RELAXED);
}

size_t rn_budget_exceeded(void)
{
	return exceeded;
}
