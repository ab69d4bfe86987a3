/*
 * trace_name.h - names of traces, and which existing files a run may replace.
 *
 * The name of a trace is a pattern. In its last component, %p is the program, %j the job, %h the
 * host, %n the number of the trace, and %% a percent sign. If the name is in use, the trace gets
 * the next number: at %n or, in a name without %n, before the extension: ring.rondo, ring.2.rondo.
 *
 * No allocation, no output. Safe inside a traced program.
 */
#ifndef RN_FILE_TRACE_NAME_H
#define RN_FILE_TRACE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#define RN_TRACE_NUMBERS 10000u /* numbers that are tried */

/* The first sequence of the pattern that has no meaning, such as "%x"; NULL: there is none. */
const char *rn_trace_name_error(const char *pattern);

bool rn_trace_name_has(const char *pattern, char letter);

/* Stores the name with this number, which is 1 or greater. False: it does not fit. */
bool rn_trace_name(const char *pattern, const char *program, unsigned number, char *out,
		   size_t cap);

/* Stores a name that is not a pattern with this number. False: it does not fit. */
bool rn_trace_name_number(const char *name, unsigned number, char *out, size_t cap);

/* A file at some time. */
struct rn_trace_seen {
	bool exists;
	dev_t dev;
	ino_t ino;
	struct timespec changed;
};

struct rn_trace_seen rn_trace_see(const char *path);

/* Whether the file was not replaced or changed since then. */
bool rn_trace_is_same(const char *path, const struct rn_trace_seen *seen);

/* Whether a trace may be written to the path: no file exists there, or the file is a trace (or
 * empty) that was not changed after `since`. `since` may be NULL: the time does not matter. */
bool rn_trace_is_free(const char *path, const struct timespec *since);

#endif
