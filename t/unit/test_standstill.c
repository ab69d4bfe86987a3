/*
 * test_standstill.c - positions of processes, from part files that are written by the test: the
 * call in flight of each, the ranks that it is blocked on, damaged files, and running processes.
 */
#include "tap.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/hang.h"
#include "base/arena.h"
#include "base/io.h"
#include "recover/journal_read.h"
#include "part_files.h"

#define RANKS 5
#define ANY   ((uint64_t)(int64_t)-2)

/* A rank of the program and its current position. */
struct rank {
	struct rn_spill spill;
	struct rn_log shared;
	struct stream s;
};

static const char *temporary(void)
{
	return private_path(getenv("TMPDIR"), "part");
}

static void start_rank(struct rank *r, const char *path, int64_t rank)
{
	struct rn_const_value any = { RN_K_rank, word("MPI_ANY_SOURCE"), -2 };
	struct rn_const_value null = { RN_K_request, word("MPI_REQUEST_NULL"), 0 };

	must(rn_spill_open(&r->spill, path, RUN) == 0);
	r->shared = (struct rn_log){ .spill = &r->spill, .stream = RN_EXTENT_SHARED };
	add_facts(&r->shared, rank, RANKS);
	must(rn_log_add(&r->shared, RN_FACT_CONSTANT, &any, sizeof(any), NULL, 0) == 0);
	must(rn_log_add(&r->shared, RN_FACT_CONSTANT, &null, sizeof(null), NULL, 0) == 0);
	start_stream(&r->spill, &r->s, 0, 0);
}

/* Records comm:world.0, the half of the world that has the rank: 0 and 1, or 2 and more. Returns
 * the call word of the communicator. */
static uint64_t half(struct rank *r, uint64_t rank)
{
	struct rn_fact_comm f = { .word = 10, .complete = 1 };
	static const char name[] = "comm:world.0";

	f.entry = rank < 2 ? (struct rn_comm_entry){ rank, 2, 0, 1, 0 }
			   : (struct rn_comm_entry){ rank - 2, RANKS - 2, 0, 3, 0 };
	must(rn_log_add(&r->shared, RN_FACT_COMM, &f, sizeof(f), name, sizeof(name) - 1) == 0);
	return 10;
}

/* The words of the receive: buf, count, datatype, source, tag, comm. */
static void receives(struct rank *r, uint64_t from, uint64_t comm)
{
	const uint64_t w[] = { function("MPI_Recv"), 1, 0, 1, 3, from, 7, comm };

	enter(&r->s, w, 8);
}

static void meets(struct rank *r, uint64_t comm)
{
	const uint64_t w[] = { function("MPI_Barrier"), comm };

	enter(&r->s, w, 2);
}

static void asks_for(struct rank *r, uint64_t from)
{
	const uint64_t w[] = { function("MPI_Irecv"), 1, 0, 1, 3, from, 7, world(), 2, 0 };

	uint64_t call = rn_sigs_count(r->s.words);

	add_call(&r->spill, &r->s, w, 10);
	must(rn_log_add(&r->s.log, RN_FACT_SHAPE, &call, sizeof(call), NULL, 0) == 0);
}

static void waits(struct rank *r, const uint64_t *request, uint64_t n)
{
	uint64_t w[16] = { function("MPI_Waitall"), n, n << 2 | RN_RAW_HERE };

	memcpy(w + 3, request, n * sizeof(*w));
	enter(&r->s, w, 3 + n);
}

static void tests(struct rank *r, uint64_t request)
{
	const uint64_t w[] = { function("MPI_Test"), request, 0, RN_STATUS_NOTHING, 0 };

	for (int i = 0; i < 10; i++)
		add_call(&r->spill, &r->s, w, 5);
}

/* ---- programs ---- */

static void deadlock(struct rank *r, uint64_t rank)
{
	if (rank < 2)
		receives(r, !rank, world());
	else
		meets(r, world());
}

