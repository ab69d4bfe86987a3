/*
 * tracer.h - the tracer as a whole: whether it runs, its tables, its streams, its beginning and
 * end.
 *
 *   load       constructor: configuration, the real functions, the clock
 *   first call of a thread: its stream, one that a thread has left or a new one
 *   MPI_Init   who we are in the world; an attribute on MPI_COMM_SELF
 *   MPI_Finalize deletes that attribute: everything is merged and written
 *   exit without MPI_Finalize: what this process has is written as a part
 *
 * A child of a process that has called MPI is silent, however it was made: it has none of the other
 * threads, and the trace is not its own.
 */
#ifndef RN_INTERCEPT_TRACER_H
#define RN_INTERCEPT_TRACER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "track/request.h"

struct rn_stream;

struct rn_tracer {
	bool started;        /* the real functions are known */
	bool active;         /* calls are recorded */
	bool threaded;       /* MPI_THREAD_MULTIPLE, or not known: the tables need the lock */
	bool sessions;       /* there has been one */
	bool init_done;      /* the world is known */
	bool finished;       /* the trace has been written */
	uint32_t generation; /* counts changes of the handles' tables, for the caches */
	int world_rank, world_size;
	struct rn_arena mem; /* of the tables */
	struct rn_requests requests;
	struct rn_stream *streams, **last_stream;
	uint32_t nstreams; /* atomic */
	int pid;           /* of the process whose streams they are */
	uint64_t lost;     /* calls of threads that have no stream */
	size_t recorded;   /* bytes of all streams, as they were when each was last looked at */
	int lock;
};

extern struct rn_tracer rn_tracer;

static inline bool rn_tracer_active(void)
{
	return rn_tracer.active;
}

/* Who got a handle from another thread has synchronised with it, and sees what that one changed. */
static inline uint32_t rn_tracer_generation(void)
{
	return __atomic_load_n(&rn_tracer.generation, __ATOMIC_RELAXED);
}

/* Number of streams. Other threads may add some at the same time. */
static inline uint32_t rn_tracer_nstreams(void)
{
	return __atomic_load_n(&rn_tracer.nstreams, __ATOMIC_RELAXED);
}

/* Once; by our constructor, or before it, when that of another library calls MPI (the C++ bindings'
 * does). */
void rn_tracer_start(void);

/* Before the first call: the program has another MPI, so nothing is recorded. Says so. */
bool rn_tracer_is_for_other(void);

/* Streams by number: the one with the lowest that no thread has, for the thread that asks; NULL
 * when there is none, or there are few, and it has to make one. That gets the next number, unless
 * there are too many.
 */
struct rn_stream *rn_tracer_take_stream(void);
bool rn_tracer_add_stream(struct rn_stream *t);
bool rn_tracer_full(void);
struct rn_stream *rn_tracer_stream(uint32_t number);
/* Its thread is done with it. */
void rn_tracer_leave_stream(const struct rn_stream *t);

void rn_tracer_lock_slow(void);

static inline void rn_tracer_lock(void)
{
	if (__builtin_expect(rn_tracer.threaded, 0))
		rn_tracer_lock_slow();
}

static inline void rn_tracer_unlock(void)
{
	if (__builtin_expect(rn_tracer.threaded, 0))
		__atomic_clear(&rn_tracer.lock, __ATOMIC_RELEASE);
}

/* Address space was kept for the end, in case the program uses all that it may have: for the merge,
 * and for MPI, which then has messages to send that the program knows nothing of. */
void rn_tracer_use_reserve(void);

/* "Open MPI 4.1.4" */
const char *rn_tracer_mpi(void);

/* After MPI_Init and its like. */
void rn_tracer_init_done(int provided);

/* special.c: MPI_Finalize, if it is under way, is recorded as one that returned this. */
void rn_finalize_over(int ret);

/* finish.c: what the end needs from MPI, while it can be had. */
void rn_finish_prepare(void);
/* Merges and writes the trace, once. */
void rn_finish_world(void);
/* The same for a process alone, without MPI: its part. */
void rn_finish_alone(const char *why);

/* When the process ends: how many calls came when the trace had been written. */
void rn_finish_late(void);

/* These functions append a report to the status file (base/status_file.h): "WORD RUN WHAT", or
 * "untraced WHAT". They return false if there is no status file, or if it cannot be written. In
 * that case rn_finish_tell and rn_finish_untraced also remove the file, so that `rondo trace` knows
 * that a report is missing. */
bool rn_finish_append(const char *word, const char *what);
bool rn_finish_tell(const char *word, const char *what);
bool rn_finish_untraced(const char *what);

/* One line on standard error, once per kind of trouble. */
void rn_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
