/*
 * markers.h - markers: symbols of a stream that are not calls.
 *
 * A call is appended to its stream when it returns. If nested calls were made inside it (from
 * callbacks), two markers bracket them: `rondo_enter` where the call began, and `rondo_leave`
 * directly before the call itself (doc/format.md, 9.1). `rondo_ended` closes a request that another
 * stream completed (8.5). `rondo_thread` names the thread that made the calls after it (9.2).
 * Markers are signatures of functions with these names. They are not counted as calls.
 */
#ifndef RN_MODEL_MARKERS_H
#define RN_MODEL_MARKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rn_arena;
struct rn_streams;
struct rn_vocab;

enum rn_marker {
	RN_MARKER_NONE,
	RN_MARKER_ENTER,
	RN_MARKER_LEAVE,
	RN_MARKER_ENDED,
	RN_MARKER_THREAD
};

#define RN_NESTING_MAX 256u /* maximum depth of nested calls */

/* Ids of the functions; UINT64_MAX: the vocabulary does not have the function. */
struct rn_markers {
	uint64_t enter, leave, ended, thread;
};

struct rn_markers rn_markers_of(const struct rn_vocab *v);
bool rn_markers_any(const struct rn_markers *m);

/* Returns the marker that a function or a signature is; RN_MARKER_NONE for calls. */
enum rn_marker rn_marker_function(const struct rn_markers *m, uint64_t function);
enum rn_marker rn_marker_of(const struct rn_markers *m, const void *sig, size_t len);

/* Stores the number of calls of all ranks, like rn_streams_calls but without markers. O(size of the
 * rules) if the vocabulary has markers, otherwise O(groups). Returns RN_OK or RN_E_NOMEM. */
int rn_markers_calls(const struct rn_markers *m, const struct rn_streams *s,
		     struct rn_arena *scratch, uint64_t *calls);

#endif