/* In the second half of the world, rank 1 is world rank 3. Rank 4 is blocked on it in a barrier,
 * rank 2 in a receive. */
static void halves(struct rank *r, uint64_t rank)
{
	uint64_t comm = half(r, rank);

	if (rank == 2)
		receives(r, 1, comm);
	else if (rank != 3)
		meets(r, comm);
}

static void requests(struct rank *r, uint64_t rank)
{
	const uint64_t both[] = { RN_RAW_REQUEST(0, 1, 0), 0, RN_RAW_REQUEST(0, 0, 0) };

	asks_for(r, (rank + 1) % RANKS);
	asks_for(r, (rank + 2) % RANKS);
	if (rank == 0)
		waits(r, both, 3);
	else if (rank == 1)
		waits(r, both, 1);
	else if (rank == 2)
		tests(r, RN_RAW_REQUEST(0, 0, 0));
	else if (rank == 3)
		receives(r, ANY, world());
}

/* ---- analysis ---- */

struct seen {
	struct rn_arena mem;
	struct rn_buf file;
	struct rn_salvage salvage;
	struct rn_sight sight[RANKS];
	struct rn_standstill all;
};

static bool see(struct seen *x, const void *bytes, size_t len)
{
	struct rn_err err = { 0 };
	int rc;

	rn_arena_init(&x->mem, SIZE_MAX);
	if (rn_salvage(&x->mem, bytes, len, RN_SALVAGE_NOW, &x->salvage, &err) < 0 ||
	    x->salvage.n > RANKS)
		return false;
	for (uint32_t i = 0; i < x->salvage.n; i++)
		x->sight[i] = (struct rn_sight){ .process = &x->salvage.process[i] };
	rc = rn_standstill(x->sight, x->salvage.n, &x->mem, &x->all, &err);
	CHECK(rc == RN_OK || err.text[0]);
	return rc == RN_OK;
}

/* Makes the part file of a program whose ranks have all been killed. */
static void write_file(void (*program)(struct rank *, uint64_t), struct rn_buf *out)
{
	for (uint64_t rank = 0; rank < RANKS; rank++) {
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			static struct rank r;

			start_rank(&r, temporary(), (int64_t)rank);
			program(&r, rank);
			raise(SIGKILL);
		}
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	}
	CHECK(rn_io_read(temporary(), out, NULL) == RN_OK);
	unlink(temporary());
}

static void begin(struct seen *x, void (*program)(struct rank *, uint64_t))
{
	memset(x, 0, sizeof(*x));
	write_file(program, &x->file);
	CHECK(see(x, x->file.data, x->file.len));
	CHECK(x->all.ranks == RANKS && x->all.stands == RANKS);
}

static void end(struct seen *x)
{
	rn_arena_free(&x->mem);
	rn_buf_free(&x->file);
}

/* Whether a rank is blocked on the ranks in `whom`, such as "1,2": on all of them, or on any. */
static bool waits_for(const struct seen *x, uint64_t rank, const char *whom, bool all)
{
	const struct rn_wait_set *s = x->all.waiter[rank].set;
	char text[256] = "";

	for (uint64_t i = 0; s && i < s->n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%llu", i ? "," : "",
			 (unsigned long long)s->rank[i]);
	return strcmp(text, whom) == 0 && (!s || s->all == all);
}

static bool is_text(const struct seen *x, uint64_t rank, const char *text, const char *relative)
{
	const struct rn_need *n = &x->all.stand[rank].need;

	return strcmp(n->text, text) == 0 && strcmp(n->relative, relative) == 0;
}

