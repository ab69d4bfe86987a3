/* io.c - see io.h. */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether to repeat a write that failed. A process that shares the descriptor may have made it
 * nonblocking. Then this function waits, as a blocking write would. */
static bool may_retry(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	if (errno == EINTR)
		return true;
	if (errno != EAGAIN && errno != EWOULDBLOCK)
		return false;
	return poll(&p, 1, -1) >= 0 || errno == EINTR;
}

int rn_io_write_all(int fd, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && may_retry(fd))
			continue;
		if (n < 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

void *rn_io_map(const char *path, bool writable, size_t *len)
{
	int fd = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	struct stat st;
	void *p = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && st.st_size > 0) {
		*len = (size_t)st.st_size;
		p = mmap(NULL, *len, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, fd, 0);
	}
	close(fd);
	return p == MAP_FAILED ? NULL : p;
}

/* Sets the text "PATH: why". A long path does not displace the end. */
static int refuse(struct rn_err *err, int code, const char *path, const char *why)
{
	rn_err_set(err, code, "%s", why);
	rn_err_prefix(err, "%s", path);
	return code;
}

static int check_regular(int fd, const char *path, uint64_t *size, struct rn_err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return rn_err_sys(err, "stat %s", path);
	if (S_ISFIFO(st.st_mode))
		return refuse(err, RN_E_DATA, path, "a trace cannot be read from a pipe");
	if (!S_ISREG(st.st_mode))
		return refuse(err, RN_E_DATA, path, "not a regular file");
	*size = (uint64_t)st.st_size;
	return RN_OK;
}

/* O_NONBLOCK: opening a FIFO must not wait for a writer before the FIFO can be rejected. */
static int open_regular(int dir, const char *path, int flags, uint64_t *size, struct rn_err *err)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags), rc;

	if (fd < 0 && errno == ENXIO) /* a socket, or a device that does not exist */
		return refuse(err, RN_E_DATA, path, "not a regular file");
	if (fd < 0)
		return rn_err_sys(err, "open %s", path);
	rc = check_regular(fd, path, size, err);
	if (rc < 0) {
		close(fd);
		return rc;
	}
	return fd;
}

int rn_io_open(const char *path, uint64_t *size, struct rn_err *err)
{
	return open_regular(AT_FDCWD, path, 0, size, err);
}

int rn_io_open_at(int dir, const char *name, uint64_t *size, struct rn_err *err)
{
	return open_regular(dir, name, O_NOFOLLOW, size, err);
}

int rn_io_read_part(int fd, const char *path, size_t most, struct rn_buf *b, struct rn_err *err)
{
	size_t before = b->len;

	while (most) {
		unsigned char *p = rn_buf_reserve(b, most);
		ssize_t n = p ? read(fd, p, most) : -1;

		if (p && n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			b->len = before;
			if (p)
				return rn_err_sys(err, "read %s", path);
			rn_err_nomem(err);
			rn_err_prefix(err, "%s", path);
			return RN_E_NOMEM;
		}
		if (n == 0)
			break;
		b->len += (size_t)n;
		most -= (size_t)n;
	}
	return RN_OK;
}

int rn_io_read_rest(int fd, const char *path, struct rn_buf *b, struct rn_err *err)
{
	size_t before = b->len, last;
	int rc;

	do {
		last = b->len;
		rc = rn_io_read_part(fd, path, 65536, b, err);
	} while (rc == RN_OK && b->len != last);
	if (rc < 0)
		b->len = before;
	return rc;
}

size_t rn_io_read_head(const char *path, char *bytes, size_t cap)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got = 1;

	while (fd >= 0 && n < cap && got > 0) {
		got = read(fd, bytes + n, cap - n);
		n += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		close(fd);
	return n;
}

/* Does not use the size of the file, which is 0 in /proc. */
int rn_io_read(const char *path, struct rn_buf *b, struct rn_err *err)
{
	uint64_t size;
	int fd = rn_io_open(path, &size, err), rc;

	if (fd < 0)
		return fd;
	rc = rn_io_read_rest(fd, path, b, err);
	close(fd);
	return rc;
}

/* Returns the length of the directory part of a path, including the last slash. */
static size_t folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Creates a file in the directory of the target, so that the rename does not cross file systems.
 * Its name is short, because the name of the target may have the maximum length. */
static int open_beside(const char *path, char **tmp, struct rn_err *err)
{
	size_t folder = folder_length(path), size = folder + 64;
	char *name = malloc(size);
	int fd = -1;

	if (!name)
		return rn_err_nomem(err);
	memcpy(name, path, folder);
	for (unsigned n = 0; n < 1000; n++) {
		snprintf(name + folder, size - folder, ".rondo-%ld-%u.tmp", (long)getpid(), n);
		fd = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	if (fd < 0) {
		rn_err_sys(err, "create a file beside %s", path);
		free(name);
		return RN_E_SYS;
	}
	*tmp = name;
	return fd;
}

int rn_io_rename_new(int dir, const char *name, const char *to)
{
	struct stat st;

	if (renameat2(dir, name, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	/* The file system does not support the flag. */
	if (linkat(dir, name, AT_FDCWD, to, 0) == 0)
		return unlinkat(dir, name, 0);
	if (errno == EEXIST || lstat(to, &st) == 0) {
		errno = EEXIST;
		return -1;
	}
	return renameat(dir, name, AT_FDCWD, to);
}

/* A rename reaches the disk when the directory is synced. A failure to sync is ignored, because the
 * file exists. */
void rn_io_sync_directory(const char *path)
{
	size_t n = folder_length(path);
	char *name = n ? strndup(path, n) : strdup(".");
	int fd = name ? open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	free(name);
}

static int fill_and_move(int fd, const char *tmp, const char *path, const struct stat *old,
			 const void *bytes, size_t len, struct rn_err *err)
{
	int rc = RN_OK;

	if (old && old->st_uid == geteuid() && fchmod(fd, old->st_mode & 0777) < 0)
		rc = rn_err_sys(err, "set the mode of %s", tmp);
	if (!rc && (rn_io_write_all(fd, bytes, len) < 0 || fsync(fd) < 0))
		rc = rn_err_sys(err, "write %s", tmp);
	if (close(fd) < 0 && !rc)
		rc = rn_err_sys(err, "close %s", tmp);
	if (!rc && (old ? rename(tmp, path) : rn_io_rename_new(AT_FDCWD, tmp, path)) < 0)
		rc = rn_err_sys(err, "rename %s to %s", tmp, path);
	if (rc)
		unlink(tmp);
	else
		rn_io_sync_directory(path);
	return rc;
}

int rn_io_replace(const char *path, const void *bytes, size_t len, struct rn_err *err)
{
	struct stat st;
	bool exists = lstat(path, &st) == 0;
	char *tmp = NULL;
	int fd, rc;

	if (exists && !S_ISREG(st.st_mode))
		return refuse(err, RN_E_ARG, path, "not a regular file, not replaced");
	fd = open_beside(path, &tmp, err);
	if (fd < 0)
		return fd;
	rc = fill_and_move(fd, tmp, path, exists ? &st : NULL, bytes, len, err);
	free(tmp);
	return rc;
}
