/* io.c - see io.h. */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int rn_io_write_all(int fd, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int read_all(int fd, size_t hint, struct rn_buf *b, const char *path, struct rn_err *err)
{
	for (;;) {
		size_t room = hint ? hint + 1 : 65536;
		unsigned char *p = rn_buf_reserve(b, room);
		ssize_t n;

		if (!p)
			return rn_err_nomem(err);
		n = read(fd, p, room);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return rn_err_sys(err, "read %s", path);
		if (n == 0)
			return RN_OK;
		b->len += (size_t)n;
		hint = 0;
	}
}

int rn_io_read(const char *path, struct rn_buf *b, struct rn_err *err)
{
	/* O_NONBLOCK: opening a FIFO must not wait for a writer before we can refuse it. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t before = b->len;
	struct stat st;
	int rc;

	if (fd < 0)
		return rn_err_sys(err, "open %s", path);
	if (fstat(fd, &st) < 0)
		rc = rn_err_sys(err, "stat %s", path);
	else if (!S_ISREG(st.st_mode))
		rc = rn_err_set(err, RN_E_DATA, "%s: not a regular file", path);
	else
		rc = read_all(fd, (size_t)st.st_size, b, path, err);
	if (rc < 0)
		b->len = before;
	close(fd);
	return rc;
}

/* A fresh file in the target's own folder, so that the rename cannot cross file systems. */
static int open_beside(const char *path, char **tmp, mode_t mode, struct rn_err *err)
{
	size_t n = strlen(path) + 8;
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	*tmp = malloc(n);
	if (!*tmp)
		return rn_err_nomem(err);
	snprintf(*tmp, n, "%s.XXXXXX", path);
	fd = mkostemp(*tmp, O_CLOEXEC);
	if (fd < 0) {
		int rc = rn_err_sys(err, "create a file beside %s", path);

		free(*tmp);
		*tmp = NULL;
		return rc;
	}
	fchmod(fd, mode ? mode & 07777 : 0666 & ~mask);
	return fd;
}

int rn_io_replace(const char *path, const void *bytes, size_t len, struct rn_err *err)
{
	struct stat st;
	mode_t mode = 0;
	char *tmp;
	int fd, rc = RN_OK;

	if (lstat(path, &st) == 0) {
		if (!S_ISREG(st.st_mode))
			return rn_err_set(err, RN_E_ARG, "%s: not a regular file, not replaced",
					  path);
		mode = st.st_mode;
	}
	fd = open_beside(path, &tmp, mode, err);
	if (fd < 0)
		return fd;
	if (rn_io_write_all(fd, bytes, len) < 0 || fsync(fd) < 0)
		rc = rn_err_sys(err, "write %s", tmp);
	if (close(fd) < 0 && !rc)
		rc = rn_err_sys(err, "close %s", tmp);
	if (!rc && rename(tmp, path) < 0)
		rc = rn_err_sys(err, "rename %s to %s", tmp, path);
	if (rc)
		unlink(tmp);
	free(tmp);
	return rc;
}
