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
 */
#ifndef RN_CMD_PARTS_H
#define RN_CMD_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Waits a short time for processes that end because their launcher has ended. Returns whether some
 * are still running. */
bool parts_settle(const char *folder, uint64_t run);

/* Removes what is not needed any more, but for what processes that still run have. */
void parts_drop(const char *folder, uint64_t run);

/* Writes the trace to `path`; one line about it goes to `out`. EXIT_DONE: every part that is there
 * is in the trace, though ranks may be missing. EXIT_INPUT: one could not be read, or there is
 * none. EXIT_SELF: no memory, or the trace could not be written. */
int parts_recover(const char *folder, uint64_t run, const char *path, FILE *out);

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