static void test_deadlock(void)
{
	struct seen x;

	begin(&x, deadlock);
	CHECK(waits_for(&x, 0, "1", true) && waits_for(&x, 1, "0", true));
	CHECK(waits_for(&x, 2, "0,1", true) && waits_for(&x, 4, "0,1", true));
	CHECK(is_text(&x, 0, "MPI_Recv(source=1, tag=7, comm=MPI_COMM_WORLD)",
		      "MPI_Recv(source=rank+1, tag=7, comm=MPI_COMM_WORLD)"));
	CHECK(is_text(&x, 3, "MPI_Barrier(comm=MPI_COMM_WORLD)",
		      "MPI_Barrier(comm=MPI_COMM_WORLD)"));
	CHECK(x.all.verdict.circle_n == 2 && x.all.verdict.stuck_n == RANKS);
	end(&x);
}

static void test_halves(void)
{
	struct seen x;

	begin(&x, halves);
	CHECK(waits_for(&x, 0, "", true) && waits_for(&x, 1, "", true)); /* both are there */
	CHECK(waits_for(&x, 2, "3", true) && waits_for(&x, 4, "2,3", true));
	CHECK(x.all.stand[3].kind == RN_STAND_FREE && !x.all.stand[3].any);
	CHECK(x.all.verdict.circle_n == 0 && x.all.verdict.root_n == 1 &&
	      x.all.verdict.root[0] == 3);
	end(&x);
}

static void test_requests(void)
{
	struct seen x;

	begin(&x, requests);
	CHECK(waits_for(&x, 0, "1,2", false));
	CHECK(is_text(&x, 0,
		      "MPI_Waitall(MPI_Irecv(source=2, tag=7, comm=MPI_COMM_WORLD), "
		      "MPI_Irecv(source=1, tag=7, comm=MPI_COMM_WORLD))",
		      "MPI_Waitall(MPI_Irecv(source=rank+2, tag=7, comm=MPI_COMM_WORLD), "
		      "MPI_Irecv(source=rank+1, tag=7, comm=MPI_COMM_WORLD))"));
	CHECK(x.all.stand[0].need.requests == 2);
	CHECK(waits_for(&x, 1, "3", true));
	CHECK(x.all.stand[2].kind == RN_STAND_POLL && waits_for(&x, 2, "3", true));
	CHECK(waits_for(&x, 3, "0,1,2,4", false));
	CHECK(x.all.stand[4].kind == RN_STAND_FREE && x.all.stand[4].any &&
	      strcmp(x.all.stand[4].need.function, "MPI_Irecv") == 0);
	CHECK(x.all.verdict.stuck_n == 0 && x.all.verdict.root_n == 1);
	end(&x);
}

/* A rank is in a barrier of which another process has ended. */
static void test_gone(void)
{
	struct seen x;

	begin(&x, deadlock);
	x.sight[2].gone = true;
	CHECK(rn_standstill(x.sight, RANKS, &x.mem, &x.all, NULL) == RN_OK);
	CHECK(waits_for(&x, 3, "0,1,2", true) && !x.all.waiter[2].set && x.all.waiter[2].gone);
	end(&x);
}

/* A position that changed between two observations is not blocked. */
static void test_moved(void)
{
	struct rn_now before[1];
	struct seen x;

	begin(&x, deadlock);
	before[0] = x.salvage.process[1].now[0];
	x.sight[1].before = before;
	x.sight[1].before_n = 1;
	CHECK(rn_standstill(x.sight, RANKS, &x.mem, &x.all, NULL) == RN_OK);
	CHECK(x.all.stand[1].kind == RN_STAND_CALL);
	before[0].entered--;
	CHECK(rn_standstill(x.sight, RANKS, &x.mem, &x.all, NULL) == RN_OK);
	CHECK(x.all.stand[1].kind == RN_STAND_BUSY && !x.all.waiter[1].set);
	CHECK(x.all.verdict.circle_n == 0);
	end(&x);
}

