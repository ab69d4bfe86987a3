/*
 * journal_set.h - builds a trace from the journal files of a run.
 *
 * While a program runs, the processes of each node record into one journal file
 * (journal/journal_file.h), named RUN-HOST, in the journal directory. If they cannot merge their
 * data at the end, or do not reach the end, this module builds the trace without MPI
 * (recover/recover.h).
 *
 * It builds the trace of one run: the one with the id `run`, or if that is 0, the newest run in the
 * directory. The files of other runs stay; they are mentioned if `run` is 0. Files that cannot be
 * read stay. The files of the run are removed when the trace contains all of their data. The files
 * of a program that is still running are read in their present state, and stay.
 *
 * If the directory is on another machine, the journal files are in the memory of each node, and the
 * directory contains copies (journal/journal_copy.h), which are older. Where this node has the file
 * itself, the file is read instead of the copy. Copies of incomplete processes stay.
 *
 * A directory is opened once; a symbolic link is not followed. Files are accessed relative to the
 * descriptor. Only files with the name of a journal file are read or removed. They are removed only
 * if no other user can change the directory.
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

/* Whether journal files of the run exist. */
bool rn_journal_set_exists(const char *folder, uint64_t run);

/* Claims the journal file of this node. One process at a time has the claim, until it closes the
 * returned descriptor. -1: another process has the claim, or there is no such file. `first`: no
 * process has reported the run yet, so the caller reports it. */
int rn_journal_set_claim(const char *folder, uint64_t run, bool *first);

/* Whether a process of this node has recorded calls in its journal file that the trace does not
 * contain. `claim` is from rn_journal_set_claim. */
bool rn_journal_set_wanted(int claim);

/* Removes the journal files of the run and the directory. Files that running processes use stay. */
void rn_journal_set_remove(const char *folder, uint64_t run);

/* A trace to be written. */
struct rn_journal_set_trace {
	char path[PATH_MAX];   /* in: the requested path; out: the path of the trace */
	enum rn_place_how how; /* which file the trace may replace (place_trace.h) */
	struct timespec since; /* for PLACE_OLDER */
	bool whole;            /* write no trace if ranks are missing */
	bool damaged;          /* out: a journal file, or data in it, could not be read */
	struct rn_buf line; /* out: a text about the trace, with a zero byte; the caller frees it */
};

/* Writes the trace. Returns RN_OK if the trace was written, though ranks may be missing or journal
 * files damaged; RN_E_RANGE if ranks are missing and no trace was written; RN_E_DATA if no journal
 * file could be read; RN_E_NOMEM, or RN_E_SYS if the trace could not be written. Journal files that
 * cannot be read are noted (base/notes.h). */
int rn_journal_set_recover(const char *folder, uint64_t run, struct rn_journal_set_trace *t,
			   struct rn_buf *notes, struct rn_err *err);

/* Calls fn with the files of the newest run, in their present state. Processes may still write to
 * the files, which are only read. Returns the result of fn, or a negative code as above. */
typedef int rn_journal_set_fn(void *arg, const struct rn_node_file *file, size_t n,
			      struct rn_err *err);
int rn_journal_set_inspect(const char *folder, rn_journal_set_fn *fn, void *arg,
			   struct rn_buf *notes, struct rn_err *err);

#endif
