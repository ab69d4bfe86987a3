/*
 * rank_text.h - A list of ranks as text: "2-3,7".
 */
#ifndef RN_FILE_RANK_TEXT_H
#define RN_FILE_RANK_TEXT_H

#include <stdint.h>

#include "base/buf.h"

struct rn_rank_text {
	struct rn_buf text;   /* the ranges that are done */
	uint64_t first, last; /* the one that may still grow, if there is any */
	uint64_t n;           /* ranks in all */
};

/* Adds the ranks first..last, which follow those in the list. Adding the last rank again changes
 * nothing. */
void rn_rank_text_add(struct rn_rank_text *t, uint64_t first, uint64_t last);

/* "2-3,7", or "" for no ranks; NULL without memory. The list must not grow any more. */
const char *rn_rank_text(struct rn_rank_text *t);

#endif
