/*
 * calls.h - iterates over the calls of a stream, decoded: function, arguments, statuses, requests,
 * nesting, times, call site and position.
 *
 * The calls of a stream are stored in the order in which they returned, so a call follows those
 * that were made inside it (call_nesting.h). The iterator reads them in that order, from any call
 * number:
 *
 *	stream   A   enter   n1   n2   leave   OUTER   B
 *	reads    A            n1   n2           OUTER   B
 *	seq      0            2    3              1     4
 *	depth    0            1    1              0     0
 *
 * Besides calls it delivers the markers `ended` and `thread` (rn_call.marker).
 *
 * A signature is parsed when it is first needed (encode/template.h). For each call, only the
 * elastic values and the numbers of its requests are then stored. Ranks are absolute, and request
 * names are numbers. A value that the trace does not determine keeps its kind: RN_V_REL and similar
 * kinds if the communicator is unknown, RN_V_VARIES without a table.
 *
 * Cost: O(slots and requests) for a call; seeking is a search in the rules. Memory is O(signatures,
 * rules and live requests), and templates of at most RN_TEMPLATES_MAX bytes, or of one signature.
 * It does not depend on the length of a stream. Input is untrusted beyond what opening a trace
 * checks. Not locked. The trace must outlive the iterator.
 */
#ifndef RN_READ_CALLS_H
#define RN_READ_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "encode/template.h"
#include "model/markers.h"
#include "read/request_numbering.h"

struct rn_arena;
struct rn_calls; /* opaque */
struct rn_comms;
struct rn_trace;

/* A call or a marker. Valid until the next one is read. */
struct rn_call {
	const struct rn_template *args; /* the function and its values, in parameter order */
	uint32_t sig;                   /* id of the signature in the trace */
	enum rn_marker marker;          /* RN_MARKER_NONE, RN_MARKER_ENDED or RN_MARKER_THREAD */
	uint64_t rank, thread;
	uint64_t seq;      /* number of the call, in order of entry; for calls only */
	uint64_t position; /* position in the stream */
	uint32_t depth;    /* number of calls that enclose this one */
	uint64_t parent;   /* seq of the innermost enclosing call; defined if depth > 0 */
	bool has_nested;   /* calls were made inside this one */
	bool timed;        /* start and end are valid, in nanoseconds */
	uint64_t start, end;
};

/* Creates an iterator without a stream. If `other` is not NULL, its nesting tables and its origin
 * of times are used, and it must outlive the iterator. Returns NULL without memory. */
struct rn_calls *rn_calls_new(struct rn_arena *mem, const struct rn_trace *t,
			      const struct rn_calls *other);

/* Enables times for the following calls, if the trace contains them. `err` receives the reason if
 * the times of a stream cannot be read. Returns RN_OK or RN_E_NOMEM. */
int rn_calls_times(struct rn_calls *c, struct rn_err *err);

/* Releases all memory that is not in the arena. */
void rn_calls_free(struct rn_calls *c);

/* Returns an upper bound, exclusive, of the call numbers in the streams of a group. The bound is
 * exact unless memory is exhausted. */
uint64_t rn_calls_numbers(struct rn_calls *c, uint32_t group);

/* Begins a stream of that group: its calls with numbers in from..to - 1. Returns RN_OK; RN_E_NOMEM;
 * RN_E_RANGE: there are too many requests before `from`; RN_E_DATA: times are malformed. */
int rn_calls_begin(struct rn_calls *c, uint64_t stream, uint32_t group, uint64_t from, uint64_t to);

/* Reads the next call. Returns 1; 0 at the end; a negative code as above; RN_E_DATA also if elastic
 * values are missing. */
int rn_calls_next(struct rn_calls *c, struct rn_call *out);

/* Returns the number of calls in flight at the position of the iterator. */
uint32_t rn_calls_depth(const struct rn_calls *c);

/* Reads the call in flight at that depth, from its own position in the stream. The iterator does
 * not move. Returns 1, 0 if the call never returns, or a negative code as rn_calls_next. */
int rn_calls_outer(struct rn_calls *c, uint32_t depth, struct rn_call *out);

/* Sets *rank and *size to the rank of process `of` in a communicator and the size of the
 * communicator. For an inter-communicator, *size is the size of the remote group. Returns false if
 * the communicator is unknown. `comms` may be NULL: then only MPI_COMM_WORLD, of `ranks` processes,
 * and MPI_COMM_SELF are known. */
bool rn_comm_rank(const struct rn_comms *comms, uint64_t ranks, uint64_t of, const char *comm,
		  size_t len, uint64_t *rank, uint64_t *size);

/* Makes the ranks in a template absolute, for calls made by `rank`. */
void rn_template_locate(struct rn_template *t, const struct rn_comms *comms, uint64_t ranks,
			uint64_t rank);

#endif
