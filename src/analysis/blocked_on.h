/*
 * blocked_on.h - what a call that is under way waits for, as far as its arguments tell.
 *
 * A receive waits for its source, a send for its destination, a collective call for the other ranks
 * of its communicator; MPI_Wait and its like wait for what the calls that made their requests would
 * wait for. Call traits (encode/call_traits.h) tell these functions apart.
 *
 * Words come from a file, and what they refer to need not exist: then less is known. Memory from
 * the arena. Cost: the words; for requests also the distinct calls of the stream that made them.
 */
#ifndef RN_ANALYSIS_BLOCKED_ON_H
#define RN_ANALYSIS_BLOCKED_ON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "encode/call_traits.h"

struct rn_arena;
struct rn_recorded;
struct rn_template;

enum rn_need_kind {
	RN_NEED_NOTHING,
	RN_NEED_PEERS,   /* ranks that the call names */
	RN_NEED_MEMBERS, /* those of a communicator who are not in the same call */
};

#define RN_NEED_ANYBODY (-1)

struct rn_need_peer {
	const char *comm; /* by its name, or MPI_COMM_WORLD */
	int64_t rank;     /* in it (in its other group), or RN_NEED_ANYBODY */
};

struct rn_need {
	const char *function;
	/* "MPI_Recv(source=3, tag=7, comm=MPI_COMM_WORLD)": where, whom and what about, without
	 * buffers; and the same with ranks as seen from the caller: "source=rank-1". */
	const char *text, *relative;
	struct rn_template *args;   /* NULL: the arguments are not known */
	const char *const *request; /* the calls that made its requests, each once, as such texts */
	uint32_t requests;
	enum rn_need_kind kind;
	/* Peers: all have to come, or any of them may be enough, or nobody knows. */
	const struct rn_need_peer *peer;
	uint32_t peers;
	bool all;
	/* Members: which collective it is (the same pointer for the same), of which communicator.
	 */
	const char *collective, *comm;
	enum rn_whom whom;
	int64_t root;
	bool fruitless; /* a test that is over, and has found nothing */
};

/* The call of a stream, with the words that it had before (`whole`: and after) it was made. Its
 * rank there, for `relative`, is what the process says. RN_OK or RN_E_NOMEM. */
int rn_need_of(const struct rn_recorded *p, uint32_t stream, const uint64_t *words, size_t n,
	       bool whole, struct rn_arena *mem, struct rn_need *out);

#endif
