/* journal_copy.c - see journal_copy.h. */
#include "journal/journal_copy.h"

#include "base/hash.h"
#include "base/private_dir.h"
#include "journal/event_tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMORY "/dev/shm"

/* The name contains a hash of the full path, so that traces of the same name in several
 * directories, or of several users, have different directories. */
bool rn_spill_memory_folder(const char *folder, char *out, size_t cap)
{
	char place[PATH_MAX], full[2 * PATH_MAX];
	const char *slash = strrchr(folder, '/'), *name = slash ? slash + 1 : folder;
	size_t n = strlen(name);
	int len;

	if (n > strlen(".part") && strcmp(name + n - strlen(".part"), ".part") == 0)
		n -= strlen(".part");
	if (slash)
		snprintf(full, sizeof(full), "%.*s/", (int)(slash - folder), folder);
	if (!realpath(slash ? full : ".", place))
		return false;
	snprintf(full, sizeof(full), "%s/%s", place, name);
	len = snprintf(out, cap, MEMORY "/%.*s-%08x.part", (int)n, name,
		       (unsigned)rn_hash(full, strlen(full)));
	return len > 0 && (size_t)len < cap;
}

struct rn_log_end rn_log_end(const struct rn_log *l)
{
	if (!l->last.at)
		return (struct rn_log_end){ 0, 0 };
	return (struct rn_log_end){ l->last.head.number, l->last.head.used };
}

/* ---- bytes ---- */

static int put(const struct rn_spill_copy *c, const void *bytes, size_t n, uint64_t at)
{
	return rn_spill_write(c->fd, bytes, n, at);
}

static int get(struct rn_spill_copy *c, void *bytes, size_t n, uint64_t at)
{
	int fd = rn_spill_descriptor(c->of);
	ssize_t r = fd < 0 ? -1 : pread(fd, bytes, n, (off_t)at);

	if (r < 0)
		return errno;
	return (size_t)r == n ? 0 : EIO;
}

/* Reads the head of an extent of this process. Other processes can change the file. EIO if this
 * process cannot have written the head. */
static int get_extent(struct rn_spill_copy *c, uint64_t page, struct rn_extent *e)
{
	uint64_t claimed = __atomic_load_n(&c->of->claimed, __ATOMIC_RELAXED);
	int rc = get(c, e, sizeof(*e), page * RN_SPILL_PAGE);

	if (rc == 0 && (e->number != page || page >= claimed || e->pages > claimed - page ||
			e->used > e->pages * RN_SPILL_PAGE - sizeof(*e) || e->before >= page))
		rc = EIO;
	return rc;
}

/* Copies n bytes to the same offset. */
static int copy(struct rn_spill_copy *c, uint64_t at, uint64_t n)
{
	static char buffer[65536];
	int rc = 0;

	while (n > 0 && rc == 0) {
		size_t some = n < sizeof(buffer) ? (size_t)n : sizeof(buffer);

		rc = get(c, buffer, some, at);
		if (rc == 0)
			rc = put(c, buffer, some, at);
		at += some;
		n -= some;
	}
	return rc;
}

/* Extends the copy so that it contains all pages of an extent, if only as a hole: the last byte of
 * the extent is copied, which is either unused or already written. */
static int reach(struct rn_spill_copy *c, const struct rn_extent *e)
{
	uint64_t end = (e->number + e->pages) * RN_SPILL_PAGE;

	if (c->size >= end)
		return 0;
	c->size = end;
	return copy(c, end - 1, 1);
}

/* ---- the file ---- */

/* Opens the file in its private directory. Creates the file and the directory if they do not exist.
 * Another process of the node may create the file at the same time. */
static int open_file(const struct rn_spill_copy *c)
{
	const char *slash = strrchr(c->path, '/'), *name = slash ? slash + 1 : c->path;
	char path[PATH_MAX];
	int dir, fd;

	snprintf(path, sizeof(path), "%.*s", slash ? (int)(slash - c->path) : 1,
		 slash ? c->path : ".");
	dir = rn_private_dir_make(path);
	if (dir < 0)
		return -1;
	fd = rn_private_file_open(dir, name, O_RDWR);
	if (fd < 0 && errno == ENOENT)
		fd = rn_private_file_create(dir, name);
	if (fd < 0 && errno == EEXIST)
		fd = rn_private_file_open(dir, name, O_RDWR);
	close(dir);
	return fd;
}

static int look(struct rn_spill_copy *c)
{
	struct rn_spill_head h = { .magic = RN_SPILL_MAGIC,
				   .run = c->of->head->run,
				   .next = c->of->head->next,
				   .copied = 2 };
	struct stat st;

	if (fstat(c->fd, &st) < 0)
		return errno;
	c->size = (uint64_t)st.st_size;
	return c->size ? 0 : put(c, &h, sizeof(h), 0);
}

int rn_copy_begin(struct rn_spill_copy *c)
{
	int rc;

	c->fd = open_file(c);
	if (c->fd < 0)
		return errno;
	__atomic_store_n(&c->of->head->copied, 1, __ATOMIC_RELAXED);
	rc = look(c);
	return rc ? rn_copy_end(c, rc) : 0;
}

