/* spool.c - see spool.h. */
#include "intercept/spool.h"

#include "base/buf.h"
#include "base/hash.h"
#include "encode/sigs.h"
#include "file/moment_list.h"
#include "file/spill.h"
#include "file/spill_copy.h"
#include "file/writer.h"
#include "intercept/callstack.h"
#include "intercept/clock.h"
#include "intercept/comm.h"
#include "intercept/config.h"
#include "intercept/handle.h"
#include "intercept/order_log.h"
#include "intercept/setting.h"
#include "intercept/stream.h"
#include "intercept/tracer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#define RING_FIRST   16384u /* numbers */
#define TIMES_FIRST  4096u  /* bytes */
#define VALUES_FIRST 16384u /* numbers */

static struct rn_spill spill;
static struct rn_log shared; /* of the process */
static bool failed;          /* something is not in the file that should be */
static bool any;             /* something is */
static char folder_path[2 * sizeof(rn_config.output) + 8]; /* as the user knows it */
static char files_path[sizeof(folder_path)]; /* where the file is: there, or in memory */

/* One process of the node says so. */
static bool is_to_warn(void)
{
	if (__atomic_exchange_n(&failed, true, __ATOMIC_RELAXED))
		return false;
	if (!spill.head)
		return rn_tracer.world_rank == 0;
	return !__atomic_exchange_n(&spill.head->warned, 1, __ATOMIC_RELAXED);
}

/* If all goes well nothing is lost by it, so who waits for the end hears of it first. */
static void warn(const char *path, int error, const char *event)
{
	char text[sizeof(folder_path) + 256];

	snprintf(text, sizeof(text), "%s: %s", path, strerror(error));
	if (rn_config.status[0])
		rn_finish_append("unspilled", text);
	else
		rn_say("%s; if the %s, what comes now is lost", text, event);
}

static void fail(int error)
{
	if (is_to_warn())
		warn(spill.path[0] ? spill.path : files_path, error, "program is killed");
}

/* ---- the process ---- */

static bool shared_lock;

