/*
 * libc_values.c - hooks for time and random-number functions of libc, whose results are recorded
 * (--values=all) or replayed (outcome.h).
 *
 * Only calls from the program itself and from the runtime libraries of its language are recorded,
 * because their number is deterministic. MPI calls such functions any number of times and receives
 * the real results. So do other libraries, because they cannot be distinguished from those that MPI
 * loads.
 */
#include "preload/chain.h"
#include "preload/loaded_object.h"
#include "runtime/outcome.h"
#include "runtime/tracer_state.h"
#include "trace/stream.h"
#include "trace/thread_stream.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hand.h"

#define PLACES 256u /* number of return addresses in the cache */

/* ---- callers ---- */

static bool is_runtime(const char *path)
{
	static const char *const names[] = { "libstdc++.so", "libc++.so", "libgfortran.so" };
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* Returns whether a return address is in the program, which has an empty name, or in a runtime
 * library of its language. */
static bool decide(uintptr_t from)
{
	const struct link_map *object = rn_object_at(from);

	return object && object != rn_object_ours() &&
	       (!object->l_name[0] || is_runtime(object->l_name));
}

static bool is_programs(uintptr_t from)
{
	static _Atomic uint64_t known[PLACES]; /* cache: return address << 1 | result */
	_Atomic uint64_t *k = &known[(from >> 2) % PLACES];
	uint64_t is = atomic_load_explicit(k, memory_order_relaxed);

	if (is >> 1 != from) {
		is = (uint64_t)from << 1 | decide(from);
		atomic_store_explicit(k, is, memory_order_relaxed);
	}
	return is & 1;
}

/* Returns whether libc results are recorded or replayed for this caller. */
static bool is_wanted(uintptr_t from)
{
	return rn_outcome_ops && rn_outcome_ops->libc_values && rn_tracer_active() &&
	       is_programs(from);
}

/* Records or replays a result. Before MPI_Init it does so only for the first thread, because other
 * threads may have no stream. Returns false if the program receives the result of libc. */
static bool settle(uint32_t function, uintptr_t from, int64_t *value, uint32_t n)
{
	struct rn_stream *t = rn_me;

	if (!is_wanted(from))
		return false;
	if (!t && gettid() == (pid_t)syscall(SYS_getpid)) /* a preloaded tool may replace getpid */
		t = rn_stream_begin();
	if (t)
		rn_outcome_ops->value(t, function, value, n);
	return t != NULL;
}

#define FROM ((uintptr_t)__builtin_return_address(0))

/* ---- the functions ---- */

time_t time(time_t *out)
{
	int64_t now = rn_libc()->time(NULL);

	settle(RN_N_time, FROM, &now, 1);
	if (out)
		*out = (time_t)now;
	return (time_t)now;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
	int rc = rn_libc()->clock_gettime(clock, out);

	if (rc == 0 && is_wanted(FROM)) {
		int64_t now[2] = { out->tv_sec, out->tv_nsec };

		settle(RN_N_clock_gettime, FROM, now, 2);
		out->tv_sec = (time_t)now[0];
		out->tv_nsec = (long)now[1];
	}
	return rc;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
	int rc = rn_libc()->gettimeofday(out, zone);
	struct timeval *volatile at = out; /* may be NULL, although it is declared nonnull */
	struct timeval *t = at;

	if (rc == 0 && t && is_wanted(FROM)) {
		int64_t now[2] = { t->tv_sec, t->tv_usec };

		settle(RN_N_gettimeofday, FROM, now, 2);
		t->tv_sec = (time_t)now[0];
		t->tv_usec = (suseconds_t)now[1];
	}
	return rc;
}

pid_t getpid(void)
{
	int64_t pid = rn_libc()->getpid();

	settle(RN_N_getpid, FROM, &pid, 1);
	return (pid_t)pid;
}

/* Records the number of bytes, and then the bytes. */
ssize_t getrandom(void *out, size_t n, unsigned flags)
{
	ssize_t got = rn_libc()->getrandom(out, n, flags);
	int64_t word = got;

	if (got < 0 || !settle(RN_N_getrandom, FROM, &word, 1) || word < 0 || (uint64_t)word > n)
		return got;
	got = (ssize_t)word;
	for (size_t at = 0; at < (size_t)got; at += sizeof(word)) {
		size_t some = (size_t)got - at < sizeof(word) ? (size_t)got - at : sizeof(word);

		word = 0;
		memcpy(&word, (char *)out + at, some);
		settle(RN_N_getrandom, FROM, &word, 1);
		memcpy((char *)out + at, &word, some);
	}
	return got;
}
