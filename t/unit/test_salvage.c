/*
 * test_salvage.c - part files of killed processes: recovery finds the recorded calls or a prefix
 * of them, whatever bytes are damaged.
 *
 * `test_salvage DIR RANKS THREADS HOSTS CALLS [invalid]` instead writes the part files of a run,
 * for the tests of `rondo recover`. With `invalid`, the last call of each rank completes a request
 * that no call has created.
 */
#include "tap.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/io.h"
#include "journal/journal_copy.h"
#include "recover/journal_read.h"
#include "part_files.h"
#include "bench/expand.h"
#include "series/units.h"

static void run_rank(const char *path, int64_t rank, int64_t ranks, uint32_t threads,
		     uint64_t calls, uint64_t every, enum ending how)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		be_a_rank(path, rank, ranks, threads, calls, every, how);
		raise(SIGKILL);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	      WTERMSIG(status) == SIGKILL);
}

static const char *temporary(const char *what)
{
	return private_path(getenv("TMPDIR"), what);
}

/* Makes the part file of one process. */
static void part_of(uint64_t calls, uint64_t every, uint32_t threads, enum ending how,
		    struct rn_buf *out)
{
	const char *path = temporary("part");

	run_rank(path, 0, 1, threads, calls, every, how);
	rn_buf_clear(out);
	CHECK(rn_io_read(path, out, NULL) == RN_OK);
	unlink(path);
}

/* ---- recovered data ---- */

/* The words of a stream's calls, in order. */
struct expansion {
	const struct rn_sigs *words;
	uint64_t n, marks;
	bool good;
	uint64_t last; /* function */
};

static bool is_ith(const uint64_t *w, size_t len, uint64_t i)
{
	if (i % 5 == 0)
		return len == 24 && w[0] == function("MPI_Initialized") && w[1] == i / 5 % 2;
	return len == 24 && w[0] == RN_RAW_HEAD(function("MPI_Barrier"), i % 3) &&
	       w[2] == (i % 7 ? 0 : i);
}

static bool see(void *arg, uint32_t t)
{
	struct expansion *x = arg;
	size_t len;
	const uint64_t *w = rn_sigs_get(x->words, t, &len);

	x->last = RN_RAW_FUNCTION(w[0]);
	x->marks += strncmp(rn_mpi_vocab.func[RN_RAW_FUNCTION(w[0])].name, "rondo_", 6) == 0;
	if (x->good && is_ith(w, len, x->n))
		x->n++;
	else
		x->good = false;
	return true;
}

static struct expansion expand(const struct rn_recorded_stream *s)
{
	struct expansion x = { .words = s->calls.words, .good = true };

	CHECK(expand_rule(s->rules, s->root, see, &x) == RN_OK);
	return x;
}

/* The first stack is in the file, the second one is not. */
static void check_stacks(const struct rn_process_table *process)
{
	size_t len;
	const void *stack = rn_process_site(process, 1, &len);

	CHECK(stack && len == 6 && memcmp(stack, "\1\1m\0\0\20", 6) == 0);
	CHECK(!rn_process_site(process, 2, &len));
}

static void found(uint64_t calls, uint32_t threads, enum ending how)
{
	static const char *const last[] = { NULL, "MPI_Barrier", "MPI_Comm_free", "MPI_Barrier",
					    NULL };
	struct rn_buf b = { 0 };
	struct rn_salvage s;
	struct rn_arena mem;
	uint64_t run, time;

	part_of(calls, 0, threads, how, &b);
	rn_arena_init(&mem, SIZE_MAX);
	CHECK(rn_salvage(&mem, b.data, b.len, RN_SALVAGE_ALL, &s, NULL) == RN_OK && s.n == 1 &&
	      s.run == RUN);
	CHECK(rn_salvage_peek(b.data, b.len, &run, &time, NULL) == RN_OK && run == RUN &&
	      time == 99);
	CHECK(s.process[0].complete == (how == SAID_SO) && !s.process[0].damaged);
	CHECK(s.process[0].recorded.streams == threads);
	CHECK(s.process[0].recorded.offset == clock_of_rank.offset &&
	      s.process[0].recorded.drift == clock_of_rank.drift);
	check_stacks(&s.process[0].recorded.process);
	for (uint32_t k = 0; k < s.process[0].recorded.streams; k++) {
		const struct rn_recorded_stream *t = &s.process[0].recorded.stream[k];
		struct expansion x = expand(t);
		const struct rn_time *first = rn_times_get(t->calls.times, 0);

		CHECK(x.n == calls);
		CHECK(x.good == (last[how] == NULL));
		CHECK(!last[how] || strcmp(rn_mpi_vocab.func[x.last].name, last[how]) == 0);
		CHECK(x.marks == (how == IN_NESTED ? 2 : 0));
		CHECK(s.process[0].stopped[k] ==
		      (how == IN_BARRIER || how == IN_NESTED || how == IN_EXPECTED
			       ? function("MPI_Barrier")
			       : RN_STOPPED_NOWHERE));
		CHECK(calls < PLACES || (first && first->dur.min == 3000));
	}
	rn_arena_free(&mem);
	rn_buf_free(&b);
}

