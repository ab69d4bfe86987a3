/*
 * byte_locator.h - a weighted sum of bytes that locates a single changed byte.
 *
 * The locator has two parts. The first part is the sum of the bytes. The second part is the sum of
 * all prefix sums. If one byte changes by d, the first part changes by d, and the second part by d
 * times the number of bytes from the changed byte to the end. The locator does not detect other
 * changes reliably: a checksum has to confirm the correction.
 *
 * Cost: two additions per byte.
 */
#ifndef RN_JOURNAL_BYTE_LOCATOR_H
#define RN_JOURNAL_BYTE_LOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RN_LOCATE_BITS 16 /* width of the first part; the second part has the higher bits */

struct rn_locator {
	uint64_t bytes, sums;
};

static inline void rn_locator_add(struct rn_locator *l, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++) {
		l->bytes += p[i];
		l->sums += l->bytes;
	}
}

static inline uint64_t rn_locator_end(const struct rn_locator *l)
{
	return l->sums << RN_LOCATE_BITS | (l->bytes & ((1u << RN_LOCATE_BITS) - 1));
}

/* Finds the byte that changed after the locator `sum` was computed: its index and its old value.
 * False if no change of one byte explains the difference. */
static inline bool rn_locate(const unsigned char *bytes, size_t n, uint64_t sum, size_t *at,
			     unsigned char *value)
{
	struct rn_locator now = { 0, 0 };
	int64_t byte, sums, from_end, was;

	rn_locator_add(&now, bytes, n);
	byte = (int16_t)(sum - now.bytes);
	sums = (int64_t)(sum - (now.sums << RN_LOCATE_BITS)) >> RN_LOCATE_BITS;
	from_end = byte && sums % byte == 0 ? sums / byte : 0;
	if (from_end < 1 || (uint64_t)from_end > n)
		return false;
	*at = n - (size_t)from_end;
	was = bytes[*at] + byte;
	*value = (unsigned char)was;
	return was >= 0 && was <= UINT8_MAX;
}

#endif
