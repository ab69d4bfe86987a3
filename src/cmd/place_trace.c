/* place_trace.c - see place_trace.h. */
#include "cmd/place_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/which_mpi.h"
#include "file/trace_name.h"
#include "file/writer.h"
#include "read/trace.h"

int place_temporary(const char *path, char temporary[PATH_MAX], struct rn_err *err)
{
	int n = (int)(rn_base_name(path) - path), fd;

	if (snprintf(temporary, PATH_MAX, "%.*s.rondo-XXXXXX.tmp", n, path) >= PATH_MAX)
		return rn_err_set(err, RN_E_ARG, "%s: %s", path, strerror(ENAMETOOLONG));
	fd = mkostemps(temporary, 4, O_CLOEXEC);
	if (fd < 0)
		return rn_err_sys(err, "create a file beside %s", path);
	close(fd);
	unlink(temporary);
	return RN_OK;
}

static bool is_complete(const char *path)
{
	struct rn_trace t;
	const char *value;
	bool complete;

	if (rn_trace_open(&t, path, NULL) < 0)
		return false;
	value = rn_meta_get(&t.meta, "complete");
	complete = value && strcmp(value, "yes") == 0;
	rn_trace_close(&t);
	return complete;
}

static bool may_replace(const char *path, const struct timespec *since, bool complete)
{
	struct stat st;

	return since && lstat(path, &st) == 0 && rn_trace_is_free(path, since) &&
	       (complete || !is_complete(path));
}

/* Renames the file if no file is replaced. 0 or an errno value. */
static int rename_new(const char *from, const char *to)
{
	struct stat st;

	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	if (lstat(to, &st) == 0) /* the file system does not support the flag */
		return EEXIST;
	return rename(from, to) == 0 ? 0 : errno;
}

/* Replaces a regular file, and preserves its mode. 0 or an errno value. */
static int replace(const char *from, const char *to)
{
	struct stat st;

	if (lstat(to, &st) < 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return EPERM;
	return chmod(from, st.st_mode & 0777) == 0 && rename(from, to) == 0 ? 0 : errno;
}

static int place(const char *temporary, const char *to, const struct timespec *since, bool complete)
{
	return may_replace(to, since, complete) ? replace(temporary, to)
						: rename_new(temporary, to);
}

int place_trace(const char *temporary, char path[PATH_MAX], enum place_how how,
		const struct timespec *since, bool complete, struct rn_err *err)
{
	char to[PATH_MAX];
	int error = EEXIST;

	if (how == PLACE_EXACTLY) {
		snprintf(to, sizeof(to), "%s", path);
		error = replace(temporary, path);
		if (error == ENOENT)
			error = rename_new(temporary, path);
	}
	for (unsigned n = 1; error == EEXIST && n < RN_TRACE_NUMBERS; n++)
		error = rn_trace_name_number(path, n, to, sizeof(to))
				? place(temporary, to, since, complete)
				: ENAMETOOLONG;
	if (error) {
		unlink(temporary);
		errno = error;
		return rn_err_sys(err, "rename a file to %s", path);
	}
	memcpy(path, to, sizeof(to));
	return RN_OK;
}