static void test_damage(void)
{
	static void (*const program[])(struct rank *, uint64_t) = { deadlock, halves, requests };
	struct rn_buf good = { 0 }, bad = { 0 };

	for (int i = 0; i < 3000; i++) {
		struct seen x = { 0 };

		if (i % 1000 == 0) {
			rn_buf_clear(&good);
			write_file(program[i / 1000], &good);
		}
		rn_buf_clear(&bad);
		rn_buf_add(&bad, good.data, good.len);
		for (uint64_t k = 1 + tap_below(8); k > 0; k--) {
			size_t at = tap_below(bad.len);

			for (int n = 0; n < 200 && !bad.data[at]; n++)
				at = tap_below(bad.len);
			bad.data[at] = (unsigned char)tap_below(256);
		}
		see(&x, bad.data, tap_below(4) ? bad.len : tap_below(bad.len));
		rn_arena_free(&x.mem);
	}
	rn_buf_free(&good);
	rn_buf_free(&bad);
}

/* Each allocation fails once. */
static void test_memory(void)
{
	struct seen x;
	int rc = RN_E_NOMEM;

	begin(&x, requests);
	for (uint64_t at = 1; rc == RN_E_NOMEM && at < 10000; at++) {
		struct rn_err err = { 0 };

		rn_arena_free(&x.mem);
		rn_arena_init(&x.mem, SIZE_MAX);
		x.mem.fail_at = at;
		rc = rn_salvage(&x.mem, x.file.data, x.file.len, RN_SALVAGE_NOW, &x.salvage, &err);
		for (uint32_t i = 0; i < x.salvage.n && rc == RN_OK; i++)
			x.sight[i] = (struct rn_sight){ .process = &x.salvage.process[i] };
		if (rc == RN_OK)
			rc = rn_standstill(x.sight, RANKS, &x.mem, &x.all, &err);
	}
	CHECK(rc == RN_OK && waits_for(&x, 0, "1,2", false));
	end(&x);
}

/* ---- running processes ---- */

/* Alternates receives and barriers so fast that no two observations are equal. */
static void go_on(const char *path)
{
	static struct rank r;
	uint64_t top;

	start_rank(&r, path, 0);
	asks_for(&r, 1);
	top = r.s.m->live.top;
	for (uint64_t i = 1;; i++) {
		if (i % 2)
			receives(&r, 3, world());
		else
			meets(&r, world());
		r.s.m->live.entered = i;
		if (i % 101 == 0)
			usleep(300);
		__atomic_store_n(&r.s.m->live.top, top, __ATOMIC_RELEASE);
	}
}

static bool makes_sense(const struct rn_now *now)
{
	if (!now->call || now->busy)
		return true;
	if (now->call[0] == function("MPI_Recv"))
		return now->call_n == 8 && now->call[5] == 3 && now->call[7] == world();
	return now->call[0] == function("MPI_Barrier") && now->call_n == 2 &&
	       now->call[1] == world();
}

static void test_going_on(void)
{
	pid_t pid = fork();
	int status, in_call = 0;

	if (pid == 0)
		go_on(temporary());
	usleep(100000);
	for (int i = 0; i < 300; i++) {
		struct rn_arena mem;
		struct rn_salvage s;
		uint64_t size;
		int fd = rn_io_open(temporary(), &size, NULL);
		void *p = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

		rn_arena_init(&mem, SIZE_MAX);
		CHECK(rn_salvage(&mem, p, size, RN_SALVAGE_NOW, &s, NULL) == RN_OK && s.n == 1);
		CHECK(makes_sense(&s.process[0].now[0]));
		in_call += s.process[0].now[0].call != NULL;
		rn_arena_free(&mem);
		munmap(p, size);
		close(fd);
	}
	CHECK(in_call > 0);
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, &status, 0) == pid);
	unlink(temporary());
}

int main(void)
{
	temporary();
	test_deadlock();
	ok("two that receive from each other, and a barrier behind them");
	test_halves();
	ok("communicators have members of their own");
	test_requests();
	ok("requests wait for what the calls that made them name");
	test_gone();
	ok("who is gone is not there");
	test_moved();
	ok("who moves does not wait");
	test_damage();
	ok("damage is borne");
	test_memory();
	ok("so is having no memory");
	test_going_on();
	ok("a process that goes on is seen in calls that it makes");
	return tap_done();
}
