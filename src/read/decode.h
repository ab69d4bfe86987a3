/*
 * decode.h - a call as people and programs read it: a line of text, or an object of JSON.
 *
 *   text  RANK SEQ CALL(name=value, ...) = RET
 *   JSON  {"rank":0,"seq":12,"call":"MPI_Send","args":{"count":1,...},"ret":0}
 *
 * Numbers are absolute: what a signature keeps relative to the rank is resolved. In text, constants
 * and handles stand as they are and the program's strings are quoted as in C. In JSON, integers
 * beyond 2^53 are strings, and a string's bytes that are not UTF-8 become \udc80 .. \udcff (so that
 * Python's "surrogateescape" gives the bytes back). Either way one call is one line, and nothing in
 * it is a control character.
 *
 * The signature must be valid under the vocabulary (rn_call_valid). O(length of the line).
 */
#ifndef RN_READ_DECODE_H
#define RN_READ_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "encode/call.h"

struct rn_buf;

struct rn_call {
	const void *sig;
	size_t len;
	uint64_t rank, seq;
	uint64_t ranks; /* of the trace */
};

/* One line, its newline included; the caller looks at rn_buf_status. */
typedef void rn_decode_fn(const struct rn_vocab *v, const struct rn_call *c, struct rn_buf *out);

rn_decode_fn rn_decode_text;
rn_decode_fn rn_decode_json;

#define RN_TEXT_CHAR 5

/* The character at s, of which n >= 1 bytes are left, as the text form shows it, terminated: as it
 * is, or, for backslashes, control characters and bytes that are not UTF-8, as an escape of C
 * (octal where there is no letter). Returns how many bytes of s that was. */
size_t rn_text_char(const char *s, size_t n, char out[RN_TEXT_CHAR]);

#endif
