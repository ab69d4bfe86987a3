/*
 * replay_state.h - replay state shared by the files of this directory.
 *
 * replay_load.c maps the plan, replay_cursor.c implements the cursors of threads, and divergence.c
 * ends the recording.
 */
#ifndef RN_REPLAY_REPLAY_STATE_H
#define RN_REPLAY_REPLAY_STATE_H

#include "order/replay_control.h"
#include "replay/replay_cursor.h"

/* The cursor of one thread. */
struct rn_replay {
	struct rn_plan_stream *s;
	struct rn_plan_progress *at;
	const struct rn_order_site *site;
	const struct rn_order_row *rows;
	const struct rn_order_done *dones;
	const int64_t *values;
	const struct rn_plan_match *matches;
	const struct rn_plan_cancel *cancels;
	uint64_t done, value, call;  /* indices of the next completion, value and recorded call */
	uint32_t fails;              /* failed polls of the next row that were already replayed */
	uint64_t events;             /* number of events in the rows before the next row */
	struct rn_patience patience; /* wait during failed tests that are not in the recording */
	char next_call[96];          /* description of the next recorded call */
	bool free;                   /* the thread was released */
	struct rn_patience
		again; /* wait for the completion in again_row, which rn_replay_again postponed */
	uint64_t again_row;
};

struct rn_replayed {
	struct rn_plan_head *plan; /* NULL: no plan */
	struct rn_replay *thread;
	uint32_t threads;
	/* Control blocks: `own` is that of the `rondo replay` that started this process; `job` is
	 * the one shared with the most ranks. NULL: none. */
	struct rn_job *own, *job;
	_Atomic bool released; /* threads no longer wait for their turns */
};

extern struct rn_replayed rn_replayed;

static inline const char *rn_replay_name(uint32_t function)
{
	return function < rn_mpi_vocab.funcs ? rn_mpi_protos[function].name : "?";
}

#endif
