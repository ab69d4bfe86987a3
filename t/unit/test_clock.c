/*
 * test_clock.c - compares ticks with the system clock, and the clocks of simulated hosts.
 *
 * The clock is compiled into this test with its two interfaces to the system replaced: each thread
 * is a rank with its own host, offset and drift, and messages pass through mailboxes.
 */
#include "tap.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RANKS_MAX 33

static _Thread_local struct {
	int64_t offset; /* to rank 0, in ns, at the start of the test */
	int64_t drift;  /* ns per second */
	unsigned host;
} here;

static uint64_t began;

static int fake_gettime(clockid_t id, struct timespec *t)
{
	int rc = clock_gettime(id, t);
	int64_t ns = t->tv_sec * 1000000000 + t->tv_nsec;
	double since = began ? (double)(ns - (int64_t)began) * 1e-9 : 0;

	ns -= here.offset + (int64_t)((double)here.drift * since);
	t->tv_sec = ns / 1000000000;
	t->tv_nsec = ns % 1000000000;
	return rc;
}

/* Simulates only the system calls that read the identity of the host. */
static long fake_syscall(long number, ...)
{
	va_list ap;
	char *text;

	errno = EINVAL;
	if (number == SYS_openat)
		return 100;
	if (number != SYS_read)
		return number == SYS_close ? 0 : -1;
	va_start(ap, number);
	(void)va_arg(ap, long);
	text = va_arg(ap, char *);
	va_end(ap);
	text[0] = (char)('a' + here.host);
	return 1;
}

#define clock_gettime fake_gettime
#define syscall       fake_syscall
#include "base/tick_clock.c"
#undef clock_gettime
#undef syscall

static uint64_t system_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void test_ticks(void)
{
	uint64_t a, b, ns, t0, t1, scale;

	CHECK(rn_clock_now() > 0); /* before the clock is started */
	rn_clock_start();
	t0 = rn_clock_now();
	scale = rn_clock_scale(); /* without delay */
	CHECK(scale > 0);
	rn_clock_start();
	a = system_ns();
	do
		b = system_ns();
	while (b - a < 20000000);
	t1 = rn_clock_now();
	diag("%.3f ns a tick, at first %.3f", (double)rn_clock_scale() / 4294967296.0,
	     (double)scale / 4294967296.0);
	ns = (uint64_t)(((unsigned __int128)(t1 - t0) * rn_clock_scale()) >> 32);
	CHECK(ns >= b - a && ns < (b - a) + 20000000);
	CHECK((double)scale < 1.02 * (double)rn_clock_scale() &&
	      (double)scale > 0.98 * (double)rn_clock_scale());
	a = rn_clock_ns(rn_clock_now());
	b = system_ns();
	CHECK(b - a < 20000000 || a - b < 1000000);
	CHECK(rn_clock_ns(t0) < rn_clock_ns(t1));
	for (int i = 0; i < 1000; i++) {
		t0 = t1;
		t1 = rn_clock_now();
		CHECK(t1 >= t0 || t0 - t1 < 1000000);
	}
}

/* Mailboxes: one message at a time for each pair of ranks. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned char bytes[RANKS_MAX][RANKS_MAX][32];
	size_t len[RANKS_MAX][RANKS_MAX];
	uint64_t least[2];
	uint32_t arrived;
	unsigned messages, fail_at;
	bool broken; /* a rank failed: all ranks stop waiting */
} box = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static bool breaks(void)
{
	if (box.fail_at && ++box.messages >= box.fail_at)
		box.broken = true;
	pthread_cond_broadcast(&box.changed);
	return box.broken;
}

static int send_to(void *arg, const void *bytes, size_t n, uint32_t to)
{
	uint32_t me = *(uint32_t *)arg;
	int rc;

	pthread_mutex_lock(&box.lock);
	while (box.len[me][to] && !box.broken)
		pthread_cond_wait(&box.changed, &box.lock);
	memcpy(box.bytes[me][to], bytes, n);
	box.len[me][to] = n;
	box.messages += box.fail_at == 0;
	rc = breaks();
	pthread_mutex_unlock(&box.lock);
	errno = EIO;
	return rc;
}

static int recv_from(void *arg, void *bytes, size_t n, uint32_t from)
{
	uint32_t me = *(uint32_t *)arg;
	int rc;

	pthread_mutex_lock(&box.lock);
	while (!box.len[from][me] && !box.broken)
		pthread_cond_wait(&box.changed, &box.lock);
	memcpy(bytes, box.bytes[from][me], n);
	CHECK(box.broken || box.len[from][me] == n);
	box.len[from][me] = 0;
	rc = breaks();
	pthread_mutex_unlock(&box.lock);
	return rc;
}

static uint32_t ranks;