static void lock_shared(void)
{
	while (__atomic_test_and_set(&shared_lock, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void unlock_shared(void)
{
	__atomic_clear(&shared_lock, __ATOMIC_RELEASE);
}

static void add_shared(enum rn_fact type, const void *a, size_t an, const void *b, size_t bn)
{
	int rc = 0;

	lock_shared();
	if (spill.head)
		rc = rn_log_add(&shared, type, a, an, b, bn);
	unlock_shared();
	if (rc)
		fail(rc);
}

static void add_meta(const char *key, const char *value)
{
	add_shared(RN_FACT_META, key, strlen(key) + 1, value, strlen(value) + 1);
}

static void add_settings(void)
{
	const char *key, *value;

	for (uint32_t i = 0; rn_setting(i, &key, &value); i++)
		add_meta(key, value);
}

static void add_world(void)
{
	struct timespec now;
	struct rn_fact_world w = { .rank = rn_tracer.world_rank,
				   .size = rn_tracer.world_size,
				   .scale = rn_clock_scale(),
				   .started = rn_clock_now() };

	clock_gettime(CLOCK_REALTIME, &now);
	w.time = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	add_shared(RN_FACT_WORLD, &w, sizeof(w), NULL, 0);
}

/* The call that a stream is in may be one that the user does not want to have. */
static void add_wanted(void)
{
	unsigned char wanted[1024];
	uint32_t n = rn_mpi_vocab.funcs;

	if (!rn_config.call[0] || n > sizeof(wanted))
		return;
	for (uint32_t i = 0; i < n; i++)
		wanted[i] = rn_config_wants_function(i);
	add_shared(RN_FACT_WANTED, wanted, n, NULL, 0);
}

static void add_constant(uint32_t kind, uint32_t word, int64_t value)
{
	struct rn_fact_constant c = { kind, word, value };

	add_shared(RN_FACT_CONSTANT, &c, sizeof(c), NULL, 0);
}

void rn_spool_comm(uint64_t word, const char *name, const struct rn_comm_entry *e)
{
	struct rn_fact_comm f = { .word = word, .complete = e != NULL };

	if (e)
		f.entry = *e;
	add_shared(RN_FACT_COMM, &f, sizeof(f), name, strlen(name));
}

void rn_spool_clock(int64_t offset, int64_t drift)
{
	struct rn_fact_clock c = { offset, drift };

	if (offset || drift)
		add_shared(RN_FACT_CLOCK, &c, sizeof(c), NULL, 0);
}

static void add_stack(uint64_t number, const void *bytes, size_t len)
{
	add_shared(RN_FACT_SITE, &number, sizeof(number), bytes, len);
}

/* Mapping a file of another machine's is slow, or forgets what was not synced. */
static bool is_remote(const char *folder)
{
	static const uint64_t magic[] = {
		0x6969,     /* NFS */
		0x0bd00bd0, /* Lustre */
		0x47504653, /* GPFS */
		0x19830326, /* BeeGFS */
		0xaad7aaea, /* PanFS */
		0x20030528, /* OrangeFS */
		0x00c36400, /* Ceph */
		0xff534d42, /* CIFS */
		0xfe534d42, /* SMB2 */
		0x01021997, /* 9p */
		0x65735546, /* FUSE */
	};
	struct statfs fs;

	if (statfs(folder, &fs) < 0)
		return false;
	for (size_t i = 0; i < sizeof(magic) / sizeof(*magic); i++)
		if ((uint32_t)fs.f_type == magic[i])
			return true;
	return false;
}

static struct rn_spill_copy copies;
static bool copying; /* the file is in memory, and is copied to the folder */

/* Beside the trace, or where the user wants it. If that is another machine's, the file is in
 * memory. */
static void name_folder(void)
{
	const char *name = strrchr(rn_config.output, '/');
	int n = name ? (int)(name - rn_config.output) : 0;
	char beside[sizeof(rn_config.output)];

	name = name ? name + 1 : rn_config.output;
	snprintf(beside, sizeof(beside), "%.*s", n ? n : 1, rn_config.output);
	if (rn_config.spill[0])
		snprintf(beside, sizeof(beside), "%s", rn_config.spill);
	snprintf(folder_path, sizeof(folder_path), "%s/%s.part", beside, name);
	copying = !rn_config.spill[0] && is_remote(beside) &&
		  rn_spill_memory_folder(folder_path, files_path, sizeof(files_path));
	if (!copying)
		memcpy(files_path, folder_path, sizeof(files_path));
}

static void remove_files(const char *path)
{
	DIR *dir = opendir(path);

	for (struct dirent *e; dir && (e = readdir(dir));)
		unlinkat(dirfd(dir), e->d_name, 0); /* . and .. are refused */
	if (dir)
		closedir(dir);
}

static bool is_locked(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) < 0;
}

/* Does somebody wait for what is in the file, to put it together? */
static bool is_kept(const struct rn_spill_head *h)
{
	int fd = h->keeper[0] ? open(h->keeper, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	bool kept = fd >= 0 && is_locked(fd);

	if (fd >= 0)
		close(fd);
	return kept;
}

/* The processes of a run hold its files locked while they last. One without a head is just being
 * made. */
static bool is_over(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct rn_spill_head h;
	bool over = fd >= 0 && pread(fd, &h, sizeof(h), 0) == (ssize_t)sizeof(h) &&
		    !is_locked(fd) && memchr(h.keeper, 0, sizeof(h.keeper)) && !is_kept(&h);

	if (fd >= 0)
		close(fd);
	return over;
}

static void move_files(const char *from, const char *to)
{
	DIR *dir = opendir(from);
	char path[sizeof(folder_path) + 300];

	for (struct dirent *e; dir && (e = readdir(dir));) {
		if (e->d_name[0] == '.' || !is_over(dirfd(dir), e->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", to, e->d_name);
		renameat(dirfd(dir), e->d_name, AT_FDCWD, path);
	}
	if (dir)
		closedir(dir);
}

static void set_aside(const char *folder, const char *old)
{
	if (access(folder, F_OK) < 0)
		return;
	remove_files(old);
	if (mkdir(old, 0777) == 0 || errno == EEXIST)
		move_files(folder, old);
	rmdir(old);
	rmdir(folder);
}

void rn_spool_set_aside(void)
{
	char old[sizeof(folder_path) + 8], memory[sizeof(folder_path)];

	name_folder();
	snprintf(old, sizeof(old), "%.*s.old.part", (int)(strlen(folder_path) - strlen(".part")),
		 folder_path);
	set_aside(folder_path, old);
	if (copying && rn_spill_memory_folder(old, memory, sizeof(memory)))
		set_aside(files_path, memory);
	folder_path[0] = '\0';
}

const char *rn_spool_folder(void)
{
	return folder_path;
}

static bool join(char path[PATH_MAX], const char *folder, const char *name)
{
	return snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

/* The name has the run, so that two at once do not meet. */
static int open_file(uint64_t run)
{
	char path[PATH_MAX], name[300], host[256] = "";
	int rc = ENOENT;

	gethostname(host, sizeof(host) - 1);
	for (char *p = host; *p; p++)
		if (*p == '/')
			*p = '_';
	name_folder();
	snprintf(name, sizeof(name), "%016llx-%s", (unsigned long long)run, host);
	if (!join(path, files_path, name) || !join(copies.path, folder_path, name))
		return ENAMETOOLONG;
	copies.of = &spill;
	/* Another run that ends now may remove the folder once more, because it is empty. */
	for (int tries = 0; tries < 10 && rc == ENOENT; tries++) {
		if (mkdir(files_path, 0777) < 0 && errno != EEXIST)
			return errno;
		if (copying && !rn_spill_is_own_folder(files_path))
			return EPERM;
		rc = rn_spill_open(&spill, path, run);
	}
	return rc;
}

void rn_spool_start(uint64_t run)
{
	int saved = errno, rc = open_file(run);

	if (rc) {
		fail(rc);
		rmdir(files_path); /* if nobody else has a file there */
	} else {
		shared = (struct rn_log){ &spill, NULL, RN_EXTENT_SHARED };
		if (strlen(rn_config.status) < sizeof(spill.head->keeper))
			memcpy(spill.head->keeper, rn_config.status, strlen(rn_config.status));
		__atomic_fetch_add(&spill.head->processes, 1, __ATOMIC_RELAXED);
		rn_constants_each(add_constant);
		add_wanted();
		add_meta("program", rn_config.program);
		add_meta("mpi", rn_tracer_mpi());
		add_meta("time", rn_config.time);
		if (!rn_config.elastic)
			add_meta(RN_META_ELASTIC, "no");
		if (rn_config.lossy[0])
			add_meta(RN_META_LOSSY, rn_config.lossy);
		if (rn_config.order) {
			add_meta(RN_META_ONLY, RN_ONLY_ORDER);
			add_meta(RN_META_ORDER, rn_config.order_codec);
		}
		add_settings();
		rn_comm_each(rn_spool_comm);
		rn_callstack_keep(add_stack, add_meta);
		add_world();
		if (rn_me)
			rn_spool_adopt(rn_me);
	}
	errno = saved;
}

/* ---- a stream ---- */

/* What is in the file stays as it is; the ring is one that nobody reads. */
static void freeze(struct rn_stream *t, int error)
{
	t->live.limit = t->live.seal[t->live.sealed].area ? t->live.calls : 0;
	t->spooled = false;
	t->ring = t->no_ring;
	t->ring_mask = RN_NO_RING - 1;
	t->ring_end = UINT64_MAX;
	t->values = t->no_values;
	t->values_mask = RN_HOLES_MAX - 1;
	t->values_end = UINT64_MAX;
	fail(error);
}

/* Modules that calls may refer to by now, and that are not in the file yet. */
static void add_modules(void)
{
	static uint32_t known;
	uint64_t n = __atomic_load_n(&known, __ATOMIC_RELAXED);
	const char *name;

	while ((name = rn_mem_module_name((uint32_t)n))) {
		add_shared(RN_FACT_MODULE, &n, sizeof(n), name, strlen(name));
		n++;
	}
	__atomic_store_n(&known, (uint32_t)n, __ATOMIC_RELAXED);
}

void rn_spool_fact(struct rn_stream *t, enum rn_fact type, const void *bytes, size_t n)
{
	int rc;

	if (!t->spooled)
		return;
	if (type == RN_FACT_CALL || type == RN_FACT_ELASTIC)
		add_modules();
	rc = rn_log_add(&t->log, type, bytes, n, NULL, 0);
	if (rc)
		freeze(t, rc);
}

static void add_facts(struct rn_stream *t, enum rn_fact type, const struct rn_sigs *table)
{
	for (uint32_t i = 0; i < rn_sigs_count(table) && t->spooled; i++) {
		size_t n;
		const void *bytes = rn_sigs_get(table, i, &n);

		rn_spool_fact(t, type, bytes, n);
	}
}

static void add_tables(struct rn_stream *t)
{
	add_facts(t, RN_FACT_TEXT, t->texts);
	add_facts(t, RN_FACT_BLOB, t->blobs);
	for (uint32_t i = 0; i < t->sig.n && t->spooled; i++) {
		const struct rn_sig *s = *RN_SEG_AT(&t->sig, struct rn_sig *, i);

		rn_spool_fact(t, s->holes ? RN_FACT_ELASTIC : RN_FACT_CALL, s->words,
			      s->n * sizeof(*s->words));
	}
}

static void add_shapes(struct rn_stream *t)
{
	for (uint32_t i = 0; i < t->shape.n; i++) {
		uint64_t call = (*RN_SEG_AT(&t->shape, struct rn_sig *, i))->id;

		rn_spool_fact(t, RN_FACT_SHAPE, &call, sizeof(call));
	}
}

static void add_moments(struct rn_stream *t)
{
	for (uint32_t i = 0; t->stopwatch && i < t->stopwatch->chunk.n; i++) {
		struct rn_moment_bytes *c =
			RN_SEG_AT(&t->stopwatch->chunk, struct rn_moment_bytes, i);

		rn_spool_fact(t, RN_FACT_MOMENTS, c->bytes, c->len);
	}
}

struct rn_extent *rn_spool_order(struct rn_stream *t, size_t bytes)
{
	struct rn_extent *e = rn_spill_claim(&spill, RN_EXTENT_ORDER, t->number, bytes, NULL);

	if (!e)
		freeze(t, errno);
	return e;
}

/* ---- sealing ---- */

static size_t area_room(const struct rn_extent *e)
{
	return e ? e->pages * RN_SPILL_PAGE - sizeof(*e) : 0;
}

/* Room for a snapshot of so many bytes, and for some growth. */
static int make_area(struct rn_stream *t, struct rn_extent **area, size_t bytes)
{
	struct rn_extent *e;

	if (area_room(*area) >= bytes)
		return 0;
	e = rn_spill_claim(&spill, RN_EXTENT_AREA, t->number, sizeof(*e) + bytes + bytes / 4 + 4096,
			   NULL);
	if (!e)
		return errno;
	if (*area)
		rn_spill_release(*area);
	*area = e;
	return 0;
}

/* A new ring if the one that there is has become small; the old one is still needed. */
static struct rn_extent *make_ring(struct rn_stream *t, size_t bytes)
{
	uint64_t places = t->tail ? t->ring_mask + 1 : RING_FIRST;

	if (t->tail && bytes <= places * sizeof(uint32_t))
		return t->tail;
	while (places * sizeof(uint32_t) < bytes)
		places *= 2;
	return rn_spill_claim(&spill, RN_EXTENT_TAIL, t->number,
			      sizeof(struct rn_extent) + places * sizeof(uint32_t), NULL);
}

static uint64_t ring_places(const struct rn_extent *tail)
{
	uint64_t most = (tail->pages * RN_SPILL_PAGE - sizeof(*tail)) / sizeof(uint32_t);

	return (uint64_t)1 << (63 - __builtin_clzll(most));
}

static void use_ring(struct rn_stream *t, struct rn_extent *tail)
{
	struct rn_extent *old = t->tail;

	t->tail = tail;
	t->ring = (uint32_t *)(tail + 1);
	t->ring_mask = ring_places(tail) - 1;
	if (old == tail)
		return;
	t->ready = t->live.calls;
	t->unready = ring_places(tail);
	if (old)
		rn_spill_release(old);
}

static struct rn_seal *sealed(struct rn_stream *t)
{
	return &t->live.seal[t->live.sealed];
}

#define WRITTEN 65536 /* bytes; a longer snapshot is not worth a page fault for each page of it */

static int write_grammar(struct rn_stream *t, const struct rn_extent *area, struct rn_seal *s)
{
	int fd = rn_spill_descriptor(&spill);
	struct rn_spill_writer w;
	struct rn_buf b = rn_buf_to(rn_spill_writer_add, &w);

	if (fd < 0)
		return errno;
	rn_spill_writer_begin(&w, fd, area->number * RN_SPILL_PAGE + sizeof(*area),
			      rn_area_seed(area));
	rn_grammar_snapshot(t->grammar, &b);
	s->grammar = b.len;
	return rn_spill_writer_end(&w, &s->grammar_sum);
}

static int copy_grammar(struct rn_stream *t, struct rn_extent *area, struct rn_seal *s)
{
	struct rn_buf b = rn_buf_over(area + 1, area_room(area));

	rn_grammar_snapshot(t->grammar, &b);
	s->grammar = b.len;
	s->grammar_sum = rn_area_sum(area, b.data, b.len);
	return 0;
}

#define PIECE 16384 /* bytes; a longer snapshot of a series is not saved again */

/* What stands in a hole, and is long, goes to the log; the buffer has it behind `at`. */
static int cut_values(struct rn_stream *t, const struct rn_sig *s, uint32_t hole, struct rn_buf *b,
		      size_t at)
{
	const struct rn_fact_values f = { s->id, hole };
	const unsigned char *bytes = b->data + at + sizeof(uint64_t);
	int rc = rn_log_add(&t->log, RN_FACT_VALUES, &f, sizeof(f), bytes,
			    b->len - at - sizeof(uint64_t));

	if (rc)
		return rc;
	if (!rn_holes_cut(s->holes, &t->mem, hole))
		return ENOMEM;
	t->pieces++;
	b->len = at;
	rn_holes_save(s->holes, hole, b);
	return 0;
}

static int add_values(struct rn_stream *t, const struct rn_sig *s, struct rn_buf *b)
{
	const uint64_t number = s->id;
	int rc = 0;

	rn_buf_add(b, &number, sizeof(number));
	for (uint32_t k = 0; k < s->holes->n && rc == 0 && !b->failed; k++) {
		size_t at = b->len;

		rn_holes_save(s->holes, k, b);
		if (!b->failed && b->len - at > PIECE)
			rc = cut_values(t, s, k, b, at);
	}
	return rc;
}

/* Behind the grammar. How long it becomes is not known before: *full when there is no room. */
static int save_values(struct rn_stream *t, struct rn_extent *area, struct rn_seal *s, bool *full)
{
	uint64_t at = rn_seal_values(s), room = area_room(area);
	struct rn_buf b =
		rn_buf_over((unsigned char *)(area + 1) + at, room > at ? (size_t)(room - at) : 0);
	int rc = 0;

	for (uint32_t i = 0; i < t->holes.n && rc == 0 && !b.failed; i++)
		if (rn_holes_of(&t->holes, i))
			rc = add_values(t, *RN_SEG_AT(&t->sig, struct rn_sig *, i), &b);
	*full = b.failed || room < at;
	s->values = b.len;
	s->values_sum = *full ? 0 : rn_area_sum(area, b.data, b.len);
	s->values_from = t->values_at;
	s->pieces = t->pieces;
	return rc;
}

/* The areas of the grammar alternate, too, but less often. */
static int save_grammar(struct rn_stream *t, struct rn_seal *s)
{
	struct rn_extent **area = &t->area[t->area[0] && t->area[0]->number == sealed(t)->area];
	size_t bytes = rn_grammar_snapshot_size(t->grammar), more = s->values + s->values / 2;
	bool full = false;
	int rc;

	do {
		rc = make_area(t, area, bytes + more);
		s->upto = t->live.calls;
		if (rc == 0) {
			s->area = (*area)->number;
			rc = bytes > WRITTEN ? write_grammar(t, *area, s)
					     : copy_grammar(t, *area, s);
		}
		if (rc == 0)
			rc = save_values(t, *area, s, &full);
		more = 2 * more + 4096;
	} while (rc == 0 && full);
	return rc;
}

static int save_times(struct rn_stream *t, struct rn_extent **area, struct rn_seal *s)
{
	struct rn_buf b;
	int rc = make_area(t, area, s->times ? s->times : TIMES_FIRST);

	while (rc == 0) {
		b = rn_buf_over(*area + 1, area_room(*area));
		if (rn_times_save(&t->times, &b) == RN_OK)
			break;
		rc = make_area(t, area, 2 * area_room(*area));
	}
	if (rc)
		return rc;
	s->times_at = (*area)->number;
	s->times = b.len;
	s->times_sum = rn_area_sum(*area, b.data, b.len);
	return 0;
}

/* The ring of numbers in holes, once there are some: a new one if it has become small. */
static int make_values_ring(struct rn_stream *t, struct rn_seal *s, struct rn_extent **tail)
{
	uint64_t places = t->values_tail ? t->values_mask + 1 : VALUES_FIRST;

	*tail = NULL;
	s->values_tail = s->values_places = 0;
	if (s->values == 0)
		return 0;
	while (places * sizeof(int64_t) < s->values)
		places *= 2;
	*tail = t->values_tail;
	if (!*tail || places > t->values_mask + 1)
		*tail = rn_spill_claim(&spill, RN_EXTENT_TAIL, t->number,
				       sizeof(**tail) + places * sizeof(int64_t), NULL);
	if (!*tail)
		return errno;
	s->values_tail = (*tail)->number;
	s->values_places = places;
	return 0;
}

static void use_values_ring(struct rn_stream *t, struct rn_extent *tail)
{
	struct rn_extent *old = t->values_tail;
	const struct rn_seal *s = sealed(t);

	if (!tail) {
		t->values_end = 0; /* the first number asks for one */
		return;
	}
	t->values_tail = tail;
	t->values = (int64_t *)(tail + 1);
	t->values_mask = s->values_places - 1;
	t->values_end = s->values_from + s->values_places;
	if (old && old != tail)
		rn_spill_release(old);
}

/* The pages of a new ring are made by writing to them, as far as it is going to be used until the
 * next look: where that is a disk's, a page costs a fraction then of what a page fault would. */
static int make_ready(struct rn_stream *t)
{
	static uint32_t zeros[RING_FIRST];
	int fd = t->unready ? rn_spill_descriptor(&spill) : -1, rc = 0;

	if (t->unready && fd < 0)
		return errno;
	while (t->unready && t->ready < t->ring_end && rc == 0) {
		uint64_t place = t->ready & t->ring_mask, n = RING_FIRST - place % RING_FIRST;

		n = n < t->unready ? n : t->unready;
		rc = rn_spill_write(fd, zeros, n * sizeof(*zeros),
				    t->tail->number * RN_SPILL_PAGE + sizeof(*t->tail) +
					    place * sizeof(*zeros));
		t->ready += n;
		t->unready -= n;
	}
	return rc;
}

/* When to look again: soon at first, so that short runs leave times too. */
static int plan(struct rn_stream *t)
{
	const struct rn_seal *s = sealed(t);
	uint64_t calls = t->live.calls, full = s->upto + s->places,
		 more = s->times > RING_FIRST / 2 ? 2 * s->times : RING_FIRST;

	if (calls < RING_FIRST)
		more = (calls | 63) + 1;
	t->ring_end = full - calls < more ? full : calls + more;
	return make_ready(t);
}

/* The times, or the `whole`. */
static int seal(struct rn_stream *t, bool whole)
{
	unsigned which = !t->live.sealed;
	struct rn_seal *s = &t->live.seal[which];
	struct rn_extent *tail = t->tail, *values = t->values_tail;
	int rc;

	*s = *sealed(t);
	s->number++;
	s->segment = t->segment;
	rc = save_times(t, &t->times_area[which], s);
	if (rc == 0 && whole)
		rc = save_grammar(t, s);
	if (rc == 0 && whole)
		rc = make_values_ring(t, s, &values);
	if (rc)
		return rc;
	if (whole && !(tail = make_ring(t, s->grammar + s->times + s->values)))
		return errno;
	s->tail = tail->number;
	s->places = ring_places(tail);
	s->sum = rn_seal_sum(tail, s);
	__atomic_store_n(&t->live.sealed, which, __ATOMIC_RELEASE);
	use_ring(t, tail);
	if (whole)
		use_values_ring(t, values);
	return plan(t);
}

static void seal_or_freeze(struct rn_stream *t, bool whole)
{
	int rc = seal(t, whole);

	if (rc)
		freeze(t, rc);
}

void rn_spool_seal(struct rn_stream *t)
{
	int saved = errno;

	seal_or_freeze(t, true);
	errno = saved;
}

void rn_spool_values_due(struct rn_stream *t)
{
	rn_spool_seal(t);
}

/* ---- copies ---- */

#define COPY_FIRST ((uint64_t)10 * 1000000000) /* nanoseconds; short runs make none */
#define COPY_LAST  ((uint64_t)320 * 1000000000)
#define COPY_SHARE 50 /* one may take this part of the time */

static struct rn_copied shared_copied;

/* Milliseconds are exact enough, and this one costs little. */
static uint64_t copy_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int copy_shared(void)
{
	struct rn_log_end end;

	lock_shared();
	end = rn_log_end(&shared);
	unlock_shared();
	return rn_copy_log(&copies, end, &shared_copied);
}

/* Of the process, and of the stream if there is one. False: not now, or not any more. */
static bool make_copy(struct rn_stream *t)
{
	static bool busy;
	int rc;

	if (!copying || __atomic_test_and_set(&busy, __ATOMIC_ACQUIRE))
		return false;
	rc = rn_copy_begin(&copies);
	if (rc == 0) {
		rc = copy_shared();
		if (rc == 0 && t)
			rc = rn_copy_stream(&copies, &t->live, &t->log, &t->copied);
		if (rc == 0 && t && rn_order_log_tail(t))
			rc = rn_copy_order(&copies, rn_order_log_tail(t), &t->copied);
		rc = rn_copy_end(&copies, rc);
	}
	__atomic_clear(&busy, __ATOMIC_RELEASE);
	if (rc) {
		copying = false;
		if (!__atomic_exchange_n(&spill.head->warned, 1, __ATOMIC_RELAXED))
			warn(copies.path, rc, "node fails");
	}
	return rc == 0;
}

static bool is_copy_due(struct rn_stream *t)
{
	uint64_t now = copying ? copy_clock() : 0;

	if (copying && t->copy_next == 0) {
		t->copy_period = COPY_FIRST;
		t->copy_next = now + COPY_FIRST;
	}
	return copying && now >= t->copy_next;
}

/* Everything that the stream has, once its areas are not those that the copy stands on. Both change
 * with the whole, and those of the times by themselves: three seals lead there from anywhere. */
static bool copy_stream(struct rn_stream *t)
{
	for (int i = 0; i < 4 && t->spooled; i++) {
		bool whole = t->live.calls != sealed(t)->upto || t->copied.area == sealed(t)->area;

		if (!whole && rn_copy_can(&t->live, &t->copied))
			return make_copy(t);
		seal_or_freeze(t, whole);
	}
	return false;
}

/* Less and less often, so that the whole costs little: that may be a slow place, which many nodes
 * write to. */
static void make_due_copy(struct rn_stream *t)
{
	uint64_t began = copy_clock(), wait;

	copy_stream(t);
	wait = (copy_clock() - began) * COPY_SHARE;
	if (t->copy_period < COPY_LAST)
		t->copy_period *= 2;
	t->copy_next = began + (wait > t->copy_period ? wait : t->copy_period);
}

void rn_spool_due(struct rn_stream *t)
{
	int saved = errno;

	if (is_copy_due(t))
		make_due_copy(t);
	else
		seal_or_freeze(t, t->live.calls == sealed(t)->upto + sealed(t)->places);
	errno = saved;
}

void rn_spool_order_sealed(struct rn_stream *t)
{
	int saved = errno;

	if (t->spooled && is_copy_due(t))
		make_due_copy(t);
	errno = saved;
}

void rn_spool_adopt(struct rn_stream *t)
{
	int saved = errno;

	if (!spill.head || t->live.self) /* it is in the file, all of it or a beginning */
		return;
	t->live.buffer = t->buffer;
	t->live.limit = UINT64_MAX;
	t->log = (struct rn_log){ &spill, NULL, t->number };
	if (!rn_spill_claim(&spill, RN_EXTENT_LIVE, t->number, sizeof(*t), t)) {
		fail(errno);
	} else {
		t->live.self = &t->live;
		t->spooled = any = true;
		add_tables(t);
		add_shapes(t);
		add_moments(t);
		rn_order_log_adopt(t);
		/* Twice, so that both areas are there before the program does anything. */
		for (int i = 0; i < 2 && t->spooled; i++)
			rn_spool_seal(t);
	}
	errno = saved;
}

/* ---- segments ---- */

static bool in_segments; /* a stream of this process is */

bool rn_spool_in_segments(void)
{
	return __atomic_load_n(&in_segments, __ATOMIC_RELAXED);
}

size_t rn_spool_mapped(const struct rn_stream *t)
{
	size_t all = (t->tail ? t->tail->pages * RN_SPILL_PAGE : 0) +
		     (t->values_tail ? t->values_tail->pages * RN_SPILL_PAGE : 0);

	for (int i = 0; i < 2; i++)
		all += area_room(t->area[i]) + area_room(t->times_area[i]);
	return all;
}

#define COPY_TRIES 10000 /* of 1 ms each: then who copies is not going to end */

/* It is not sealed again, so this is when it is copied, if it is, even if another thread is just
 * copying what is its own. */
bool rn_spool_close(struct rn_stream *t)
{
	static const struct timespec moment = { 0, 1000000 };

	seal_or_freeze(t, true);
	for (int i = 0; i < COPY_TRIES && copying && t->spooled && !copy_stream(t); i++)
		nanosleep(&moment, NULL);
	return t->spooled;
}

static void leave_area(struct rn_extent **area, uint64_t page)
{
	if (!*area || (*area)->number != page)
		return;
	rn_spill_release(*area);
	*area = NULL;
}

/* What was sealed stays what it is. */
static void leave_areas(struct rn_stream *t, const struct rn_seal *last)
{
	for (int i = 0; i < 2; i++) {
		leave_area(&t->area[i], last->area);
		leave_area(&t->times_area[i], last->times_at);
	}
}

/* Until it is sealed, the file has the segment before it and nothing behind. */
bool rn_spool_segment(struct rn_stream *t)
{
	struct rn_seal last = *sealed(t);

	rn_spool_fact(t, RN_FACT_SEGMENT, &last, sizeof(last));
	add_tables(t);
	if (!t->spooled)
		return false;
	t->segment++;
	t->pieces = 0;
	rn_spool_seal(t);
	if (!t->spooled) {
		t->segment--;
		return false;
	}
	leave_areas(t, &last);
	__atomic_store_n(&in_segments, true, __ATOMIC_RELAXED);
	return true;
}

/* ---- the end ---- */

bool rn_spool_first(void)
{
	return !spill.head || !__atomic_exchange_n(&spill.head->told, 1, __ATOMIC_RELAXED);
}

bool rn_spool_whole(void)
{
	return spill.head && !failed;
}

bool rn_spool_any(void)
{
	return spill.head && any;
}

/* Not of threads that go on. */
static bool copy_all(void)
{
	bool all = true;

	for (struct rn_stream *t = rn_tracer.streams; t && copying; t = t->next)
		all = (t == rn_me || !rn_tracer.active) && copy_stream(t) && all;
	return all;
}

/* In the copy, too, this is behind everything. */
void rn_spool_note(const char *how, uint64_t lost)
{
	int saved = errno;
	bool all = !spill.head || copy_all();

	for (const struct rn_stream *t = rn_tracer.streams; t; t = t->next) {
		if (!t->live.self)
			lost += t->live.calls + t->live.lost;
		lost += rn_order_log_unkept(t);
	}
	if (lost)
		add_shared(RN_FACT_LOST, &lost, sizeof(lost), NULL, 0);
	add_shared(RN_FACT_END, how, strlen(how), NULL, 0);
	if (all && spill.head)
		make_copy(NULL);
	errno = saved;
}

void rn_spool_end(bool keep)
{
	int saved = errno;

	if (spill.head) {
		bool copied = spill.head->copied, remove = rn_spill_leave(&spill, keep);

		rn_spill_close(&spill, remove);
		if (remove && copied)
			unlink(copies.path);
		if (remove) {
			rmdir(files_path);
			rmdir(folder_path);
		}
	}
	errno = saved;
}

void rn_spool_drop(void)
{
	if (spill.path[0])
		unlink(spill.path);
	rmdir(folder_path);
}

/* The same bytes, but the child's own. Without memory for that the child keeps its hands off what
 * it cannot: it makes no calls, so only one that was under way could write there. */
static void own_copy(struct rn_stream *t)
{
	void *p =
		mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return;
	memcpy(p, t, sizeof(*t));
	mremap(p, sizeof(*t), sizeof(*t), MREMAP_MAYMOVE | MREMAP_FIXED, t);
	t->spooled = false;
}

void rn_spool_child(void)
{
	for (struct rn_stream *t = rn_tracer.streams; t; t = t->next)
		if (t->live.self) /* also if it is not kept there any more */
			own_copy(t);
	rn_spill_forget(&spill);
}
