/*
 * trace_name.h - names of traces, and the check whether a run may replace an existing file.
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

struct rn_err;

#define RN_TRACE_NUMBERS 10000u /* the numbers 1 to 9999 are tried */

/* Returns the first unknown sequence of the pattern, such as "%x"; NULL if all are known. */
const char *rn_trace_name_error(const char *pattern);

/* Whether the pattern contains the sequence %letter. */
bool rn_trace_name_has(const char *pattern, char letter);

/* Stores the name that the pattern gives for a program and a number, which is 1 or greater. False:
 * the name does not fit. */
bool rn_trace_name(const char *pattern, const char *program, unsigned number, char *out,
		   size_t cap);

/* Adds a number to a name that is not a pattern. The number 1 leaves the name unchanged. False: the
 * result does not fit. */
bool rn_trace_name_number(const char *name, unsigned number, char *out, size_t cap);

/* The state of a file at the time of an examination. */
struct rn_trace_seen {
	bool exists;
	dev_t dev;
	ino_t ino;
	struct timespec changed;
};

/* Examines a file. */
struct rn_trace_seen rn_trace_see(const char *path);

/* Whether the file was neither replaced nor changed since it was examined. */
bool rn_trace_is_same(const char *path, const struct rn_trace_seen *seen);

/* Whether a trace may be written to the path: no file exists there, or the file is a trace (or
 * empty) that was not changed after `since`. `since` may be NULL: the time does not matter. */
bool rn_trace_is_free(const char *path, const struct timespec *since);

/* Whether a regular file is a trace or empty, by its first bytes. Returns a negative code if not.
 */
int rn_trace_probe(const char *path, struct rn_err *err);

#endif
