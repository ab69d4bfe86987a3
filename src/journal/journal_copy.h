/*
 * journal_copy.h - copies the checkpoints of a journal to a file that survives the node.
 *
 * If the trace is written to a file system of another machine, the journal file is in the memory of
 * this node (/dev/shm): mapping a remote file is slow, or loses data that was not synchronized.
 * From time to time each process copies its checkpoints to a file beside the trace. It writes only
 * its own extents, with plain writes, at the offsets that they have in the journal. The writes of
 * all processes together form a journal file with holes, which is read like any other.
 *
 * The copy of a stream contains its log, its latest checkpoint with the number of calls, and all of
 * its events. It contains no call ring. Data is written before the references to it, and no
 * snapshot overwrites the one that is valid in the copy. A copy that is interrupted therefore
 * leaves the previous one intact. The file is opened for each copy and closed after it: a network
 * file system writes data back when the file is closed, and the program cannot close a descriptor
 * that is not open.
 *
 * Errors are errno values. Not locked: a process makes one copy at a time.
 */
#ifndef RN_JOURNAL_JOURNAL_COPY_H
#define RN_JOURNAL_JOURNAL_COPY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "journal/journal_file.h"

/* Stores the directory in memory that replaces a journal directory. Different directories have
 * different replacements. False if the parent of `folder` does not exist, or the name is longer
 * than `cap`. */
bool rn_spill_memory_folder(const char *folder, char *out, size_t cap);

struct rn_spill_copy {
	struct rn_spill *of;
	int fd; /* descriptor of the copy while one is made */
	uint64_t size;
	char path[PATH_MAX];
};

/* The end of a log: the first page of its last extent, and the bytes of records in it. */
struct rn_log_end {
	uint64_t extent, used;
};

struct rn_log_end rn_log_end(const struct rn_log *l);

/* The data of a log or a stream that the copy has. All 0: none. */
struct rn_copied {
	struct rn_log_end log;
	uint64_t calls, times; /* pages of the snapshots */
	uint64_t chunks, rows; /* of events: number of chunks, and bytes of rows */
};

/* Opens the copy. Creates the file and its directory if they do not exist. */
int rn_copy_begin(struct rn_spill_copy *c);

/* Copies the records of a log that follow those in the copy. */
int rn_copy_log(struct rn_spill_copy *c, struct rn_log_end end, struct rn_copied *done);

/* Whether the checkpoint can be copied: its snapshots are not at the positions of the snapshots
 * that are valid in the copy. */
bool rn_copy_can(const struct rn_seal *s, const struct rn_copied *done);

/* Copies a stream whose checkpoint has just been made. Called by the thread that records the
 * stream. `live` is the state of the stream, with the head of its extent; `words` are the n words
 * of calls in flight. */
int rn_copy_stream(struct rn_spill_copy *c, const struct rn_live *live, const uint64_t *words,
		   size_t n, const struct rn_log *log, struct rn_copied *done);

/* Copies the events of a stream. Called after its log was copied, by the same thread. */
struct rn_order_tail;
int rn_copy_order(struct rn_spill_copy *c, const struct rn_order_tail *tail,
		  struct rn_copied *done);

/* Closes the copy. `rc` is the result so far. Returns `rc` if it is not 0, else the result of
 * closing. */
int rn_copy_end(struct rn_spill_copy *c, int rc);

#endif
