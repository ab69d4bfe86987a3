/* counts.c - see counts.h. */
#include "rules/counts.h"

static void add(uint64_t *sum, uint64_t a, uint64_t b)
{
	uint64_t n;

	if (__builtin_mul_overflow(a, b, &n) || __builtin_add_overflow(*sum, n, sum))
		*sum = UINT64_MAX;
}

/* So many times the item, as often as it says. */
static void count_item(const struct rn_rules *r, const struct rn_item *it, uint64_t n,
		       uint64_t *times, uint64_t *count)
{
	const uint32_t *symbol;
	uint64_t len;

	if (it->kind == RN_KIND_TERMINAL) {
		add(&count[it->id], n, it->count);
	} else if (it->kind == RN_KIND_RULE) {
		add(&times[it->id], n, it->count);
	} else {
		symbol = rn_rules_literal(r, it->id, &len);
		for (uint64_t k = 0; k < len; k++)
			add(&count[symbol[k]], n, it->count);
	}
}

void rn_rules_counts(const struct rn_rules *r, uint64_t *times, uint64_t *count)
{
	/* Rules come behind those that they use. */
	for (uint32_t rule = rn_rules_count(r); rule-- > 0;) {
		struct rn_body b = rn_rules_body(r, rule);

		for (uint32_t i = 0; times[rule] && i < b.n; i++)
			count_item(r, &b.item[i], times[rule], times, count);
	}
}

/* Of the item that the frame stands in, what is behind it: repeats, of a literal run symbols. */
static void count_begun(const struct rn_rules *r, const struct rn_item *it, uint64_t iter,
			uint64_t *times, uint64_t *count)
{
	struct rn_item whole = *it;
	const uint32_t *symbol = NULL;
	uint64_t len = 1;

	if (it->kind == RN_KIND_LITERAL)
		symbol = rn_rules_literal(r, it->id, &len);
	whole.count = iter / len;
	count_item(r, &whole, 1, times, count);
	for (uint64_t k = 0; k < iter % len; k++)
		add(&count[symbol[k]], 1, 1);
}

void rn_walk_counts(const struct rn_walk *w, uint64_t *times, uint64_t *count)
{
	for (uint32_t d = 0; d < w->depth; d++) {
		const struct rn_walk_frame *f = &w->frame[d];
		struct rn_body b = rn_rules_body(w->rules, f->rule);

		for (uint32_t i = 0; i < f->item && i < b.n; i++)
			count_item(w->rules, &b.item[i], 1, times, count);
		if (f->item < b.n)
			count_begun(w->rules, &b.item[f->item], f->iter, times, count);
	}
	rn_rules_counts(w->rules, times, count);
}
