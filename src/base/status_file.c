/* status_file.c - see status_file.h. */
#include "base/status_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/private_dir.h"

#define PROC "/proc/"

/* Only memory files have seals. */
#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK)

static const char *skip_digits(const char *s)
{
	while (*s >= '0' && *s <= '9')
		s++;
	return s;
}

/* Accepts /proc/PID/fd/N. */
bool rn_status_is_watched(const char *path)
{
	const char *pid = path + strlen(PROC), *end;

	if (strncmp(path, PROC, strlen(PROC)) != 0)
		return false;
	end = skip_digits(pid);
	if (end == pid || strncmp(end, "/fd/", 4) != 0)
		return false;
	return end[4] && !*skip_digits(end + 4);
}

/* Stores the directory of a status file. False: the path does not name a status file. */
static bool directory_of(const char *path, char dir[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) : 0;

	if (*path != '/' || n == 0 || n >= PATH_MAX || strcmp(slash + 1, RN_STATUS_NAME) != 0)
		return false;
	memcpy(dir, path, n);
	dir[n] = 0;
	return true;
}

static int open_directory(const char *path)
{
	char dir[PATH_MAX];

	errno = EINVAL;
	return directory_of(path, dir) ? rn_private_dir_open(dir) : -1;
}

static bool has_header(int fd)
{
	char head[sizeof(RN_STATUS_HEADER) - 1];

	return pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	       memcmp(head, RN_STATUS_HEADER, sizeof(head)) == 0;
}

static bool is_status(int fd, bool memory)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return false;
	if (memory ? st.st_nlink != 0 || fcntl(fd, F_GET_SEALS) != SEALS : st.st_nlink != 1)
		return false;
	return has_header(fd);
}

static int open_in(int dir)
{
	int fd = dir >= 0 ? rn_private_file_open(dir, RN_STATUS_NAME, O_RDWR | O_APPEND) : -1;

	if (fd >= 0 && !is_status(fd, false)) {
		close(fd);
		errno = EPERM;
		fd = -1;
	}
	return fd;
}

static int open_memory(const char *path)
{
	int fd = open(path, O_RDWR | O_APPEND | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && !is_status(fd, true)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int rn_status_open(const char *path)
{
	int dir, fd;

	if (rn_status_is_watched(path))
		return open_memory(path);
	dir = open_directory(path);
	fd = open_in(dir);
	if (dir >= 0)
		close(dir);
	return fd;
}

/* Whether an error of open means that the file or directory does not exist or is not private to
 * this user. */
static bool is_refused(int error)
{
	return error == EPERM || error == EACCES || error == ENOENT || error == ENOTDIR ||
	       error == ELOOP || error == EINVAL;
}

/* Removes the file by its path, for a program that has no descriptor left. */
static void remove_by_path(const char *path)
{
	char dir[PATH_MAX];
	struct stat st;

	if (directory_of(path, dir) && rn_private_dir_exists(dir) && lstat(path, &st) == 0 &&
	    S_ISREG(st.st_mode) && st.st_uid == geteuid())
		unlink(path);
}

void rn_status_remove(const char *path)
{
	int dir = open_directory(path), fd = open_in(dir);

	if (fd >= 0) {
		unlinkat(dir, RN_STATUS_NAME, 0);
		close(fd);
	} else if (!is_refused(errno)) {
		remove_by_path(path);
	}
	if (dir >= 0)
		close(dir);
}

#define SINCE "since "

/* "since SECONDS NANOSECONDS", after the header */
bool rn_status_read_since(int fd, struct timespec *since)
{
	char line[64], *end;
	ssize_t n = pread(fd, line, sizeof(line) - 1, (off_t)strlen(RN_STATUS_HEADER));

	if (n <= 0)
		return false;
	line[n] = 0;
	if (strncmp(line, SINCE, strlen(SINCE)) != 0)
		return false;
	since->tv_sec = (time_t)strtoll(line + strlen(SINCE), &end, 10);
	since->tv_nsec = strtol(end, &end, 10);
	return *end == '\n';
}

bool rn_status_since(const char *path, struct timespec *since)
{
	int fd = rn_status_open(path);
	bool known = fd >= 0 && rn_status_read_since(fd, since);

	if (fd >= 0)
		close(fd);
	return known;
}

/* Appends the text. Returns the descriptor, or closes it and returns -1 with errno. */
static int write_text(int fd, const char *text, size_t n)
{
	if (fd < 0 || write(fd, text, n) == (ssize_t)n)
		return fd;
	if (errno == 0)
		errno = ENOSPC;
	close(fd);
	return -1;
}

static int write_header(int fd)
{
	return write_text(fd, RN_STATUS_HEADER, strlen(RN_STATUS_HEADER));
}

/* Creating the file is the last change of the directory, so the directory's time of modification is
 * the time of creation. */
int rn_status_create(int dir)
{
	int fd = write_header(rn_private_file_create(dir, RN_STATUS_NAME)), n;
	char line[64];
	struct stat st;

	if (fd < 0 || fstat(dir, &st) < 0)
		return fd;
	n = snprintf(line, sizeof(line), SINCE "%lld %ld\n", (long long)st.st_mtim.tv_sec,
		     st.st_mtim.tv_nsec);
	return write_text(fd, line, (size_t)n);
}

int rn_status_create_memory(void)
{
	int fd = write_header(memfd_create("rondo-status", MFD_CLOEXEC | MFD_ALLOW_SEALING));

	if (fd >= 0 && fcntl(fd, F_ADD_SEALS, SEALS) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}
