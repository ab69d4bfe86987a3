/* spill.c - see spill.h. */
#include "file/spill.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_LOG ((size_t)16 << 10)
#define LAST_LOG  ((size_t)256 << 10)
#define HIGH_FD   1000 /* out of the way of those that the program counts on */

/* A high number; the file stays open by its own if there is none. */
static int move_up(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

/* Beyond the limit for a file there would be a signal. */
static bool allowed(uint64_t bytes)
{
	struct rlimit l;

	return getrlimit(RLIMIT_FSIZE, &l) < 0 || l.rlim_cur == RLIM_INFINITY ||
	       bytes <= l.rlim_cur;
}

/* The file with its head, under a name of this process's own, and locked. */
static int make_file(const char *path, uint64_t run, int *out)
{
	struct rn_spill_head h = { .magic = RN_SPILL_MAGIC, .run = run, .next = 1 };
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), rc;

	*out = fd;
	if (fd < 0)
		return errno;
	flock(fd, LOCK_SH);
	rc = allowed(RN_SPILL_PAGE) ? posix_fallocate(fd, 0, RN_SPILL_PAGE) : EFBIG;
	if (rc == 0 && pwrite(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h))
		rc = errno ? errno : EIO;
	return rc;
}

/* So that nobody finds it half made, it gets its name when it is done; the first one's stays. While
 * `fd` is open nobody takes it for one that a run has left. */
static int make(const char *path, uint64_t run, int *fd)
{
	char own[PATH_MAX + 16];
	int rc;

	snprintf(own, sizeof(own), "%s.%ld", path, (long)getpid());
	rc = make_file(own, run, fd);
	if (rc == 0 && link(own, path) < 0 && errno != EEXIST)
		rc = errno;
	unlink(own);
	return rc;
}

