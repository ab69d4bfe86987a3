/*
 * call_traits.h - call traits: properties of functions, in a table that is generated from
 * api/mpi.api.
 *
 * The head of api/mpi.api defines the traits. rn_mpi_protos has the traits of the functions that
 * this program knows. A function of a trace has the traits of the known function with the same name
 * and the same parameters (rn_func_traits), or no traits.
 */
#ifndef RN_ENCODE_CALL_TRAITS_H
#define RN_ENCODE_CALL_TRAITS_H

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
	RN_IS_moves = 1 << 20, /* transfers data; the number of bytes may be unknown */
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

/* Parameters are indexes from 0; RN_NO_PARAM: no such parameter. */
struct rn_traits {
	uint32_t is;      /* enum rn_trait */
	uint16_t base;    /* number of the function of which it is a variant, or its own */
	uint8_t whom;     /* enum rn_whom */
	uint8_t bytes[3]; /* their product is the number of bytes */
	uint8_t comm;     /* the first input communicator */
	uint8_t dest, source, root;
	uint8_t tag, recvtag; /* of the sent (or only) message; of the received message */
	uint8_t count;        /* number of elements or of requests */
	uint8_t request;      /* one or an array: new requests, or requests passed in */
	uint8_t flag;
	uint8_t index, indices; /* of completed requests; for `some`, `index` is their number */
	uint8_t status;         /* one or an array */
};

#endif
