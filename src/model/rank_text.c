/* rank_text.c - see rank_text.h. */
#include "model/rank_text.h"

#include <inttypes.h>
#include <stdio.h>

static void end_range(struct rn_rank_text *t)
{
	char s[64];
	int n = snprintf(s, sizeof(s), "%s%" PRIu64, t->text.len ? "," : "", t->first);

	if (t->last > t->first)
		n += snprintf(s + n, sizeof(s) - (size_t)n, "-%" PRIu64, t->last);
	rn_buf_add(&t->text, s, (size_t)n);
}

void rn_rank_text_add(struct rn_rank_text *t, uint64_t first, uint64_t last)
{
	if (t->n && t->last == last)
		return;
	if (t->n == 0 || t->last + 1 != first) {
		if (t->n)
			end_range(t);
		t->first = first;
	}
	t->last = last;
	t->n += last - first + 1;
}

const char *rn_rank_text(struct rn_rank_text *t)
{
	size_t len = t->text.len;

	if (t->n)
		end_range(t);
	rn_buf_byte(&t->text, 0);
	if (t->text.failed)
		return NULL;
	t->text.len = len; /* removes the terminator, so that the function can be called again */
	return (const char *)t->text.data;
}
