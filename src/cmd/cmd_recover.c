/*
 * cmd_recover.c - `rondo recover DIR.part [-o FILE]`: a trace from what each rank left.
 *
 * When ranks cannot be merged at the end of a run, each leaves its part in a folder beside the
 * trace's name. This merges them without MPI (file/recover.h). Every file is read twice: once for
 * what it says of itself, because the number of threads decides where streams go, and once to be
 * taken in. A part that cannot be read is reported and counts as missing. The folder is removed
 * when everything in it is in the trace, and kept otherwise.
 *
 * Exit status 0: every part that is there is in the trace, though ranks may be missing. 3: one
 * could not be read, or there is none. 70: no memory, or the trace could not be written.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "cmd/cmd.h"
#include "file/recover.h"

static const char *output;

static const struct opt opts[] = {
	{ "-o", "FILE", "the trace; without it, DIR less its .part", OPT_TEXT, &output, NULL },
};

static const struct usage usage = {
	"recover",
	"DIR.part [-o FILE]",
	"Merges the parts that the ranks of a run have left into one trace.",
	"rondo recover demo.rondo.part",
	opts,
	sizeof(opts) / sizeof(*opts),
};

struct file {
	uint64_t rank;
	char *path;
	bool good;
};

struct folder {
	const char *path;
	struct file *file; /* by rank */
	size_t n, cap;
	uint64_t ranks, threads; /* of the run, from the files */
	size_t bad;
};

static int no_memory(void)
{
	return fail(EXIT_SELF, "out of memory");
}

static void free_folder(struct folder *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->file[i].path);
	free(d->file);
}

/* rank-NUMBER.part */
static bool part_name(const char *name, uint64_t *rank)
{
	char *end;

	if (strncmp(name, "rank-", 5) || name[5] < '0' || name[5] > '9')
		return false;
	errno = 0;
	*rank = strtoull(name + 5, &end, 10);
	return strcmp(end, RN_PART_FOLDER) == 0 && errno == 0;
}

static bool add_file(struct folder *d, const char *name, uint64_t rank)
{
	size_t len = strlen(d->path) + strlen(name) + 2;
	char *path = malloc(len);

	if (d->n == d->cap) {
		size_t cap = d->cap ? 2 * d->cap : 64;
		struct file *file = realloc(d->file, cap * sizeof(*file));

		if (file) {
			d->file = file;
			d->cap = cap;
		}
	}
	if (!path || d->n == d->cap) {
		free(path);
		return false;
	}
	snprintf(path, len, "%s/%s", d->path, name);
	d->file[d->n++] = (struct file){ rank, path, false };
	return true;
}

static int by_rank(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(x->path, y->path);
}

static int list_files(struct folder *d)
{
	DIR *dir = opendir(d->path);
	struct dirent *e;
	uint64_t rank;
	bool ok = true;

	if (!dir)
		return fail(EXIT_INPUT, "%s: %s", d->path, strerror(errno));
	while (ok && (e = readdir(dir)) != NULL)
		if (part_name(e->d_name, &rank))
			ok = add_file(d, e->d_name, rank);
	closedir(dir);
	if (!ok)
		return no_memory();
	if (d->n == 0)
		return fail(EXIT_INPUT, "%s: there are no parts in it", d->path);
	qsort(d->file, d->n, sizeof(*d->file), by_rank);
	return EXIT_DONE;
}

/* A file that cannot be used: said, and left out. Only without memory is it the end. */
static int leave_out(struct folder *d, struct file *f, struct rn_err *err)
{
	if (err->code == RN_E_NOMEM)
		return no_memory();
	f->good = false;
	d->bad++;
	fail(EXIT_INPUT, "%s", err->text);
	return EXIT_DONE;
}

/* Reads a file and hands it on; what is wrong is said with its name. */
static int with_file(const char *path,
		     int (*use)(void *arg, const struct rn_buf *b, struct rn_err *), void *arg,
		     struct rn_err *err)
{
	struct rn_buf b = { 0 };
	int rc = rn_io_read(path, &b, err);

	if (rc == RN_OK) {
		rc = use(arg, &b, err);
		if (rc < 0)
			rn_err_prefix(err, "%s", path);
	}
	rn_buf_free(&b);
	return rc;
}

static int peek(void *arg, const struct rn_buf *b, struct rn_err *err)
{
	return rn_part_peek(b->data, b->len, arg, err);
}

