/*
 * journal_set.c - see journal_set.h.
 */
#include "recover/journal_set.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/budget.h"
#include "base/err.h"
#include "base/io.h"
#include "base/notes.h"
#include "base/number_text.h"
#include "base/private_dir.h"
#include "journal/journal_copy.h"
#include "journal/journal_dir.h"
#include "journal/journal_file.h"
#include "read/trace.h"
#include "read/trace_check.h"
#include "recover/journal_read.h"
#include "recover/journal_repair.h"
#include "recover/map_guard.h"
#include "recover/place_trace.h"
#include "recover/recover.h"

struct file {
	char *path;       /* for messages */
	const char *name; /* last component of `path` */
	int dir;          /* descriptor of the directory; not owned */
	bool in_memory;   /* the journal directory may contain a copy with the same name */
	int fd;
	void *bytes; /* NULL: the file cannot be read */
	size_t len;
	uint64_t run, time;
	bool running;
};

struct folder {
	const char *path;
	uint64_t wanted; /* the only run; 0: any */
	/* The directory in memory that replaces it on this node; "": none. */
	char memory[PATH_MAX];
	int dir, memory_dir; /* descriptors, or -1 */
	struct file *file;
	size_t n;
	uint32_t cap;
	struct rn_arena mem; /* memory of `file` */
	uint64_t run;        /* the newest run */
	size_t bad, others, copies;
	bool running;
	bool look; /* the files are not repaired, and locks are not tested */
	struct rn_buf *notes;
};

static void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void free_folder(struct folder *d)
{
	close_if_open(d->dir);
	close_if_open(d->memory_dir);
	for (size_t i = 0; i < d->n; i++) {
		if (d->file[i].bytes)
			munmap(d->file[i].bytes, d->file[i].len);
		close_if_open(d->file[i].fd);
		free(d->file[i].path);
	}
	rn_arena_free(&d->mem);
}

/* ---- the files ---- */

/* RUN-HOST */
static bool is_part_name(const struct folder *d, const char *name)
{
	return rn_spill_is_name(name) && (!d->wanted || strtoull(name, NULL, 16) == d->wanted);
}

static char *join(const char *folder, const char *name)
{
	size_t len = strlen(folder) + strlen(name) + 2;
	char *path = malloc(len);

	if (path)
		snprintf(path, len, "%s/%s", folder, name);
	return path;
}

static bool add_file(struct folder *d, int dir, const char *name)
{
	bool in_memory = dir == d->memory_dir;
	struct file f = { .path = join(in_memory ? d->memory : d->path, name),
			  .dir = dir,
			  .in_memory = in_memory,
			  .fd = -1 };

	if (!f.path || !RN_GROW(&d->mem, d->file, d->n + 1, d->cap)) {
		free(f.path);
		return false;
	}
	f.name = strrchr(f.path, '/') + 1;
	d->file[d->n++] = f;
	return true;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct file *)a)->path, ((const struct file *)b)->path);
}

/* Whether a file in memory has this name. Files in memory are newer than their copies. They are
 * few, because they belong to this node. */
static bool is_listed(const struct folder *d, const char *name)
{
	for (size_t i = 0; i < d->n && d->file[i].in_memory; i++)
		if (strcmp(d->file[i].name, name) == 0)
			return true;
	return false;
}

static bool scan_one(struct folder *d, int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	struct dirent *e;
	bool ok = dir != NULL;

	while (ok && (e = readdir(dir)) != NULL)
		if (is_part_name(d, e->d_name) && !is_listed(d, e->d_name))
			ok = add_file(d, fd, e->d_name);
	if (dir)
		closedir(dir);
	else
		close_if_open(copy);
	return ok;
}

