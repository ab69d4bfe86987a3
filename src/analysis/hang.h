/*
 * hang.h - the live position of every rank, and the wait-for relation between ranks.
 *
 * Input: one or two samples of the journals of a running program (rn_salvage with RN_SALVAGE_NOW,
 * recover/journal_read.h). A thread that moved between the samples is active, and a rank with an
 * active thread waits for no rank. A thread that only repeats a test without success counts as
 * blocked. A blocked thread waits for the ranks that its call is blocked on (blocked_on.h). In a
 * collective call these are the members of the communicator that are not in the same call.
 *
 * Cost: O(ranks x communicator size) in the worst case. All memory is from the arena.
 */
#ifndef RN_ANALYSIS_HANG_H
#define RN_ANALYSIS_HANG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/blocked_on.h"
#include "analysis/wait_graph.h"
#include "base/err.h"

struct rn_arena;
struct rn_now;
struct rn_salvaged;

enum rn_stand_kind {
	RN_STAND_CALL, /* in a call */
	RN_STAND_POLL, /* repeats a test that completes nothing */
	RN_STAND_FREE, /* in no call */
	RN_STAND_BUSY, /* active: made calls between or during the samples */
};

/* Maximum number of ranks. It bounds the memory that a damaged journal can require. */
#define RN_STANDSTILL_RANKS ((uint64_t)1 << 22)

/* A process in the latest sample. */
struct rn_sight {
	const struct rn_salvaged *process;
	bool gone;                   /* the process has ended */
	const struct rn_now *before; /* positions in the first sample, by stream; NULL: none */
	uint32_t before_n;
	uint32_t tag; /* for use by the caller */
};

/* The live position of a thread. */
struct rn_stand {
	uint64_t rank;
	uint32_t thread;
	const struct rn_sight *sight;
	const struct rn_now *now;
	enum rn_stand_kind kind;
	bool any;            /* `need` is valid: there is a call in flight or a last call */
	struct rn_need need; /* of the call in flight, otherwise of the last call */
	const struct rn_wait_set *set;
};

struct rn_standstill {
	uint64_t ranks;
	const struct rn_sight **sight; /* by rank; NULL: the rank is in no sample */
	struct rn_stand *stand;        /* by rank and thread */
	size_t stands;
	struct rn_waiter *waiter; /* by rank */
	struct rn_verdict verdict;
};

/* Finds the positions and the wait-for relation. Returns RN_OK, RN_E_NOMEM, or RN_E_DATA if the
 * journals claim more than RN_STANDSTILL_RANKS ranks. */
int rn_standstill(const struct rn_sight *sight, size_t n, struct rn_arena *mem,
		  struct rn_standstill *out, struct rn_err *err);

#endif
