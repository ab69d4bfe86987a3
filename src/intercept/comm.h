/*
 * comm.h - communicators: symbols for signatures, identities for the reader.
 *
 * A symbol is how the communicator came to be: its parent's, and the number of the collective
 * creating call on that parent, counted when the call is made and whether or not this process gets
 * a communicator from it. All processes of the parent count alike without a message, so the rows of
 * a grid have one symbol: "comm:world.1".
 *
 * What sets two communicators of one symbol apart is their identity: who is rank 0 (by its rank in
 * the world), my rank, the size; from local questions to MPI only. It is kept for the reader, who
 * finds the members by it.
 *
 * Symbols are never used again, so words (number << 1) stay valid when a communicator is freed.
 */
#ifndef RN_INTERCEPT_COMM_H
#define RN_INTERCEPT_COMM_H

#include <stdint.h>

#include "intercept/real.h"
#include "intercept/stream.h"

struct rn_comms;

struct rn_comm {
	char *name;
	int rank, size, remote;
	int64_t leader, remote_leader; /* ranks of the world, -1: not in it */
	uint64_t key;                  /* what its members have in common */
	uint32_t calls;                /* collective creating calls so far */
	uint32_t groups;               /* create_group calls */
	bool complete;
};

struct rn_comm_birth {
	uint32_t parent; /* symbol */
	uint32_t n;
	char how; /* '.' collective; others: see comm.c */
};

int rn_comms_start(void);

/* The world is known now. */
void rn_comm_world(void);

/* A creating call is about to be made on this parent (MPI_COMM_NULL: on none). */
struct rn_comm_birth rn_comm_birth(struct rn_stream *t, uint32_t function, MPI_Comm parent);

/* It gave this one; its word. */
uint64_t rn_comm_new(struct rn_comm_birth b, uint32_t function, MPI_Comm comm);

/* A handle that nobody saw being made. The lock is held. */
uint64_t rn_comm_unknown(uint64_t handle);

/* By word; constants included. Never NULL. */
const struct rn_comm *rn_comm_get(uint32_t word);

/* Identities of all that this process has had, world and self left out. RN_OK or RN_E_NOMEM. */
int rn_comm_entries(struct rn_comms *out, uint64_t world_rank);

#endif
