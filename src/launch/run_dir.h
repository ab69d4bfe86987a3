/*
 * run_dir.h - the private directory of one command that runs a program. It contains the status
 * file.
 */
#ifndef RN_LAUNCH_RUN_DIR_H
#define RN_LAUNCH_RUN_DIR_H

#include <limits.h>

struct run_dir {
	char folder[PATH_MAX], path[PATH_MAX + 8]; /* paths of the directory and the status file */
	int dir, status; /* descriptors of directory and status file; -1: not open */
};

/* Creates the directory .rondo-run.XXXXXX in `beside`. If that file system is full or does not
 * store owner and mode, creates it in a directory for temporary files. Returns 0 or an errno value.
 */
int run_dir_make(struct run_dir *d, const char *beside);

/* Opens the directory `folder` and creates the status file in it. Returns 0 or an errno value. */
int run_dir_open(struct run_dir *d);

/* Removes the status file, and the directory if it is then empty. */
void run_dir_remove(struct run_dir *d);

#endif
