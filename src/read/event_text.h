/*
 * event_text.h - prints order events as lines in the forms of calls (call_text.h).
 *
 * A line contains only the recorded parts of a call:
 *
 *   text  RANK SEQ CALL(flag=1, index=2) = RET times=N matched={source=1, tag=5} at FRAME < ...
 *   JSON  {"rank":0,"seq":12,"call":"MPI_Testany","args":{"flag":1,"index":2},"ret":0,"times":N,
 *          "matched":{"source":1,"tag":5},"site":["FRAME",...]}
 *
 * Consecutive failed polls of one event are one line, with their number in `times`. SEQ counts
 * calls; for such a line it is that of the first poll. `matched` is a list if the call can complete
 * several requests; its elements are null for requests that are not wildcard receives. The result
 * of MPI_Wtime is in seconds. A line `thread(birth=NUMBER) = 0` marks which of the threads that
 * share a stream made the following calls. Events that are not calls are printed with the name of
 * their kind (rn_order_kinds).
 *
 * Events that were derived from calls (analysis/event_source.h) are printed in the same way.
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

/* Iterates over the events of a stream. */
struct rn_order_text {
	const struct rn_trace *t;
	const struct rn_decoder *decoder; /* for symbolic names of call stacks */
	const char *const *comm;          /* names of communicators; comm[0] is number 1 */
	const struct rn_order *order;
	uint64_t rank, thread;
	bool json;
	bool bare;    /* text lines begin with the call, without rank and seq */
	uint64_t seq; /* SEQ of the next line */
	size_t row, done, value;
	bool half; /* the failed polls of the row have been printed */
};

/* Appends the name of the function of an event site, or the name of its kind if it has no function.
 * `place` is the index of the site in the trace's event sites. */
void rn_order_put_function(const struct rn_trace *t, const struct rn_order_site *s, uint32_t place,
			   struct rn_buf *out);

/* Advances by one line, and appends the line if one of its calls has a number in from..to - 1.
 * Returns false at the end of the stream or at `to`. */
bool rn_order_text_next(struct rn_order_text *x, uint64_t from, uint64_t to, struct rn_buf *out);

#endif