static int map_head(struct rn_spill *s, uint64_t run)
{
	struct stat st;
	void *p;

	if (fstat(s->fd, &st) < 0)
		return errno;
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	p = mmap(NULL, RN_SPILL_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (p == MAP_FAILED)
		return errno;
	s->head = p;
	return s->head->magic == RN_SPILL_MAGIC && s->head->run == run ? 0 : EEXIST;
}

/* Opens the file and keeps it locked: who finds it can tell that the run goes on. */
static int open_locked(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -1;
	fd = move_up(fd);
	flock(fd, LOCK_SH);
	return fd;
}

static int open_or_make(const char *path, uint64_t run, int *out)
{
	int fd = open_locked(path), made, rc = fd < 0 ? errno : 0;

	if (rc == ENOENT) {
		rc = make(path, run, &made);
		if (rc == 0 && (fd = open_locked(path)) < 0)
			rc = errno;
		if (made >= 0)
			close(made);
	}
	*out = fd;
	return rc;
}

int rn_spill_open(struct rn_spill *s, const char *path, uint64_t run)
{
	size_t n = strlen(path);
	int rc;

	memset(s, 0, sizeof(*s));
	s->fd = -1;
	if (n >= sizeof(s->path))
		return ENAMETOOLONG;
	memcpy(s->path, path, n + 1);
	s->process = (uint32_t)getpid();
	rc = open_or_make(path, run, &s->fd);
	if (rc)
		return rc;
	rc = map_head(s, run);
	if (rc)
		rn_spill_close(s, false);
	return rc;
}

/* Is the descriptor still ours? */
static bool is_ours(const struct rn_spill *s, int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == s->dev && st.st_ino == s->ino;
}

int rn_spill_descriptor(struct rn_spill *s)
{
	if (is_ours(s, s->fd))
		return s->fd;
	s->fd = open_locked(s->path);
	if (s->fd >= 0 && !is_ours(s, s->fd)) {
		close(s->fd);
		s->fd = -1;
		errno = ENOENT;
	}
	return s->fd;
}

int rn_spill_write(int fd, const void *bytes, size_t n, uint64_t at)
{
	const char *p = bytes;

	if (!allowed(at + n))
		return EFBIG;
	while (n > 0) {
		ssize_t w = pwrite(fd, p, n, (off_t)at);

		if (w < 0 && errno != EINTR)
			return errno;
		if (w > 0) {
			p += w;
			n -= (size_t)w;
			at += (uint64_t)w;
		}
	}
	return 0;
}

/* ---- many pieces ---- */

#define ENOUGH ((size_t)1 << 20) /* by 16 KiB, a page would cost three times as much */

void rn_spill_writer_begin(struct rn_spill_writer *w, int fd, uint64_t at, uint64_t seed)
{
	w->fd = fd;
	w->error = 0;
	w->at = at;
	w->n = 0;
	w->bytes = w->shorts = 0;
	rn_hasher_begin(&w->sum, seed);
}

/* What the one system call has not taken goes piece by piece. */
static int write_gathered(struct rn_spill_writer *w)
{
	ssize_t done;
	int rc = 0;

	if (!allowed(w->at + w->bytes))
		return EFBIG;
	done = pwritev(w->fd, w->piece, (int)w->n, (off_t)w->at);
	if (done < 0 && errno != EINTR)
		return errno;
	for (size_t i = 0, before = done < 0 ? 0 : (size_t)done; i < w->n && rc == 0; i++) {
		const struct iovec *v = &w->piece[i];
		size_t part = before < v->iov_len ? before : v->iov_len;

		if (part < v->iov_len)
			rc = rn_spill_write(w->fd, (char *)v->iov_base + part, v->iov_len - part,
					    w->at + part);
		before -= part;
		w->at += v->iov_len;
	}
	return rc;
}

static void flush(struct rn_spill_writer *w)
{
	if (w->n && !w->error)
		w->error = write_gathered(w);
	w->n = 0;
	w->bytes = w->shorts = 0;
}

bool rn_spill_writer_add(void *writer, const void *bytes, size_t n)
{
	struct rn_spill_writer *w = writer;

	rn_hasher_add(&w->sum, bytes, n);
	if (w->n == RN_SPILL_PIECES || w->bytes >= ENOUGH ||
	    sizeof(w->copy) - w->shorts < RN_BUF_SHORT)
		flush(w);
	if (n <= RN_BUF_SHORT) {
		bytes = memcpy(w->copy + w->shorts, bytes, n);
		w->shorts += n;
	}
	w->piece[w->n++] = (struct iovec){ (void *)(uintptr_t)bytes, n };
	w->bytes += n;
	return w->error == 0;
}

int rn_spill_writer_end(struct rn_spill_writer *w, uint64_t *sum)
{
	flush(w);
	*sum = rn_hasher_end(&w->sum);
	return w->error;
}

/* ---- extents ---- */

/* What is at `at` goes into the file, and then the file there. Without, the first pages are made by
 * writing to them: a page fault in a new extent would have the kernel make many more than that one,
 * which takes up to 2 ms in a large one. */
static void *map_extent(int fd, void *at, size_t size, off_t offset)
{
	static char zeros[64 * RN_SPILL_PAGE];
	size_t first = size < sizeof(zeros) ? size : sizeof(zeros);
	int rc = rn_spill_write(fd, at ? at : zeros, at ? size : first, (uint64_t)offset);

	if (rc) {
		errno = rc;
		return MAP_FAILED;
	}
	return mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd,
		    offset);
}

struct rn_extent *rn_spill_claim(struct rn_spill *s, enum rn_extent_kind kind, uint32_t stream,
				 size_t bytes, void *at)
{
	uint64_t pages = (bytes + RN_SPILL_PAGE - 1) / RN_SPILL_PAGE, page;
	size_t size = pages * RN_SPILL_PAGE;
	int fd = s->head ? rn_spill_descriptor(s) : -1, rc;
	struct rn_extent *e;

	if (fd < 0)
		return NULL;
	page = __atomic_fetch_add(&s->head->next, pages, __ATOMIC_RELAXED);
	rc = !allowed(page * RN_SPILL_PAGE + size)
		     ? EFBIG
		     : posix_fallocate(fd, (off_t)(page * RN_SPILL_PAGE), (off_t)size);
	if (rc) {
		errno = rc;
		return NULL;
	}
	e = map_extent(fd, at, size, (off_t)(page * RN_SPILL_PAGE));
	if (e == MAP_FAILED)
		return NULL;
	e->kind = kind;
	e->process = s->process;
	e->stream = stream;
	e->pages = pages;
	e->number = page;
	e->used = 0;
	e->before = 0;
	__atomic_store_n(&e->magic, RN_EXTENT_MAGIC, __ATOMIC_RELEASE);
	return e;
}

