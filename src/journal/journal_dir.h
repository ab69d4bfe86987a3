/*
 * journal_dir.h - where the part files of a run are: in a folder beside the trace, NAME.part, or
 * where the user wants it. The directory is private (base/private_dir.h). During a run, its
 * processes hold locks on their part files. A locked part file therefore shows that the name of the
 * trace is in use.
 */
#ifndef RN_JOURNAL_JOURNAL_DIR_H
#define RN_JOURNAL_JOURNAL_DIR_H

#include <stdbool.h>

#define RN_SPOOL_PATH (2 * 4096 + 8)

struct rn_journal_folder {
	char path[RN_SPOOL_PATH];  /* as the user knows it */
	char files[RN_SPOOL_PATH]; /* where the files are: there, or in memory */
	bool in_memory;            /* for it is another machine's; they are copied to the folder */
};

/* Finds the directory of a trace: next to `output`, or in the directory `in` unless that is "". */
void rn_journal_folder_find(struct rn_journal_folder *f, const char *output, const char *in);

/* Creates the directory. 0 or an errno value. */
int rn_journal_folder_make(const struct rn_journal_folder *f);

/* Creates the directory and locks it, so that no other run starts in it until the descriptor is
 * closed. 0; EBUSY: another run or another user uses the name; or another errno value. */
int rn_journal_folder_lock(const struct rn_journal_folder *f, int *lock);

/* Whether a running process holds a lock on the part file in a directory. */
bool rn_journal_is_locked(int dir, const char *name);

/* Removes the directory if it is empty. */
void rn_journal_folder_remove(const struct rn_journal_folder *f);

#endif
