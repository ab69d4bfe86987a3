/*
 * run_dir.h - the private directory of one `rondo trace`, with its status file.
 */
#ifndef RN_CMD_RUN_DIR_H
#define RN_CMD_RUN_DIR_H

#include <limits.h>

struct run_dir {
	char path[PATH_MAX]; /* of the status file */
	int dir, status;     /* descriptors */
};

/* Creates the directory .rondo-run.XXXXXX in `beside` or, if that file system does not store owner
 * and mode, or is full, in a directory for temporary files. 0 or an errno value. */
int run_dir_make(struct run_dir *d, const char *beside);

void run_dir_remove(struct run_dir *d);

#endif
