/*
 * status_file.h - the file in which the processes of a run report to `rondo trace`.
 *
 * RONDO_STATUS contains its path, which has one of two forms:
 *
 *	DIR/status      in a private directory (private_dir.h) that rondo created; processes on
 *other nodes can reach it if DIR is shared /proc/PID/fd/N  a memory file of the watcher of one rank
 *(cmd/watch.h)
 *
 * The file starts with RN_STATUS_HEADER and contains one report per line. A path that does not
 * lead to such a file of this user is not used: nothing is written to it, and nothing is removed.
 *
 * System calls only: no allocation, no output, safe before a program's main.
 */
#ifndef RN_BASE_STATUS_FILE_H
#define RN_BASE_STATUS_FILE_H

#include <stdbool.h>
#include <time.h>

#define RN_STATUS_HEADER "rondo-status 1\n"
#define RN_STATUS_NAME   "status"

/* Opens the file for reading and appending. Returns a descriptor, or -1. */
int rn_status_open(const char *path);

/* Removes the file. `rondo trace` takes this as a report that could not be written. */
void rn_status_remove(const char *path);

/* Whether the file belongs to the watcher of one rank. */
bool rn_status_is_watched(const char *path);

/* The time of the file system at which the private directory was created; false: unknown. */
bool rn_status_since(const char *path, struct timespec *since);

/* Creates DIR/status in the private directory `dir`. Returns a descriptor, or -1 with errno. */
int rn_status_create(int dir);

/* Creates a memory file. Returns a descriptor, or -1 with errno. */
int rn_status_create_memory(void);

#endif
