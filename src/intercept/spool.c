/* spool.c - see spool.h. */
#include "intercept/spool.h"

#include "base/private_dir.h"
#include "base/status_file.h"
#include "base/tracer_env.h"
#include "encode/sigs.h"
#include "file/chunk_list.h"
#include "file/order_tail.h"
#include "file/spill.h"
#include "file/spill_copy.h"
#include "file/metadata.h"
#include "intercept/callstack.h"
#include "intercept/clock.h"
#include "intercept/comm.h"
#include "intercept/config.h"
#include "intercept/handle.h"
#include "intercept/outcome.h"
#include "intercept/setting.h"
#include "intercept/spool_folder.h"
#include "intercept/spool_seal.h"
#include "intercept/stream.h"
#include "intercept/message.h"
#include "intercept/status_line.h"
#include "intercept/tracer_state.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXTENT_MORE ((size_t)16 << 20) /* bytes of an extent beyond twice the memory limit */

static struct rn_spill spill;
static struct rn_log shared; /* of the process */
static bool failed;          /* something is not in the file that should be */
static bool any;             /* something is */
static struct rn_spool_folder folder;

/* One process of the node says so. Without a part file rank 0 does, or every rank to its own
 * watcher. */
static bool is_to_warn(void)
{
	if (__atomic_exchange_n(&failed, true, __ATOMIC_RELAXED))
		return false;
	if (!spill.head)
		return rn_tracer.world_rank == 0 || rn_status_is_watched(rn_config.status);
	return !__atomic_exchange_n(&spill.head->warned, 1, __ATOMIC_RELAXED);
}

/* If all goes well nothing is lost by it, so who waits for the end hears of it first. */
static void warn(const char *path, int error, const char *event)
{
	char text[sizeof(folder.path) + 256];

	snprintf(text, sizeof(text), "%s: %s", path, strerror(error));
	if (rn_config.status[0])
		rn_status_append(spill.head ? RN_TAG_UNSPILLED : RN_TAG_UNOPENED, text);
	else
		rn_say("%s; if the %s, what comes now is lost", text, event);
}