static void test_found(void)
{
	static const uint64_t calls[] = { 0, 1, PLACES - 1, PLACES, PLACES + 1, 1000, 5000 };

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		for (enum ending how = IN_NOTHING; how <= SAID_SO; how++)
			found(calls[i], 1 + (uint32_t)i % 3, how);
}

/* ---- traces ---- */

/* Whether the recovered data becomes a sound trace, or is rejected. */
static bool becomes_a_trace(const void *bytes, size_t len)
{
	struct rn_recovered r;
	struct rn_err err = { 0 };
	int rc = recover_valid(bytes, len, temporary("trace"), &r, &err);

	rn_recovered_free(&r);
	CHECK(rc == RN_OK || (rc == RN_E_DATA && err.text[0]));
	return rc == RN_OK;
}

/* ---- segments ---- */

/* The calls of a stream as words in which texts are hashed, and the duration of each. */
struct list {
	const struct rn_recorded_stream *of;
	struct rn_arena *mem;
	uint64_t elastic; /* calls with elastic slots */
	struct rn_buf b;
};

/* Adds the elastic value of the next call that has one. */
static void list_value(struct list *l, const struct rn_holes *h)
{
	struct rn_arena scratch;
	struct rn_units *u;
	int64_t v = -1;

	rn_arena_init(&scratch, SIZE_MAX);
	CHECK(rn_holes_units(h, 0, l->mem, &scratch, &u) == RN_OK);
	CHECK(rn_units_read(u, l->elastic++, &v, 1) == 1);
	rn_arena_free(&scratch);
	rn_buf_add(&l->b, &v, sizeof(v));
}

static bool list_one(void *arg, uint32_t t)
{
	struct list *l = arg;
	size_t len, n;
	const uint64_t *w = rn_sigs_get(l->of->calls.words, t, &len);
	const struct rn_holes *h = rn_holes_of(l->of->calls.holes, t);
	const char *name;

	if (h)
		list_value(l, h);
	rn_buf_add(&l->b, w, w[0] == function("MPI_Comm_set_name") ? 16 : len);
	if (w[0] == function("MPI_Comm_set_name") &&
	    CHECK(w[2] < rn_sigs_count(l->of->calls.texts))) {
		name = rn_sigs_get(l->of->calls.texts, (uint32_t)w[2], &n);
		rn_buf_add(&l->b, name, n);
	}
	return true;
}

static void list_calls(const void *bytes, size_t len, uint32_t stream, struct list *out)
{
	struct rn_salvage s;
	struct rn_arena mem;

	rn_arena_init(&mem, SIZE_MAX);
	CHECK(rn_salvage(&mem, bytes, len, RN_SALVAGE_ALL, &s, NULL) == RN_OK && s.n == 1);
	out->of = &s.process[0].recorded.stream[stream];
	out->mem = &mem;
	CHECK(expand_rule(out->of->rules, out->of->root, list_one, out) == RN_OK);
	rn_arena_free(&mem);
}

