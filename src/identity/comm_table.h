/*
 * comm_table.h - membership of every communicator; signatures contain only communicator names.
 *
 * A signature names a communicator by its creation ("comm:world.1"), so the row communicators of a
 * grid have the same name on every rank. The data of a process about its communicator is an entry,
 * stored once per name and world rank. Entries with the same name and the same key belong to the
 * same communicator, so a reader can reconstruct every group. If its members cannot agree on a name
 * without a message, the key alone identifies the communicator.
 *
 * Names refer to row sets: the rows (world rank and entry) of all ranks that have the name. Equal
 * row sets are stored once (a thousand duplicates of the world are a thousand names and one row
 * set). During the merge of ranks a row set is a tree of others, built in O(1) for each distinct
 * pair:
 *
 * 	"comm:world.0" -+-> join -+-> sealed: columns of the ranks 0..7, as they were decoded
 * 	"comm:world.4" -'         '-> leaf: one row, of rank 8
 *
 * On disk a row set has a column of ranks and one column for each field of an entry. A column is
 * constant, linear or a series, so a regular pattern takes the same space for any number of ranks
 * (doc/format.md).
 *
 * Cost: add and find are O(1) for the name plus the depth of the tree; merge is O(size of the
 * merged set); encode is O(rows of the distinct row sets), one after the other, in constant memory;
 * decode is O(bytes). Memory is from the arena. encode, members and check also use it for scratch
 * memory, which they release. Not locked.
 */
#ifndef RN_IDENTITY_COMM_TABLE_H
#define RN_IDENTITY_COMM_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_buf;
struct rn_comms; /* opaque */

#define RN_COMM_RANKS_MAX ((uint64_t)1 << 31) /* exceeds all world ranks; maximum size */

/* Keys below this (usually a world rank + 1) belong to one name: all members have the communicator
 * under the same name. Larger keys are unique to a communicator: its members are all entries with
 * the key, under any name. */
#define RN_COMM_KEY_APART ((uint64_t)1 << 62)

struct rn_comm_entry {
	uint64_t my_rank, size; /* my_rank < size */
	uint64_t remote;        /* size of the remote group; 0 for an intra-communicator */
	uint64_t key;           /* equal for all members; see RN_COMM_KEY_APART */
	uint64_t remote_key;    /* key of the remote group; 0 for an intra-communicator */
};

/*
 * Per-rank tables (colors and keys of a split, coordinates) are stored in the same way, because
 * they have the same structure. Table K is named "slot:K". The key is the number in zigzag form,
 * my_rank is the world rank, and size is the size of the world.
 */
#define RN_VARIES_NAME_MAX 32

/* Writes the terminated name of a table; returns its length. */
size_t rn_varies_name(char name[RN_VARIES_NAME_MAX], int64_t table);
int rn_varies_add(struct rn_comms *c, int64_t table, uint64_t world_rank, uint64_t ranks,
		  int64_t value);

/* The placement of ranks on nodes is also stored in this way, unless all ranks share a node. The
 * key is the rank's index on its node plus 2^31 times the number of ranks on the node. */
#define RN_NODE_NAME "node"

static inline struct rn_comm_entry rn_node_entry(uint64_t world_rank, uint64_t ranks, uint32_t rank,
						 uint32_t size)
{
	return (struct rn_comm_entry){ .my_rank = world_rank,
				       .size = ranks,
				       .key = (uint64_t)size << 31 | rank };
}

/* Returns the placement of a rank; false if it is unknown. */
bool rn_node_find(const struct rn_comms *c, uint64_t world_rank, uint64_t *rank, uint64_t *size);

/* Creates an empty set. Returns NULL without memory. */
struct rn_comms *rn_comms_new(struct rn_arena *mem);

/* Adds an entry. Returns RN_OK or RN_E_NOMEM. Returns RN_E_ARG if the name is invalid, a number is
 * out of range, or the name already has an entry of this rank or a later one. A valid name is 1 to
 * 255 graphic ASCII characters except "\,()[]{}. On failure the set is unchanged. */
int rn_comms_add(struct rn_comms *c, const char *name, size_t len, uint64_t world_rank,
		 const struct rn_comm_entry *entry);

