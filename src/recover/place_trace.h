/*
 * place_trace.h - renames a trace that was built from journal files to its final name.
 *
 * A trace never replaces a file that the caller did not allow it to replace. If the name is in use,
 * the trace gets the next number (file/trace_name.h), and the caller reports the name.
 */
#ifndef RN_RECOVER_PLACE_TRACE_H
#define RN_RECOVER_PLACE_TRACE_H

#include <limits.h>
#include <stdbool.h>
#include <time.h>

#include "base/err.h"

enum rn_place_how {
	PLACE_NEW, /* replace no file */
	/* replace a trace that was not changed after a given time; an incomplete trace replaces
	 * only an incomplete trace */
	PLACE_OLDER,
	PLACE_EXACTLY /* replace the file: the user named it, or it is a trace of the same run */
};

/* A trace while it is written: a file in a private directory beside the final path, where no other
 * user can replace it. */
struct rn_trace_placing {
	int dir;
	char dir_path[PATH_MAX];
	/* Path of the trace. It is valid in this process even if dir_path is renamed or removed. */
	char file[64];
};

/* Creates the directory. RN_OK or an error. */
int rn_place_begin(struct rn_trace_placing *p, const char *path, struct rn_err *err);

/* Renames the trace to `path` or to a numbered name, which is stored in `path`. A file of this user
 * that is replaced passes its mode on to the trace. */
int rn_place_trace(const struct rn_trace_placing *p, char path[PATH_MAX], enum rn_place_how how,
		   const struct timespec *since, bool complete, struct rn_err *err);

/* Removes the directory, and the trace if it is still there. */
void rn_place_end(struct rn_trace_placing *p);

#endif
