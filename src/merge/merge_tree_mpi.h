/*
 * merge_tree_mpi.h - a binomial tree over MPI for the merge: bytes up to rank 0, and bytes down.
 *
 * Every rank represents a contiguous range of ranks that begins with itself. It absorbs its
 * children in ascending order, so that absorbed ranks always follow the ranks it already has
 * (required by rn_part_merge):
 *
 *    0 <- 1, 0 <- 2 <- 3, 0 <- 4 <- (5, 6 <- 7), 0 <- 8 ...        4 represents 4..7
 *
 * Communication is point to point, on a communicator of the caller that returns errors
 * (MPI_ERRORS_RETURN). MPI is called through a table of functions, because inside a tracer the MPI
 * names are those of the tracer. Every wait has a time limit. It sleeps longer the longer it takes,
 * because ranks may share a processor.
 *
 * Errors propagate. Every message carries the status of the sender. A rank that fails still takes
 * part, with an empty payload. All ranks make the same calls in the same order whatever they
 * return. After rn_link_agree all have the same verdict: the deadline binds rank 0, which decides,
 * and the others wait for its decision for `grace` nanoseconds longer. A rank that has no decision
 * then, because a rank between it and rank 0 is blocked, gets RN_LINK_LATE. Only that rank and its
 * descendants can differ from the others.
 *
 * A message of up to about 3 KiB is one MPI message, which every implementation sends without the
 * receiver. A longer message is announced, and sent after the receiver has replied that it has
 * memory. Receives are posted only for messages that MPI_Iprobe has reported. After a missed
 * deadline, therefore, no operation is pending in MPI, except a transfer that was interrupted. Its
 * receive is canceled. Its send cannot be canceled by Open MPI; rn_link_close waits for it briefly
 * and then frees the request (MPI_Request_free). Its memory is not freed, because MPI may still use
 * it. After that, MPI_Finalize has returned with both MPI libraries as soon as the other rank had
 * also entered it. (MPICH with UCX may report on standard error that an object was not returned.)
 * If a rank never enters MPI_Finalize, MPI_Finalize hangs, with or without this module.
 *
 * Cost: 2 messages per rank and round (4 for large messages), depth O(log ranks). Memory: an arena
 * for one message at a time; `pack` writes into a buffer (malloc). errno is preserved. Not locked.
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

/* A status in addition to those of err.h: a rank (`culprit`) missed the deadline. */
#define RN_LINK_LATE (-100)

#define RN_LINK_NO_END UINT64_MAX
#define RN_LINK_LEFT   8

struct rn_mpi_link {
	const struct rn_link_calls *mpi;
	MPI_Comm comm;
	int rank, size;
	uint64_t deadline, grace; /* nanoseconds: CLOCK_MONOTONIC time, and the duration after it */
	size_t limit;             /* longest message that is accepted, in bytes */
	size_t piece;   /* longest MPI message, in bytes; at most 2^30, may be set lower */
	unsigned round; /* number of rn_link_up and rn_link_down calls */
	int status;     /* RN_OK, or the error after which nothing is absorbed */
	int culprit;    /* rank that failed; -1: none */
	struct rn_arena mem;
	bool stuck; /* a transfer was abandoned: the arena is not freed */
	MPI_Request left[RN_LINK_LEFT];
	unsigned lefts; /* number of abandoned requests in `left` */
};

/* Returns RN_OK, or RN_E_SYS if the communicator is invalid. The deadline is not set. */
int rn_link_open(struct rn_mpi_link *l, const struct rn_link_calls *mpi, MPI_Comm comm,
		 size_t limit);

/* Sets the deadline to this many nanoseconds from now, or to never (RN_LINK_NO_END), and clears
 * earlier errors. Ranks reach the end of a program at different times. Therefore first agree
 * without a deadline (MPI_Finalize would wait as well), then set one. */
void rn_link_arm(struct rn_mpi_link *l, uint64_t nanoseconds);

/* Appends the bytes that a rank sends to its parent. */
typedef int rn_link_pack(void *arg, struct rn_buf *out);
/* Absorbs the bytes of the ranks first .. first + n - 1. A negative result is a failure of this
 * rank. */
typedef int rn_link_absorb(void *arg, uint64_t first, uint64_t n, const void *bytes, size_t len);

/* Every rank absorbs the bytes of its children, in ascending order, and then packs and sends its
 * own. Rank 0 ends with the data of all ranks. Returns l->status, which covers this rank and its
 * descendants. `pack` and `absorb` may be NULL. */
int rn_link_up(struct rn_mpi_link *l, rn_link_pack *pack, rn_link_absorb *absorb, void *arg);

/* Broadcasts the bytes and the status of rank 0; on the other ranks they replace the contents of
 * `b`. NULL broadcasts the status alone. A rank without memory for the bytes fails, and so do its
 * descendants in the tree; the next rn_link_up reports this to the others. */
int rn_link_down(struct rn_mpi_link *l, struct rn_buf *b);

/* Reduces the statuses of all ranks (`mine` is that of this rank) and broadcasts the verdict. If it
 * is RN_OK and b is not NULL, rank 0 then broadcasts b as rn_link_down does. Returns the verdict.
 */
int rn_link_agree(struct rn_mpi_link *l, int mine, struct rn_buf *b);

/* Sends a few bytes from one rank to another, outside the tree, under the same deadline. Used to
 * measure latency. Returns RN_OK, RN_E_NOMEM, RN_E_SYS or RN_LINK_LATE. l->status is unchanged. */
int rn_link_send(struct rn_mpi_link *l, int to, const void *bytes, size_t n);
int rn_link_recv(struct rn_mpi_link *l, int from, void *bytes, size_t n);

/* Describes the verdict for the user: "rank 3: out of memory". */
void rn_link_explain(const struct rn_mpi_link *l, struct rn_err *err);

/* Also receives messages that arrived too late, so that MPI ends without warnings about them. */
void rn_link_close(struct rn_mpi_link *l);

#endif
