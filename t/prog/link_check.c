/*
 * link_check.c - Stress test of merge/link_mpi: any number of ranks, sizes, failures, late ranks.
 *
 * Run by mpirun with any number of ranks, for example 1 to 9; rank 0 prints TAP. A numeric argument
 * adds that many seconds of random rounds.
 */
#include "merge/merge_tree_mpi.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS ((uint64_t)1000000)

static const struct rn_link_calls calls = {
	PMPI_Isend,  PMPI_Irecv,        PMPI_Iprobe,    PMPI_Test,      PMPI_Get_count,
	PMPI_Cancel, PMPI_Request_free, PMPI_Comm_rank, PMPI_Comm_size,
};

static struct rn_mpi_link l;
static int bad, tests, failed;
static uint64_t seed = 1;

static bool check(bool good, const char *what, int line)
{
	if (good)
		return true;
	bad++;
	fprintf(stderr, "# rank %d: line %d: %s\n", l.rank, line, what);
	return false;
}

#define CHECK(x) check(x, #x, __LINE__)

/* Waits until all ranks have arrived; rank 0 prints the result. */
static void ok(const char *what)
{
	int all = 0;

	PMPI_Reduce(&bad, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	failed += all != 0;
	if (l.rank == 0) {
		printf("%sok %d - %s\n", all ? "not " : "", ++tests, what);
		fflush(stdout);
	}
	bad = 0;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Returns the same numbers on all ranks. */
static uint64_t any(uint64_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % below;
}

/* The data that rank r sends: its rank, a length, and bytes that depend on both. */
struct load {
	size_t len[64];             /* by rank */
	int fail_pack, fail_absorb; /* the rank that fails, or -1 */
	struct rn_buf all;          /* own bytes, followed by the bytes of the following ranks */
	uint64_t next;              /* the rank whose data must follow */
};

static unsigned char byte_of(int rank, size_t i)
{
	return (unsigned char)((size_t)rank * 37 + i * 7 + i / 256);
}

static void put_own(struct load *w)
{
	size_t n = w->len[l.rank];
	unsigned char *p;

	rn_buf_le32(&w->all, (uint32_t)l.rank);
	rn_buf_le64(&w->all, n);
	p = rn_buf_reserve(&w->all, n);
	if (!CHECK(p != NULL))
		return;
	for (size_t i = 0; i < n; i++)
		p[i] = byte_of(l.rank, i);
	w->all.len += n;
}

static int pack(void *arg, struct rn_buf *out)
{
	struct load *w = arg;

	if (w->fail_pack == l.rank)
		return -50;
	rn_buf_add(out, w->all.data, w->all.len);
	return rn_buf_status(out);
}

static int absorb(void *arg, uint64_t first, uint64_t n, const void *bytes, size_t len)
{
	struct load *w = arg;

	CHECK(first == w->next && first + n <= (uint64_t)l.size);
	w->next = first + n;
	if (w->fail_absorb == l.rank)
		return -60;
	rn_buf_add(&w->all, bytes, len);
	return rn_buf_status(&w->all);
}

static uint64_t get(const unsigned char *p, int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

/* The bytes of all ranks, in rank order. */
static void check_all(const struct load *w)
{
	const unsigned char *p = w->all.data, *end = p + w->all.len;

	for (int r = 0; r < l.size; r++) {
		if (!CHECK(end - p >= 12 && get(p, 4) == (uint64_t)r && get(p + 4, 8) == w->len[r]))
			return;
		p += 12;
		if (!CHECK((size_t)(end - p) >= w->len[r]))
			return;
		for (size_t i = 0; i < w->len[r]; i++)
			if (p[i] != byte_of(r, i)) {
				check(false, "the bytes that were sent", __LINE__);
				return;
			}
		p += w->len[r];
	}
	CHECK(p == end);
}

static void load_init(struct load *w, size_t len)
{
	*w = (struct load){ .fail_pack = -1, .fail_absorb = -1, .next = (uint64_t)l.rank + 1 };
	for (int r = 0; r < l.size && r < 64; r++)
		w->len[r] = len;
}

static int go_up(struct load *w)
{
	errno = 77;
	put_own(w);
	rn_link_up(&l, pack, absorb, w);
	CHECK(errno == 77);
	return l.status;
}

static void arm(uint64_t ms)
{
	rn_link_arm(&l, ms ? ms * MS : RN_LINK_NO_END);
	l.grace = l.grace < 300 * MS ? l.grace : 300 * MS;
}

static void one_up(size_t len)
{
	struct load w;

	load_init(&w, len);
	CHECK(go_up(&w) == RN_OK);
	if (l.rank == 0)
		check_all(&w);
	rn_buf_free(&w.all);
}

static void one_down(size_t len)
{
	struct rn_buf b = { 0 };
	unsigned char *p = rn_buf_reserve(&b, len);

	rn_buf_add(&b, "x", l.rank ? 1 : 0);
	for (size_t i = 0; i < len && l.rank == 0; i++)
		p[i] = byte_of(5, i);
	if (l.rank == 0)
		b.len = len;
	CHECK(rn_link_down(&l, &b) == RN_OK);
	CHECK(b.len == len);
	for (size_t i = 0; i < b.len; i++)
		if (b.data[i] != byte_of(5, i)) {
			check(false, "the bytes of rank 0", __LINE__);
			break;
		}
	rn_buf_free(&b);
}

static void test_sizes(void)
{
	static const size_t sizes[] = { 0,    1,    100,  3059,   3060,   3061,
					3072, 3073, 9000, 100000, 3000000 };

	arm(30000);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		one_up(sizes[i]);
		one_down(sizes[i]);
	}
	l.piece = 1000;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes) - 2; i++) {
		one_up(sizes[i]);
		one_down(sizes[i]);
	}
	l.piece = 1 << 30;
}