/* All call times are in the file, except those of calls in the ring. */
static uint64_t count_times(const void *bytes, size_t len)
{
	struct rn_salvage s;
	struct rn_arena mem;
	uint64_t n = 0;

	rn_arena_init(&mem, SIZE_MAX);
	CHECK(rn_salvage(&mem, bytes, len, RN_SALVAGE_ALL, &s, NULL) == RN_OK && s.n == 1);
	for (uint32_t i = 0; i < rn_sigs_count(s.process[0].recorded.stream[0].calls.words); i++) {
		const struct rn_time *t =
			rn_times_get(s.process[0].recorded.stream[0].calls.times, i);

		n += t ? rn_timing_count(&t->dur) : 0;
	}
	rn_arena_free(&mem);
	return n;
}

/* A stream in segments is equal to one that is not in segments. */
static void in_segments(uint64_t calls, uint64_t every, enum ending how)
{
	struct rn_buf whole = { 0 }, parts = { 0 };

	part_of(calls, UINT64_MAX, 2, how, &whole);
	part_of(calls, every, 2, how, &parts);
	for (uint32_t k = 0; k < 2; k++) {
		struct list a = { 0 }, b = { 0 };

		list_calls(whole.data, whole.len, k, &a);
		list_calls(parts.data, parts.len, k, &b);
		CHECK(a.b.len > 8 * calls && a.b.len == b.b.len &&
		      memcmp(a.b.data, b.b.data, a.b.len) == 0);
		rn_buf_free(&a.b);
		rn_buf_free(&b.b);
	}
	CHECK(count_times(parts.data, parts.len) + PLACES > calls);
	CHECK(becomes_a_trace(parts.data, parts.len));
	rn_buf_free(&whole);
	rn_buf_free(&parts);
}

static void test_segments(void)
{
	static const uint64_t every[] = { 11, 64, 290 };

	for (size_t i = 0; i < sizeof(every) / sizeof(*every); i++)
		for (enum ending how = IN_NOTHING; how <= IN_NEW_SEGMENT; how++)
			in_segments(300, every[i], how);
}

static uint32_t texts_now(uint64_t calls, uint64_t every, enum ending how, bool *makers)
{
	struct rn_buf part = { 0 };
	struct rn_salvage s;
	struct rn_arena mem;
	const struct rn_recorded_stream *r;
	uint32_t n;

	rn_arena_init(&mem, SIZE_MAX);
	part_of(calls, every, 1, how, &part);
	CHECK(rn_salvage(&mem, part.data, part.len, RN_SALVAGE_NOW, &s, NULL) == RN_OK && s.n == 1);
	r = &s.process[0].recorded.stream[0];
	n = rn_sigs_count(r->calls.texts);
	*makers = false;
	for (uint32_t i = 0; i < r->makers; i++)
		*makers |= r->maker[i] < rn_sigs_count(r->calls.words);
	rn_arena_free(&mem);
	rn_buf_free(&part);
	return n;
}

/* If the log has a segment that the stream's memory does not have yet, it is not the stream's
 * current segment. */
static void test_tables_now(void)
{
	bool makers;

	for (uint64_t every = 64; every < 300; every += 100) {
		uint32_t n = texts_now(300, every, IN_NOTHING, &makers);

		CHECK(n > 1 && makers);
		CHECK(texts_now(300, every, IN_NEW_SEGMENT, &makers) == n && makers);
	}
}

/* ---- damage ---- */

/* A random offset, preferably of a byte that is not 0. */
static size_t somewhere(const struct rn_buf *b)
{
	size_t at = tap_below(b->len);

	for (int i = 0; i < 200 && !b->data[at]; i++)
		at = tap_below(4) ? tap_below(b->len)
				  : at / RN_SPILL_PAGE * RN_SPILL_PAGE + tap_below(256);
	return at;
}

static void damage(struct rn_buf *b)
{
	static const uint64_t odd[] = { 0, 1, 7, 8, 4096, UINT32_MAX, UINT64_MAX, INT64_MAX };
	size_t at = somewhere(b);

	switch (tap_below(4)) {
	case 0:
		b->data[at] ^= (unsigned char)(1 + tap_below(255));
		break;
	case 1:
		at = at / 8 * 8;
		memcpy(b->data + at, &odd[tap_below(8)], at + 8 <= b->len ? 8 : 0);
		break;
	case 2:
		at = at / RN_SPILL_PAGE * RN_SPILL_PAGE;
		memset(b->data + at, 0, b->len - at < RN_SPILL_PAGE ? b->len - at : RN_SPILL_PAGE);
		break;
	default:
		b->len = at;
	}
}