/* Whether what a file says fits its name and the others. */
static int check_facts(struct folder *d, const struct file *f, const struct rn_part_facts *facts,
		       struct rn_err *err)
{
	if (facts->rank != f->rank)
		return rn_err_set(err, RN_E_DATA, "%s: is the part of rank %" PRIu64, f->path,
				  facts->rank);
	if (d->ranks && facts->ranks != d->ranks)
		return rn_err_set(err, RN_E_DATA, "%s: is of another run (%" PRIu64 " ranks)",
				  f->path, facts->ranks);
	if (facts->threads > RN_RECOVER_STREAMS / facts->ranks)
		return rn_err_set(err, RN_E_DATA, "%s: %" PRIu64 " threads", f->path,
				  facts->threads);
	d->ranks = facts->ranks;
	d->threads = facts->threads > d->threads ? facts->threads : d->threads;
	return RN_OK;
}

static int peek_files(struct folder *d)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < d->n && code == EXIT_DONE; i++) {
		struct file *f = &d->file[i];
		struct rn_part_facts facts;
		struct rn_err err = { 0 };
		int rc = with_file(f->path, peek, &facts, &err);

		if (rc == RN_OK)
			rc = check_facts(d, f, &facts, &err);
		f->good = rc == RN_OK;
		if (rc < 0)
			code = leave_out(d, f, &err);
	}
	return code;
}

static int take(void *arg, const struct rn_buf *b, struct rn_err *err)
{
	return rn_whole_add(arg, b->data, b->len, err);
}

static int take_files(struct folder *d, struct rn_whole *w)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < d->n && code == EXIT_DONE; i++) {
		struct rn_err err = { 0 };

		if (d->file[i].good && with_file(d->file[i].path, take, w, &err) < 0)
			code = leave_out(d, &d->file[i], &err);
	}
	return code;
}

/* Everything that was in it is in the trace. */
static bool remove_folder(const struct folder *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (unlink(d->file[i].path) < 0)
			return false;
	return rmdir(d->path) == 0;
}

static void report(const struct folder *d, struct rn_whole *w, const char *path)
{
	const char *missing = rn_rank_text(&w->missing);
	const char *incomplete = rn_rank_text(&w->incomplete);
	struct stat st;

	if (stat(path, &st) < 0)
		st.st_size = 0;
	printf("%s: %" PRIu64 " of %" PRIu64 " ranks, %" PRIu64 " calls, %lld bytes", path,
	       w->ranks - w->missing.n, w->ranks, w->calls, (long long)st.st_size);
	if (w->missing.n)
		printf("; missing: %s", missing ? missing : "?");
	if (w->incomplete.n > w->missing.n)
		printf("; not complete: %s", incomplete ? incomplete : "?");
	if (d->bad || w->missing.n || !remove_folder(d))
		printf("; %s is kept", d->path);
	putchar('\n');
}

static int write_whole(const struct folder *d, struct rn_whole *w, const char *path)
{
	struct rn_err err = { 0 };
	struct rn_streams s;
	int rc = rn_whole_finish(w, &s, &err);

	if (rc == RN_E_ARG)
		return fail(EXIT_INPUT, "%s: no part in it can be read", d->path);
	if (rc == RN_OK)
		rc = rn_whole_write(w, &s, path, &err);
	if (rc < 0)
		return fail(EXIT_SELF, "%s", err.text);
	report(d, w, path);
	return d->bad ? EXIT_INPUT : EXIT_DONE;
}

static int recover(struct folder *d, const char *path)
{
	struct rn_whole w;
	int code = list_files(d);

	if (code == EXIT_DONE)
		code = peek_files(d);
	if (code)
		return code;
	rn_whole_init(&w, d->ranks, d->threads);
	code = take_files(d, &w);
	if (code == EXIT_DONE)
		code = write_whole(d, &w, path);
	rn_whole_free(&w);
	return code;
}

/* The folder's name without its .part, in place; false when there is none. */
static bool cut_suffix(char *path)
{
	size_t n = strlen(path), m = strlen(RN_PART_FOLDER);

	if (n <= m || strcmp(path + n - m, RN_PART_FOLDER) || path[n - m - 1] == '/')
		return false;
	path[n - m] = 0;
	return true;
}

int cmd_recover(int argc, char **argv)
{
	struct folder d = { 0 };
	const char *arg;
	char *path, *trace;
	int code = parse_args(&usage, argc, argv, &arg);

	if (code || !arg)
		return code;
	path = strdup(arg);
	for (size_t n = path ? strlen(path) : 0; n > 1 && path[n - 1] == '/';)
		path[--n] = 0;
	trace = path ? strdup(path) : NULL;
	d.path = path;
	if (!trace)
		code = no_memory();
	else if (!output && !cut_suffix(trace))
		code = fail(EXIT_USAGE, "recover: %s does not end in %s; where to? (-o FILE)", path,
			    RN_PART_FOLDER);
	else
		code = recover(&d, output ? output : trace);
	free_folder(&d);
	if (code == EXIT_DONE) {
		code = finish_output();
		hint("rondo info", output ? output : trace, "");
	}
	free(path);
	free(trace);
	return code;
}
