/*
 * hang.h - where the ranks of a run are, and who of them waits for whom.
 *
 * From what rn_salvage with RN_SALVAGE_NOW (recover/journal_read.h) says of the processes that
 * there are, at one moment or at two: what has changed in between does not stand, so it waits for
 * nobody. A rank waits for what the calls that its threads are in need (blocked_on.h); in a
 * collective call, for those of the communicator who are not in the same one.
 *
 * Cost: O(ranks x size of a communicator) at worst. All memory is the arena's.
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
	RN_STAND_POLL, /* tests again and again, and finds nothing */
	RN_STAND_FREE, /* in no call */
	RN_STAND_BUSY, /* calls come and go */
};

/* A damaged number must not take all memory. */
#define RN_STANDSTILL_RANKS ((uint64_t)1 << 22)

/* A process, as it was found. */
struct rn_sight {
	const struct rn_salvaged *process;
	bool gone;                   /* it is no more */
	const struct rn_now *before; /* by stream, of an earlier moment; NULL: there is none */
	uint32_t before_n;
	uint32_t tag; /* the caller's */
};

/* A thread. */
struct rn_stand {
	uint64_t rank;
	uint32_t thread;
	const struct rn_sight *sight;
	const struct rn_now *now;
	enum rn_stand_kind kind;
	bool any;            /* there is a call: the one it is in, or the latest */
	struct rn_need need; /* of that */
	const struct rn_wait_set *set;
};

struct rn_standstill {
	uint64_t ranks;
	const struct rn_sight **sight; /* by rank; NULL: nothing is known of it */
	struct rn_stand *stand;        /* by rank and thread */
	size_t stands;
	struct rn_waiter *waiter; /* by rank */
	struct rn_verdict verdict;
};

/* RN_OK, RN_E_NOMEM, or RN_E_DATA: the ranks make no sense. */
int rn_standstill(const struct rn_sight *sight, size_t n, struct rn_arena *mem,
		  struct rn_standstill *out, struct rn_err *err);

#endif
