/*
 * event_log.h - in-process event log of a stream (order/events.h), for --only=order.
 *
 * Events are rows, with a copy in an extent of the journal (journal/event_tail.h), so that a killed
 * program loses none. When the extent is full, its rows are encoded into a chunk, which is appended
 * to the log of the stream and stored in memory for the end of the run. Without a journal, or when
 * it cannot grow, rows are in private memory only.
 *
 * Cost: 2 to 3 ns for another failed poll at the same event site, 10 to 20 ns for completions.
 * Encoding a chunk takes some milliseconds, once in about 20,000 calls. errno is not changed.
 * Without memory, events are lost and counted (rn_stream_lost). Not locked: only the stream's
 * thread uses the log; at the end of the run, the thread that has stopped the stream.
 */
#ifndef RN_RECORD_EVENT_LOG_H
#define RN_RECORD_EVENT_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "order/events.h"

struct rn_arena;
struct rn_order_part;
struct rn_stream;

#define RN_ORDER_NO_SITE UINT32_MAX /* no memory for the event site: its events are lost */

/* Returns the id of an event site: a function id of the vocabulary, a communicator id or 0, and a
 * call stack id (callstack.h) or 0. */
uint32_t rn_order_log_site(struct rn_stream *t, enum rn_order_kind kind, uint32_t function,
			   uint32_t comm_word, uint32_t callstack);

/* Record a failed poll; a call with n >= 1 completions; a call with a number as its result. */
void rn_order_log_fails(struct rn_stream *t, uint32_t site);
void rn_order_log_done(struct rn_stream *t, uint32_t site, const struct rn_order_done *d,
		       uint32_t n);
void rn_order_log_value(struct rn_stream *t, uint32_t site, int64_t value);

/* Records a sent message. Called only if Lamport clocks are needed (rn_config.order_sends). */
void rn_order_log_send(struct rn_stream *t, uint32_t comm_word, int me, int dest, int tag);

/* Writes the existing events to the journal, when the stream gets extents in it. */
void rn_order_log_adopt(struct rn_stream *t);

/* Encodes the remaining rows into a chunk, at the end of the run. */
void rn_order_log_stop(struct rn_stream *t);

/* rn_order_log_events returns the number of events. rn_order_log_part stores all event sites and
 * chunks in *out, with arrays in the arena; returns RN_OK or RN_E_NOMEM. */
uint64_t rn_order_log_events(const struct rn_stream *t);
int rn_order_log_part(const struct rn_stream *t, struct rn_arena *mem, struct rn_order_part *out);

/* Returns the memory of the log, in bytes. */
uint64_t rn_order_log_size(const struct rn_stream *t);

#endif
