/*
 * call_words_visit.h - the visitor over the words of a call (call_words.h), by the kinds of its
 * parameters.
 *
 * It is the only code that knows the order and the number of words. Words are untrusted: the
 * visitor never reads beyond the end. O(words); allocates nothing.
 */
#ifndef RN_ENCODE_CALL_WORDS_VISIT_H
#define RN_ENCODE_CALL_WORDS_VISIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "encode/call_words.h"

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

/* The parts of call words. A visitor receives a pointer to the word, or to the first of two. */
enum rn_raw_part {
	RN_RAW_NUMBER,
	RN_RAW_PLACE, /* two words */
	RN_RAW_TEXT,
	RN_RAW_HANDLE,
	RN_RAW_REQUESTED,
	RN_RAW_CREATED,      /* a request that the call creates */
	RN_RAW_STATUS,       /* the head of a status; its fields follow */
	RN_RAW_STATUS_END,   /* after the fields; no word */
	RN_RAW_TRIPLE,       /* three numbers follow; no word */
	RN_RAW_LIST,         /* the head of an array; its elements or RN_RAW_ARRAY follow */
	RN_RAW_ARRAY,        /* the id of a blob; the word before it is the head */
	RN_RAW_RETURN_VALUE, /* absent in a call that has not returned */
	RN_RAW_STACK,        /* the id of a stack that belongs to a cluster */
};

typedef void rn_raw_fn(void *arg, enum rn_raw_part part, enum rn_param_kind kind, uint64_t *w);

/* Visits the parts of a call's words, in order. Returns false if words are missing. *used, unless
 * NULL: the number of words visited. */
bool rn_raw_visit(uint64_t *words, size_t n, rn_raw_fn *fn, void *arg, size_t *used);

/* Visits `count` elements of a blob. Returns false if they are not exactly its words. */
bool rn_raw_visit_blob(uint64_t *words, size_t n, enum rn_param_kind kind, uint64_t count,
		       rn_raw_fn *fn, void *arg);

/* Completes the words of a call that has no results. After the function, the words contain either
 * all values known before the call or none of them. Returns the end of the words. */
uint64_t *rn_raw_unset(const uint64_t *words, uint64_t *end);

/* The maximum number of words of a call of which only the function is known. */
#define RN_RAW_BARE_MAX 128

#endif