void rn_spill_release(struct rn_extent *e)
{
	munmap(e, e->pages * RN_SPILL_PAGE);
}

void rn_spill_forget(struct rn_spill *s)
{
	if (s->head)
		munmap(s->head, RN_SPILL_PAGE);
	if (is_ours(s, s->fd))
		close(s->fd);
	s->head = NULL;
	s->fd = -1;
}

bool rn_spill_leave(struct rn_spill *s, bool keep)
{
	if (keep)
		__atomic_store_n(&s->head->wanted, 1, __ATOMIC_RELAXED);
	return __atomic_sub_fetch(&s->head->processes, 1, __ATOMIC_ACQ_REL) == 0 &&
	       !s->head->wanted;
}

void rn_spill_close(struct rn_spill *s, bool remove)
{
	if (remove && s->head)
		unlink(s->path);
	rn_spill_forget(s);
}

/* ---- checksums ---- */

uint64_t rn_record_sum(const struct rn_extent *e, uint64_t at, const struct rn_record *r,
		       const void *bytes)
{
	const uint64_t about[] = { (uint64_t)e->process << 32 | e->stream, e->number, at,
				   (uint64_t)r->type << 32 | r->bytes };

	return rn_hash_seeded(bytes, r->bytes, rn_hash(about, sizeof(about)));
}

static uint64_t owner(const struct rn_extent *e)
{
	return (uint64_t)e->process << 32 | e->stream;
}

uint64_t rn_area_seed(const struct rn_extent *area)
{
	return rn_hash_u64(owner(area)) + area->number;
}

uint64_t rn_area_sum(const struct rn_extent *area, const void *bytes, size_t n)
{
	return rn_hash_seeded(bytes, n, rn_area_seed(area));
}

uint64_t rn_seal_sum(const struct rn_extent *area, const struct rn_seal *s)
{
	return rn_hash_seeded(s, offsetof(struct rn_seal, sum), owner(area));
}

/* ---- logs ---- */

static size_t room(const struct rn_extent *e)
{
	return e->pages * RN_SPILL_PAGE - sizeof(*e) - e->used;
}

static int grow(struct rn_log *l, size_t need)
{
	size_t bytes = l->last ? l->last->pages * RN_SPILL_PAGE * 2 : FIRST_LOG;
	struct rn_extent *e;

	if (bytes > LAST_LOG)
		bytes = LAST_LOG;
	if (bytes < need + sizeof(*e))
		bytes = need + sizeof(*e);
	e = rn_spill_claim(l->spill, RN_EXTENT_LOG, l->stream, bytes, NULL);
	if (!e)
		return errno ? errno : EIO;
	if (l->last) {
		e->before = l->last->number;
		rn_spill_release(l->last);
	}
	l->last = e;
	return 0;
}

int rn_log_add(struct rn_log *l, enum rn_fact type, const void *a, size_t a_bytes, const void *b,
	       size_t b_bytes)
{
	size_t bytes = a_bytes + b_bytes,
	       size = sizeof(struct rn_record) + ((bytes + 7) & ~(size_t)7);
	struct rn_record r = { type, (uint32_t)bytes, 0 };
	unsigned char *p;

	if (bytes > UINT32_MAX / 2)
		return EFBIG;
	if (!l->last || room(l->last) < size) {
		int rc = grow(l, size);

		if (rc)
			return rc;
	}
	p = (unsigned char *)(l->last + 1) + l->last->used;
	if (a_bytes)
		memcpy(p + sizeof(r), a, a_bytes);
	if (b_bytes)
		memcpy(p + sizeof(r) + a_bytes, b, b_bytes);
	r.sum = rn_record_sum(l->last, l->last->used, &r, p + sizeof(r));
	memcpy(p, &r, sizeof(r));
	__atomic_store_n(&l->last->used, l->last->used + size, __ATOMIC_RELEASE);
	return 0;
}
