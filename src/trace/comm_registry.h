/*
 * comm_registry.h - communicators: symbols for signatures, identities for the reader.
 *
 * A symbol is how the communicator came to be: its parent's, and the number of the collective
 * creating call on that parent, counted when the call is made and whether or not this process gets
 * a communicator from it. All processes of the parent count alike without a message, so the rows of
 * a grid have one symbol: "comm:world.1".
 *
 * What sets two communicators of one symbol apart is their identity: who is in it, my rank, the
 * sizes; from local questions to MPI only. It is kept for the reader, who finds the members by it.
 * Where members cannot count alike (MPI_Comm_create_group, the two sides of an inter-communicator,
 * and all that is made of such), their symbols may differ, and the identity alone has to say that
 * it is one communicator: a hash of the members in order, of the tag if there is one, and of how
 * many such there are already, which all members know.
 *
 * A symbol belongs to one parent, creating function and set of members for good, and is used again
 * when the communicator is freed and another such is made: the lowest free one, so that the order
 * in which several were freed does not matter. A loop that makes and frees communicators uses the
 * same ones each time, and words (number << 1) stay valid. All members decide alike, for freeing
 * and making are collective over the same processes; unless two threads do the one and the other at
 * the same time, when members may come to have different symbols, and a reader does not find all.
 *
 * Cost of making one: a duplicate O(1), others O(size) questions to MPI; with Open MPI, where the
 * members are no progression of ranks of the world, it takes O(world) for each.
 */
#ifndef RN_TRACE_COMM_REGISTRY_H
#define RN_TRACE_COMM_REGISTRY_H

#include <stdint.h>

#include "preload/next_mpi.h"
#include "trace/stream.h"

struct rn_objects;

/* A group: how many, the first of them that is in the world (-1: none), and a hash of all. */
struct rn_comm_members {
	int n;
	int64_t first;
	uint64_t hash;
};

struct rn_comm {
	const char *name;
	int rank;
	bool complete; /* the following is known */
	bool apart;    /* other members may have other names for it */
	struct rn_comm_members local, remote;
	uint64_t by;     /* of its creation */
	uint32_t number; /* in its family, see comm_registry.c */
	uint32_t calls;  /* collective creating calls so far */
	uint32_t groups; /* create_group calls */
};

struct rn_comm_birth {
	uint32_t function, parent; /* symbol */
	uint32_t n;
	bool group;  /* n is of MPI_Comm_create_group alone */
	uint64_t by; /* a tag */
};

int rn_comms_start(void);

/* The world is known now. */
void rn_comm_world(void);

/* There is no world yet, but a session, which knows who would be in it. */
void rn_comm_session(uint64_t session);

/* A creating call is about to be made on this parent (MPI_COMM_NULL: on none). */
struct rn_comm_birth rn_comm_birth(struct rn_stream *t, uint32_t function, MPI_Comm parent,
				   uint64_t by);

/* It gave this one; its word. */
uint64_t rn_comm_new(const struct rn_comm_birth *b, MPI_Comm comm);

/* It has been freed; another may have its handle already. */
void rn_comm_gone(uint64_t handle, uint64_t word);

/* A handle that nobody saw being made, in two steps: what MPI says of it, for which the lock is not
 * held, as MPI may call the program's error handlers; and its word, with the lock held. */
void rn_comm_ask(struct rn_comm *c, uint64_t handle);
uint64_t rn_comm_unknown(struct rn_comm *c);

/* By word; constants included. Never NULL. */
const struct rn_comm *rn_comm_get(uint32_t word);

/* Its rank, size and remote size; all 0 when it is no communicator. */
const struct rn_comm *rn_comm_look(struct rn_stream *t, MPI_Comm comm);

/* All of them, and the node (identity/comm_table.h). RN_OK or RN_E_NOMEM. */
int rn_comm_list(struct rn_arena *mem, struct rn_objects *out);

/* Whether others of the program have started this process, not a launcher; asked in MPI_Init. */
bool rn_comm_spawned(void);

#endif
