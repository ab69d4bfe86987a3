/*
 * markers.h - what stands in a stream besides calls.
 *
 * A call is appended to its stream when it ends. Where others were made inside of it (from
 * callbacks), two markers tell: `rondo_enter` where it began, `rondo_leave` directly before the
 * call itself (doc/format.md, 9.1). A third, `rondo_ended`, ends a request that ended elsewhere
 * (8.5). A fourth, `rondo_thread`, names the thread that made the calls after it (9.2). They are
 * signatures of functions with these names. They are not calls, and are not counted as calls.
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

#define RN_NESTING_MAX 256u /* calls inside calls inside calls ... */

/* The numbers of the functions; UINT64_MAX where the vocabulary does not have it. */
struct rn_markers {
	uint64_t enter, leave, ended, thread;
};

struct rn_markers rn_markers_of(const struct rn_vocab *v);
bool rn_markers_any(const struct rn_markers *m);

/* What a function, or a signature, is: RN_MARKER_NONE for calls. */
enum rn_marker rn_marker_function(const struct rn_markers *m, uint64_t function);
enum rn_marker rn_marker_of(const struct rn_markers *m, const void *sig, size_t len);

/* Calls of all ranks together, as rn_streams_calls has them, but without markers. O(size of the
 * rules) where there may be some, otherwise O(groups). RN_OK or RN_E_NOMEM. */
int rn_markers_calls(const struct rn_markers *m, const struct rn_streams *s,
		     struct rn_arena *scratch, uint64_t *calls);

#endif