/* A truncated file contains a prefix of the calls. A file with missing or foreign pages is rejected
 * or sound. */
static void test_damage(uint64_t every)
{
	struct rn_buf good = { 0 }, bad = { 0 };
	unsigned made = 0;

	part_of(700, every, 2, IN_NESTED, &good);
	for (int i = 0; i < 1000; i++) {
		rn_buf_clear(&bad);
		rn_buf_add(&bad, good.data, good.len);
		for (uint64_t k = 1 + tap_below(3); k > 0 && bad.len; k--)
			damage(&bad);
		made += becomes_a_trace(bad.data, bad.len);
	}
	CHECK(made > 100);
	rn_buf_free(&good);
	rn_buf_free(&bad);
}

/* Every stream has a prefix of the calls that were made. Returns the number of calls of all
 * streams. */
static uint64_t beginnings(const void *bytes, size_t len)
{
	struct rn_salvage s;
	struct rn_arena mem;
	uint64_t n = 0;

	rn_arena_init(&mem, SIZE_MAX);
	if (rn_salvage(&mem, bytes, len, RN_SALVAGE_ALL, &s, NULL) == RN_OK)
		for (uint32_t i = 0; i < s.n; i++)
			for (uint32_t k = 0; k < s.process[i].recorded.streams; k++) {
				struct expansion x = expand(&s.process[i].recorded.stream[k]);

				CHECK(x.good);
				n += x.n;
			}
	rn_arena_free(&mem);
	return n;
}

static void test_cut(void)
{
	struct rn_buf b = { 0 };

	part_of(700, 0, 1, IN_NOTHING, &b);
	for (size_t len = b.len; len > 0; len -= len < RN_SPILL_PAGE ? len : RN_SPILL_PAGE)
		beginnings(b.data, len);
	rn_buf_free(&b);
}

/* The number of bytes of records and snapshots. The bytes after them have no meaning. */
static size_t checked_bytes(const struct rn_extent *e)
{
	return e->kind == RN_EXTENT_LOG    ? sizeof(*e) + e->used
	       : e->kind == RN_EXTENT_AREA ? sizeof(*e) + 512
					   : 0;
}

/* A changed byte in a log or a snapshot never results in other calls than those that were made. If
 * the byte is in the latest snapshot, the previous one is used. */
static void test_changed(void)
{
	struct rn_buf b = { 0 };
	unsigned fewer = 0, none = 0;

	part_of(700, 0, 1, IN_NOTHING, &b);
	for (size_t at = RN_SPILL_PAGE; at < b.len; at += RN_SPILL_PAGE) {
		struct rn_extent e;

		memcpy(&e, b.data + at, sizeof(e));
		if (e.magic != RN_EXTENT_MAGIC)
			continue;
		for (size_t i = 0; i < checked_bytes(&e); i += 1 + tap_below(20)) {
			uint64_t n;

			b.data[at + i] ^= 0x11;
			n = beginnings(b.data, b.len);
			fewer += n > 0 && n < 700;
			none += n == 0;
			b.data[at + i] ^= 0x11;
		}
	}
	CHECK(fewer > 10 && none > 10);
	CHECK(beginnings(b.data, b.len) == 700);
	rn_buf_free(&b);
}

static uint64_t recovered_calls(const struct rn_buf *b)
{
	struct rn_salvage s;
	struct rn_arena mem;
	uint64_t n;

	rn_arena_init(&mem, SIZE_MAX);
	CHECK(rn_salvage(&mem, b->data, b->len, RN_SALVAGE_ALL, &s, NULL) == RN_OK && s.n == 1);
	n = rn_rules_length(s.process[0].recorded.stream[0].rules,
			    s.process[0].recorded.stream[0].root);
	rn_arena_free(&mem);
	return n;
}

