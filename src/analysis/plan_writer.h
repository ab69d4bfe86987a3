/*
 * plan_writer.h - writes the replay plan of every rank of a trace, and reads the progress of the
 * ranks.
 *
 * A plan (order/replay_plan.h) is the file rank-N.plan of a directory.
 */
#ifndef RN_ANALYSIS_PLAN_WRITER_H
#define RN_ANALYSIS_PLAN_WRITER_H

#include <stdbool.h>
#include <stdint.h>

struct rn_buf;
struct rn_err;
struct rn_trace;

/* The progress of all processes together. */
struct rn_plans_progress {
	uint64_t calls, messages, more, fewer, again; /* sums of rn_plan_progress */
	uint64_t left; /* number of ranks that have not replayed their whole plan */
	/* Number of calls whose outcome was not enforced, by function of the vocabulary. */
	uint64_t *unenforced;
};

/* Writes the plan of one rank, or of all ranks if `rank` is -1. `notes` receives messages for the
 * user (base/notes.h). Returns RN_OK, RN_E_NOMEM, RN_E_SYS, or RN_E_DATA if the trace cannot be
 * replayed. */
int rn_plans_write(const struct rn_trace *t, int rank, const char *folder, struct rn_buf *notes,
		   struct rn_err *err);

/* Mappings of the plans, from which progress can be read after the files have been removed. */
struct rn_plans_maps;
/* Maps the plans of a directory. Returns NULL if memory is exhausted. */
struct rn_plans_maps *rn_plans_map(const char *folder, uint64_t ranks);
/* Returns false if memory is exhausted. The caller frees out->unenforced. */
bool rn_plans_progress(const struct rn_plans_maps *m, struct rn_plans_progress *out);
void rn_plans_unmap(struct rn_plans_maps *m);

/* Removes the directory and its plans, status file and job file. */
void rn_plans_remove(const char *folder);

#endif
