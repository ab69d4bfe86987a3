/*
 * status_file.h - the file in which the processes of a run report to `rondo trace`.
 *
 * RONDO_STATUS contains its path, which has one of two forms:
 *
 *	DIR/status      a file in a private directory (private_dir.h) that rondo created
 *	/proc/PID/fd/N  a memory file of the watcher of one rank (cmd/conclude.h)
 *
 * Processes on other nodes can write to DIR/status if DIR is on a shared file system.
 *
 * The file starts with RN_STATUS_HEADER. DIR/status continues with a line that contains the time of
 * its creation. Then the file contains one report per line. A file that does not start with the
 * header, or that belongs to another user, is neither written nor removed.
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

/* Removes the file. From a missing file, `rondo trace` concludes that a report was not written. */
void rn_status_remove(const char *path);

/* Whether the path names the memory file of a watcher. */
bool rn_status_is_watched(const char *path);

/* Stores the time at which the file was created, by the clock of the file system. Returns false if
 * it is unknown. The second function reads it from an open status file, which may have been
 * removed. */
bool rn_status_since(const char *path, struct timespec *since);
bool rn_status_read_since(int fd, struct timespec *since);

/* Creates DIR/status in the private directory `dir`. Returns a descriptor, or -1 with errno. */
int rn_status_create(int dir);

/* Creates a memory file. Returns a descriptor, or -1 with errno. */
int rn_status_create_memory(void);

#endif
