/*
 * replay_control.h - what the processes of one replay have in common: a file in the folder of plans
 * (replay_plan.h), which those of a node and the rondo that waits for them have mapped.
 *
 * Who does something else than was recorded first says so here. The others are likely to have been
 * led astray by it, and who waits for a message that no longer comes learns it from here.
 *
 * All fields except the texts and those of ranks only increase, and are read and written
 * atomically. Processes on other nodes may see the file late, or not at all: then each node has its
 * own first.
 */
#ifndef RN_ORDER_REPLAY_CONTROL_H
#define RN_ORDER_REPLAY_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define RN_JOB_MAGIC 0x32424f4a4f444e52u /* "RNDOJOB2" */

/* State of one rank, for the stall check of `rondo replay`. The rank writes it if it runs on the
 * node where the job was created. The texts are valid while the rank waits. */
struct rn_job_rank {
	uint32_t pid;       /* 0: MPI_Init has not returned */
	uint32_t finalized; /* MPI_Finalize has returned */
	uint32_t threads;   /* number of threads that have called MPI and have not ended */
	uint32_t inside;    /* number of threads that are in an MPI call */
	uint32_t silent;    /* number of threads created after MPI_Init that have not called MPI */
	uint64_t calls;     /* number of calls that have returned, except polls */
	uint64_t polls;     /* number of tests and probes that have returned */
	uint32_t function;  /* the call in flight: number in the vocabulary */
	int32_t peer, tag;  /* arguments of that call; RN_PLAN_NOTHING: it has none */
	char comm[60];      /* its communicator, or empty */
	char where[32];     /* "event 12": the position in the recording, or empty */
	char awaited[128];  /* the message or call that the replay waits for, or empty */
};

struct rn_job {
	uint64_t magic;
	uint32_t arrived;  /* processes that have mapped all that they need of the folder */
	uint32_t first;    /* the rank that diverged first, plus 1; 0: none has */
	uint32_t told;     /* the text is there */
	uint32_t moved;    /* somebody has said that ranks are not where they were */
	uint32_t slots;    /* number of elements of `rank` */
	uint32_t world;    /* number of ranks of the program; 0: unknown */
	uint32_t external; /* a rank waits, or may wait, for processes outside the world */
	uint32_t stalled;  /* the run must end: no rank makes progress (cmd/stall.h) */
	char text[920];    /* what it did; not terminated where it fills this */
	char host[64];     /* the node of who made it */
	struct rn_job_rank rank[];
};

/* Creates the job file. `ranks`: the number of ranks of the recording. */
int rn_job_create(const char *folder, uint64_t ranks, struct rn_err *err);

/* That of a folder; NULL: there is none. */
struct rn_job *rn_job_map(const char *folder);

/* This rank has diverged: whether it is the first. */
bool rn_job_diverges(struct rn_job *j, int rank);
void rn_job_tell(struct rn_job *j, const char *text);

/* The first that diverged, or -1. */
static inline int rn_job_first(const struct rn_job *j)
{
	return (int)__atomic_load_n(&j->first, __ATOMIC_RELAXED) - 1;
}

/* What it did; false: it has not told. */
bool rn_job_told(const struct rn_job *j, char *text, size_t cap);

/* Whether this one is the first to say so. */
bool rn_job_moves(struct rn_job *j);

/* How many have arrived, with this one. */
uint32_t rn_job_arrive(struct rn_job *j);

/* Whether it was made on this node: then what is mapped stays so when files are removed. */
bool rn_job_is_near(const struct rn_job *j);

/* The file goes, and the folder, if nothing else is in it. */
void rn_job_remove(const char *folder);

#endif
