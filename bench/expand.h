/* expand.h - expands a rule symbol by symbol, for tests and benchmarks. */
#ifndef RN_BENCH_EXPAND_H
#define RN_BENCH_EXPAND_H

#include "base/arena.h"
#include "rules/rules.h"

/* Called for each symbol of the rule. The expansion ends when it returns false. */
typedef bool symbol_fn(void *arg, uint32_t t);

static inline int expand_rule(const struct rn_rules *r, uint32_t root, symbol_fn *cb, void *arg)
{
	struct rn_arena mem;
	struct rn_walk w;
	uint32_t t[2048];
	bool more = true;
	size_t n;
	int rc;

	rn_arena_init(&mem, SIZE_MAX);
	rc = rn_walk_init(&w, r, root, &mem);
	while (rc == RN_OK && more && (n = rn_walk_read(&w, t, sizeof(t) / sizeof(t[0]))) > 0)
		for (size_t i = 0; i < n && more; i++)
			more = cb(arg, t[i]);
	rn_arena_free(&mem);
	return rc;
}

#endif