/* All ranks must get the same verdict, whichever rank fails. */
static void same_verdict(int status, int culprit)
{
	CHECK(l.status == status && l.culprit == culprit);
}

static void test_agree(void)
{
	for (int r = 0; r < l.size; r++) {
		arm(30000);
		CHECK(rn_link_agree(&l, RN_OK, NULL) == RN_OK);
		CHECK(rn_link_agree(&l, l.rank == r ? -7 : RN_OK, NULL) == -7);
		same_verdict(-7, r);
		CHECK(rn_link_agree(&l, RN_OK, NULL) == -7);
	}
}

static void test_failures(void)
{
	for (int r = 0; r < l.size; r++)
		for (int k = 0; k < 4; k++) {
			struct load w;

			arm(30000);
			load_init(&w, k / 2 ? 5000 : 10);
			if (k % 2)
				w.fail_absorb = r;
			else
				w.fail_pack = r;
			go_up(&w);
			rn_link_agree(&l, RN_OK, NULL);
			if (k % 2 == 0 && r > 0)
				same_verdict(-50, r);
			else if (k % 2 && r % 2 == 0 && r + 1 < l.size)
				same_verdict(-60, r);
			else
				same_verdict(RN_OK, -1);
			rn_buf_free(&w.all);
		}
}

/* More bytes than the limit, both up and down the tree. */
static void test_limit(void)
{
	struct load w;
	struct rn_buf b = { 0 };

	l.limit = 50000;
	arm(30000);
	load_init(&w, 10);
	w.len[l.size - 1] = 60000;
	go_up(&w);
	rn_link_agree(&l, RN_OK, NULL);
	CHECK(l.status == (l.size > 1 ? RN_E_NOMEM : RN_OK));
	rn_buf_free(&w.all);
	arm(30000);
	rn_buf_reserve(&b, 60000);
	b.len = l.rank ? 0 : 60000;
	rn_link_down(&l, &b);
	rn_link_agree(&l, RN_OK, NULL);
	CHECK(l.status == (l.size > 1 ? RN_E_NOMEM : RN_OK));
	rn_buf_free(&b);
	l.limit = (size_t)1 << 30;
	arm(30000);
	one_up(60000);
	CHECK(rn_link_agree(&l, RN_OK, NULL) == RN_OK);
}

/* A rank arrives long after the deadline. The other ranks do not wait for it, it does not wait for
 * them, and the next round works normally. */
static void one_late(int late, size_t len)
{
	struct timespec t = { 1, 500 * (long)MS };
	struct load w;
	uint64_t start;

	arm(0);
	CHECK(rn_link_agree(&l, RN_OK, NULL) == RN_OK);
	if (l.rank == late)
		nanosleep(&t, NULL);
	start = now();
	arm(150);
	load_init(&w, len);
	go_up(&w);
	rn_link_agree(&l, RN_OK, NULL);
	CHECK(now() - start < 3000 * MS);
	if (l.size > 1 && late)
		same_verdict(RN_LINK_LATE, l.culprit);
	CHECK(l.status == RN_OK || l.culprit >= 0);
	rn_buf_free(&w.all);
	arm(0);
	one_up(20000);
	CHECK(rn_link_agree(&l, RN_OK, NULL) == RN_OK);
}

