/*
 * journal_dir.h - finds, creates, locks and removes the directory of the journal files of a run.
 *
 * The directory is NAME.part beside the trace, or in the directory that the user chose. It is
 * private (base/private_dir.h). During a run, its processes hold locks on their journal files. A
 * locked journal file therefore shows that the name of the trace is in use.
 */
#ifndef RN_JOURNAL_JOURNAL_DIR_H
#define RN_JOURNAL_JOURNAL_DIR_H

#include <stdbool.h>

#define RN_SPOOL_PATH (2 * 4096 + 8)

struct rn_journal_folder {
	char path[RN_SPOOL_PATH];  /* the path that messages show */
	char files[RN_SPOOL_PATH]; /* directory of the files: `path`, or one in memory */
	/* `path` is on another machine: `files` is in memory, and the files are copied to
	 * `path`. */
	bool in_memory;
};

/* Finds the directory of a trace: next to `output`, or in the directory `in` unless that is "". */
void rn_journal_folder_find(struct rn_journal_folder *f, const char *output, const char *in);

/* Creates the directory. Returns 0 or an errno value. */
int rn_journal_folder_make(const struct rn_journal_folder *f);

/* Creates the directory and locks it, so that no other run starts in it until the descriptor is
 * closed. Returns 0; EBUSY if another run or another user uses the name; or another errno value. */
int rn_journal_folder_lock(const struct rn_journal_folder *f, int *lock);

/* Whether a running process holds a lock on the journal file in a directory. */
bool rn_journal_is_locked(int dir, const char *name);

/* Removes the directory if it is empty. */
void rn_journal_folder_remove(const struct rn_journal_folder *f);

#endif
