/*
 * remote_preload.c - Preloaded: a directory that seems to be on another machine, and a clock that
 * runs fast. statfs reports that $REMOTE_FOLDER is on NFS. The coarse clock, which times the
 * tracer's copies of its journal, runs 1000 times as fast. With REMOTE_FULL there is no space for
 * journals in /dev/shm.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#define NFS 0x6969

int statfs(const char *path, struct statfs *out)
{
	int (*next)(const char *, struct statfs *) = dlsym(RTLD_NEXT, "statfs");
	const char *folder = getenv("REMOTE_FOLDER");
	int rc = next(path, out);

	if (rc == 0 && folder && strncmp(path, folder, strlen(folder)) == 0)
		out->f_type = NFS;
	return rc;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
	static int (*next)(clockid_t, struct timespec *);
	int rc;

	if (!next)
		next = dlsym(RTLD_NEXT, "clock_gettime");
	rc = next(clock == CLOCK_MONOTONIC_COARSE ? CLOCK_MONOTONIC : clock, out);
	if (rc == 0 && clock == CLOCK_MONOTONIC_COARSE) {
		out->tv_sec = out->tv_sec * 1000 + out->tv_nsec / 1000000;
		out->tv_nsec = out->tv_nsec % 1000000 * 1000;
	}
	return rc;
}

static int is_part(int fd)
{
	char link[64], path[4096] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return readlink(link, path, sizeof(path) - 1) > 0 && strncmp(path, "/dev/shm/", 9) == 0 &&
	       strstr(path, ".part/");
}

int posix_fallocate(int fd, off_t at, off_t len)
{
	int (*next)(int, off_t, off_t) = dlsym(RTLD_NEXT, "posix_fallocate");

	return getenv("REMOTE_FULL") && is_part(fd) ? ENOSPC : next(fd, at, len);
}
