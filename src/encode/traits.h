/*
 * traits.h - call traits: what functions do, as a table that is generated from api/mpi.api.
 *
 * The head of api/mpi.api defines the traits. A program has the traits of its own functions
 * (rn_mpi_protos); a function of a trace has those of the function with the same name and the same
 * parameters (rn_func_traits), or none.
 */
#ifndef RN_ENCODE_TRAITS_H
#define RN_ENCODE_TRAITS_H

#include <stdint.h>

enum rn_trait {
	RN_IS_sends = 1 << 0,
	RN_IS_synchronous = 1 << 1,
	RN_IS_buffered = 1 << 2,
	RN_IS_receives = 1 << 3,
	RN_IS_probes = 1 << 4,
	RN_IS_starts = 1 << 5,
	RN_IS_prepares = 1 << 6,
	RN_IS_activates = 1 << 7,
	RN_IS_completes = 1 << 8,
	RN_IS_tests = 1 << 9,
	RN_IS_any = 1 << 10,
	RN_IS_some = 1 << 11,
	RN_IS_cancels = 1 << 12,
	RN_IS_frees = 1 << 13,
	RN_IS_partitioned = 1 << 14,
	RN_IS_generalized = 1 << 15,
	RN_IS_duplicates = 1 << 16,
	RN_IS_group = 1 << 17,
	RN_IS_separate = 1 << 18,
	RN_IS_external = 1 << 19,
	RN_IS_moves = 1 << 20, /* has a number of bytes that it hands over, known or not */
	RN_IS_file = 1 << 21,
	RN_IS_value = 1 << 22,
	RN_IS_unreplayable = 1 << 23,
	RN_IS_seconds = 1 << 24,
	RN_IS_control = 1 << 25,
	RN_IS_finalizes = 1 << 26,
	RN_IS_uncompared = 1 << 27,
};

/* Whom a process may wait for in a collective function. */
enum rn_whom { RN_WHOM_nobody, RN_WHOM_all, RN_WHOM_root, RN_WHOM_leaves, RN_WHOM_some };

#define RN_NO_PARAM 255u

/* Parameters are counted from 0; RN_NO_PARAM: there is none. */
struct rn_traits {
	uint32_t is;      /* enum rn_trait */
	uint16_t base;    /* the function of which it is a variant, or its own number */
	uint8_t whom;     /* enum rn_whom */
	uint8_t bytes[3]; /* factors of the number of bytes */
	uint8_t comm;     /* the first that goes in */
	uint8_t dest, source, root;
	uint8_t tag, recvtag; /* of the message that is sent (if there is one), received */
	uint8_t count;        /* of elements, or of requests */
	uint8_t request;      /* one or an array: the new one, or those that are given */
	uint8_t flag;
	uint8_t index, indices; /* which requests are complete; `index` of `some`: how many */
	uint8_t status;         /* one or an array */
};

#endif
