/* tick_clock.c - see tick_clock.h. */
#include "base/tick_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/err.h"
#include "base/hash.h"

#define NS_PER_S 1000000000u
/* Minimum distance of two pairs for the scale, in ns. The scale is then exact to some
 * ten-thousandths, and better the farther they are apart. */
#define APART_NS 200000u
/* Number of round trips between two hosts. The fastest one is used. */
#define ROUND_TRIPS 8

bool rn_clock_counter;

struct pair {
	uint64_t ticks, ns;
};

static struct pair start; /* written once, by rn_clock_start */
static bool started;

uint64_t rn_clock_read(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t rn_clock_slow(void)
{
	return rn_clock_read(CLOCK_MONOTONIC_RAW);
}

/* Reads the counter and the slow clock at the same time. Of three attempts, returns the one with
 * the shortest duration. */
static struct pair read_pair(void)
{
	struct pair best = { 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 3; i++) {
		uint64_t before = rn_clock_now(), ns = rn_clock_slow(), after = rn_clock_now();

		if (after - before < least) {
			least = after - before;
			best = (struct pair){ before + least / 2, ns };
		}
	}
	return best;
}

/* Whether there is a counter with a constant rate. */
static bool have_counter(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1 << 8;
#elif defined(__aarch64__)
	return true;
#else
	return false;
#endif
}

/* Returns the rate of the counter as the processor states it; 0: unknown. */
static uint64_t stated_hz(void)
{
#if defined(__x86_64__)
	unsigned a = 0, b = 0, c = 0, d;

	if (__get_cpuid(0x15, &a, &b, &c, &d) && a && b && c)
		return (uint64_t)c * b / a;
	return __get_cpuid(0x16, &a, &b, &c, &d) ? (uint64_t)(a & 0xffff) * 1000000 : 0;
#elif defined(__aarch64__)
	uint64_t hz;

	__asm__("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz & 0xffffffff;
#else
	return 0;
#endif
}

void rn_clock_start(void)
{
	if (started)
		return;
	rn_clock_counter = have_counter();
	start = read_pair();
	started = true;
}

uint64_t rn_clock_started(void)
{
	return start.ticks;
}

uint64_t rn_clock_age(void)
{
	return rn_clock_slow() - start.ns;
}

static uint64_t ratio(uint64_t ns, uint64_t ticks)
{
	return (uint64_t)(((unsigned __int128)ns << 32) / ticks);
}

uint64_t rn_clock_scale(void)
{
	struct pair now = read_pair();
	uint64_t hz;

	if (!rn_clock_counter)
		return ratio(1, 1);
	if (now.ns - start.ns < APART_NS) {
		hz = stated_hz();
		if (hz)
			return ratio(NS_PER_S, hz);
		while (now.ns - start.ns < APART_NS)
			now = read_pair();
	}
	return now.ticks > start.ticks ? ratio(now.ns - start.ns, now.ticks - start.ticks)
				       : ratio(1, 1);
}

uint64_t rn_clock_ns(uint64_t ticks)
{
	uint64_t scale = rn_clock_scale();
	__int128 since = (__int128)(int64_t)(ticks - start.ticks) * scale;

	return start.ns + (uint64_t)(int64_t)(since >> 32);
}

/* Hosts */

static uint64_t mix_file(uint64_t hash, const char *path, bool link)
{
	char text[128];
	long n, fd;

	if (link) {
		n = syscall(SYS_readlinkat, AT_FDCWD, path, text, sizeof(text));
	} else {
		fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return hash;
		n = syscall(SYS_read, fd, text, sizeof(text));
		syscall(SYS_close, fd);
	}
	return n > 0 ? rn_hash_u64(hash ^ rn_hash(text, (size_t)n)) : hash;
}

/* Returns an id that is equal for processes that read one clock: the same boot of the same kernel,
 * in the same time namespace. Raw system calls bypass interposed libc functions. */
static uint64_t host_id(void)
{
	struct utsname name;
	uint64_t id = 1;

	if (syscall(SYS_uname, &name) == 0)
		id = rn_hash(name.nodename, sizeof(name.nodename));
	id = mix_file(id, "/proc/sys/kernel/random/boot_id", false);
	return mix_file(id, "/proc/self/ns/time", true);
}

/* Clocks are compared along a binomial tree with root rank 0. The parent of a rank is the rank
 * without its lowest set bit. */

struct greeting {
	uint64_t host;
	int64_t offset; /* to rank 0; valid only from the parent */
};

/* Child side: measures the offset of the parent's clock to the own one, by the fastest exchange. */
static int ask(const struct rn_clock_calls *calls, uint32_t parent, int64_t *offset)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < ROUND_TRIPS; i++) {
		uint64_t before = rn_clock_slow(), there, after;

		if (calls->send(calls->arg, &before, sizeof(before), parent) ||
		    calls->recv(calls->arg, &there, sizeof(there), parent))
			return RN_E_SYS;
		after = rn_clock_slow();
		if (after - before >= least)
			continue;
		least = after - before;
		*offset = (int64_t)(there - (before + least / 2));
	}
	return RN_OK;
}