/* If the elastic values in the latest snapshot have changed, the previous snapshot is used. */
static void test_changed_values(void)
{
	struct rn_buf b = { 0 };
	struct rn_live live;
	size_t at = RN_SPILL_PAGE;
	uint64_t before, now;

	part_of(700, UINT64_MAX, 1, IN_NOTHING, &b);
	do {
		at += RN_SPILL_PAGE;
		memcpy(&live, b.data + at, sizeof(live));
	} while (live.extent.magic != RN_EXTENT_MAGIC || live.extent.kind != RN_EXTENT_LIVE);
	before = live.seal[!live.sealed].upto;
	now = recovered_calls(&b);
	CHECK(before > 500 && now == live.calls);
	at = live.seal[live.sealed].calls.page * RN_SPILL_PAGE + sizeof(struct rn_extent);
	b.data[at + live.seal[live.sealed].grammar + 1] ^= 1;
	CHECK(recovered_calls(&b) == before);
	rn_buf_free(&b);
}

/* Writes the part file of a process whose calls have these words, with elastic slots. */
static void elastic_rank(const char *path, const uint64_t *w, size_t n)
{
	struct rn_spill spill;
	struct rn_log shared = { .spill = &spill, .stream = RN_EXTENT_SHARED };
	struct stream s;

	must(rn_spill_open(&spill, path, RUN) == 0);
	add_facts(&shared, 0, 1);
	start_stream(&spill, &s, 0, 0);
	add_elastic(&spill, &s, 1, false);
	must(rn_log_add(&s.log, RN_FACT_ELASTIC, w, n * sizeof(*w), NULL, 0) == 0);
	add_number(&spill, &s, s.elastic + 1);
	seal(&spill, &s);
	rn_spill_close(&spill, false);
}

/* Elastic slots in invalid positions are damage. They are not reported as lack of memory. */
static void test_wrong_holes(void)
{
	uint64_t probe = function("MPI_Iprobe"), many[300] = { probe };
	const uint64_t tie[] = { probe, 0, RN_RAW_SAME(0), world(), 0, RN_STATUS_NOTHING, 0 };
	const uint64_t comm[] = { probe, 0, RN_RAW_HOLE, RN_RAW_HOLE, 0, RN_STATUS_NOTHING, 0 };
	const uint64_t first[] = { RN_RAW_HOLE, 0 };
	const struct {
		const uint64_t *w;
		size_t n;
	} wrong[] = { { tie, 7 }, { comm, 7 }, { first, 2 }, { many, 300 } };

	for (int i = 1; i < 300; i++)
		many[i] = RN_RAW_HOLE;
	for (int i = 0; i < 4; i++) {
		struct rn_buf b = { 0 };

		elastic_rank(temporary("part"), wrong[i].w, wrong[i].n);
		CHECK(rn_io_read(temporary("part"), &b, NULL) == RN_OK);
		unlink(temporary("part"));
		CHECK(becomes_a_trace(b.data, b.len));
		rn_buf_free(&b);
	}
}

/* ---- copies ---- */

/* Copies the checkpoints now and then, and all of them at the end. With `another`, another process
 * removes the copy in between. */
static void copying_rank(const char *path, const char *copy_path, uint64_t calls, bool another)
{
	static struct rn_spill spill;
	static struct rn_spill_copy c = { .of = &spill };
	struct rn_log shared = { .spill = &spill, .stream = RN_EXTENT_SHARED };
	struct rn_copied of_shared = { 0 }, of_stream = { 0 };
	struct stream s;

	snprintf(c.path, sizeof(c.path), "%s", copy_path);
	must(rn_spill_open(&spill, path, RUN) == 0);
	add_facts(&shared, 0, 1);
	start_stream(&spill, &s, 0, 0);
	for (uint64_t i = 0; i <= calls; i++) {
		if (i % 300 == 0 || i == calls) {
			seal(&spill, &s);
			must(rn_copy_can(&s.m->live.seal[s.m->live.sealed], &of_stream));
			must(rn_copy_begin(&c) == 0);
			must(rn_copy_log(&c, rn_log_end(&shared), &of_shared) == 0);
			must(rn_copy_stream(&c, &s.m->live, s.m->buffer, 0, &s.log, &of_stream) ==
			     0);
			must(rn_copy_end(&c, 0) == 0);
		}
		if (another && i == calls / 2)
			must(unlink(copy_path) == 0); /* the next copy is complete */
		if (i < calls)
			add_ith(&spill, &s, i);
	}
}

