/*
 * place_trace.h - moves a trace that was made from part files to its name.
 *
 * A trace never silently takes the place of another one: if the name is in use, the trace gets the
 * next number (file/trace_name.h), and the caller reports the name.
 */
#ifndef RN_CMD_PLACE_TRACE_H
#define RN_CMD_PLACE_TRACE_H

#include <limits.h>
#include <stdbool.h>
#include <time.h>

#include "base/err.h"

enum place_how {
	PLACE_NEW,    /* replace no file */
	PLACE_OLDER,  /* replace a trace that is not newer than a given time; an incomplete trace
			 replaces only an incomplete one */
	PLACE_EXACTLY /* replace the file: the user named it, or it is a trace of the same run */
};

/* Stores the name of a file that does not exist, in the directory of `path`. */
int place_temporary(const char *path, char temporary[PATH_MAX], struct rn_err *err);

/* Renames the file `temporary` to `path` or to a numbered name, which is stored in `path`. On
 * failure the file is removed. */
int place_trace(const char *temporary, char path[PATH_MAX], enum place_how how,
		const struct timespec *since, bool complete, struct rn_err *err);

#endif
