/*
 * event_reader.h - reads the order events of a trace (order/events.h): the recorded outcomes of
 * calls.
 *
 * Event sites are numbered for the whole trace. In a site, `function` is the id of the function in
 * the vocabulary of this program (rn_mpi_vocab), or UINT32_MAX if that vocabulary does not contain
 * it. `comm` is the number of a communicator name, and `place` the number of a call stack
 * (model/site_table.h). Both are counted from 1; 0: none. For sent messages, `comm` has the same
 * meaning.
 *
 * Cost: reading a stream takes time and memory linear in the number of its events. Input is
 * untrusted.
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
	const char *const *comm; /* comm[0] is the name of communicator number 1 */
	uint32_t sites, comms;
};

/* Sets t->order from t->events. Returns RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_order_view_new(struct rn_trace *t, struct rn_err *err);

/* Reads the events of a stream into the arena. *out is empty if the stream has no events. Returns
 * RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_trace_order(const struct rn_trace *t, uint64_t stream, struct rn_arena *mem,
		   struct rn_order *out, struct rn_err *err);

#endif
