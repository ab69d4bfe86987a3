/*
 * replay_state.h - the record that a process goes by, for who implements replay_cursor.h:
 * replay_load.c reads it, replay_cursor.c has the cursors of its threads, divergence.c knows when
 * it counts no more.
 */
#ifndef RN_REPLAY_REPLAY_STATE_H
#define RN_REPLAY_REPLAY_STATE_H

#include "order/replay_control.h"
#include "replay/replay_cursor.h"

/* Of a thread. */
struct rn_replay {
	struct rn_plan_stream *s;
	struct rn_plan_progress *at;
	const struct rn_order_site *site;
	const struct rn_order_row *rows;
	const struct rn_order_done *dones;
	const int64_t *values;
	const struct rn_plan_match *matches;
	const struct rn_plan_cancel *cancels;
	uint64_t done, value, call;  /* the next ones */
	uint32_t fails;              /* of the row, that have been used */
	uint64_t events;             /* number of events in the rows before the next row */
	struct rn_patience patience; /* while tests fail that did not */
	char next_call[96];          /* description of the next recorded call */
	bool free;                   /* the record counts no more */
	struct rn_patience again;    /* while a row is not to be, yet: */
	uint64_t again_row;
};

struct rn_replayed {
	struct rn_plan_head *plan; /* NULL: there is none */
	struct rn_replay *thread;
	uint32_t threads;
	/* Who waits for this process has the one, and all that can be reached have the other; NULL:
	 * nothing is known of them. */
	struct rn_job *own, *job;
	_Atomic bool released; /* no thread waits for its turn any more */
};

extern struct rn_replayed rn_replayed;

static inline const char *rn_replay_name(uint32_t function)
{
	return function < rn_mpi_vocab.funcs ? rn_mpi_protos[function].name : "?";
}

#endif
