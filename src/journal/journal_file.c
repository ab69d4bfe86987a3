/* journal_file.c - see journal_file.h. */
#include "journal/journal_file.h"

#include "base/buf.h"
#include "base/private_dir.h"
#include "journal/byte_locator.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_LOG ((size_t)16 << 10)
#define LAST_LOG  ((size_t)256 << 10)
/* Pages that other processes may have claimed and not yet allocated. */
#define AHEAD   ((uint64_t)1 << 20)
#define HIGH_FD 1000 /* lower bound, so that the program's descriptors stay the same */

/* Moves a descriptor to a high number. If that fails, the descriptor is unchanged. */
static int move_up(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

/* Whether a file may have this size. A write beyond the limit raises SIGXFSZ. */
static bool allowed(uint64_t bytes)
{
	struct rlimit l;

	return getrlimit(RLIMIT_FSIZE, &l) < 0 || l.rlim_cur == RLIM_INFINITY ||
	       bytes <= l.rlim_cur;
}

/* Creates the file with its head, under a name that is unique to this process, and locks it. */
static int make_file(int dir, const char *name, uint64_t run, int *out)
{
	struct rn_spill_head h = { .magic = RN_SPILL_MAGIC, .run = run, .next = 1 };
	int fd = rn_private_file_create(dir, name), rc;

	*out = fd;
	if (fd < 0)
		return errno;
	flock(fd, LOCK_SH);
	rc = allowed(RN_SPILL_PAGE) ? posix_fallocate(fd, 0, RN_SPILL_PAGE) : EFBIG;
	if (rc == 0 && pwrite(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h))
		rc = errno ? errno : EIO;
	return rc;
}

/* Creates the file. It gets its name when it is complete, so that no process finds a partial file.
 * If another process was first, its file is used. While `fd` is open, the lock shows that the run
 * has not ended. */
static int make(int dir, const char *name, uint64_t run, int *fd)
{
	char own[NAME_MAX + 16];
	int rc;

	snprintf(own, sizeof(own), "%s.%ld", name, (long)getpid());
	rc = make_file(dir, own, run, fd);
	if (rc == 0 && linkat(dir, own, dir, name, 0) < 0 && errno != EEXIST)
		rc = errno;
	if (*fd >= 0)
		unlinkat(dir, own, 0);
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

/* Opens the file and locks it. The lock shows to other processes that the run has not ended. */
static int open_locked(int dir, const char *name)
{
	int fd = rn_private_file_open(dir, name, O_RDWR);

	if (fd < 0)
		return -1;
	fd = move_up(fd);
	flock(fd, LOCK_SH);
	return fd;
}

static int open_or_make(int dir, const char *name, uint64_t run, int *out)
{
	int fd = open_locked(dir, name), made, rc = fd < 0 ? errno : 0;

	if (rc == ENOENT) {
		rc = make(dir, name, run, &made);
		if (rc == 0 && (fd = open_locked(dir, name)) < 0)
			rc = errno;
		if (made >= 0)
			close(made);
	}
	*out = fd;
	return rc;
}

/* Opens the private directory of the file, and stores the file's name. */
static int open_directory(const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];

	*name = slash ? slash + 1 : path;
	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	return rn_private_dir_open(dir);
}

int rn_spill_open(struct rn_spill *s, const char *path, uint64_t run)
{
	size_t n = strlen(path);
	const char *name;
	int dir, rc;

	memset(s, 0, sizeof(*s));
	s->fd = -1;
	if (n >= sizeof(s->path))
		return ENAMETOOLONG;
	memcpy(s->path, path, n + 1);
	s->process = (uint32_t)getpid();
	dir = open_directory(path, &name);
	if (dir < 0)
		return errno;
	rc = open_or_make(dir, name, run, &s->fd);
	close(dir);
	if (rc)
		return rc;
	rc = map_head(s, run);
	if (rc)
		rn_spill_close(s, false);
	return rc;
}

/* Whether the descriptor still refers to the journal file. */
static bool is_ours(const struct rn_spill *s, int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == s->dev && st.st_ino == s->ino;
}

static int reopen(const struct rn_spill *s)
{
	const char *name;
	int dir = open_directory(s->path, &name), fd;

	if (dir < 0)
		return -1;
	fd = open_locked(dir, name);
	close(dir);
	return fd;
}

int rn_spill_descriptor(struct rn_spill *s)
{
	if (is_ours(s, s->fd))
		return s->fd;
	s->fd = reopen(s);
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

/* ---- extents ---- */

/* Maps an extent. If `at` is not NULL, the contents of the memory there are written to the file,
 * and the mapping replaces that memory. Otherwise the first pages are allocated by writing to them:
 * at a page fault in a new extent, the kernel would allocate many more pages than one, which takes
 * up to 2 ms in a large extent. */
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

/* Claims consecutive pages. The counter is in the file, where other processes can change it. EIO if
 * the counter is wrong: this process has already claimed the pages, or they are more than AHEAD
 * pages after the end of the file. */
static int take_pages(struct rn_spill *s, int fd, uint64_t pages, uint64_t *page)
{
	struct stat st;
	uint64_t seen = __atomic_load_n(&s->claimed, __ATOMIC_ACQUIRE);

	if (fstat(fd, &st) < 0)
		return errno;
	*page = __atomic_fetch_add(&s->head->next, pages, __ATOMIC_RELAXED);
	if (*page == 0 || *page < seen || *page > (uint64_t)st.st_size / RN_SPILL_PAGE + AHEAD)
		return EIO;
	while (seen < *page + pages &&
	       !__atomic_compare_exchange_n(&s->claimed, &seen, *page + pages, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return 0;
}

/* Claims an extent; `before` is the extent that it continues, or NULL. */
static int claim(struct rn_spill *s, enum rn_extent_kind kind, uint32_t stream, size_t bytes,
		 void *at, const struct rn_extent *before, struct rn_mapped *out)
{
	uint64_t pages = (bytes + RN_SPILL_PAGE - 1) / RN_SPILL_PAGE, page = 0;
	int fd = s->head ? rn_spill_descriptor(s) : -1, rc;
	struct rn_extent *e;

	if (fd < 0)
		return errno ? errno : EIO;
	if (s->extent_max && bytes > s->extent_max)
		return EFBIG;
	rc = take_pages(s, fd, pages, &page);
	if (rc == 0)
		rc = !allowed((page + pages) * RN_SPILL_PAGE)
			     ? EFBIG
			     : posix_fallocate(fd, (off_t)(page * RN_SPILL_PAGE),
					       (off_t)(pages * RN_SPILL_PAGE));
	if (rc)
		return rc;
	e = map_extent(fd, at, pages * RN_SPILL_PAGE, (off_t)(page * RN_SPILL_PAGE));
	if (e == MAP_FAILED)
		return errno;
	out->at = e;
	out->head = (struct rn_extent){ .kind = kind,
					.process = s->process,
					.stream = stream,
					.pages = pages,
					.number = page,
					.before = before ? before->number : 0,
					.before_used = before ? before->used : 0 };
	out->head.sum = rn_extent_sum(&out->head);
	*e = out->head;
	out->head.magic = RN_EXTENT_MAGIC;
	__atomic_store_n(&e->magic, RN_EXTENT_MAGIC, __ATOMIC_RELEASE);
	return 0;
}

int rn_spill_claim(struct rn_spill *s, enum rn_extent_kind kind, uint32_t stream, size_t bytes,
		   void *at, struct rn_mapped *out)
{
	return claim(s, kind, stream, bytes, at, NULL, out);
}

void rn_spill_release(struct rn_mapped *m)
{
	if (m->at)
		munmap(m->at, m->head.pages * RN_SPILL_PAGE);
	m->at = NULL;
}

/* Calls the kernel directly. UCX replaces munmap with a function that takes a lock, which is never
 * released in a forked child if another thread of the parent held it. */
void rn_spill_forget(struct rn_spill *s)
{
	if (s->head)
		syscall(SYS_munmap, s->head, RN_SPILL_PAGE);
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

void rn_spill_remove(const char *path)
{
	const char *name;
	int dir = open_directory(path, &name);

	if (dir < 0)
		return;
	unlinkat(dir, name, 0);
	close(dir);
}

void rn_spill_close(struct rn_spill *s, bool remove)
{
	if (remove && s->head)
		rn_spill_remove(s->path);
	rn_spill_forget(s);
}

/* ---- names ---- */

void rn_spill_name(uint64_t run, char name[RN_SPILL_NAME])
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	for (char *p = host; *p; p++)
		if (*p == '/')
			*p = '_';
	snprintf(name, RN_SPILL_NAME, "%016llx-%s", (unsigned long long)run, host);
}

bool rn_spill_is_name(const char *name)
{
	return strspn(name, "0123456789abcdef") == 16 && name[16] == '-';
}

/* ---- checksums ---- */

static uint64_t record_seed(const struct rn_extent *e, uint64_t at, const struct rn_record *r)
{
	const uint64_t about[] = { (uint64_t)e->process << 32 | e->stream, e->number, at,
				   (uint64_t)r->type << 32 | r->bytes };

	return rn_hash(about, sizeof(about));
}

uint64_t rn_record_sum(const struct rn_extent *e, uint64_t at, const struct rn_record *r,
		       const void *bytes)
{
	return rn_hash_seeded(bytes, r->bytes, record_seed(e, at, r));
}

/* rn_record_sum of a record whose bytes are the concatenation of a and b. */
static uint64_t sum_of_two(const struct rn_extent *e, const struct rn_record *r, const void *a,
			   size_t a_bytes, const void *b)
{
	struct rn_hasher h;

	rn_hasher_begin(&h, record_seed(e, e->used, r));
	rn_hasher_add(&h, a, a_bytes);
	rn_hasher_add(&h, b, r->bytes - a_bytes);
	return rn_hasher_end(&h);
}

static uint64_t locator_of_two(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
	struct rn_locator l = { 0, 0 };

	rn_locator_add(&l, a, a_bytes);
	rn_locator_add(&l, b, b_bytes);
	return rn_locator_end(&l);
}

static uint64_t owner(const struct rn_extent *e)
{
	return (uint64_t)e->process << 32 | e->stream;
}

uint64_t rn_extent_sum(const struct rn_extent *e)
{
	const uint64_t fields[] = { e->kind,   owner(e),  e->pages,
				    e->number, e->before, e->before_used };

	return rn_hash(fields, sizeof(fields));
}

uint64_t rn_area_sum(const struct rn_extent *area, const void *bytes, size_t n)
{
	return rn_hash_seeded(bytes, n, rn_hash_u64(owner(area)) + area->number);
}

uint64_t rn_seal_sum(const struct rn_extent *area, const struct rn_seal *s)
{
	return rn_hash_seeded(s, offsetof(struct rn_seal, sum), owner(area));
}

/* ---- logs ---- */

static int grow(struct rn_log *l, size_t need)
{
	size_t bytes = l->last.at ? l->last.head.pages * RN_SPILL_PAGE * 2 : FIRST_LOG;
	struct rn_mapped next;
	int rc;

	if (bytes > LAST_LOG)
		bytes = LAST_LOG;
	if (bytes < need + sizeof(next.head))
		bytes = need + sizeof(next.head);
	rc = claim(l->spill, RN_EXTENT_LOG, l->stream, bytes, NULL,
		   l->last.at ? &l->last.head : NULL, &next);
	if (rc)
		return rc;
	rn_spill_release(&l->last);
	l->last = next;
	return 0;
}

int rn_log_add(struct rn_log *l, enum rn_fact type, const void *a, size_t a_bytes, const void *b,
	       size_t b_bytes)
{
	size_t bytes = a_bytes + b_bytes,
	       size = sizeof(struct rn_record) + ((bytes + 7) & ~(size_t)7);
	struct rn_record r = { .type = type, .bytes = (uint32_t)bytes };
	struct rn_extent *head = &l->last.head;
	unsigned char *p;

	if (bytes > UINT32_MAX / 2)
		return EFBIG;
	if (rn_mapped_room(&l->last) < head->used + size) {
		int rc = grow(l, size);

		if (rc)
			return rc;
	}
	p = (unsigned char *)(l->last.at + 1) + head->used;
	r.sum = b_bytes ? sum_of_two(head, &r, a, a_bytes, b)
			: rn_record_sum(head, head->used, &r, a);
	r.locator = locator_of_two(a, a_bytes, b, b_bytes);
	memcpy(p, &r, sizeof(r));
	if (a_bytes)
		memcpy(p + sizeof(r), a, a_bytes);
	if (b_bytes)
		memcpy(p + sizeof(r) + a_bytes, b, b_bytes);
	head->used += size;
	__atomic_store_n(&l->last.at->used, head->used, __ATOMIC_RELEASE);
	return 0;
}