static int least_of_all(void *arg, uint64_t *v, size_t n)
{
	(void)arg;
	pthread_mutex_lock(&box.lock);
	for (size_t i = 0; i < n; i++)
		box.least[i] = v[i] < box.least[i] ? v[i] : box.least[i];
	box.arrived++;
	pthread_cond_broadcast(&box.changed);
	while (box.arrived < ranks)
		pthread_cond_wait(&box.changed, &box.lock);
	memcpy(v, box.least, n * sizeof(*v));
	pthread_mutex_unlock(&box.lock);
	return 0;
}

struct rank {
	uint32_t number;
	unsigned hosts;
	struct rn_clock_relation relation;
	int rc[2];
};

static void *live(void *arg)
{
	struct rank *r = arg;
	struct rn_clock_calls calls = { &r->number, r->number, ranks,
					send_to,    recv_from, least_of_all };
	uint64_t wait;

	here.host = r->number % r->hosts;
	here.offset = (int64_t)here.host * -3000000000;
	here.drift = (int64_t)here.host * 1000000;
	errno = 77;
	r->rc[0] = rn_clock_compare(&r->relation, &calls);
	wait = system_ns();
	while (system_ns() - wait < 30000000)
		usleep(1000);
	errno = 77;
	r->rc[1] = rn_clock_compare(&r->relation, &calls);
	CHECK(errno == 77);
	return NULL;
}

static void run_ranks(struct rank *r, uint32_t n, unsigned hosts, unsigned fail_at)
{
	pthread_t thread[RANKS_MAX];

	ranks = n;
	began = system_ns();
	memset(box.len, 0, sizeof(box.len));
	memset(box.least, 0xff, sizeof(box.least));
	box.arrived = box.messages = 0;
	box.fail_at = fail_at;
	box.broken = false;
	for (uint32_t i = 0; i < n; i++) {
		r[i] = (struct rank){ .number = i, .hosts = hosts };
		pthread_create(&thread[i], NULL, live, &r[i]);
	}
	for (uint32_t i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

/* Threads of a busy machine respond late, so an error of a few milliseconds is accepted. */
static bool about(int64_t got, int64_t want, int64_t error)
{
	return got - want < error && want - got < error;
}

static void test_compare(uint32_t n, unsigned hosts)
{
	struct rank r[RANKS_MAX];

	run_ranks(r, n, hosts, 0);
	for (uint32_t i = 0; i < n; i++) {
		int64_t offset, drift, host = i % hosts;

		CHECK(r[i].rc[0] == RN_OK && r[i].rc[1] == RN_OK);
		rn_clock_difference(&r[i].relation, &offset, &drift);
		CHECK(about(offset, host * -3000000000, 50000000));
		if (host == 0)
			CHECK(hosts > 1 || (offset == 0 && drift == 0));
	}
	if (hosts == 1)
		CHECK(box.messages == 0);
}

static void test_failing(void)
{
	struct rank r[RANKS_MAX];

	for (unsigned at = 1; at < 200; at += 13) {
		bool failed = false;

		run_ranks(r, 5, 2, at);
		for (uint32_t i = 0; i < 5; i++) {
			int64_t offset, drift;

			failed |= r[i].rc[0] < 0 || r[i].rc[1] < 0;
			CHECK(r[i].relation.times ==
			      (unsigned)(r[i].rc[0] == RN_OK) + (unsigned)(r[i].rc[1] == RN_OK));
			rn_clock_difference(&r[i].relation, &offset, &drift);
		}
		CHECK(failed || box.messages < at);
	}
}

static void test_difference(void)
{
	struct rn_clock_relation r = { 0 };
	int64_t offset, drift;

	rn_clock_difference(&r, &offset, &drift);
	CHECK(offset == 0 && drift == 0);
	r.times = 2;
	r.first.at = 5000000000;
	r.first.offset = -7;
	r.last.at = 15000000000;
	r.last.offset = -12345 * 10 - 7;
	rn_clock_difference(&r, &offset, &drift);
	CHECK(offset == -7 && drift == -12345);
	r.last.at = r.first.at + 10; /* too close for a drift to be measured */
	rn_clock_difference(&r, &offset, &drift);
	CHECK(offset == -7 && drift == 0);
}

int main(void)
{
	test_ticks();
	ok("ticks are the system's time");
	test_difference();
	ok("offset and drift");
	test_compare(1, 1);
	test_compare(16, 1);
	ok("one host: no messages");
	for (uint32_t n = 2; n < 9; n++)
		test_compare(n, 2 + n % 2);
	test_compare(RANKS_MAX, 4);
	ok("several hosts: every rank knows its offset");
	test_failing();
	ok("failing messages are reported, and what was known stays");
	return tap_done();
}
