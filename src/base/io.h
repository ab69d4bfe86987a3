/*
 * io.h - checked file I/O for tool code.
 *
 * A file is replaced as a whole: written beside the target, synced, renamed. Readers see the old
 * file or the new one, never half of either. Only regular files are replaced.
 */
#ifndef RN_BASE_IO_H
#define RN_BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Opens a regular file for reading: a descriptor, and the file's size. Refuses anything that is
 * not one, without waiting for it. */
int rn_io_open(const char *path, uint64_t *size, struct rn_err *err);

/* Opens a regular file in an open directory, like rn_io_open. Does not follow a symbolic link. */
int rn_io_open_at(int dir, const char *name, uint64_t *size, struct rn_err *err);

/* Appends the next `most` bytes of it to b, fewer only where the file ends; on failure nothing. The
 * path is for messages. */
int rn_io_read_part(int fd, const char *path, size_t most, struct rn_buf *b, struct rn_err *err);

/* Appends all bytes up to the end of a file or pipe to b; on failure nothing. */
int rn_io_read_rest(int fd, const char *path, struct rn_buf *b, struct rn_err *err);

/* Appends the whole of a regular file to b, or nothing. */
int rn_io_read(const char *path, struct rn_buf *b, struct rn_err *err);

/* Reads the first bytes of a file, which may be in /proc. Returns their number; 0 if the file
 * cannot be read. */
size_t rn_io_read_head(const char *path, char *bytes, size_t cap);

/* Replaces (or creates) path atomically. A file of this user that is replaced passes its mode on.
 */
int rn_io_replace(const char *path, const void *bytes, size_t len, struct rn_err *err);

/* Maps a file that is not empty, shared. Returns NULL if it cannot be mapped. */
void *rn_io_map(const char *path, bool writable, size_t *len);

/* Renames the file `name` of the directory `dir`. Returns 0, or -1 with errno,
 * which is EEXIST if the new name exists. */
int rn_io_rename_new(int dir, const char *name, const char *to);

/* Writes the entry of a file in its directory to the disk, if the file system permits. */
void rn_io_sync_directory(const char *path);

/* write(2) until all is written, also to a descriptor that does not block; -1 with errno on
 * failure. */
int rn_io_write_all(int fd, const void *bytes, size_t len);

#endif
