/*
 * journal_set.h - a trace from what the processes of a run have left.
 *
 * While a program runs, the processes of each node keep what they have done in one file of a folder
 * (journal/journal_file.h), named RUN-HOST. When they cannot merge it at the end, or there is no
 * end, this does it without MPI (recover/recover.h), for one run: that of the number `run`, or if
 * that is 0 the newest that the folder has something of. What other runs have left there stays; it
 * is mentioned where no run was asked for. So do files that cannot be read. The files are removed
 * when everything in them is in the trace; those of a program that still runs are read as they are
 * at the moment, and stay.
 *
 * If the folder is another machine's, the files are in the memory of each node, and what is in the
 * folder are copies (journal/journal_copy.h), which are older: where this node has the file, that
 * is used. Copies of what is not complete stay.
 *
 * A directory is opened once; a symbolic link is not followed. Files are accessed relative to the
 * descriptor. Only files with the name of a part file are read or removed. They are removed only if
 * no other user can change the directory.
 */
#ifndef RN_RECOVER_JOURNAL_SET_H
#define RN_RECOVER_JOURNAL_SET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/buf.h"
#include "recover/place_trace.h"

struct rn_err;
struct rn_node_file;

#define PARTS_SETTLE_MS 2000

/* Waits up to `ms` milliseconds for the processes of the run to end after their launcher. Returns
 * whether some are still running. */
bool rn_journal_set_wait(const char *folder, uint64_t run, unsigned ms);

/* Whether part files of the run exist. */
bool rn_journal_set_exists(const char *folder, uint64_t run);

/* Claims the part file of this node. One process at a time has the claim, until it closes the
 * returned descriptor. -1: another process has the claim, or there is no such file. `first`: no
 * process has reported the run yet, so the caller reports it. */
int rn_journal_set_claim(const char *folder, uint64_t run, bool *first);

/* Whether a process of this node has left calls in its part file that the trace does not have.
 * `claim` is from rn_journal_set_claim. */
bool rn_journal_set_wanted(int claim);

/* Removes what is not needed any more, but for what processes that still run have. */
void rn_journal_set_remove(const char *folder, uint64_t run);

/* A trace to be written. */
struct rn_journal_set_trace {
	char path[PATH_MAX];   /* in: the requested path; out: the path of the trace */
	enum rn_place_how how; /* which file the trace may replace (place_trace.h) */
	struct timespec since; /* for PLACE_OLDER */
	bool whole;            /* write no trace if ranks are missing */
	bool damaged;          /* out: a part file, or data in it, could not be read */
	struct rn_buf line;    /* out: a text about the trace, with a zero byte; to be freed */
};

/* Writes the trace. Returns RN_OK if the trace was written, though ranks may be missing or part
 * files damaged; RN_E_RANGE if ranks are missing and no trace was written; RN_E_DATA if no part
 * file could be read; RN_E_NOMEM, or RN_E_SYS if the trace could not be written. Part files that
 * cannot be read are noted (base/notes.h). */
int rn_journal_set_recover(const char *folder, uint64_t run, struct rn_journal_set_trace *t,
			   struct rn_buf *notes, struct rn_err *err);

/* Calls fn with the files of the newest run, in their present state. They may
 * change meanwhile, and are only read. Returns the result of fn, or a negative code as above. */
typedef int rn_journal_set_fn(void *arg, const struct rn_node_file *file, size_t n,
			      struct rn_err *err);
int rn_journal_set_inspect(const char *folder, rn_journal_set_fn *fn, void *arg,
			   struct rn_buf *notes, struct rn_err *err);

#endif
