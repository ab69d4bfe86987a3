/*
 * plan_writer.h - writes the replay plan of every rank of a trace (order/replay_plan.h) into a
 * directory, as rank-N.plan, and reads the progress of the ranks.
 */
#ifndef RN_ANALYSIS_PLAN_WRITER_H
#define RN_ANALYSIS_PLAN_WRITER_H

#include <stdbool.h>
#include <stdint.h>

struct rn_buf;
struct rn_err;
struct rn_trace;

/* What the processes have done of it, all together. */
struct rn_plans_progress {
	uint64_t calls, messages, more, fewer, again; /* struct rn_plan_progress */
	uint64_t left;                                /* ranks that have not done all of it */
	/* By function of the vocabulary: number of calls whose outcome was not enforced. */
	uint64_t *unenforced;
};

/* Writes the plans of all ranks, or of one that is not -1. Notes are messages for the user
 * (base/notes.h). RN_OK, RN_E_NOMEM, RN_E_SYS, or RN_E_DATA: the trace cannot be replayed. */
int rn_plans_write(const struct rn_trace *t, int rank, const char *folder, struct rn_buf *notes,
		   struct rn_err *err);

/* Plans that are looked at when the files may be gone. */
struct rn_plans_maps;
struct rn_plans_maps *rn_plans_map(const char *folder, uint64_t ranks); /* NULL: no memory */
/* Returns false without memory. The caller frees out->unenforced. */
bool rn_plans_progress(const struct rn_plans_maps *m, struct rn_plans_progress *out);
void rn_plans_unmap(struct rn_plans_maps *m);

/* Removes the folder with the plans, the status file and the job file in it. */
void rn_plans_remove(const char *folder);

#endif
