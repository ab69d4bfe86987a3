/* place_trace.c - see place_trace.h. */
#include "recover/place_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mpi_detect.h"
#include "base/private_dir.h"
#include "file/trace_name.h"
#include "model/metadata.h"
#include "read/trace.h"

#define NAME "trace"

static int open_directory(const char *path)
{
	int dir = rn_private_dir_open(path);

	/* The file system does not store owner and mode. */
	if (dir < 0 && errno == EPERM)
		dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return dir;
}

int rn_place_begin(struct rn_trace_placing *p, const char *path, struct rn_err *err)
{
	int n = (int)(rn_base_name(path) - path);

	p->dir = -1;
	if (snprintf(p->dir_path, PATH_MAX, "%.*s.rondo-tmp.XXXXXX", n, path) >= PATH_MAX)
		return rn_err_set(err, RN_E_ARG, "%s: %s", path, strerror(ENAMETOOLONG));
	if (!mkdtemp(p->dir_path))
		return rn_err_sys(err, "create a directory beside %s", path);
	p->dir = open_directory(p->dir_path);
	if (p->dir < 0) {
		rn_err_sys(err, "open %s", p->dir_path);
		rmdir(p->dir_path);
		return RN_E_SYS;
	}
	snprintf(p->file, sizeof(p->file), "/proc/self/fd/%d/" NAME, p->dir);
	return RN_OK;
}

void rn_place_end(struct rn_trace_placing *p)
{
	if (p->dir < 0)
		return;
	unlinkat(p->dir, NAME, 0);
	close(p->dir);
	rmdir(p->dir_path);
	p->dir = -1;
}

static bool is_complete(const char *path)
{
	struct rn_trace t;
	const char *value;
	bool complete;

	if (rn_trace_open(&t, path, NULL) < 0)
		return false;
	value = rn_meta_value(&t.meta, RN_META_COMPLETE);
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

/* EEXIST if the new name exists. 0 or an errno value. */
static int rename_new(const struct rn_trace_placing *p, const char *to)
{
	return rn_io_rename_new(p->dir, NAME, to) < 0 ? errno : 0;
}

/* Sets the mode of the trace to that of the file that it replaces. */
static int copy_mode(const struct rn_trace_placing *p, const struct stat *old)
{
	int fd = rn_private_file_open(p->dir, NAME, O_RDONLY), error = 0;

	if (fd < 0 || fchmod(fd, old->st_mode & 0777) < 0)
		error = errno;
	if (fd >= 0)
		close(fd);
	return error;
}

/* Replaces a regular file. 0 or an errno value. */
static int replace(const struct rn_trace_placing *p, const char *to)
{
	struct stat st;
	int error = 0;

	if (lstat(to, &st) < 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return EPERM;
	if (st.st_uid == geteuid())
		error = copy_mode(p, &st);
	if (error == 0 && renameat(p->dir, NAME, AT_FDCWD, to) < 0)
		error = errno;
	return error;
}

static int place(const struct rn_trace_placing *p, const char *to, const struct timespec *since,
		 bool complete)
{
	return may_replace(to, since, complete) ? replace(p, to) : rename_new(p, to);
}

int rn_place_trace(const struct rn_trace_placing *p, char path[PATH_MAX], enum rn_place_how how,
		   const struct timespec *since, bool complete, struct rn_err *err)
{
	char to[PATH_MAX];
	int error = EEXIST;

	if (how == PLACE_EXACTLY) {
		snprintf(to, sizeof(to), "%s", path);
		error = replace(p, path);
		if (error == ENOENT)
			error = rename_new(p, path);
	}
	for (unsigned n = 1; error == EEXIST && n < RN_TRACE_NUMBERS; n++)
		error = rn_trace_name_number(path, n, to, sizeof(to))
				? place(p, to, since, complete)
				: ENAMETOOLONG;
	if (error) {
		errno = error;
		return rn_err_sys(err, "rename a file to %s", path);
	}
	rn_io_sync_directory(to);
	memcpy(path, to, sizeof(to));
	return RN_OK;
}
