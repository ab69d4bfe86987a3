/*
 * parts.h - a trace from what the processes of a run have left.
 *
 * While a program runs, the processes of each node keep what they have done in one file of a folder
 * (file/spill.h), named RUN-HOST. When they cannot merge it at the end, or there is no end, this
 * does it without MPI (file/recover.h), for one run: that of the number `run`, or if that is 0 the
 * newest that the folder has something of. What other runs have left there stays; it is mentioned
 * where no run was asked for. So do files that cannot be read. The files
 * are removed when everything in them is in the trace; those of a program that still runs are read
 * as they are at the moment, and stay.
 *
 * If the folder is another machine's, the files are in the memory of each node, and what is in the
 * folder are copies (file/spill_copy.h), which are older: where this node has the file, that is
 * used. Copies of what is not complete stay.
 *
 * A directory is opened once, not through a symbolic link. Only files whose names have the form of
 * a part file's name are read or removed, relative to the descriptor, and removed only if no other
 * user can change the directory.
 */
#ifndef RN_CMD_PARTS_H
#define RN_CMD_PARTS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "cmd/place_trace.h"

#define PARTS_SETTLE_MS 2000

/* Waits for processes that end because their launcher has ended, up to `ms` milliseconds. Returns
 * whether some are still running. */
bool parts_settle(const char *folder, uint64_t run, unsigned ms);

/* Whether there are part files of the run. */
bool parts_exist(const char *folder, uint64_t run);

/* One process at a time has the claim on the part file of this node: a descriptor, which is closed
 * to give it back; -1: another process has it, or there is no such file. `first`: no process has
 * reported what the run has left, and now this one does. */
int parts_claim(const char *folder, uint64_t run, bool *first);

/* Removes what is not needed any more, but for what processes that still run have. */
void parts_drop(const char *folder, uint64_t run);

/* The trace that is to be written. */
struct parts_trace {
	char path[PATH_MAX];   /* the wanted path; afterwards that of the trace */
	enum place_how how;    /* which file it may replace (place_trace.h) */
	struct timespec since; /* with PLACE_OLDER */
	bool whole;            /* write nothing if ranks are missing */
	const char *prefix;    /* of the line; or NULL */
	FILE *out;             /* where one line about the trace goes */
};

/* Writes the trace. EXIT_DONE: every part that exists is in the trace, though ranks may be missing.
 * EXIT_NO: ranks are missing, and nothing was written. EXIT_INPUT: a part could not be read, or
 * there is none. EXIT_SELF: no memory, or the trace could not be written. */
int parts_recover(const char *folder, uint64_t run, struct parts_trace *t);

/* A file of the newest run, as it is at the moment, and may go on changing. */
struct part_view {
	const char *path, *host;
	int fd;
	const void *bytes;
	size_t len;
};

/* Calls fn with the files of the newest run, which are only read. What it returns, or EXIT_INPUT or
 * EXIT_SELF as above. */
typedef int parts_fn(void *arg, const struct part_view *view, size_t n);
int parts_look(const char *folder, parts_fn *fn, void *arg);

#endif
