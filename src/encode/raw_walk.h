/*
 * raw_walk.h - what the words of a parameter are, by its kind; for those who walk over a call's
 * words (raw.c), or only want to be shown what is there (carry.c, holes.c).
 */
#ifndef RN_ENCODE_RAW_WALK_H
#define RN_ENCODE_RAW_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "encode/raw.h"

static inline bool rn_raw_is_absent(uint64_t v)
{
	return v == RN_RAW_UNSET || v == RN_RAW_NULL || v == RN_RAW_NOTHING;
}

static inline bool rn_raw_is_place(enum rn_param_kind k)
{
	return (k >= RN_K_buffer && k <= RN_K_convfn) || k == RN_K_disp || k == RN_K_attr;
}

static inline bool rn_raw_is_number(enum rn_param_kind k)
{
	return k < RN_K_buffer || k == RN_K_weight || k == RN_K_varargs;
}

static inline bool rn_raw_is_texts(enum rn_param_kind k)
{
	return k == RN_K_strings || k == RN_K_argv || k == RN_K_argvs;
}

/* What an array of texts is made of. */
static inline enum rn_param_kind rn_raw_element(enum rn_param_kind k)
{
	return k == RN_K_argvs ? RN_K_strings : RN_K_string;
}

static inline bool rn_raw_is_status(enum rn_param_kind k)
{
	return k == RN_K_status || k == RN_K_matched;
}

/* Texts say by their kind that they are arrays; a text is one word, how long it may be. */
static inline bool rn_raw_is_list(const struct rn_param *p)
{
	return p->array && !rn_raw_is_texts(p->kind) && p->kind != RN_K_string;
}

static inline bool rn_raw_early(const struct rn_param *p)
{
	return p->how != RN_HOW_out && p->how != RN_HOW_new;
}

static inline bool rn_raw_late(const struct rn_param *p)
{
	return !rn_raw_early(p) || p->how == RN_HOW_inout;
}

/* What a visitor is shown. */
enum rn_raw_part {
	RN_RAW_NUMBER,
	RN_RAW_PLACE, /* its first word of two */
	RN_RAW_TEXT,
	RN_RAW_REQUESTED,
	RN_RAW_STACK, /* which of those that are alike */
	RN_RAW_ARRAY, /* the number of a blob; the word before it is the array's head */
};

typedef void rn_raw_fn(void *arg, enum rn_raw_part part, enum rn_param_kind kind, uint64_t *w);

/* Shows the parts of a call's words, in order; handles and heads are passed over. False when the
 * words do not fit. */
bool rn_raw_visit(uint64_t *words, size_t n, rn_raw_fn *fn, void *arg);

/* The same for `count` elements of a blob. */
bool rn_raw_visit_blob(uint64_t *words, size_t n, enum rn_param_kind kind, uint64_t count,
		       rn_raw_fn *fn, void *arg);

#endif
