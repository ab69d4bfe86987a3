/*
 * stream_printer.h - prints the lines of a stream in the order in which its calls were entered.
 *
 * In a stream, a call follows those that were made inside it (call_nesting.h), and its request
 * numbers are those of that position. Lines are therefore formatted in stream order. The lines of
 * nested calls are buffered until the enclosing call is read, whose line is inserted before them.
 *
 *	stream   A  enter  n1  n2  leave  OUTER  B
 *	lines    A         .   .          OUTER n1 n2  B
 *
 * If more than RN_PRINTER_HELD bytes are buffered, or at the end of the range (`to`), the enclosing
 * call is instead looked up at its position in the stream. A call that never returned has no line.
 *
 * Cost: one line for each call; starting at any call is a search in the rules. Memory is
 * O(signatures + rules), and the buffered lines.
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

/* Creates a printer for a trace and an output form. The trace must outlive the printer. Returns
 * NULL without memory. */
struct rn_printer *rn_printer_new(struct rn_arena *mem, const struct rn_trace *t,
				  rn_decode_fn *form);

/* Sets the function that returns symbolic names of stack frames (struct rn_decoder). */
void rn_printer_symbols(struct rn_printer *p, const char *(*symbol)(void *arg, uint32_t node),
			void *arg);
/* Prints times from now on; see rn_calls_times. */
int rn_printer_times(struct rn_printer *p, struct rn_err *err);

/* Releases all memory that is not in the arena. */
void rn_printer_free(struct rn_printer *p);

/* For tests: sets the maximum number of buffered bytes, which is RN_PRINTER_HELD by default. */
void rn_printer_hold(struct rn_printer *p, size_t bytes);

/* Returns an upper bound, exclusive, of the call numbers in the streams of a group. The bound is
 * exact unless memory is exhausted. */
uint64_t rn_printer_numbers(struct rn_printer *p, uint32_t group);

/* Begins a stream of that group: its calls with numbers in from..to - 1. Returns RN_OK; RN_E_NOMEM;
 * RN_E_RANGE: there are too many requests before `from`; RN_E_DATA: times are malformed, or elastic
 * values are missing. */
int rn_printer_begin(struct rn_printer *p, uint64_t stream, uint32_t group, uint64_t from,
		     uint64_t to);

/* Appends the next lines, possibly zero. Returns 1, 0 at the end, or a negative code as above. The
 * caller checks rn_buf_status. */
int rn_printer_next(struct rn_printer *p, struct rn_buf *out);

#endif
