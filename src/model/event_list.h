/*
 * event_list.h - the events of some streams (order/events.h): chunks (event_chunk.h) on their way
 * into the trace, and in it.
 *
 * Sites are in one table, whoever has them: what a process knows by words and numbers of its own
 * has names there. A stream's chunks have its own numbers of sites, from which a list leads to the
 * table. As bytes (doc/format.md, 16):
 *
 *   varint  number of sites; of each:
 *     varint  its kind (enum rn_order_kind)
 *     text    name of the function: its length, a varint, and its bytes; of no length if the
 *             events are no calls (rn_order_kinds)
 *     text    name of the communicator, or of no length
 *     varint  where it is: a node of the section `sites`, plus 1; 0: not known.
 *             On the way a text: the stack's bytes (encode/callsite.h)
 *           and the chunks (chunk_list.h); the head of a stream is its sites
 *
 * Nobody looks into chunks before the trace is read, but at what they begin with. Memory from the
 * arena. Decoding trusts no byte, and refers to those that it was given.
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

/* Of one stream, as its process has it: communicators are words, places numbers of stacks. */
struct rn_order_part {
	const struct rn_order_site *site;
	uint32_t sites;
	const struct rn_chunk *chunk;
	uint32_t chunks;
};

/* A site of the table. */
struct rn_order_place {
	uint32_t kind;
	const char *function, *comm; /* not terminated */
	size_t function_len, comm_len;
	const void *stack; /* on the way */
	size_t stack_len;
	uint32_t node; /* in the trace: node + 1, or 0 */
};

struct rn_order_list {
	struct rn_arena *mem;
	bool final;                  /* it is that of a trace: sites have nodes */
	struct rn_sigs *site;        /* each as its bytes */
	struct rn_chunk_list chunks; /* the head of a stream is the sites of its events */
};

/* RN_OK or RN_E_NOMEM. */
int rn_order_list_init(struct rn_order_list *l, struct rn_arena *mem, bool final);

/* The number of a site, which is added if it is new. RN_OK or RN_E_NOMEM. Uses malloc (a buffer).
 */
int rn_order_list_intern(struct rn_order_list *l, const struct rn_order_place *p, uint32_t *id);

/* Adds copies of all streams of another list, whose site i is map[i] here. */
int rn_order_list_copy(struct rn_order_list *l, const struct rn_order_list *from,
		       const uint32_t *map);

/* Adds copies of all sites and streams of another list, which follow those of this one. RN_OK,
 * RN_E_NOMEM or RN_E_ARG. */
int rn_order_list_merge(struct rn_order_list *l, const struct rn_order_list *from);

/* Streams are numbered from `first` on. RN_OK or RN_E_NOMEM. */
int rn_order_list_encode(const struct rn_order_list *l, uint64_t first, struct rn_buf *out);

/* Fills an empty list; its streams are first .. first + n - 1. The caller verifies the end of the
 * input. RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_order_list_decode(struct rn_order_list *l, struct rn_reader *in, uint64_t first, uint64_t n,
			 struct rn_err *err);

uint32_t rn_order_list_sites(const struct rn_order_list *l);
struct rn_order_place rn_order_list_site(const struct rn_order_list *l, uint32_t i);

/* Of all streams. */
struct rn_order_count rn_order_list_count(const struct rn_order_list *l);

/* Names of communicators, in *names, each once; and by site which one it has, counted from 1, or 0.
 * RN_OK or RN_E_NOMEM. */
int rn_order_list_comms(const struct rn_order_list *l, struct rn_arena *mem, struct rn_sigs **names,
			const uint32_t **comm);

/* The events of a stream, in the arena, with its own numbers of sites, of which kind and
 * communicator are known, as numbered above, and so is that of messages. RN_OK, RN_E_NOMEM or
 * RN_E_DATA. */
int rn_order_list_get(const struct rn_order_list *l, const struct rn_chunk_stream *s,
		      const uint32_t *comm, struct rn_arena *mem, struct rn_order *out,
		      struct rn_err *err);

#endif
