/*
 * journal_copy.h - a copy of what is sealed in a part file (journal_file.h), where it outlives the
 * node.
 *
 * When the trace goes to a file system of another machine's, the part file is in this node's memory
 * (/dev/shm), because mapping a file there is slow, or forgets what was not synced. Now and then
 * the processes write what they have sealed to a file beside the trace: by plain writes, each its
 * own extents, at the places where they are in the part file. So all of them together make a file
 * that is a part file with holes, and is read as one.
 *
 * Of a stream a copy has its log, its latest snapshot, and how many calls that has; no ring; and
 * all of its events. What refers to something is written behind it, and no snapshot over the one
 * that counts, so a copy that breaks off leaves the one before it. The file is opened for each copy
 * and closed behind it: that is what makes a network's file system take it over, and there is no
 * descriptor for the program to close.
 *
 * Errors are errno values. Not locked: one copy at a time in a process.
 */
#ifndef RN_JOURNAL_JOURNAL_COPY_H
#define RN_JOURNAL_JOURNAL_COPY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "journal/journal_file.h"

/* The folder in memory that stands in for a folder of parts: another one for each. False when the
 * place of the folder is not there, or the name is too long. */
bool rn_spill_memory_folder(const char *folder, char *out, size_t cap);

struct rn_spill_copy {
	struct rn_spill *of;
	int fd; /* while one is being made */
	uint64_t size;
	char path[PATH_MAX];
};

/* Where a log ends: an extent and the bytes of records in it. */
struct rn_log_end {
	uint64_t extent, used;
};

struct rn_log_end rn_log_end(const struct rn_log *l);

/* What of a log or a stream is in the copy. Zeroed: nothing. */
struct rn_copied {
	struct rn_log_end log;
	uint64_t calls, times; /* pages of the snapshots */
	uint64_t chunks, rows; /* of events: how many that count, and bytes behind them */
};

/* Opens the file, or makes it, and its folder too. */
int rn_copy_begin(struct rn_spill_copy *c);

/* What a log has more than at the last time. */
int rn_copy_log(struct rn_spill_copy *c, struct rn_log_end end, struct rn_copied *done);

/* Whether what is sealed can be copied: what the copy stands on is not in the same place. */
bool rn_copy_can(const struct rn_seal *s, const struct rn_copied *done);

/* Copies a stream that has just been sealed. Called by the thread that records in it. `live` is the
 * state of the stream, with the head of its extent; `words` are the n words of calls in flight. */
int rn_copy_stream(struct rn_spill_copy *c, const struct rn_live *live, const uint64_t *words,
		   size_t n, const struct rn_log *log, struct rn_copied *done);

/* Its events, behind its log, by the same thread. */
struct rn_order_tail;
int rn_copy_order(struct rn_spill_copy *c, const struct rn_order_tail *tail,
		  struct rn_copied *done);

/* Closes it. `rc` is what came of it so far, and is returned if it is not 0. */
int rn_copy_end(struct rn_spill_copy *c, int rc);

#endif