/* Merges `b`, whose ranks all follow a's, into `a`. b is not changed, and a does not refer to it
 * afterwards. Returns RN_OK, RN_E_NOMEM, or RN_E_ARG if the ranks do not follow; a is then
 * unchanged. */
int rn_comms_merge(struct rn_comms *a, const struct rn_comms *b);

/* Normalizes a set of all ranks before it is written. A communicator that has a unique key but only
 * one name gets a key of that name, which follows the pattern of the ranks. Returns RN_OK;
 * RN_E_NOMEM or RN_E_DATA with an equivalent set. O(n log n) for the n rows of such names; O(n)
 * memory remains allocated in the arena. */
int rn_comms_tidy(struct rn_comms *c);

/* Appends the section "comms" to out. The bytes depend on the entries alone, not on the order of
 * merges. On failure (RN_E_NOMEM, or RN_E_DATA as for rn_comms_find) out is unchanged. */
int rn_comms_encode(const struct rn_comms *c, struct rn_buf *out);

/* Input is untrusted; malformed input returns RN_E_DATA. Expands nothing. The set can be merged and
 * encoded again. */
int rn_comms_decode(struct rn_arena *mem, const void *bytes, size_t len, struct rn_comms **out,
		    struct rn_err *err);

/* Finds an entry. Returns RN_OK; RN_E_RANGE if the entry does not exist; RN_E_DATA if it is
 * invalid. Only a decoded set can have invalid entries, because decoding does not validate every
 * row. */
int rn_comms_find(const struct rn_comms *c, const char *name, size_t len, uint64_t world_rank,
		  struct rn_comm_entry *entry);

/* Receives a rank of the communicator and its world rank. A result other than 0 ends the iteration.
 */
typedef int rn_comms_fn(void *arg, uint64_t rank, uint64_t world_rank);

/* Iterates over the members of the communicator that world_rank has under this name, by their rank
 * in it. Members without an entry (their partial trace is missing) are skipped. Returns the result
 * of the callback if it was not 0; RN_E_NOMEM; or as rn_comms_find. Reads all rows of the name or,
 * for a unique key, of all names. */
int rn_comms_members(const struct rn_comms *c, const char *name, size_t len, uint64_t world_rank,
		     rn_comms_fn *fn, void *arg);

/* Iterates over the remote group of an inter-communicator: the entries whose key is this one's
 * remote_key and vice versa. Returns as rn_comms_members. An intra-communicator has no remote
 * members. */
int rn_comms_remote_members(const struct rn_comms *c, const char *name, size_t len,
			    uint64_t world_rank, rn_comms_fn *fn, void *arg);

/* One group of a communicator: its known members, by their rank in it. */
struct rn_comm_member {
	uint64_t rank, world_rank;
};

struct rn_comm_side {
	uint64_t size, n;
	const struct rn_comm_member *member;
};

struct rn_comm_listed {
	const char *name;
	size_t len;
	struct rn_comm_side local, remote; /* remote.size is 0 for an intra-communicator */
	struct rn_comm_side by;            /* the members of `local` that have it under this name */
};

/* Iterates over each communicator under each of its names; an inter-communicator once from each
 * side. Returns the result of the callback if it was not 0; RN_E_NOMEM; or RN_E_DATA. O(n log n)
 * for all rows. */
typedef int rn_comms_list_fn(void *arg, const struct rn_comm_listed *comm);
int rn_comms_list(const struct rn_comms *c, rn_comms_list_fn *fn, void *arg);

/* The number of names, and the name with index i. Names are not terminated. */
uint32_t rn_comms_count(const struct rn_comms *c);
const char *rn_comms_name(const struct rn_comms *c, uint32_t i, size_t *len);

/* Returns a bound that exceeds all world ranks; 0 if the set is empty. A reader compares it with
 * the number of ranks of the trace. */
uint64_t rn_comms_ranks(const struct rn_comms *c);

/* Validates all rows: names are found, ranks ascend, entries are in range. The entries of one
 * communicator agree on its size and its remote group, and have distinct ranks in it. Returns
 * RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_comms_check(const struct rn_comms *c, struct rn_err *err);

#endif
