/* budget.c - see budget.h. */
#include "base/budget.h"

static size_t used, limit = SIZE_MAX, exceeded;

void rn_budget_set(size_t bytes)
{
	limit = bytes;
	exceeded = 0;
}

uint64_t rn_budget_given;

/* The limit for a file of up to 1 MiB, and the limit for a larger file as a multiple of its size.
 * Traces that Rondo wrote need much less. */
#define FILE_MIN    ((uint64_t)224 << 20)
#define FILE_FACTOR 224

void rn_budget_allow(uint64_t file_bytes)
{
	uint64_t more = file_bytes > FILE_MIN / FILE_FACTOR ? file_bytes : FILE_MIN / FILE_FACTOR;

	if (__builtin_mul_overflow(more, FILE_FACTOR, &more))
		more = SIZE_MAX;
	if (limit != SIZE_MAX && __builtin_add_overflow(more, limit, &more))
		more = SIZE_MAX;
	rn_budget_set(rn_budget_given ? rn_budget_given : more);
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