static void fail(int error)
{
	if (is_to_warn())
		warn(spill.path[0] ? spill.path : folder.files, error, "program is killed");
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
	for (unsigned i = 0; i < RN_META_COUNT; i++) {
		const char *value = rn_setting_value((enum rn_meta_key)i);

		if (*value)
			add_meta(rn_meta_rows[i].key, value);
	}
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

static struct rn_spill_copy copies;

const char *rn_spool_folder(void)
{
	return folder.path;
}

static bool join(char path[PATH_MAX], const char *in, const char *name)
{
	return snprintf(path, PATH_MAX, "%s/%s", in, name) < PATH_MAX;
}

static int find_file(uint64_t run, char path[PATH_MAX])
{
	char name[RN_SPILL_NAME];

	rn_spool_folder_find(&folder);
	rn_spill_name(run, name);
	if (!join(path, folder.files, name) || !join(copies.path, folder.path, name))
		return ENAMETOOLONG;
	copies.of = &spill;
	return 0;
}

static int open_file(uint64_t run)
{
	char path[PATH_MAX];
	int rc = find_file(run, path), found = ENOENT;

	/* Another run that is ending may remove the directory while it is empty. */
	for (int tries = 0; tries < 10 && rc == 0 && found == ENOENT; tries++) {
		rc = rn_spool_folder_make(&folder);
		if (rc == 0)
			found = rn_spill_open(&spill, path, run);
	}
	return rc ? rc : found;
}

int rn_spool_reserve(uint64_t run)
{
	char path[PATH_MAX];
	int saved = errno, lock, rc = find_file(run, path), found = ENOENT;

	for (int tries = 0; tries < 10 && rc == 0 && found == ENOENT; tries++) {
		rc = rn_spool_folder_lock(&folder, &lock);
		if (rc == 0) {
			found = rn_spill_open(&spill, path, run);
			close(lock);
		}
	}
	errno = saved;
	return rc ? rc : found;
}

void rn_spool_start(uint64_t run)
{
	int saved = errno, rc = spill.head ? 0 : open_file(run);

	if (rc) {
		fail(rc);
		rn_private_dir_remove(folder.files);
	} else {
		shared = (struct rn_log){ .spill = &spill, .stream = RN_EXTENT_SHARED };
		spill.extent_max = 2 * rn_config.memory + EXTENT_MORE;
		__atomic_fetch_add(&spill.head->processes, 1, __ATOMIC_RELAXED);
		rn_constants_each(add_constant);
		add_wanted();
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
	t->live.limit = t->limit = rn_spool_sealed(t)->area ? t->calls : 0;
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

	while ((name = rn_mem_module_label((uint32_t)n))) {
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
		struct rn_chunk *c = RN_SEG_AT(&t->stopwatch->chunk, struct rn_chunk, i);

		rn_spool_fact(t, RN_FACT_MOMENTS, c->bytes, c->len);
	}
}

bool rn_spool_order(struct rn_stream *t, size_t bytes, struct rn_mapped *out)
{
	int rc = rn_spill_claim(&spill, RN_EXTENT_ORDER, t->number, bytes, NULL, out);

	if (rc)
		freeze(t, rc);
	return rc == 0;
}

/* ---- sealing ---- */

static void seal_or_freeze(struct rn_stream *t, bool whole)
{
	int rc = rn_spool_seal_now(t, whole);

	if (rc)
		freeze(t, rc);
}

void rn_spool_seal(struct rn_stream *t)
{
	int saved = errno;

	seal_or_freeze(t, true);
	errno = saved;
}

void rn_spool_seal_times(struct rn_stream *t)
{
	int saved = errno;

	if (t->spooled)
		seal_or_freeze(t, false);
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

/* The state of the stream for the copy. `top`: the end of the words that are copied. */
static struct rn_live state_of(const struct rn_stream *t, const uint64_t *top)
{
	return (struct rn_live){ .extent = t->in_file.head,
				 .buffer = (uint64_t)(uintptr_t)t->buffer,
				 .top = (uint64_t)(uintptr_t)top,
				 .entered = t->entered,
				 .left = t->left,
				 .limit = t->limit,
				 .lost = t->lost,
				 .sealed = t->sealed,
				 .seal = { t->seal[0], t->seal[1] },
				 .expected = RN_LIVE_HERE,
				 .off = t->off };
}

/* The end of the words of all calls in flight except the innermost. */
static const uint64_t *outer_end(const struct rn_stream *t)
{
	return t->marks ? t->mark[t->marks - 1] : t->buffer;
}

static int copy_one(struct rn_stream *t)
{
	const uint64_t *top = outer_end(t);
	struct rn_live live = state_of(t, top);
	const struct rn_event_state *e = t->events;
	int rc = rn_copy_stream(&copies, &live, t->buffer, (size_t)(top - t->buffer), &t->log,
				&t->copied);

	if (rc == 0 && e && e->in_file) {
		struct rn_order_tail tail = { e->extent, (uint64_t)e->chunks << 32 | e->at,
					      e->events };

		rc = rn_copy_order(&copies, &tail, &t->copied);
	}
	return rc;
}

/* Of the process, and of the stream if there is one. False: not now, or not any more. */
static bool make_copy(struct rn_stream *t)
{
	static bool busy;
	int rc;

	if (!folder.in_memory || __atomic_test_and_set(&busy, __ATOMIC_ACQUIRE))
		return false;
	rc = rn_copy_begin(&copies);
	if (rc == 0) {
		rc = copy_shared();
		if (rc == 0 && t)
			rc = copy_one(t);
		rc = rn_copy_end(&copies, rc);
	}
	__atomic_clear(&busy, __ATOMIC_RELEASE);
	if (rc) {
		folder.in_memory = false;
		if (!__atomic_exchange_n(&spill.head->warned, 1, __ATOMIC_RELAXED))
			warn(copies.path, rc, "node fails");
	}
	return rc == 0;
}

static bool is_copy_due(struct rn_stream *t)
{
	uint64_t now = folder.in_memory ? copy_clock() : 0;

	if (folder.in_memory && t->copy_next == 0) {
		t->copy_period = COPY_FIRST;
		t->copy_next = now + COPY_FIRST;
	}
	return folder.in_memory && now >= t->copy_next;
}

/* Everything that the stream has, once its areas are not those that the copy stands on. Both change
 * with the whole, and those of the times by themselves: three seals lead there from anywhere. */
static bool copy_stream(struct rn_stream *t)
{
	for (int i = 0; i < 4 && t->spooled; i++) {
		bool whole = t->calls != rn_spool_sealed(t)->upto ||
			     t->copied.area == rn_spool_sealed(t)->area;

		if (!whole && rn_copy_can(rn_spool_sealed(t), &t->copied))
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
		seal_or_freeze(t,
			       t->calls == rn_spool_sealed(t)->upto + rn_spool_sealed(t)->places);
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
	int saved = errno, rc;

	if (!spill.head || t->in_file.at) /* it is in the file, all of it or a beginning */
		return;
	t->log = (struct rn_log){ .spill = &spill, .stream = t->number };
	rc = rn_spill_claim(&spill, RN_EXTENT_LIVE, t->number,
			    sizeof(t->live) + sizeof(t->words_in_file), &t->live, &t->in_file);
	if (rc) {
		fail(rc);
	} else {
		t->spooled = any = true;
		add_tables(t);
		add_shapes(t);
		add_moments(t);
		if (rn_outcome_ops)
			rn_outcome_ops->stream_stored(t);
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

#define COPY_TRIES 10000 /* of 1 ms each: then who copies is not going to end */

/* It is not sealed again, so this is when it is copied, if it is, even if another thread is just
 * copying what is its own. */
bool rn_spool_close(struct rn_stream *t)
{
	static const struct timespec moment = { 0, 1000000 };

	seal_or_freeze(t, true);
	for (int i = 0; i < COPY_TRIES && folder.in_memory && t->spooled && !copy_stream(t); i++)
		nanosleep(&moment, NULL);
	return t->spooled;
}

/* Until it is sealed, the file has the segment before it and nothing behind. */
bool rn_spool_segment(struct rn_stream *t)
{
	struct rn_seal last = *rn_spool_sealed(t);

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
	rn_spool_leave_areas(t, &last);
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

	for (struct rn_stream *t = rn_tracer.streams; t && folder.in_memory; t = t->next)
		all = (t == rn_me || !rn_tracer.active) && copy_stream(t) && all;
	return all;
}

/* In the copy, too, this is behind everything. */
void rn_spool_note(const char *how, uint64_t lost, const struct rn_fact_tally *tally, bool copied)
{
	int saved = errno;
	bool all = copied && spill.head && copy_all();

	for (const struct rn_stream *t = rn_tracer.streams; t; t = t->next) {
		if (!t->in_file.at)
			lost += t->calls + t->lost;
		lost += t->events && !t->events->counted ? t->events->events : 0;
	}
	if (lost)
		add_shared(RN_FACT_LOST, &lost, sizeof(lost), NULL, 0);
	add_shared(RN_FACT_TALLY, tally, sizeof(*tally), NULL, 0);
	add_shared(RN_FACT_END, how, strlen(how), NULL, 0);
	if (all)
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
			rn_spill_remove(copies.path);
		if (remove)
			rn_spool_folder_remove(&folder);
	}
	errno = saved;
}

void rn_spool_drop(void)
{
	if (spill.path[0])
		rn_spill_remove(spill.path);
	rn_spool_folder_remove(&folder);
}

/* Replaces the mapping of the file in a forked child with private memory, so that the child does
 * not write to the file. If there is no memory, the mapping stays: the child makes no calls, so
 * only the call in flight could write there. The kernel is called directly, because UCX replaces
 * mmap with a function that takes a lock, which a thread of the parent may hold. */
static void leave_file(struct rn_stream *t)
{
	size_t bytes = t->in_file.head.pages * RN_SPILL_PAGE;

	if (t->in_file.at)
		syscall(SYS_mmap, t->in_file.at, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	t->spooled = false;
}

void rn_spool_child(void)
{
	for (struct rn_stream *t = rn_tracer.streams; t; t = t->next)
		leave_file(t);
	rn_spill_forget(&spill);
}