/* Opens the directories. A directory that the user named is only read if it is not private. */
static void open_directories(struct folder *d)
{
	rn_arena_init(&d->mem, SIZE_MAX);
	d->memory_dir = -1;
	if (rn_spill_memory_folder(d->path, d->memory, sizeof(d->memory)))
		d->memory_dir = rn_private_dir_open(d->memory);
	if (d->memory_dir < 0)
		d->memory[0] = 0;
	d->dir = open(d->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* False if out of memory, or with errno if the directory cannot be read. */
static bool scan(struct folder *d)
{
	int error;

	open_directories(d);
	error = errno;
	if (d->memory_dir >= 0 && !scan_one(d, d->memory_dir))
		return false;
	if (d->dir >= 0)
		return scan_one(d, d->dir);
	errno = error;
	return d->n && error == ENOENT;
}

static int list_files(struct folder *d, struct rn_err *err)
{
	if (!scan(d))
		return rn_err_set(err, RN_E_DATA, "%s", strerror(errno));
	if (d->n == 0)
		return rn_err_set(err, RN_E_DATA, "there are no parts in it");
	qsort(d->file, d->n, sizeof(*d->file), by_path);
	return RN_OK;
}

/* Replaces the mapping with a copy that is private to this process, because the program continues
 * to write to the file. */
static int copy_running(struct file *f, struct rn_err *err)
{
	void *copy = mmap(NULL, f->len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		return rn_err_nomem(err);
	if (!rn_salvage_copy(copy, f->bytes, f->len)) {
		munmap(copy, f->len);
		return rn_err_set(err, RN_E_DATA, "changes all the time");
	}
	munmap(f->bytes, f->len);
	f->bytes = copy;
	return RN_OK;
}

/* Maps a file. In a full file system in memory, an access to a hole of the file raises a signal.
 * Therefore only the data of the file is mapped, and the rest reads as 0. The mapping is private:
 * corrections of bytes do not change the file. */
static void *map_data(int fd, size_t len)
{
	const int flags = MAP_PRIVATE | MAP_NORESERVE, prot = PROT_READ | PROT_WRITE;
	unsigned char *p = mmap(NULL, len, prot, flags | MAP_ANONYMOUS, -1, 0);
	off_t from, to = 0;

	while (p != MAP_FAILED && to < (off_t)len && (from = lseek(fd, to, SEEK_DATA)) >= 0) {
		to = lseek(fd, from, SEEK_HOLE);
		from = from / RN_SPILL_PAGE * RN_SPILL_PAGE;
		if (to > (off_t)len)
			to = (off_t)len;
		if (to <= from)
			break;
		if (mmap(p + from, (size_t)(to - from), prot, flags | MAP_FIXED, fd, from) ==
		    MAP_FAILED) {
			munmap(p, len);
			p = MAP_FAILED;
		}
	}
	return p;
}

static int map_file(const struct folder *d, struct file *f, struct rn_err *err)
{
	uint64_t size;
	void *p;

	f->fd = rn_io_open_at(f->dir, f->name, &size, err);
	if (f->fd < 0)
		return err->code;
	if (size == 0)
		return rn_err_set(err, RN_E_DATA, "is empty");
	/* Inspection does not use locks. */
	f->running = !d->look && flock(f->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	/* A file that is still written to is mapped shared, so that later data is visible. */
	p = d->look || f->running ? mmap(NULL, size, PROT_READ, MAP_SHARED, f->fd, 0)
				  : map_data(f->fd, size);
	if (p == MAP_FAILED)
		return rn_err_sys(err, "cannot be mapped");
	f->bytes = p;
	f->len = size;
	return f->running ? copy_running(f, err) : RN_OK;
}

/* Opens a file. A file that cannot be read is noted; that is not an error. */
static int open_file(struct folder *d, struct file *f, struct rn_err *err)
{
	struct rn_err why = { 0 };
	int rc = map_file(d, f, &why);

	if (rc == RN_OK && !d->look)
		rn_journal_repair(f->bytes, f->len, strtoull(f->name, NULL, 16));
	if (rc == RN_OK)
		rc = rn_salvage_peek(f->bytes, f->len, &f->run, &f->time, &why);
	if (rc == RN_E_NOMEM)
		return rn_err_nomem(err);
	if (rc < 0) {
		d->bad++;
		if (f->bytes)
			munmap(f->bytes, f->len);
		f->bytes = NULL;
		if (f->fd >= 0)
			rn_note(d->notes, "%s: %s", f->path, why.text);
		else
			rn_note(d->notes, "%s", why.text);
	}
	return RN_OK;
}

/* Opens the files and finds the newest run. */
static int open_files(struct folder *d, struct rn_err *err)
{
	uint64_t newest = 0, bytes = 0;
	int rc = RN_OK;

	for (size_t i = 0; i < d->n && rc == RN_OK; i++) {
		struct file *f = &d->file[i];

		rc = open_file(d, f, err);
		bytes += f->len;
		if (f->bytes && f->time >= newest) {
			newest = f->time;
			d->run = f->run;
		}
	}
	for (size_t i = 0; i < d->n; i++) {
		const struct file *f = &d->file[i];

		d->others += f->bytes && f->run != d->run;
		d->copies += f->bytes && f->run == d->run && rn_salvage_is_copy(f->bytes);
		d->running |= f->bytes && f->run == d->run && f->running;
	}
	rn_budget_allow(bytes);
	return rc;
}

/* Removes a file, unless other users can change its directory. */
static bool remove_file(const struct folder *d, const struct file *f)
{
	if (!rn_private_dir_is_ours(f->dir))
		return false;
	if (f->in_memory && d->dir >= 0 && rn_private_dir_is_ours(d->dir))
		unlinkat(d->dir, f->name, 0);
	return unlinkat(f->dir, f->name, 0) == 0;
}

static bool remove_folder(const struct folder *d)
{
	if (d->memory[0])
		rn_private_dir_remove(d->memory);
	if (d->dir < 0)
		return true;
	return rn_private_dir_is_ours(d->dir) && (rmdir(d->path) == 0 || errno == ENOENT);
}

/* Removes the files of the run, whose data the trace contains. */
static bool remove_files(const struct folder *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->file[i].bytes && d->file[i].run == d->run && !remove_file(d, &d->file[i]))
			return false;
	return remove_folder(d);
}

/* ---- the trace ---- */

static void report(const struct folder *d, struct rn_journal_set_trace *t, struct rn_recovered *r)
{
	const char *missing = rn_rank_text(&r->missing);
	const char *incomplete = rn_rank_text(&r->incomplete);
	const char *noun = r->events ? "event" : "call";
	uint64_t n = r->events ? r->events : r->calls;
	struct rn_buf *out = &t->line;
	/* If only a copy is present, its node may have more data. */
	bool keep = d->bad || d->running || r->damaged || r->missing.n ||
		    (d->copies && r->incomplete.n);

	rn_putf(out, "%s: %" PRIu64 " of %" PRIu64 " rank%s, %" PRIu64 " %s%s, %" PRIu64 " bytes",
		t->path, r->ranks - r->missing.n, r->ranks, rn_plural(r->ranks), n, noun,
		rn_plural(n), r->bytes);
	if (r->missing.n)
		rn_putf(out, "; missing: %s", missing ? missing : "?");
	if (r->incomplete.n > r->missing.n)
		rn_putf(out, "; not complete: %s", incomplete ? incomplete : "?");
	if (r->lost)
		rn_putf(out, "; %" PRIu64 " %s%s lost", r->lost, noun, rn_plural(r->lost));
	if (d->running)
		rn_putf(out, "; the program is still running");
	if (d->others)
		rn_putf(out, "; the directory also contains part files of another run");
	if (keep || !remove_files(d))
		rn_putf(out, "; %s is kept", d->path);
	rn_buf_byte(out, 0);
}

/* Returns RN_E_DATA if a file became shorter while it was read. */
static int check_lengths(const struct folder *d, struct rn_err *err)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->file[i].bytes && rn_map_guard_is_shorter(d->file[i].fd, d->file[i].len))
			return rn_err_set(err, RN_E_DATA, "%s became shorter while it was read",
					  d->file[i].name);
	return RN_OK;
}

/* Returns the host in a file's name: the text after the run id. */
static const char *host_of(const char *path)
{
	return strrchr(path, '/') + 1 + 17;
}

/* Returns the files of the run; the caller frees the list. NULL if out of memory. */
static struct rn_node_file *list_run(const struct folder *d, size_t *n)
{
	struct rn_node_file *list = calloc(d->n + 1, sizeof(*list));

	*n = 0;
	for (size_t i = 0; i < d->n && list; i++) {
		const struct file *f = &d->file[i];

		if (f->bytes && f->run == d->run)
			list[(*n)++] = (struct rn_node_file){ f->bytes, f->len, f->path,
							      host_of(f->path), f->fd };
	}
	return list;
}

static int write_trace(const struct folder *d, enum rn_recover_sealed sealed, const char *path,
		       struct rn_recovered *r, struct rn_err *err)
{
	size_t n;
	struct rn_node_file *node = list_run(d, &n);
	int rc;

	if (!node)
		return rn_err_nomem(err);
	rc = rn_recover(node, n, sealed, path, r, err);
	free(node);
	return rc == RN_E_NOMEM || check_lengths(d, err) == RN_OK ? rc : RN_E_DATA;
}

static int check_trace(const char *path, struct rn_err *err)
{
	struct rn_trace t;
	int rc = rn_trace_open(&t, path, err);

	if (rc == RN_OK) {
		rc = rn_trace_check(&t, err);
		rn_trace_close(&t);
	}
	return rc;
}

/* Writes a trace that passes the check. If a trace fails the check, writes one with fewer calls. */
static int write_valid(const struct folder *d, const char *path, struct rn_recovered *r,
		       struct rn_err *err)
{
	enum rn_recover_sealed sealed = RN_RECOVER_INVALID;
	int rc;

	do {
		rn_recovered_free(r);
		rc = write_trace(d, sealed, path, r, err);
		if (rc == RN_OK) {
			rc = check_trace(path, err);
			if (rc == RN_OK)
				return rc;
			rn_err_prefix(err, "no valid trace can be made");
		}
		unlink(path);
	} while (rc == RN_E_DATA && sealed++ < RN_RECOVER_SEALED);
	return rc;
}

static int write_and_place(const struct folder *d, const struct rn_trace_placing *p,
			   struct rn_journal_set_trace *t, struct rn_recovered *r,
			   struct rn_err *err)
{
	enum rn_place_how how = t->how;
	int rc = write_valid(d, p->file, r, err);

	if (rc < 0)
		return rc;
	if (t->whole && r->missing.n)
		return rn_err_set(err, RN_E_RANGE, "ranks are missing");
	if (r->calls + r->events == 0 && how != PLACE_EXACTLY)
		how = PLACE_NEW;
	return rn_place_trace(p, t->path, how, how == PLACE_OLDER ? &t->since : NULL,
			      !r->incomplete.n && !r->lost, err);
}

static int place_recovered(const struct folder *d, struct rn_journal_set_trace *t,
			   struct rn_recovered *r, struct rn_err *err)
{
	struct rn_trace_placing p;
	int rc = rn_place_begin(&p, t->path, err);

	if (rc == RN_OK)
		rc = write_and_place(d, &p, t, r, err);
	rn_place_end(&p);
	if (rc == RN_E_SYS)
		rn_err_prefix(err, "%s", t->path);
	return rc;
}

static int make_trace(const struct folder *d, struct rn_journal_set_trace *t, struct rn_err *err)
{
	struct rn_recovered r = { 0 };
	char why[200];
	int rc = place_recovered(d, t, &r, err);

	if (rc == RN_OK && r.damaged)
		rn_note(d->notes, "%s: %" PRIu32 " process%s left something damaged", d->path,
			r.damaged, r.damaged == 1 ? "" : "es");
	if (rc == RN_OK)
		report(d, t, &r);
	t->damaged = r.damaged || d->bad;
	rn_recovered_free(&r);
	if (rc == RN_E_DATA) {
		snprintf(why, sizeof(why), "%.199s", err->text);
		rn_err_set(err, rc, "%s; the part files are kept", why);
	}
	return rc == RN_OK && rn_buf_status(&t->line) < 0 ? rn_err_nomem(err) : rc;
}

/* Opens the files of the directory. Returns an error if no file can be read. */
static int open_folder(struct folder *d, struct rn_err *err)
{
	int rc = list_files(d, err);

	rn_map_guard_start();
	if (rc == RN_OK)
		rc = open_files(d, err);
	if (rc == RN_OK && d->bad == d->n)
		rc = rn_err_set(err, RN_E_DATA, "no part in it can be read");
	return rc;
}

static bool any_runs(const struct folder *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (rn_journal_is_locked(d->file[i].dir, d->file[i].name))
			return true;
	return false;
}

/* Waits a short time for all processes to end. Returns whether some are still running. */
static bool wait_for_all(const struct folder *d, unsigned ms)
{
	static const struct timespec moment = { 0, 20000000 };
	bool runs = any_runs(d);

	for (unsigned tries = 0; tries < ms / 20 && runs; tries++) {
		nanosleep(&moment, NULL);
		runs = any_runs(d);
	}
	return runs;
}

bool rn_journal_set_wait(const char *folder, uint64_t run, unsigned ms)
{
	struct folder d = { .path = folder, .wanted = run };
	bool runs = scan(&d) && wait_for_all(&d, ms);

	free_folder(&d);
	return runs;
}

bool rn_journal_set_exists(const char *folder, uint64_t run)
{
	struct folder d = { .path = folder, .wanted = run };
	bool exist;

	scan(&d);
	exist = d.n > 0;
	free_folder(&d);
	return exist;
}

void rn_journal_set_remove(const char *folder, uint64_t run)
{
	struct folder d = { .path = folder, .wanted = run };

	if (scan(&d)) {
		wait_for_all(&d, PARTS_SETTLE_MS);
		for (size_t i = 0; i < d.n; i++)
			if (!rn_journal_is_locked(d.file[i].dir, d.file[i].name))
				remove_file(&d, &d.file[i]);
	}
	remove_folder(&d);
	free_folder(&d);
}

int rn_journal_set_recover(const char *folder, uint64_t run, struct rn_journal_set_trace *t,
			   struct rn_buf *notes, struct rn_err *err)
{
	struct folder d = { .path = folder, .wanted = run, .notes = notes };
	int rc = open_folder(&d, err);

	if (rc == RN_OK)
		rc = make_trace(&d, t, err);
	free_folder(&d);
	return rc;
}

/* Sets the flag `told` in a journal file. Returns whether it was clear before. */
static bool is_first(int fd)
{
	struct rn_spill_head *head = MAP_FAILED;
	struct stat st;
	bool first;

	if (fstat(fd, &st) == 0 && st.st_size >= (off_t)sizeof(*head))
		head = mmap(NULL, sizeof(*head), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (head == MAP_FAILED)
		return false;
	first = !__atomic_exchange_n(&head->told, 1, __ATOMIC_RELAXED);
	munmap(head, sizeof(*head));
	return first;
}

/* Acquires an open file description lock, which does not conflict with the flock(2) locks of the
 * traced processes. */
static int claim(const struct file *f, bool *first)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = rn_private_file_open(f->dir, f->name, O_RDWR);

	if (fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) < 0) {
		close(fd);
		fd = -1;
	}
	*first = fd >= 0 && is_first(fd);
	return fd;
}