int rn_copy_end(struct rn_spill_copy *c, int rc)
{
	if (close(c->fd) < 0 && rc == 0 && errno != EINTR)
		rc = errno;
	c->fd = -1;
	return rc;
}

/* ---- logs ---- */

/* Copies one extent from the offset `from` on; `used` is its valid length. The head is written
 * last, after the data that it refers to. */
static int copy_extent(struct rn_spill_copy *c, struct rn_extent *e, uint64_t from, uint64_t used)
{
	uint64_t at = e->number * RN_SPILL_PAGE;
	int rc = used > from ? copy(c, at + sizeof(*e) + from, used - from) : 0;

	if (rc == 0)
		rc = reach(c, e);
	e->used = used;
	return rc ? rc : put(c, e, sizeof(*e), at);
}

/* Whether the copy still contains the log up to `end`. The copy may have been removed or renamed
 * and created again. */
static bool is_there(const struct rn_spill_copy *c, struct rn_log_end end)
{
	struct rn_extent e;

	return pread(c->fd, &e, sizeof(e), (off_t)(end.extent * RN_SPILL_PAGE)) == sizeof(e) &&
	       e.magic == RN_EXTENT_MAGIC && e.process == c->of->process &&
	       e.number == end.extent && e.used == end.used;
}

/* Copies from the last extent back to the one in which the copy ends. */
int rn_copy_log(struct rn_spill_copy *c, struct rn_log_end end, struct rn_copied *done)
{
	uint64_t number = end.extent;
	struct rn_extent e = { 0 };
	int rc = 0;

	if (done->log.extent && !is_there(c, done->log))
		*done = (struct rn_copied){ 0 };
	for (; number && rc == 0; number = e.number == done->log.extent ? 0 : e.before) {
		rc = get_extent(c, number, &e);
		if (rc == 0)
			rc = copy_extent(c, &e, number == done->log.extent ? done->log.used : 0,
					 number == end.extent ? end.used : e.used);
	}
	if (rc == 0)
		done->log = end;
	return rc;
}

/* ---- a stream ---- */

bool rn_copy_can(const struct rn_seal *s, const struct rn_copied *done)
{
	return s->calls.page != done->calls && s->times.page != done->times;
}

static int copy_snapshot(struct rn_spill_copy *c, const struct rn_snapshot *s)
{
	struct rn_extent e;
	int rc = get_extent(c, s->page, &e);

	return rc ? rc : copy_extent(c, &e, 0, s->bytes);
}

/* Copies the words of outer calls in flight, and the state of the stream. The number of calls is
 * that of the checkpoint, because the copy has no call ring. */
static int copy_live(struct rn_spill_copy *c, const struct rn_live *live, const uint64_t *words,
		     size_t n)
{
	struct rn_live l = *live;
	uint64_t at = l.extent.number * RN_SPILL_PAGE;
	int rc = put(c, words, n * sizeof(*words), at + sizeof(l));

	l.calls = l.seal[l.sealed].upto;
	if (rc == 0)
		rc = reach(c, &l.extent);
	return rc ? rc : put(c, &l, sizeof(l), at);
}

/* Rows that follow a new chunk replace those in the copy. Until they are written, the copy has no
 * rows. */
int rn_copy_order(struct rn_spill_copy *c, const struct rn_order_tail *tail, struct rn_copied *done)
{
	struct rn_order_tail t = *tail;
	uint64_t at = t.extent.number * RN_SPILL_PAGE, chunks = t.word >> 32,
		 rows = (uint32_t)t.word, from = chunks == done->chunks ? done->rows : 0;
	int rc = reach(c, &t.extent);

	if (rc == 0 && from == 0) {
		t.word = chunks << 32;
		rc = put(c, &t, sizeof(t), at);
	}
	/* A row of failed polls that is already in the copy may have a new count. */
	from = from > sizeof(uint32_t) ? from - sizeof(uint32_t) : 0;
	if (rc == 0)
		rc = copy(c, at + sizeof(t) + from, rows - from);
	t.word = chunks << 32 | rows;
	if (rc == 0)
		rc = put(c, &t, sizeof(t), at);
	if (rc == 0)
		done->chunks = chunks, done->rows = rows;
	return rc;
}

int rn_copy_stream(struct rn_spill_copy *c, const struct rn_live *live, const uint64_t *words,
		   size_t n, const struct rn_log *log, struct rn_copied *done)
{
	const struct rn_seal *s = &live->seal[live->sealed];
	int rc = rn_copy_log(c, rn_log_end(log), done);

	if (rc == 0)
		rc = copy_snapshot(c, &s->calls);
	if (rc == 0)
		rc = copy_snapshot(c, &s->times);
	if (rc == 0)
		rc = copy_live(c, live, words, n);
	if (rc == 0)
		done->calls = s->calls.page, done->times = s->times.page;
	return rc;
}
