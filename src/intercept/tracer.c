/*
 * tracer.c - the tracer's beginning, and its ends other than MPI_Finalize.
 */
#include "intercept/tracer.h"

#include "base/text.h"
#include "base/which_mpi.h"
#include "intercept/calm.h"
#include "intercept/comm.h"
#include "intercept/config.h"
#include "intercept/gpu_driver.h"
#include "intercept/handle.h"
#include "intercept/order.h"
#include "intercept/real.h"
#include "intercept/request_life.h"
#include "intercept/setting.h"
#include "intercept/site.h"
#include "intercept/spool.h"
#include "intercept/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define STREAMS_OWN  32u /* as many threads are told apart, though they may follow each other */
#define TABLES_LIMIT ((size_t)4 << 30)
#define STREAMS_MAX  2046               /* a request's word has 11 bits for it */
#define RESERVE      ((size_t)16 << 20) /* bytes of address space reserved for MPI_Finalize */

struct rn_tracer rn_tracer = { .threaded = true };
static void *reserve;
static size_t reserve_size;

/* Without tables this rank could not tell the others that it has no memory, and they would wait. */
static _Alignas(64) unsigned char first_tables[64 << 10];

/* What standard error was when we started. A program may close it, and what it opens next has its
 * number: that is not ours to write to. */
static struct {
	bool open;
	dev_t dev;
	ino_t ino;
} listener;

static void note_listener(void)
{
	struct stat st;

	listener.open = fstat(STDERR_FILENO, &st) == 0;
	if (listener.open) {
		listener.dev = st.st_dev;
		listener.ino = st.st_ino;
	}
}

static bool is_listening(void)
{
	struct stat st;

	return listener.open && fstat(STDERR_FILENO, &st) == 0 && st.st_dev == listener.dev &&
	       st.st_ino == listener.ino;
}

void rn_say(const char *format, ...)
{
	char text[1024], line[sizeof(text) + 64] = "rondo: ";
	int saved = errno;
	size_t n = strlen(line);
	struct rn_calm calm;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	rn_text_line(text, line + n, sizeof(line) - n - 1);
	n = strlen(line);
	line[n++] = '\n';
	rn_calm_begin(&calm);
	if (!is_listening() || write(STDERR_FILENO, line, n) < 0)
		n = 0; /* nobody listens */
	rn_calm_end(&calm);
	errno = saved;
}

void rn_tracer_lock_slow(void)
{
	while (__atomic_test_and_set(&rn_tracer.lock, __ATOMIC_ACQUIRE))
		sched_yield();
}

bool rn_tracer_full(void)
{
	return rn_tracer_nstreams() >= STREAMS_MAX;
}

/* Threads begin and end whatever MPI allows them, so this is not the tables' lock. */
static int lanes_lock;
static struct rn_stream *lane[STREAMS_MAX]; /* by number */
static bool taken[STREAMS_MAX];

