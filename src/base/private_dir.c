/* private_dir.c - see private_dir.h. */
#include "base/private_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Closes the descriptor and returns -1 with errno set to `error`. */
static int refuse(int fd, int error)
{
	close(fd);
	errno = error;
	return -1;
}

/* If the directory inherited an ACL from its parent, the group bits are the ACL's mask. */
static bool is_private(const struct stat *st)
{
	return S_ISDIR(st->st_mode) && st->st_uid == geteuid() && (st->st_mode & 077) == 0;
}

int rn_private_dir_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return refuse(fd, errno);
	return is_private(&st) ? fd : refuse(fd, EPERM);
}

int rn_private_dir_make(const char *path)
{
	bool made = mkdir(path, 0700) == 0;
	int fd;

	if (!made && errno != EEXIST)
		return -1;
	fd = rn_private_dir_open(path);
	if (fd >= 0 && made)
		fchmod(fd, 0700); /* without the setgid bit of the parent directory */
	if (fd < 0 && made && errno == EPERM) {
		rmdir(path);
		errno = ENOTSUP;
	}
	return fd;
}

bool rn_private_dir_is_ours(int dir)
{
	struct stat st;

	return fstat(dir, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 022) == 0;
}

bool rn_private_dir_exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && is_private(&st);
}

/* There is no rmdir(2) for a descriptor. rmdir removes only empty directories. */
void rn_private_dir_remove(const char *path)
{
	if (rn_private_dir_exists(path))
		rmdir(path);
}

int rn_private_file_open(int dir, const char *name, int flags)
{
	int fd = openat(dir, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return refuse(fd, errno);
	return S_ISREG(st.st_mode) && st.st_uid == geteuid() ? fd : refuse(fd, EPERM);
}

/* Sets the mode again, because a default ACL of the directory overrides the mode of openat. */
int rn_private_file_create(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd >= 0 && fchmod(fd, 0600) < 0)
		return refuse(fd, errno);
	return fd;
}
