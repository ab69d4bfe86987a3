/*
 * event_reader.h - the events of a trace (order/events.h): how calls came out.
 *
 * Sites are numbered for the whole trace. What their numbers mean: `function` that of this
 * program's vocabulary (rn_mpi_vocab), UINT32_MAX where it has none of that name; `comm` a name of
 * a communicator, and `place` a stack (model/site_table.h), both counted from 1, 0: none. Of
 * messages that were sent, `comm` is the same.
 *
 * Reading a stream is linear in its events, and its memory too. Trusts no byte of a chunk.
 */
#ifndef RN_READ_EVENT_READER_H
#define RN_READ_EVENT_READER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/event_list.h"
#include "order/events.h"

struct rn_arena;
struct rn_buf;
struct rn_trace;

struct rn_order_view {
	const struct rn_order_site *site;
	const uint32_t *site_comm;
	const char *const *comm; /* the first one is number 1 */
	uint32_t sites, comms;
};

/* Sets t->order from t->events. RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_order_view_new(struct rn_trace *t, struct rn_err *err);

/* The events of a stream, in the arena: none if it has none. RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_trace_order(const struct rn_trace *t, uint64_t stream, struct rn_arena *mem,
		   struct rn_order *out, struct rn_err *err);

#endif
