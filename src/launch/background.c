/* background.c - see background.h. */
#include "launch/background.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"

/* Whether a list of terminated strings contains `entry`. */
static bool has_entry(const struct rn_buf *list, const char *entry)
{
	size_t n = strlen(entry) + 1;
	const unsigned char *at = list->data, *end = at + list->len, *next;

	for (; at < end && (next = memchr(at, 0, (size_t)(end - at))); at = next + 1)
		if ((size_t)(next + 1 - at) == n && memcmp(at, entry, n) == 0)
			return true;
	return false;
}

static bool was_started_with(const char *pid, const char *entry)
{
	struct rn_buf list = { 0 };
	char path[64];
	bool found;

	snprintf(path, sizeof(path), "/proc/%.20s/environ", pid);
	found = rn_io_read(path, &list, NULL) == RN_OK && list.len && has_entry(&list, entry);
	rn_buf_free(&list);
	return found;
}

static pid_t find(const char *entry)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	pid_t pid = 0;

	while (dir && !pid && (e = readdir(dir)) != NULL)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' &&
		    was_started_with(e->d_name, entry))
			pid = (pid_t)atoi(e->d_name);
	if (dir)
		closedir(dir);
	return pid;
}

pid_t background_process(const char *entry)
{
	static const struct timespec moment = { 0, 20000000 };
	pid_t pid = find(entry);

	for (int tries = 0; tries < 25 && pid; tries++) {
		nanosleep(&moment, NULL);
		pid = find(entry);
	}
	return pid;
}