static int answer(const struct rn_clock_calls *calls, uint32_t child)
{
	for (int i = 0; i < ROUND_TRIPS; i++) {
		uint64_t word;

		if (calls->recv(calls->arg, &word, sizeof(word), child))
			return RN_E_SYS;
		word = rn_clock_slow();
		if (calls->send(calls->arg, &word, sizeof(word), child))
			return RN_E_SYS;
	}
	return RN_OK;
}

static int with_parent(const struct rn_clock_calls *calls, uint64_t host, int64_t *offset)
{
	uint32_t parent = calls->rank & (calls->rank - 1);
	struct greeting mine = { host, 0 }, theirs;
	int64_t between = 0;

	if (calls->send(calls->arg, &mine, sizeof(mine), parent) ||
	    calls->recv(calls->arg, &theirs, sizeof(theirs), parent))
		return RN_E_SYS;
	if (theirs.host != host && ask(calls, parent, &between) < 0)
		return RN_E_SYS;
	*offset = theirs.offset + between;
	return RN_OK;
}

static int with_child(const struct rn_clock_calls *calls, uint32_t child, uint64_t host,
		      int64_t offset)
{
	struct greeting mine = { host, offset }, theirs;

	if (calls->recv(calls->arg, &theirs, sizeof(theirs), child) ||
	    calls->send(calls->arg, &mine, sizeof(mine), child))
		return RN_E_SYS;
	return theirs.host == host ? RN_OK : answer(calls, child);
}

/* Children with the largest subtrees come first. */
static int with_children(const struct rn_clock_calls *calls, uint64_t host, int64_t offset)
{
	uint64_t bit = 1;

	while (bit < calls->size && !(calls->rank & bit))
		bit <<= 1;
	while (bit >>= 1) {
		if ((calls->rank | bit) < calls->size &&
		    with_child(calls, (uint32_t)(calls->rank | bit), host, offset) < 0)
			return RN_E_SYS;
	}
	return RN_OK;
}

static int on_one_host(const struct rn_clock_calls *calls, uint64_t host, bool *one)
{
	uint64_t range[2] = { host, ~host }; /* the minimum, and the complement of the maximum */

	if (calls->min(calls->arg, range, 2))
		return RN_E_SYS;
	*one = range[0] == ~range[1];
	return RN_OK;
}

static int compare(struct rn_clock_relation *r, const struct rn_clock_calls *calls, int64_t *offset)
{
	uint64_t host;

	*offset = 0;
	if (r->one_host)
		return RN_OK;
	host = host_id();
	if (r->times == 0 && on_one_host(calls, host, &r->one_host) < 0)
		return RN_E_SYS;
	if (r->one_host)
		return RN_OK;
	if (calls->rank && with_parent(calls, host, offset) < 0)
		return RN_E_SYS;
	return with_children(calls, host, *offset);
}

int rn_clock_compare(struct rn_clock_relation *r, const struct rn_clock_calls *calls)
{
	int saved = errno, rc;
	int64_t offset;

	rc = compare(r, calls, &offset);
	if (rc == RN_OK) {
		r->last.at = rn_clock_slow();
		r->last.offset = offset;
		if (r->times++ == 0)
			r->first = r->last;
	}
	errno = saved;
	return rc;
}

void rn_clock_difference(const struct rn_clock_relation *r, int64_t *offset, int64_t *drift)
{
	uint64_t apart = r->last.at - r->first.at;

	*offset = r->first.offset;
	*drift = 0;
	if (r->times > 1 && apart >= APART_NS)
		*drift = (int64_t)((__int128)(r->last.offset - r->first.offset) * NS_PER_S /
				   (__int128)apart);
}
