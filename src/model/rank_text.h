/*
 * rank_text.h - a list of ranks as text: "2-3,7".
 */
#ifndef RN_MODEL_RANK_TEXT_H
#define RN_MODEL_RANK_TEXT_H

#include <stdint.h>

#include "base/buf.h"

struct rn_rank_text {
	struct rn_buf text;   /* the completed ranges */
	uint64_t first, last; /* the last range, which may still grow; valid if n > 0 */
	uint64_t n;           /* total number of ranks */
};

/* Adds the ranks first..last, which follow the ranks in the list. Adding the last rank again has no
 * effect. */
void rn_rank_text_add(struct rn_rank_text *t, uint64_t first, uint64_t last);

/* Returns "2-3,7", or "" for no ranks; NULL without memory. No ranks can be added afterwards. */
const char *rn_rank_text(struct rn_rank_text *t);

#endif
