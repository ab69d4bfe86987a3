/* run_dir.c - see run_dir.h. */
#include "launch/run_dir.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/private_dir.h"
#include "base/status_file.h"

int run_dir_open(struct run_dir *d)
{
	int error;

	snprintf(d->path, sizeof(d->path), "%s/" RN_STATUS_NAME, d->folder);
	d->dir = rn_private_dir_open(d->folder);
	d->status = d->dir >= 0 ? rn_status_create(d->dir) : -1;
	if (d->status >= 0)
		return 0;
	error = errno;
	run_dir_remove(d);
	return error;
}

static int make_in(struct run_dir *d, const char *place)
{
	int n;

	if (!place || *place != '/')
		return ENOENT;
	n = snprintf(d->folder, sizeof(d->folder), "%s/.rondo-run.XXXXXX", place);
	if ((size_t)n + strlen("/" RN_STATUS_NAME) >= PATH_MAX)
		return ENAMETOOLONG;
	if (!mkdtemp(d->folder))
		return errno;
	n = run_dir_open(d);
	if (n)
		rmdir(d->folder);
	return n;
}

/* Whether creating the directory may succeed on another file system. */
static bool may_try(int error)
{
	return error == EPERM || error == ENOSPC || error == EDQUOT;
}

int run_dir_make(struct run_dir *d, const char *beside)
{
	const char *const others[] = { getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp" };
	int error;

	*d = (struct run_dir){ .dir = -1, .status = -1 };
	error = make_in(d, beside);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others) && may_try(error); i++)
		if (make_in(d, others[i]) == 0)
			error = 0;
	return error;
}

void run_dir_remove(struct run_dir *d)
{
	if (d->status >= 0)
		close(d->status);
	if (d->dir >= 0) {
		unlinkat(d->dir, RN_STATUS_NAME, 0);
		rn_private_dir_remove(d->folder);
		close(d->dir);
	}
	d->dir = d->status = -1;
}
