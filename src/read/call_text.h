/*
 * call_text.h - a call as people and programs read it: a line of text, or an object of JSON.
 *
 *   text  RANK SEQ CALL(name=value, ...) = RET [START DURATION] <PARENT> matched=... at FRAME < ...
 *   JSON  {"rank":0,"seq":12,"call":"MPI_Send","args":{"count":1,...},"ret":0,"parent":7,
 *          "matched":...,"start":0.001034211,"end":0.001035019,"site":["FRAME","FRAME",...]}
 *
 * where the times, in seconds, are there if the trace has them, the parent for a call that was made
 * inside another, what it matched for one whose status the program ignored, and the stack,
 * innermost frame first, where the trace has it. A frame is MODULE+0xOFFSET where nobody knows its
 * name. RET is `? unfinished`, in JSON null and "unfinished":true, for a call that never returned.
 *
 * Parameters stand in the standard's order, those that the call changes with what they were after
 * it. Numbers are absolute; a rank whose communicator is not known is shown as it is stored
 * (rank+1). Requests have their numbers. In text, constants and handles stand as they are and the
 * program's strings are quoted as in C. In JSON, integers beyond 2^53 are strings, and a string's
 * bytes that are not UTF-8 become \uf780 .. \uf7ff, U+F700 + the byte. The bytes of the characters
 * U+F780 to U+F7FF are written in the same way. Either way one call is one line, and nothing in it
 * is a control character.
 *
 * O(length of the line).
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

/* What a call does not contain. */
struct rn_decoder {
	struct rn_keywords keywords;
	const struct rn_sites *sites; /* NULL: nothing is known of stacks */
	/* What people call node `i` of the stacks: "main+0x1c (stencil.c:42)"; NULL: no name. */
	const char *(*symbol)(void *arg, uint32_t i);
	void *symbol_arg;
};

/* One line, its newline included; the caller looks at rn_buf_status. */
typedef void rn_decode_fn(const struct rn_decoder *d, const struct rn_call *c, struct rn_buf *out);

rn_decode_fn rn_decode_text;
rn_decode_fn rn_decode_json;

/* A value of a call that is not part of a stream, as its line has it. */
void rn_decode_value(const struct rn_decoder *d, const struct rn_form *form,
		     const struct rn_value *value, struct rn_buf *out);

/* The call site: the stack whose innermost frame is node - 1 of d->sites; 0: it is not known. */
void rn_decode_stack(const struct rn_decoder *d, const struct rn_form *form, uint32_t node,
		     struct rn_buf *out);

#endif
