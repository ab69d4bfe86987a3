/*
 * private_dir.h - directories that only this user can read, write and search.
 *
 * Journal files and status files are stored in such directories, because the directory of a trace
 * may be writable by other users. A private directory is opened once, its owner and mode are
 * verified, and a symbolic link is not followed. Its files are accessed relative to the descriptor.
 * Symbolic links in the path above it are followed: the user chose that path.
 *
 * Functions return a descriptor, or -1 with errno. System calls only: no allocation, no output,
 * safe before a program's main.
 */
#ifndef RN_BASE_PRIVATE_DIR_H
#define RN_BASE_PRIVATE_DIR_H

#include <stdbool.h>

/* Opens a directory. EPERM: it belongs to another user, or its mode grants rights to others. ELOOP,
 * ENOTDIR: it is a symbolic link or not a directory. */
int rn_private_dir_open(const char *path);

/* Creates a directory with mode 0700 if it does not exist, and opens it. ENOTSUP: the file system
 * does not store owner and mode; the directory that was created is removed. */
int rn_private_dir_make(const char *path);

/* Whether only this user can change the entries of an open directory, by its owner and mode. */
bool rn_private_dir_is_ours(int dir);

/* Whether the path is a private directory. */
bool rn_private_dir_exists(const char *path);

/* Removes a private directory if it is empty. Other directories are not changed. */
void rn_private_dir_remove(const char *path);

/* Opens a regular file of this user in a private directory; `flags` is O_RDONLY, O_WRONLY or
 * O_RDWR, with O_APPEND if wanted. EPERM: the file is not regular, or belongs to another user. */
int rn_private_file_open(int dir, const char *name, int flags);

/* Creates a file with mode 0600 for reading and writing. EEXIST: the name exists. */
int rn_private_file_create(int dir, const char *name);

#endif