static void lock_lanes(void)
{
	while (__atomic_test_and_set(&lanes_lock, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void unlock_lanes(void)
{
	__atomic_clear(&lanes_lock, __ATOMIC_RELEASE);
}

struct rn_stream *rn_tracer_take_stream(void)
{
	struct rn_stream *t = NULL;
	bool *free;

	lock_lanes();
	free = rn_tracer.nstreams < STREAMS_OWN ? NULL : memchr(taken, false, rn_tracer.nstreams);
	if (free) {
		*free = true;
		t = lane[free - taken];
	}
	unlock_lanes();
	return t;
}

bool rn_tracer_add_stream(struct rn_stream *t)
{
	bool fits;

	lock_lanes();
	fits = !rn_tracer_full();
	if (fits) {
		t->number = rn_tracer.nstreams;
		__atomic_store_n(&rn_tracer.nstreams, t->number + 1, __ATOMIC_RELAXED);
		rn_spool_adopt(t); /* before others write to it: the next one's place is in it */
		lane[t->number] = t;
		taken[t->number] = true;
		if (t->number == 0) {
			rn_config_give_back();
			rn_tracer.pid = (int)getpid();
		}
		__atomic_store_n(rn_tracer.last_stream, t, __ATOMIC_RELEASE);
		rn_tracer.last_stream = &t->next;
	}
	unlock_lanes();
	return fits;
}

struct rn_stream *rn_tracer_stream(uint32_t number)
{
	return lane[number];
}

void rn_tracer_leave_stream(const struct rn_stream *t)
{
	lock_lanes();
	taken[t->number] = false;
	unlock_lanes();
}

/* Bytes of address space that the process uses, from /proc/self/statm; 0: unknown. */
static uint64_t used_space(void)
{
	char text[64] = "";
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;

	if (fd >= 0)
		close(fd);
	return n > 0 ? strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* Bytes of address space that the process may still use. */
static uint64_t space_left(void)
{
	struct rlimit space;
	uint64_t used;

	if (getrlimit(RLIMIT_AS, &space) < 0 || space.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	used = used_space();
	return space.rlim_cur > used ? space.rlim_cur - used : 0;
}

/* Reserves address space for the end of the run: RESERVE bytes, but at most a quarter of the
 * address space that is left. */
static void make_reserve(void)
{
	uint64_t few = space_left() / 4 & ~(uint64_t)4095;

	reserve_size = few < RESERVE ? (size_t)few : RESERVE;
	reserve = mmap(NULL, reserve_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		       -1, 0);
	if (reserve == MAP_FAILED)
		reserve = NULL;
}

void rn_tracer_use_reserve(void)
{
	if (reserve)
		munmap(reserve, reserve_size);
	reserve = NULL;
}

const char *rn_tracer_mpi(void)
{
#ifdef OPEN_MPI
#define TEXT(x)       #x
#define DOTS(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)
	return "Open MPI " DOTS(OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
#else
	return "MPICH " MPICH_VERSION;
#endif
}

/* ---- MPI_Init ---- */

static int self_deleted(MPI_Comm comm, int keyval, void *value, void *state)
{
	(void)comm;
	(void)keyval;
	(void)value;
	(void)state;
	rn_finalize_over(MPI_SUCCESS);
	rn_finish_world();
	return MPI_SUCCESS;
}

/* The attribute that is set first is deleted last, when MPI_Finalize begins and MPI still works.
 * The key is freed at once, so that it is not reported as a leak of the program; MPI keeps it until
 * the attribute is deleted. */
static void watch_finalize(void)
{
	int keyval;

	if (rn_real.MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, self_deleted, &keyval, NULL) !=
	    MPI_SUCCESS)
		return;
	rn_real.MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
	rn_real.MPI_Comm_free_keyval(&keyval);
}

void rn_tracer_init_done(int provided)
{
	rn_tracer.threaded = provided == MPI_THREAD_MULTIPLE || rn_tracer.sessions;
	rn_real.MPI_Comm_rank(MPI_COMM_WORLD, &rn_tracer.world_rank);
	rn_real.MPI_Comm_size(MPI_COMM_WORLD, &rn_tracer.world_size);
	rn_tracer.init_done = true;
	if (!rn_tracer.streams)
		rn_tracer.pid = (int)getpid();
	rn_comm_world();
	if (rn_order_mode != RN_ORDER_OFF)
		rn_order_begin();
	if (rn_order_mode != RN_ORDER_REPLAYS) {
		rn_setting_read(rn_config.order);
		rn_finish_prepare();
	}
	watch_finalize();
	if (!reserve)
		make_reserve();
	for (struct rn_stream *t = rn_tracer.streams; t; t = t->next)
		if (!rn_config_wants_rank(rn_tracer.world_rank))
			rn_stream_turn(t, RN_OFF_RANK, true);
}

/* ---- the process ---- */

static bool silent; /* this is a child */

#ifdef OPEN_MPI
#define MISMATCH "uses MPICH, but was given the tracer for Open MPI; try --mpi=mpich"
#else
#define MISMATCH "uses Open MPI, but was given the tracer for MPICH; try --mpi=ompi"
#endif

/* An interpreter has loaded a library for it. */
bool rn_tracer_is_for_other(void)
{
	char line[sizeof(rn_config.program) + sizeof(MISMATCH)];

	if (!rn_real_is_other())
		return false;
	snprintf(line, sizeof(line), "%s " MISMATCH, rn_config.program);
	if (rn_config.status[0])
		rn_finish_untraced(line);
	else
		rn_say("not traced: %s", line);
#ifndef OPEN_MPI
	_exit(70); /* its handles are wider than those that our functions pass on */
#endif
	rn_tracer.active = false;
	return true;
}

/* The program that uses MPI may be one that this one starts. Where the MPI was named and there is
 * no launcher, nothing is known of any. */
static bool may_start_another(void)
{
	return rn_is_interpreter(rn_config.program) || rn_is_runner(rn_config.program) ||
	       (getenv("RONDO_MPI") && !rn_is_rank(environ));
}

/* One that is made before MPI is used may be the one that uses it. */
static void child_is_silent(void)
{
	if (!rn_tracer.streams)
		return;
	silent = true;
	rn_spool_child();
	rn_tracer.active = false;
	rn_me = NULL;
}

void rn_tracer_start(void)
{
	if (rn_tracer.started)
		return;
	rn_tracer.started = true;
	rn_clock_start(); /* must be first: the run starts here */
	note_listener();
	rn_config_read();
	if (may_start_another())
		rn_config_pass_on();
	else
		rn_config_give_back();
	if (rn_tracer_is_for_other())
		return;
	rn_real_resolve(); /* what this library lacks, this program cannot call */
	rn_tracer.last_stream = &rn_tracer.streams;
	rn_arena_init_over(&rn_tracer.mem, TABLES_LIMIT, first_tables, sizeof(first_tables));
	if (!rn_real.MPI_Init || rn_handles_init(&rn_tracer.mem) < 0 || rn_comms_start() < 0 ||
	    rn_requests_init(&rn_tracer.requests, &rn_tracer.mem) < 0) {
		rn_say("not tracing: %s",
		       rn_real.MPI_Init ? "no memory" : "the MPI library has no PMPI_Init");
		return;
	}
	rn_request_hook_starts();
	rn_order_start();
	rn_mem_start();
	rn_mem_ask_driver(rn_gpu_query);
	rn_mem_ask_kernel();
	rn_stream_watch_ends();
	pthread_atfork(NULL, NULL, child_is_silent);
	rn_tracer.active = true;
}

__attribute__((constructor)) static void start(void)
{
	rn_tracer_start();
}

/* A program that ends without MPI_Finalize still leaves what it did. */
__attribute__((destructor)) static void stop(void)
{
	if (silent)
		return;
	if (rn_tracer.active && rn_tracer.streams && !rn_tracer.finished)
		rn_finish_alone("the program ended without MPI_Finalize");
	if (rn_tracer.finished)
		rn_finish_late();
}
