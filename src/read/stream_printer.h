/*
 * stream_printer.h - the lines of a stream, in the order in which its calls were entered.
 *
 * A stream has a call behind those that were made inside of it (call_nesting.h), and its requests
 *have the numbers that they have there. So lines are made in the order of the stream, and those of
 * calls inside another are held back until the call itself has come: its line goes before them.
 *
 *	stream   A  enter  n1  n2  leave  OUTER  B
 *	lines    A         .   .          OUTER n1 n2  B
 *
 * That is not done for ever: where very much is held back, and where no more is wanted (`to`), the
 * call is looked up where it stands. One that never ended has no line.
 *
 * Cost: a line each; starting anywhere is a search in the rules. Memory is O(signatures + rules),
 * and what is held back.
 */
#ifndef RN_READ_STREAM_PRINTER_H
#define RN_READ_STREAM_PRINTER_H

#include <stddef.h>
#include <stdint.h>

#include "read/call_text.h"

struct rn_arena;
struct rn_buf;
struct rn_err;
struct rn_printer; /* opaque */
struct rn_trace;

#define RN_PRINTER_HELD ((size_t)16 << 20) /* bytes */

/* Of a trace, in one of the forms; the trace outlives it. NULL when there is no memory. */
struct rn_printer *rn_printer_new(struct rn_arena *mem, const struct rn_trace *t,
				  rn_decode_fn *form);

/* From now on frames of stacks have these names (struct rn_decoder). */
void rn_printer_symbols(struct rn_printer *p, const char *(*symbol)(void *arg, uint32_t node),
			void *arg);
/* Prints times from now on; see rn_calls_times. */
int rn_printer_times(struct rn_printer *p, struct rn_err *err);

/* Gives back what is not in the arena. */
void rn_printer_free(struct rn_printer *p);

/* For tests: how much is held back, instead of RN_PRINTER_HELD. */
void rn_printer_hold(struct rn_printer *p, size_t bytes);

/* The numbers of the calls of a group's streams are below this; without memory to find out, below
 * something larger. */
uint64_t rn_printer_numbers(struct rn_printer *p, uint32_t group);

/* Begins with a stream, which is of that group: its calls from number `from` on, before number
 * `to`. RN_OK; RN_E_NOMEM; RN_E_RANGE: there are more requests to follow before it than anybody
 * will wait for; RN_E_DATA: times are malformed, or
 * calls have holes without numbers. */
int rn_printer_begin(struct rn_printer *p, uint64_t stream, uint32_t group, uint64_t from,
		     uint64_t to);

/* Appends the lines that are next; there may be none yet. 1, 0 at the end, or as
 * above. The caller looks at rn_buf_status. */
int rn_printer_next(struct rn_printer *p, struct rn_buf *out);

#endif
