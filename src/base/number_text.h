/*
 * number_text.h - Numbers in text: a floating-point number in decimal, and the plural of a noun.
 */
#ifndef RN_BASE_NUMBER_TEXT_H
#define RN_BASE_NUMBER_TEXT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RN_DOUBLE_TEXT 32

/* Replaces the decimal separator of the program's locale by a point. */
static inline void rn_use_point(char *text)
{
	char *point = text + strspn(text, "+-0123456789e");
	const char *digits = point + strcspn(point, "0123456789");

	if (!*point || !*digits)
		return;
	memmove(point + 1, digits, strlen(digits) + 1);
	*point = '.';
}

/* Returns the shortest decimal text that converts to the same finite number: "1e-09". */
static inline const char *rn_double_text(char text[RN_DOUBLE_TEXT], double v)
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, RN_DOUBLE_TEXT, "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	rn_use_point(text);
	return text;
}

/* The ending of a noun after a count, for printf("%u rank%s", n, rn_plural(n)). */
static inline const char *rn_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

#endif
