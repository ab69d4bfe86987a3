/*
 * io.h - checked file I/O for commands.
 *
 * A file is replaced as a whole: the new file is written in the same directory, synced and renamed.
 * Readers see the old file or the new one, never a mixture. Only regular files are replaced.
 */
#ifndef RN_BASE_IO_H
#define RN_BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Opens a regular file for reading. Returns a descriptor, and stores the size of the file. Rejects
 * other kinds of files without blocking. */
int rn_io_open(const char *path, uint64_t *size, struct rn_err *err);

/* Opens a regular file in an open directory, like rn_io_open. Does not follow a symbolic link. */
int rn_io_open_at(int dir, const char *name, uint64_t *size, struct rn_err *err);

/* Appends the next `most` bytes of a file to b, or fewer at the end of the file; on failure
 * nothing. The path is for messages. */
int rn_io_read_part(int fd, const char *path, size_t most, struct rn_buf *b, struct rn_err *err);

/* Appends all bytes up to the end of a file or pipe to b; on failure nothing. */
int rn_io_read_rest(int fd, const char *path, struct rn_buf *b, struct rn_err *err);

/* Appends a whole regular file to b; on failure nothing. */
int rn_io_read(const char *path, struct rn_buf *b, struct rn_err *err);

/* Reads the first bytes of a file, which may be in /proc. Returns their number; 0 if the file
 * cannot be read. */
size_t rn_io_read_head(const char *path, char *bytes, size_t cap);

/* Replaces or creates a file atomically. The new file has the mode of the replaced file if this
 * user owns it. */
int rn_io_replace(const char *path, const void *bytes, size_t len, struct rn_err *err);

/* Maps a nonempty file as shared memory. Returns NULL if it cannot be mapped. */
void *rn_io_map(const char *path, bool writable, size_t *len);

/* Renames the file `name` of the directory `dir`. Returns 0, or -1 with errno, which is EEXIST if
 * the new name exists. */
int rn_io_rename_new(int dir, const char *name, const char *to);

/* Writes the entry of a file in its directory to the disk, if the file system permits. */
void rn_io_sync_directory(const char *path);

/* Repeats write(2) until all bytes are written, also to a nonblocking descriptor. Returns 0, or -1
 * with errno. */
int rn_io_write_all(int fd, const void *bytes, size_t len);

#endif
