/*
 * number_text.h - A floating-point number as decimal text.
 */
#ifndef RN_BASE_NUMBER_TEXT_H
#define RN_BASE_NUMBER_TEXT_H

#include <stdio.h>
#include <stdlib.h>

#define RN_DOUBLE_TEXT 32

/* As many digits as are needed to read the same finite number again: "1e-09". */
static inline const char *rn_double_text(char text[RN_DOUBLE_TEXT], double v)
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, RN_DOUBLE_TEXT, "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	return text;
}

#endif
