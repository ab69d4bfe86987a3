/*
 * plans.h - a folder with what each rank of a trace has to do again (order/plan.h): rank-N.plan.
 *
 * Functions return exit codes (cmd.h), and have printed what is wrong unless it is EXIT_DONE.
 */
#ifndef RN_CMD_PLANS_H
#define RN_CMD_PLANS_H

#include <stdbool.h>
#include <stdint.h>

struct rn_trace;

/* What the processes have done of it, all together. */
struct plans_progress {
	uint64_t calls, messages, more, fewer, again; /* struct rn_plan_progress */
	uint64_t left;                                /* ranks that have not done all of it */
	/* By function of the vocabulary: number of calls whose outcome was not enforced. */
	uint64_t *unenforced;
};

/* Those of all ranks, or of one that is not -1. `command`: the processes are to compare how they
 * were started with what is recorded. */
int plans_write(const struct rn_trace *t, int rank, const char *folder, bool command);

/* Plans that are looked at when the files may be gone. */
struct plans_maps;
struct plans_maps *plans_map(const char *folder, uint64_t ranks); /* NULL: no memory */
/* Returns false without memory. The caller frees out->unenforced. */
bool plans_progress(const struct plans_maps *m, struct plans_progress *out);
void plans_unmap(struct plans_maps *m);

/* Removes the folder with the plans, the status file and the job file in it. */
void plans_remove(const char *folder);

#endif
