/*
 * call_text.h - prints a call as one line of text or as one JSON object.
 *
 *   text  RANK SEQ CALL(name=value, ...) = RET [START DURATION] <PARENT> matched=... at FRAME < ...
 *   JSON  {"rank":0,"seq":12,"call":"MPI_Send","args":{"count":1,...},"ret":0,"parent":7,
 *          "matched":...,"start":0.001034211,"end":0.001035019,"site":["FRAME","FRAME",...]}
 *
 * Times are in seconds, and are printed if the trace contains them. PARENT is printed for a call
 * that was made inside another call. `matched` is printed for a call whose status the program
 * ignored. The call stack, innermost frame first, is printed if the trace contains it. A frame
 * without a symbol is printed as MODULE+0xOFFSET. For a call that never returned, RET is `?
 * unfinished`; JSON has null and "unfinished":true.
 *
 * Parameters are in the order of the MPI standard. A parameter that the call changes has its value
 * after the call. Ranks are absolute; a rank whose communicator is unknown is printed as stored
 * (rank+1). Requests are printed as numbers. In text, constants and handles are printed bare, and
 * strings of the program are quoted as in C. In JSON, integers beyond 2^53 are strings, and each
 * byte of a string that is not UTF-8 becomes \uf780 .. \uf7ff, U+F700 + the byte. The bytes of the
 * characters U+F780 to U+F7FF are written in the same way. In both forms one call is one line,
 * which contains no control character.
 *
 * Cost: O(length of the line).
 */
#ifndef RN_READ_CALL_TEXT_H
#define RN_READ_CALL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "encode/template.h"

struct rn_buf;
struct rn_call;
struct rn_form;
struct rn_sites;

/* Tables of the trace that printing a call requires. */
struct rn_decoder {
	struct rn_keywords keywords;
	const struct rn_sites *sites; /* NULL: the trace has no call stacks */
	/* Returns the symbolic name of node `i` of the call stacks, for example "main+0x1c
	 * (stencil.c:42)", or NULL if it has no name. `symbol` itself may be NULL. */
	const char *(*symbol)(void *arg, uint32_t i);
	void *symbol_arg;
};

/* Appends the line of a call, including the newline. The caller checks rn_buf_status. */
typedef void rn_decode_fn(const struct rn_decoder *d, const struct rn_call *c, struct rn_buf *out);

rn_decode_fn rn_decode_text;
rn_decode_fn rn_decode_json;

/* Appends a value of a call that is not part of a stream, in the form used in the call's line. */
void rn_decode_value(const struct rn_decoder *d, const struct rn_form *form,
		     const struct rn_value *value, struct rn_buf *out);

/* Appends a call site: the stack whose innermost frame is node - 1 of d->sites. 0: unknown. */
void rn_decode_stack(const struct rn_decoder *d, const struct rn_form *form, uint32_t node,
		     struct rn_buf *out);

#endif
