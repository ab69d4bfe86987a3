/*
 * plural.h - the ending of an English noun after a count: "1 rank", "2 ranks".
 */
#ifndef RN_BASE_PLURAL_H
#define RN_BASE_PLURAL_H

#include <stdint.h>

/* For printf("%u rank%s", n, rn_plural(n)). */
static inline const char *rn_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

#endif
