/*
 * tracer_state.h - process-wide state of the tracer: world rank and size, stream list, tables, and
 * their lock.
 *
 * Locking: the lock protects the tables of handles, communicators and requests. It is not acquired
 * if the MPI thread level allows only one thread in MPI at a time.
 */
#ifndef RN_RUNTIME_TRACER_STATE_H
#define RN_RUNTIME_TRACER_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/spin.h"
#include "track/request_table.h"

struct rn_stream;

struct rn_tracer {
	bool started;        /* rn_tracer_start has been called */
	bool active;         /* calls are recorded */
	bool threaded;       /* MPI_THREAD_MULTIPLE, or unknown: the tables need the lock */
	bool sessions;       /* the program has initialized a session */
	bool init_done;      /* world_rank and world_size are valid */
	bool finished;       /* the trace has been written */
	uint32_t generation; /* number of changes of the handle tables; validates caches */
	int world_rank, world_size;
	uint64_t run;        /* id of the run, different for every run; 0: not known yet */
	struct rn_arena mem; /* memory of the tables */
	struct rn_requests requests;
	struct rn_stream *streams, **last_stream;
	uint32_t nstreams; /* atomic */
	int pid;           /* id of the process that recorded the streams */
	uint64_t lost;     /* calls of threads that have no stream */
	size_t recorded;   /* bytes of all streams, as of the latest check of each stream */
	struct rn_spin lock;
};

extern struct rn_tracer rn_tracer;

static inline bool rn_tracer_active(void)
{
	return rn_tracer.active;
}

/* Relaxed is sufficient: a thread that received a handle from another thread has synchronized with
 * it and therefore sees its changes to the handle tables. */
static inline uint32_t rn_tracer_generation(void)
{
	return __atomic_load_n(&rn_tracer.generation, __ATOMIC_RELAXED);
}

/* Number of streams. Other threads may add some at the same time. */
static inline uint32_t rn_tracer_nstreams(void)
{
	return __atomic_load_n(&rn_tracer.nstreams, __ATOMIC_RELAXED);
}

void rn_tracer_lock_slow(void);

static inline void rn_tracer_lock(void)
{
	if (__builtin_expect(rn_tracer.threaded, 0))
		rn_tracer_lock_slow();
}

static inline void rn_tracer_unlock(void)
{
	if (__builtin_expect(rn_tracer.threaded, 0))
		rn_spin_unlock(&rn_tracer.lock);
}

/* Allocates the tables. RN_OK or RN_E_NOMEM. */
int rn_tracer_init_tables(void);

#endif
