/*
 * spool_folder.h - where the part files of a run are: in a folder beside the trace, NAME.part, or
 * where the user wants it; and what becomes of those that an earlier run has left there.
 */
#ifndef RN_INTERCEPT_SPOOL_FOLDER_H
#define RN_INTERCEPT_SPOOL_FOLDER_H

#include <stdbool.h>

#include "intercept/config.h"

#define RN_SPOOL_PATH (2 * sizeof(rn_config.output) + 8)

struct rn_spool_folder {
	char path[RN_SPOOL_PATH];  /* as the user knows it */
	char files[RN_SPOOL_PATH]; /* where the files are: there, or in memory */
	bool in_memory;            /* for it is another machine's; they are copied to the folder */
};

void rn_spool_folder_find(struct rn_spool_folder *f);

/* What an earlier run has left goes to the folder NAME.old.part; that of one that goes on stays. By
 * one process, before any opens a file. */
void rn_spool_set_aside(void);

#endif
