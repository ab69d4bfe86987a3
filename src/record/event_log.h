/*
 * event_log.h - how calls came out that could have come out otherwise (order/events.h), while the
 * program runs (--only=order).
 *
 * Events are rows in a piece of the part file (journal/event_tail.h), so that a killed program
 * leaves all of them; when that is full it becomes a chunk, in the log of the stream and in memory,
 * where the end finds it. Without a part file, or when that cannot grow, rows are in plain memory.
 *
 * Cost: 2 to 3 ns for one more failure at the same site, 10 to 20 ns for what is done; making a
 * chunk takes some milliseconds, once in 20,000 calls or so. errno is not touched. Without memory,
 * events are lost and counted (rn_stream_lost). Not locked: the stream's thread alone; at the end,
 * who has stopped it.
 */
#ifndef RN_RECORD_EVENT_LOG_H
#define RN_RECORD_EVENT_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "order/events.h"

struct rn_arena;
struct rn_order_part;
struct rn_stream;

#define RN_ORDER_NO_SITE UINT32_MAX /* there was no memory; its events are lost */

/* The number of a site: a function, as the vocabulary has it, a communicator's word or 0, and a
 * call stack's number (callstack.h) or 0. */
uint32_t rn_order_log_site(struct rn_stream *t, enum rn_order_kind kind, uint32_t function,
			   uint32_t comm_word, uint32_t callstack);

/* A call that found nothing; one that found n >= 1 things done; one that gave a number. */
void rn_order_log_fails(struct rn_stream *t, uint32_t site);
void rn_order_log_done(struct rn_stream *t, uint32_t site, const struct rn_order_done *d,
		       uint32_t n);
void rn_order_log_value(struct rn_stream *t, uint32_t site, int64_t value);

/* A message is sent; only where clocks are wanted (rn_config.order_sends). */
void rn_order_log_send(struct rn_stream *t, uint32_t comm_word, int me, int dest, int tag);

/* The stream has become part of the file. */
void rn_order_log_adopt(struct rn_stream *t);

/* What there is becomes a chunk. */
void rn_order_log_stop(struct rn_stream *t);

/* How many events there have been; and all of them, in the arena: RN_OK or RN_E_NOMEM. */
uint64_t rn_order_log_events(const struct rn_stream *t);
int rn_order_log_part(const struct rn_stream *t, struct rn_arena *mem, struct rn_order_part *out);

/* Bytes that it takes. */
uint64_t rn_order_log_size(const struct rn_stream *t);

#endif
