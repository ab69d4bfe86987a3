/*
 * finish_impl.h - state of the end of a run, shared by finish*.c and run_summary.c.
 */
#ifndef RN_TRACER_FINISH_IMPL_H
#define RN_TRACER_FINISH_IMPL_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/tick_clock.h"
#include "encode/time_stats.h"
#include "merge/partial_trace.h"
#include "merge/process_trace.h"
#include "runtime/signal_guard.h"

/* Time limit, in nanoseconds, of the waits of ranks for each other. */
#define RN_FINISH_DEADLINE ((uint64_t)60 * 1000000000)

struct rn_choices;
struct rn_peers;
struct rn_stream;

struct rn_finish {
	MPI_Comm start_comm; /* communicator of the tracer's messages in MPI_Init */
	/* Valid from MPI_Init on. */
	struct rn_clock_relation clocks;
	bool spawned; /* state in MPI_Init: the program may disconnect from its parent later */
	bool another_rank_reports; /* another rank prints the messages */
	bool journal_kept;         /* the journal is the only result of the run */
	uint64_t tracer_ns; /* time in nanoseconds that the tracer used at the end of the run */

	/* Valid while the run ends. */
	struct rn_arena mem, scratch;
	struct rn_peers *peers;
	struct rn_choices *choices;
	uint32_t threads; /* maximum number of streams of a rank */
	struct rn_recorded recorded;
	struct rn_bundle bundle;
	struct rn_err err;
	int status;   /* of this rank */
	bool written; /* rank 0: the trace at rn_config.output was written */
	/* Number of ranks with data in journals: this rank and those below it in the tree. */
	uint64_t left;
	struct rn_calm calm;
	uint64_t began; /* ticks: start of the end of the run */
	/* The calling thread's stream, or NULL, and its `top`, which is NULL until the end. */
	struct rn_stream *me;
	uint64_t *top;
};

static inline uint64_t rn_finish_elapsed_ns(const struct rn_finish *f)
{
	return rn_time_ns(rn_clock_now() - f->began, rn_clock_scale());
}

#endif