static void test_late(void)
{
	int late[] = { 0, 1, l.size / 2, l.size - 1 };

	for (int i = 0; i < 4; i++)
		if (late[i] < l.size && (i < 2 || late[i] > late[i - 1]))
			one_late(late[i], i % 2 ? 10000 : 10);
}

/* Rank 0 does not receive the bytes for which it has reported that it has room. */
static int blind_iprobe(int from, int tag, MPI_Comm comm, int *there, MPI_Status *st)
{
	*there = 0;
	return tag % 4 == 2 ? MPI_SUCCESS : PMPI_Iprobe(from, tag, comm, there, st);
}

static void test_stopped(void)
{
	struct rn_link_calls blind = calls;
	struct load w;

	blind.iprobe = blind_iprobe;
	arm(0);
	CHECK(rn_link_agree(&l, RN_OK, NULL) == RN_OK);
	arm(200);
	load_init(&w, 2000000);
	if (l.rank == 0)
		l.mpi = &blind;
	go_up(&w);
	CHECK(l.rank || l.size == 1 || l.status == RN_LINK_LATE);
	l.mpi = &calls;
	rn_link_agree(&l, RN_OK, NULL);
	CHECK((l.status < 0) == (l.size > 1));
	arm(0);
	CHECK(rn_link_agree(&l, RN_OK, NULL) == RN_OK);
	rn_buf_free(&w.all);
}

/* Between neighbors, in both directions; and to a rank that does not respond. */
static void test_direct(void)
{
	int other = l.rank ^ 1, word = l.rank, got = -1;

	arm(30000);
	if (other < l.size)
		for (int i = 0; i < 20; i++) {
			CHECK(rn_link_send(&l, other, &word, sizeof(word)) == RN_OK);
			CHECK(rn_link_recv(&l, other, &got, sizeof(got)) == RN_OK);
			CHECK(got == other);
		}
	CHECK(rn_link_agree(&l, RN_OK, NULL) == RN_OK);
	arm(50);
	if (other < l.size)
		CHECK(rn_link_recv(&l, other, &got, sizeof(got)) == RN_LINK_LATE);
	arm(30000);
	CHECK(rn_link_agree(&l, RN_OK, NULL) == RN_OK);
}

static void test_random(double seconds)
{
	uint64_t end = now() + (uint64_t)(seconds * 1e9);
	int more = 1;

	while (more) {
		struct load w;

		arm(60000);
		load_init(&w, 0);
		for (int r = 0; r < l.size && r < 64; r++)
			w.len[r] = any(3) ? any(100) : any(200000);
		l.piece = any(2) ? 1 << 30 : 10000;
		CHECK(go_up(&w) == RN_OK);
		if (l.rank == 0)
			check_all(&w);
		rn_buf_free(&w.all);
		one_down(any(4) ? any(5000) : any(300000));
		more = now() < end;
		PMPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
}

static void measure(void)
{
	struct timespec c0, c1;
	uint64_t t0, t1;

	arm(30000);
	rn_link_agree(&l, RN_OK, NULL);
	t0 = now();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &c0);
	for (int i = 0; i < 20; i++) {
		one_up(1000);
		one_down(1000);
	}
	t1 = now();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &c1);
	if (l.rank == 0)
		printf("# up and down with 1000 bytes a rank: %.2f ms, %.2f ms of CPU on rank 0\n",
		       (double)(t1 - t0) / 20e6,
		       ((double)(c1.tv_sec - c0.tv_sec) * 1e9 + (double)(c1.tv_nsec - c0.tv_nsec)) /
			       20e6);
	CHECK(rn_link_agree(&l, RN_OK, NULL) == RN_OK);
}

int main(int argc, char **argv)
{
	MPI_Comm comm;

	PMPI_Init(&argc, &argv);
	PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
	PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	if (rn_link_open(&l, &calls, comm, (size_t)1 << 30) < 0)
		return 1;
	test_sizes();
	ok("bytes of all sizes go up in order, and down");
	test_agree();
	ok("one verdict for all");
	test_failures();
	ok("whoever fails, everybody hears of it");
	test_limit();
	ok("what is too long is refused");
	test_late();
	ok("nobody waits for a rank that is late, nor does it");
	test_direct();
	ok("words from one to another, or an end of waiting for them");
	test_random(argc > 1 ? atof(argv[1]) : 0.3);
	ok("random rounds");
	measure();
	ok("everybody agrees");
	test_stopped();
	ok("a transfer that stops in its middle");
	if (l.rank == 0)
		printf("1..%d\n", tests);
	rn_link_close(&l);
	PMPI_Comm_free(&comm);
	PMPI_Finalize();
	return failed != 0;
}
