/*
 * blocked_on.h - the ranks that a call in flight is blocked on, derived from its arguments.
 *
 * A receive is blocked on its source, a send on its destination, and a collective call on the other
 * ranks of its communicator. MPI_Wait and the other completion functions are blocked on the ranks
 * that the calls that created their requests would be blocked on. Call traits
 * (encode/call_traits.h) classify the functions.
 *
 * The call words are untrusted, and objects that they refer to may be missing; the result is then
 * less specific. Memory is from the arena. Cost: O(words); for requests also O(distinct calls of
 * the stream that created them).
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
	RN_NEED_PEERS,   /* the ranks in `peer` */
	RN_NEED_MEMBERS, /* members of the communicator that are not in the same call */
};

#define RN_NEED_ANYBODY (-1)

struct rn_need_peer {
	const char *comm; /* name of a communicator, or MPI_COMM_WORLD */
	int64_t rank;     /* in `comm` or its remote group, or RN_NEED_ANYBODY */
};

struct rn_need {
	const char *function;
	/* "MPI_Recv(source=3, tag=7, comm=MPI_COMM_WORLD)": ranks, tags and objects, without
	 * buffers. `relative` has ranks relative to the caller: "source=rank-1". */
	const char *text, *relative;
	struct rn_template *args;   /* NULL: the arguments are unknown */
	const char *const *request; /* texts of the calls that created its requests, each once */
	uint32_t requests;
	enum rn_need_kind kind;
	/* For RN_NEED_PEERS. `all`: the call is blocked on its only peer. Otherwise one of the
	 * peers may be sufficient, or this is unknown. */
	const struct rn_need_peer *peer;
	uint32_t peers;
	bool all;
	/* For RN_NEED_MEMBERS: function and communicator of the collective call. Equal functions
	 * have the same pointer. */
	const char *collective, *comm;
	enum rn_whom whom;
	int64_t root;
	bool fruitless; /* a test that returned and completed no request */
};

/* Describes a call of a stream from its call words. `whole`: the words include the results of the
 * call; otherwise they are those written before it. The rank of the process, from which `relative`
 * is derived, is the recorded one. Returns RN_OK or RN_E_NOMEM. */
int rn_need_of(const struct rn_recorded *p, uint32_t stream, const uint64_t *words, size_t n,
	       bool whole, struct rn_arena *mem, struct rn_need *out);

#endif
