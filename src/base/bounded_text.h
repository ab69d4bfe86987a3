/*
 * bounded_text.h - builds a string in an array of fixed size, without allocation.
 *
 * A string that does not fit is not added, and `full` is set.
 */
#ifndef RN_BASE_BOUNDED_TEXT_H
#define RN_BASE_BOUNDED_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct rn_bounded_text {
	char *at;
	size_t len, cap;
	bool full;
};

static inline void rn_bounded_add(struct rn_bounded_text *t, const char *s, size_t n)
{
	if (n >= t->cap - t->len) {
		t->full = true;
		return;
	}
	memcpy(t->at + t->len, s, n);
	t->len += n;
	t->at[t->len] = 0;
}

#endif