int rn_journal_set_claim(const char *folder, uint64_t run, bool *first)
{
	struct folder d = { .path = folder, .wanted = run };
	char name[RN_SPILL_NAME];
	int fd = -1;

	*first = false;
	rn_spill_name(run, name);
	if (scan(&d))
		for (size_t i = 0; i < d.n && fd < 0; i++)
			if (strcmp(d.file[i].name, name) == 0)
				fd = claim(&d.file[i], first);
	free_folder(&d);
	return fd;
}

bool rn_journal_set_wanted(int claim)
{
	struct rn_spill_head head;

	return pread(claim, &head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	       head.magic == RN_SPILL_MAGIC && head.wanted;
}

static int look(const struct folder *d, rn_journal_set_fn *fn, void *arg, struct rn_err *err)
{
	size_t n;
	struct rn_node_file *node = list_run(d, &n);
	int rc;

	if (!node)
		return rn_err_nomem(err);
	rc = fn(arg, node, n, err);
	free(node);
	return check_lengths(d, err) < 0 ? RN_E_DATA : rc;
}

int rn_journal_set_inspect(const char *folder, rn_journal_set_fn *fn, void *arg,
			   struct rn_buf *notes, struct rn_err *err)
{
	struct folder d = { .path = folder, .look = true, .notes = notes };
	int rc = open_folder(&d, err);

	if (rc == RN_OK)
		rc = look(&d, fn, arg, err);
	free_folder(&d);
	return rc;
}
