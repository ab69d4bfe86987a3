/*
 * event_text.h - events of a trace as lines, in the shape that calls have (call_text.h), of what is
 * known of them:
 *
 *   text  RANK SEQ CALL(flag=1, index=2) = RET times=N matched={source=1, tag=5} at FRAME < ...
 *   JSON  {"rank":0,"seq":12,"call":"MPI_Testany","args":{"flag":1,"index":2},"ret":0,"times":N,
 *          "matched":{"source":1,"tag":5},"site":["FRAME",...]}
 *
 * Calls in a row that found nothing are one line, with how many they are; SEQ, which counts calls,
 * is that of the first. What was matched is a list where the call can complete several requests, in
 * which those that are no wildcard receives are null. What MPI_Wtime gave is in seconds. A line of
 * `thread` says which of the threads that share a stream begins: thread(birth=NUMBER) = 0. Events
 * that are no calls have the name of their kind (rn_order_kinds).
 *
 * Events that were made from calls (analysis/event_source.h) can be written too.
 */
#ifndef RN_READ_EVENT_TEXT_H
#define RN_READ_EVENT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "order/events.h"
#include "read/call_text.h"

struct rn_buf;
struct rn_trace;

/* Goes through the events of a stream. */
struct rn_order_text {
	const struct rn_trace *t;
	const struct rn_decoder *decoder; /* for names of stacks */
	const char *const *comm;          /* communicators: the first one is number 1 */
	const struct rn_order *order;
	uint64_t rank, thread;
	bool json;
	bool bare;    /* lines of text begin with the call */
	uint64_t seq; /* of the next line */
	size_t row, done, value;
	bool half; /* the failures of the row are behind */
};

/* Appends the name of a site's function, or the name of its kind. The site is number `place` of a
 * trace of events. */
void rn_order_put_function(const struct rn_trace *t, const struct rn_order_site *s, uint32_t place,
			   struct rn_buf *out);

/* Appends the next line if it has a call of from .. to; false at the end. */
bool rn_order_text_next(struct rn_order_text *x, uint64_t from, uint64_t to, struct rn_buf *out);

#endif
