/*
 * replay_control.h - shared-memory control block of a replay: arrivals, first divergence, rank
 * states.
 *
 * The block is a file in the directory of replay plans (replay_plan.h). The processes of a node and
 * the waiting `rondo replay` map it.
 *
 * The first rank that diverges reports its divergence here. Divergences of other ranks are usually
 * a consequence of the first one. A rank that waits for a message that will not arrive finds the
 * cause here.
 *
 * All fields except the texts and those of ranks only increase. They are read and written
 * atomically. Processes on other nodes may see changes of the file late or never. In that case each
 * node has its own first divergence.
 */
#ifndef RN_ORDER_REPLAY_CONTROL_H
#define RN_ORDER_REPLAY_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define RN_JOB_MAGIC 0x32424f4a4f444e52u /* "RNDOJOB2" */

/* State of one rank, for the stall check of `rondo replay`. The rank writes it if it runs on the
 * node where the control block was created. The texts are valid while the rank waits. */
struct rn_job_rank {
	uint32_t pid;       /* 0: MPI_Init has not returned */
	uint32_t finalized; /* MPI_Finalize has returned */
	uint32_t threads;   /* number of threads that have called MPI and have not ended */
	uint32_t inside;    /* number of threads that are in an MPI call */
	uint32_t silent;    /* number of threads created after MPI_Init that have not called MPI */
	uint64_t calls;     /* number of calls that have returned, except polls */
	uint64_t polls;     /* number of tests and probes that have returned */
	uint32_t function;  /* the call in flight: function id of the vocabulary */
	int32_t peer, tag;  /* arguments of that call; RN_PLAN_NOTHING: it has none */
	char comm[60];      /* its communicator, or empty */
	char where[32];     /* "event 12": the position in the recording, or empty */
	char awaited[128];  /* the message or call that the replay waits for, or empty */
};

struct rn_job {
	uint64_t magic;
	uint32_t arrived; /* processes that have mapped all files of the directory that they need */
	uint32_t first;   /* rank of the first divergence, plus 1; 0: none */
	uint32_t told;    /* nonzero: `text` is complete */
	uint32_t moved;   /* nonzero: a rank has reported that ranks run on other nodes */
	uint32_t slots;   /* number of elements of `rank` */
	uint32_t world;   /* number of ranks of the program; 0: unknown */
	uint32_t external; /* a rank waits, or may wait, for processes outside the world */
	uint32_t stalled;  /* the run must end: no rank makes progress (cmd/stall.h) */
	char text[920];    /* description of the first divergence; may be unterminated */
	char host[64];     /* name of the node on which the file was created */
	struct rn_job_rank rank[];
};

/* Creates the control file. `ranks` is the number of ranks of the recording. */
int rn_job_create(const char *folder, uint64_t ranks, struct rn_err *err);

/* Maps the control file of a directory. Returns NULL if there is none. */
struct rn_job *rn_job_map(const char *folder);

/* rn_job_diverges reports that this rank diverged, and returns whether it is the first. rn_job_tell
 * publishes the description of the divergence. */
bool rn_job_diverges(struct rn_job *j, int rank);
void rn_job_tell(struct rn_job *j, const char *text);

/* Returns the rank of the first divergence, or -1. */
static inline int rn_job_first(const struct rn_job *j)
{
	return (int)__atomic_load_n(&j->first, __ATOMIC_RELAXED) - 1;
}

/* Copies the description of the first divergence. Returns false if none is published. */
bool rn_job_told(const struct rn_job *j, char *text, size_t cap);

/* Reports that ranks run on other nodes than recorded. Returns whether no rank has reported it yet.
 */
bool rn_job_moves(struct rn_job *j);

/* Counts this process as arrived. Returns the number of arrived processes, this one included. */
uint32_t rn_job_arrive(struct rn_job *j);

/* Returns whether the file was created on this node. If so, mappings remain valid when the files
 * are removed. */
bool rn_job_is_near(const struct rn_job *j);

/* Removes the control file, and the directory if it is then empty. */
void rn_job_remove(const char *folder);

#endif
