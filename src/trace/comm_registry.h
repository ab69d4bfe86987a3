/*
 * comm_registry.h - registry of communicators: assigns the name that signatures use, and the key
 * that the reader uses to match the members of a communicator across ranks.
 *
 * A communicator's symbol is the id of its name. The name consists of the parent's name and the
 * index of the collective creating call on that parent. The index is counted when the call is made,
 * whether or not this process gets a communicator from it. All processes of the parent count alike
 * without communication, so the rows of a grid have one name: "comm:world.1".
 *
 * Communicators with the same name differ in their identity: members, own rank and sizes. It is
 * obtained from MPI by local calls only, and stored for the reader, which derives the key from it.
 * In some cases the members cannot count alike: MPI_Comm_create_group, the two sides of an
 * inter-communicator, and all communicators derived from these. Their names may differ between
 * members, so the key alone identifies the communicator. It is a hash of the members in order, of
 * the tag if there is one, and of the number of such communicators so far, which is equal on all
 * members.
 *
 * A symbol belongs permanently to one parent, creating function and set of members. It is reused
 * after the communicator is freed and another one of the same kind is created. The lowest free
 * symbol is used, so the order in which several were freed does not matter. A loop that creates and
 * frees communicators therefore uses the same symbols in each iteration, and words (symbol << 1)
 * remain valid. All members choose the same symbol, because creating and freeing are collective
 * over the same processes. Exception: if two threads create and free at the same time, members may
 * have different symbols, and a reader does not find all members.
 *
 * Cost of a new communicator: O(1) for a duplicate, otherwise O(size) queries of MPI. With Open MPI
 * each query costs O(world size) if the members are not an arithmetic progression of world ranks.
 */
#ifndef RN_TRACE_COMM_REGISTRY_H
#define RN_TRACE_COMM_REGISTRY_H

#include <stdint.h>

#include "preload/next_mpi.h"
#include "trace/stream.h"

struct rn_objects;

/* A group: its size, the first member that is in the world (world rank; -1: none), and a hash of
 * all members. */
struct rn_comm_members {
	int n;
	int64_t first;
	uint64_t hash;
};

struct rn_comm {
	const char *name;
	int rank;
	bool complete; /* the fields below are valid */
	bool apart;    /* other members may have other names for it */
	struct rn_comm_members local, remote;
	uint64_t by;     /* tag of its creation */
	uint32_t number; /* index in its comm class, see comm_registry.c */
	uint32_t calls;  /* number of collective creating calls on it */
	uint32_t groups; /* number of MPI_Comm_create_group calls on it */
};

struct rn_comm_birth {
	uint32_t function, parent; /* symbol of the parent */
	uint32_t n;
	bool group;  /* n counts MPI_Comm_create_group calls only */
	uint64_t by; /* tag of the creation */
};

int rn_comms_start(void);

/* Records the members of MPI_COMM_WORLD, which is initialized now. */
void rn_comm_world(void);

/* Reads the members of the world from a session, before MPI_COMM_WORLD exists. */
void rn_comm_session(uint64_t session);

/* Called before a creating call on this parent (MPI_COMM_NULL: without a parent). Counts the call,
 * and returns what the name of the new communicator is made of. */
struct rn_comm_birth rn_comm_birth(struct rn_stream *t, uint32_t function, MPI_Comm parent,
				   uint64_t by);

/* Registers the communicator that the call returned. Returns its call word. */
uint64_t rn_comm_new(const struct rn_comm_birth *b, MPI_Comm comm);

/* Releases the symbol of a freed communicator. The handle may already refer to another one. */
void rn_comm_gone(uint64_t handle, uint64_t word);

/* Registers a communicator whose creation was not seen, in two steps. rn_comm_ask queries MPI; the
 * lock is not held, because MPI may call the program's error handlers. rn_comm_unknown returns the
 * call word; the lock is held. */
void rn_comm_ask(struct rn_comm *c, uint64_t handle);
uint64_t rn_comm_unknown(struct rn_comm *c);

/* Returns the communicator of a call word, which may be a constant. Never NULL. */
const struct rn_comm *rn_comm_get(uint32_t word);

/* Returns the entry with its rank, size and remote size. All are 0 if the handle is invalid. */
const struct rn_comm *rn_comm_look(struct rn_stream *t, MPI_Comm comm);

/* Adds all communicators and the node (identity/comm_table.h) to `out`. RN_OK or RN_E_NOMEM. */
int rn_comm_list(struct rn_arena *mem, struct rn_objects *out);

/* Whether this process was spawned by an MPI program and not started by a launcher. Valid from
 * MPI_Init on. */
bool rn_comm_spawned(void);

#endif
