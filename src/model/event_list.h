/*
 * event_list.h - the order events of a range of streams (order/events.h): their chunks
 * (order/event_chunk.h), during the merge and in a trace.
 *
 * All event sites are in one table. There they have names instead of the call words and ids that
 * are valid in one process only. The chunks of a stream use ids of the stream's own; the head of
 * the stream maps these to the table. Encoded form (doc/format.md, 16):
 *
 *   varint  number of event sites; per site:
 *     varint  its kind (enum rn_order_kind)
 *     text    name of the function: its length, a varint, and its bytes; empty if the events of
 *             this kind are not calls (rn_order_kinds)
 *     text    name of the communicator, or empty
 *     varint  call site: a node of the section `sites`, plus 1; 0: unknown.
 *             During the merge a text: the bytes of the stack (encode/callsite.h)
 *           and the chunks (chunk_list.h); the head of a stream is its event sites
 *
 * Chunks are opaque until the trace is read, except for their headers. Memory is allocated from the
 * arena. Input of the decoder is untrusted. The decoded list refers to the input, which must
 * outlive it.
 */
#ifndef RN_MODEL_EVENT_LIST_H
#define RN_MODEL_EVENT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/chunk_list.h"
#include "order/event_chunk.h"
#include "order/events.h"

struct rn_arena;
struct rn_buf;
struct rn_sigs;

/* The events of one stream as its process has them: communicators are call words, call sites are
 * stack ids. */
struct rn_order_part {
	const struct rn_order_site *site;
	uint32_t sites;
	const struct rn_chunk *chunk;
	uint32_t chunks;
};

/* An event site of the table. */
struct rn_order_place {
	uint32_t kind;
	const char *function, *comm; /* not terminated */
	size_t function_len, comm_len;
	const void *stack; /* during the merge */
	size_t stack_len;
	uint32_t node; /* in a trace: node + 1; 0: unknown */
};

struct rn_order_list {
	struct rn_arena *mem;
	bool final; /* true: the list of a trace, whose sites have nodes instead of stacks */
	struct rn_sigs *site;        /* event sites, encoded */
	struct rn_chunk_list chunks; /* the head of a stream is its event sites */
};

/* Returns RN_OK or RN_E_NOMEM. */
int rn_order_list_init(struct rn_order_list *l, struct rn_arena *mem, bool final);

/* Stores the id of an event site, which is added if it is new. Returns RN_OK or RN_E_NOMEM. Uses
 * malloc (a buffer). */
int rn_order_list_intern(struct rn_order_list *l, const struct rn_order_place *p, uint32_t *id);

/* Adds copies of all streams of another list. Event site i of that list is map[i] of this one. */
int rn_order_list_copy(struct rn_order_list *l, const struct rn_order_list *from,
		       const uint32_t *map);

/* Adds copies of all event sites and streams of another list. Its streams must follow those of this
 * list. Returns RN_OK, RN_E_NOMEM or RN_E_ARG. */
int rn_order_list_merge(struct rn_order_list *l, const struct rn_order_list *from);

/* Encodes the list with stream `first` as number 0. Returns RN_OK or RN_E_NOMEM. */
int rn_order_list_encode(const struct rn_order_list *l, uint64_t first, struct rn_buf *out);

/* Decodes into an empty list; its streams are within first .. first + n - 1. The caller verifies
 * the end of the input. Returns RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_order_list_decode(struct rn_order_list *l, struct rn_reader *in, uint64_t first, uint64_t n,
			 struct rn_err *err);

uint32_t rn_order_list_sites(const struct rn_order_list *l);
struct rn_order_place rn_order_list_site(const struct rn_order_list *l, uint32_t i);

/* Returns the sums over all streams. */
struct rn_order_count rn_order_list_count(const struct rn_order_list *l);

/* Stores the distinct names of communicators in *names. (*comm)[i] is the id of the name of event
 * site i plus 1, or 0 if the site has no communicator. Returns RN_OK or RN_E_NOMEM. */
int rn_order_list_comms(const struct rn_order_list *l, struct rn_arena *mem, struct rn_sigs **names,
			const uint32_t **comm);

/* Decodes the events of a stream into the arena. Event sites have the ids of the stream; only their
 * kind and communicator are set. Communicators of sites and messages are numbered as in
 * rn_order_list_comms. Returns RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_order_list_get(const struct rn_order_list *l, const struct rn_chunk_stream *s,
		      const uint32_t *comm, struct rn_arena *mem, struct rn_order *out,
		      struct rn_err *err);

#endif
