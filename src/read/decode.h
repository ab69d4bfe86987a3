/*
 * decode.h - a call as people and programs read it: a line of text, or an object of JSON.
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
 * it. Numbers are absolute: what a signature keeps relative to the rank is resolved, by the
 * communicator that it is about; where that is not known it is shown as it is (rank+1). Requests
 * have their numbers. In text, constants and handles stand as they are and the program's strings
 * are quoted as in C. In JSON, integers beyond 2^53 are strings, and a string's bytes that are not
 * UTF-8 become \uf780 .. \uf7ff, U+F700 + the byte. The bytes of the characters U+F780 to U+F7FF
 * are written in the same way. Either way one call is one line, and nothing in it is a control
 * character.
 *
 * The signature must be valid under the vocabulary (rn_call_valid). O(length of the line).
 */
#ifndef RN_READ_DECODE_H
#define RN_READ_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "encode/call.h"

struct rn_buf;
struct rn_comms;
struct rn_form;
struct rn_numbering;
struct rn_sites;

/* What a call alone does not say. */
struct rn_decoder {
	const struct rn_vocab *vocab;
	const struct rn_comms *comms;        /* NULL: no communicators but the world and self */
	const struct rn_numbering *requests; /* as they are before the call; NULL: none known */
	uint64_t ranks;                      /* of the world */
	const struct rn_sites *sites;        /* NULL: nothing is known of stacks */
	/* What people call node `i` of the stacks: "main+0x1c (stencil.c:42)"; NULL: no name. */
	const char *(*symbol)(void *arg, uint32_t i);
	void *symbol_arg;
	uint64_t world, self, live, gone, made, unset, nothing; /* keywords; UINT64_MAX: none */
};

void rn_decoder_init(struct rn_decoder *d, const struct rn_vocab *vocab,
		     const struct rn_comms *comms, const struct rn_numbering *requests,
		     uint64_t ranks);

/* What world rank `of` is in a communicator, and of how many (of how many there are to talk to, in
 * an inter-communicator). False when nothing is known of it. */
bool rn_decoder_rank(const struct rn_decoder *d, const char *comm, size_t len, uint64_t of,
		     uint64_t *rank, uint64_t *size);

/* Calls fn for the communicator of each relative number in a signature, until it returns other than
 * 0; returns what it returned last. */
typedef int rn_comm_fn(void *arg, const char *comm, size_t len);
int rn_decoder_comms(const struct rn_decoder *d, const void *sig, size_t len, rn_comm_fn *fn,
		     void *arg);

struct rn_call {
	const void *sig;
	size_t len;
	uint64_t rank, thread, seq;
	bool inside; /* another call, whose seq is `parent` */
	uint64_t parent;
	bool timed; /* it is known when it began and ended, in nanoseconds */
	uint64_t start, end;
};

/* One line, its newline included; the caller looks at rn_buf_status. */
typedef void rn_decode_fn(const struct rn_decoder *d, const struct rn_call *c, struct rn_buf *out);

rn_decode_fn rn_decode_text;
rn_decode_fn rn_decode_json;

/* The frames of a stack, whose innermost is node - 1 of d->sites, with `between` between them. */
void rn_decode_stack(const struct rn_decoder *d, const struct rn_form *form, uint32_t node,
		     const char *between, struct rn_buf *out);

#endif