static void copied(uint64_t calls, bool another)
{
	char path[300], copy[600];
	struct rn_buf b = { 0 };
	struct rn_salvage s;
	struct rn_arena mem;
	struct expansion x;
	int status;
	pid_t pid;

	snprintf(path, sizeof(path), "%s", temporary("part"));
	snprintf(copy, sizeof(copy), "%s.copies/copy", path);
	pid = fork();
	if (pid == 0) {
		copying_rank(path, copy, calls, another);
		raise(SIGKILL);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	      WTERMSIG(status) == SIGKILL);
	unlink(path);
	CHECK(rn_io_read(copy, &b, NULL) == RN_OK && rn_salvage_is_copy(b.data));
	unlink(copy);
	*strrchr(copy, '/') = 0;
	CHECK(rmdir(copy) == 0);
	rn_arena_init(&mem, SIZE_MAX);
	CHECK(rn_salvage(&mem, b.data, b.len, RN_SALVAGE_ALL, &s, NULL) == RN_OK && s.n == 1 &&
	      s.run == RUN);
	CHECK(!s.process[0].damaged && s.process[0].recorded.streams == 1);
	x = expand(&s.process[0].recorded.stream[0]);
	CHECK(x.n == calls && x.good);
	rn_arena_free(&mem);
	rn_buf_free(&b);
}

/* Part directories of different paths differ, even if the last names are equal. */
static void test_memory_folder(void)
{
	char a[4096], b[4096], small[16];

	CHECK(rn_spill_memory_folder("/tmp/x.rondo.part", a, sizeof(a)));
	CHECK(strncmp(a, "/dev/shm/x.rondo-", 17) == 0 && strcmp(a + 25, ".part") == 0);
	CHECK(rn_spill_memory_folder("/tmp/../tmp/x.rondo.part", b, sizeof(b)) && !strcmp(a, b));
	CHECK(rn_spill_memory_folder("/x.rondo.part", b, sizeof(b)) && strcmp(a, b));
	CHECK(!rn_spill_memory_folder("/tmp/x.rondo.part", small, sizeof(small)));
	CHECK(!rn_spill_memory_folder("/tmp/no such place/x.part", b, sizeof(b)));
}

static void test_copied(void)
{
	static const uint64_t calls[] = { 0, 1, 299, 300, 301, 1000, 15000 };

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		copied(calls[i], false);
		copied(calls[i], i > 2);
	}
}

/* Processes that did not record their identity, and a file that is not a part file. */
static void test_refused(void)
{
	unsigned char page[2 * RN_SPILL_PAGE] = { 0 };
	struct rn_spill_head h = { .magic = RN_SPILL_MAGIC, .run = RUN, .next = 1 };

	CHECK(!becomes_a_trace(page, sizeof(page)));
	memcpy(page, &h, sizeof(h));
	CHECK(!becomes_a_trace(page, sizeof(page)));
	CHECK(!becomes_a_trace(page, 100));
}

/* ---- for the shell tests ---- */

static int write_files(char **arg, enum ending how)
{
	uint64_t ranks = strtoull(arg[1], NULL, 10), hosts = strtoull(arg[3], NULL, 10);

	if (mkdir(arg[0], 0700) < 0)
		return 2;
	for (uint64_t r = 0; r < ranks; r++) {
		char path[4096];
		int n = snprintf(path, sizeof(path), "%s/%016x-host%" PRIu64, arg[0], RUN,
				 r * hosts / ranks);

		if (n >= (int)sizeof(path))
			return 1;
		run_rank(path, (int64_t)r, (int64_t)ranks, (uint32_t)atoi(arg[2]),
			 strtoull(arg[4], NULL, 10), 0, how);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 6)
		return write_files(argv + 1, argc > 6 ? INVALID : SAID_SO);
	test_found();
	ok("what was written is found, to the call that was under way");
	test_segments();
	ok("a stream in segments is whole again");
	test_tables_now();
	ok("a view of where it is has the tables of the segment that it is in");
	test_cut();
	ok("a file that is cut gives a beginning");
	test_changed();
	test_changed_values();
	ok("what has changed is not taken for what was recorded");
	test_damage(0);
	test_damage(150);
	test_wrong_holes();
	ok("damage is refused, or leaves a sound trace");
	test_memory_folder();
	test_copied();
	ok("a copy has what was sealed when it was made");
	test_refused();
	ok("what is no part file is refused");
	unlink(temporary("trace"));
	return tap_done();
}
