/*
 * merge_tree_mpi.h - the tree over which ranks merge what they have: bytes up to rank 0, bytes
 * down.
 *
 * A binomial tree in which every rank stands for a contiguous range of ranks that begins with
 * itself, and takes its children in ascending order, so that what it absorbs always comes after
 * what it has (rn_part_merge needs that):
 *
 *     0 <- 1, 0 <- 2 <- 3, 0 <- 4 <- (5, 6 <- 7), 0 <- 8 ...        4 stands for 4..7
 *
 * Point to point, on a communicator of the caller's own that returns errors (MPI_ERRORS_RETURN),
 * through a table of functions, because inside a tracer the names of MPI are the tracer's. Every
 * wait has an end, and sleeps longer the longer it takes: ranks may share a processor.
 *
 * Failures travel. Each message carries the sender's status; a rank that fails still takes part,
 * with empty hands. All ranks make the same calls in the same order whatever they return, and after
 * rn_link_agree all have the same verdict: the deadline binds rank 0, which decides, and the others
 * wait for its word for `grace` longer. (One that does not hear it then, because a rank between is
 * stuck, goes by RN_LINK_LATE; only it and those behind it can differ from the others.)
 *
 * A message of up to about 3 KiB is one MPI message that no implementation needs the receiver for.
 * A longer one is announced, and sent when the receiver has said that it has room; receives are
 * posted only for what has been seen (MPI_Iprobe). So after a missed deadline nothing is left over
 * in MPI that waits for somebody, save a transfer that stopped in its middle: its receive is
 * cancelled; its send, which Open MPI cannot cancel, gets another moment in rn_link_close and is
 * then left to MPI (MPI_Request_free); its memory stays, as MPI may still use it. MPI_Finalize has
 * ended after that with both MPIs, as soon as the other side was in it too (MPICH with UCX may say
 * on standard error that an object was not returned). If a rank never gets there, MPI_Finalize
 * hangs, with this module and without.
 *
 * Cost: 2 messages a rank and round (4 for large ones), O(log ranks) deep. Memory: an arena for one
 * message at a time; pack writes into a buffer (malloc). errno is left alone. Not locked.
 */
#ifndef RN_MERGE_MERGE_TREE_MPI_H
#define RN_MERGE_MERGE_TREE_MPI_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

struct rn_link_calls {
	int (*isend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
	int (*irecv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
	int (*iprobe)(int, int, MPI_Comm, int *, MPI_Status *);
	int (*test)(MPI_Request *, int *, MPI_Status *);
	int (*get_count)(const MPI_Status *, MPI_Datatype, int *);
	int (*cancel)(MPI_Request *);
	int (*request_free)(MPI_Request *);
	int (*comm_rank)(MPI_Comm, int *);
	int (*comm_size)(MPI_Comm, int *);
};

/* A status beside those of err.h: a rank (`culprit`) was not there in time. */
#define RN_LINK_LATE (-100)

#define RN_LINK_NO_END UINT64_MAX
#define RN_LINK_LEFT   8

struct rn_mpi_link {
	const struct rn_link_calls *mpi;
	MPI_Comm comm;
	int rank, size;
	uint64_t deadline, grace; /* nanoseconds: of CLOCK_MONOTONIC, and after it */
	size_t limit;             /* longest message that is accepted */
	size_t piece;             /* longest MPI message, at most 2^30; may be set lower */
	unsigned round;           /* how often bytes went up or down */
	int status;               /* RN_OK, or why nothing more is taken in */
	int culprit;              /* the rank that failed */
	struct rn_arena mem;
	bool stuck; /* a transfer was given up: memory stays */
	MPI_Request left[RN_LINK_LEFT];
	unsigned lefts; /* what was given up, and may still end */
};

/* RN_OK, or RN_E_SYS when the communicator is none. No deadline yet. */
int rn_link_open(struct rn_mpi_link *l, const struct rn_link_calls *mpi, MPI_Comm comm,
		 size_t limit);

/* The deadline is so many nanoseconds from now, or never (RN_LINK_NO_END), and what failed before
 * is forgotten. Ranks come to the end of a program at different times, so the first thing to do is
 * to agree without a deadline (MPI_Finalize would wait as well) and to set one then. */
void rn_link_arm(struct rn_mpi_link *l, uint64_t nanoseconds);

/* What a rank sends up. */
typedef int rn_link_pack(void *arg, struct rn_buf *out);
/* What came from the ranks first .. first + n - 1. A negative result is a failure of this rank. */
typedef int rn_link_absorb(void *arg, uint64_t first, uint64_t n, const void *bytes, size_t len);

/* Every rank absorbs its children's bytes, in ascending order, and then packs and sends its own.
 * Rank 0 ends with everything. l->status: of this rank and those below it. Either may be NULL. */
int rn_link_up(struct rn_mpi_link *l, rn_link_pack *pack, rn_link_absorb *absorb, void *arg);

/* Rank 0's bytes, and its status, to everybody: there `b` becomes them. NULL for the status alone.
 * A rank that has no room for them fails, with those behind it in the tree; the others hear of it
 * with the next rn_link_up. */
int rn_link_down(struct rn_mpi_link *l, struct rn_buf *b);

/* Reduces the statuses of all ranks (`mine` is that of this rank) and broadcasts the verdict. If it
 * is RN_OK and b is not NULL, rank 0 then broadcasts b as rn_link_down does. Returns the verdict.
 */
int rn_link_agree(struct rn_mpi_link *l, int mine, struct rn_buf *b);

/* A few bytes from one rank to another, outside of the tree, under the same deadline; for whoever
 * measures how long that takes. RN_OK, RN_E_NOMEM, RN_E_SYS or RN_LINK_LATE; l->status stays. */
int rn_link_send(struct rn_mpi_link *l, int to, const void *bytes, size_t n);
int rn_link_recv(struct rn_mpi_link *l, int from, void *bytes, size_t n);

/* What the verdict means, for people: "rank 3: out of memory". */
void rn_link_explain(const struct rn_mpi_link *l, struct rn_err *err);

/* Also takes in what came too late, so that MPI ends without remarks about it. */
void rn_link_close(struct rn_mpi_link *l);

#endif
