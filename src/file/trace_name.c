/* trace_name.c - see trace_name.h. */
#include "file/trace_name.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bounded_text.h"
#include "base/err.h"
#include "base/io.h"
#include "base/mpi_detect.h"
#include "file/container.h"

#define LETTERS "pjhn%"
#define RONDO   ".rondo"

const char *rn_trace_name_error(const char *pattern)
{
	const char *p = rn_base_name(pattern);

	for (; (p = strchr(p, '%')); p += 2)
		if (!p[1] || !strchr(LETTERS, p[1]))
			return p;
	return NULL;
}

bool rn_trace_name_has(const char *pattern, char letter)
{
	const char *p = rn_base_name(pattern);

	for (; (p = strchr(p, '%')) && p[1]; p += 2)
		if (p[1] == letter)
			return true;
	return false;
}

/* ---- values ---- */

/* Returns the id of the batch job or of the launcher's job; "nojob" if it is unknown. */
static const char *job(void)
{
	static const char *const names[] = { "SLURM_JOB_ID", "PBS_JOBID",      "LSB_JOBID",
					     "FLUX_JOB_ID",  "COBALT_JOBID",   "JOB_ID",
					     "PMI_JOBID",    "PMIX_NAMESPACE", NULL };

	for (const char *const *name = names; *name; name++) {
		const char *value = getenv(*name);

		if (value && *value)
			return value;
	}
	return "nojob";
}

/* Adds a value. Slashes become underscores, because the name is one component of a path. */
static void add_value(struct rn_bounded_text *t, const char *s)
{
	for (; *s; s++)
		rn_bounded_add(t, *s == '/' ? "_" : s, 1);
}

static void add_number(struct rn_bounded_text *t, unsigned number)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%u", number);
	add_value(t, digits);
}

/* Adds the value of the sequence %letter. An unknown sequence is added unchanged. */
static void add_sequence(struct rn_bounded_text *t, char letter, const char *program,
			 unsigned number)
{
	char host[256] = "";

	switch (letter) {
	case 'p':
		add_value(t, program);
		break;
	case 'j':
		add_value(t, job());
		break;
	case 'h':
		gethostname(host, sizeof(host) - 1);
		add_value(t, host);
		break;
	case 'n':
		add_number(t, number);
		break;
	default:
		rn_bounded_add(t, "%", 1);
		if (letter != '%')
			rn_bounded_add(t, &letter, 1);
	}
}

bool rn_trace_name_number(const char *name, unsigned number, char *out, size_t cap)
{
	struct rn_bounded_text t = { out, 0, cap, false };
	size_t n = strlen(name), m = strlen(RONDO);
	bool has_end = n > m && strcmp(name + n - m, RONDO) == 0;

	rn_bounded_add(&t, name, has_end ? n - m : n);
	if (number > 1) {
		rn_bounded_add(&t, ".", 1);
		add_number(&t, number);
	}
	rn_bounded_add(&t, RONDO, has_end ? m : 0);
	return !t.full;
}

bool rn_trace_name(const char *pattern, const char *program, unsigned number, char *out, size_t cap)
{
	char name[4096];
	struct rn_bounded_text t = { name, 0, sizeof(name), false };
	const char *p = rn_base_name(pattern);

	rn_bounded_add(&t, pattern, (size_t)(p - pattern));
	for (; *p; p++) {
		if (*p == '%' && p[1])
			add_sequence(&t, *++p, program, number);
		else
			rn_bounded_add(&t, p, 1);
	}
	if (t.full)
		return false;
	return rn_trace_name_number(name, rn_trace_name_has(pattern, 'n') ? 1 : number, out, cap);
}

/* ---- files ---- */

static struct rn_trace_seen seen_of(const struct stat *st)
{
	return (struct rn_trace_seen){ true, st->st_dev, st->st_ino, st->st_ctim };
}

/* A file that cannot be examined counts as existing. */
struct rn_trace_seen rn_trace_see(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0)
		return seen_of(&st);
	return (struct rn_trace_seen){ .exists = errno != ENOENT };
}

static bool is_later(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

bool rn_trace_is_same(const char *path, const struct rn_trace_seen *seen)
{
	struct rn_trace_seen now = rn_trace_see(path);

	if (!now.exists || !seen->exists)
		return now.exists == seen->exists;
	return now.dev == seen->dev && now.ino == seen->ino &&
	       !is_later(now.changed, seen->changed);
}

int rn_trace_probe(const char *path, struct rn_err *err)
{
	unsigned char head[RN_CONTAINER_HEAD];
	uint64_t size;
	int fd = rn_io_open(path, &size, err), rc;
	ssize_t n;

	if (fd < 0)
		return fd;
	n = pread(fd, head, sizeof(head), 0);
	rc = n < 0 ? rn_err_sys(err, "read %s", path) : RN_OK;
	close(fd);
	return rc < 0 || size == 0 ? rc : rn_container_probe(head, (size_t)n, size, err);
}

bool rn_trace_is_free(const char *path, const struct timespec *since)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT;
	return S_ISREG(st.st_mode) && !(since && is_later(st.st_ctim, *since)) &&
	       rn_trace_probe(path, NULL) >= 0;
}
