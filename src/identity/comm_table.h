/*
 * comm_table.h - who is in which communicator: the identities that signatures leave out.
 *
 * A signature names a communicator by how it came to be ("comm:world.1"), so that the row
 * communicators of a grid have one name on every rank. What a process knows about the one it is in
 * is an entry, kept once per name and world rank. Entries with the same name and the same key are
 * in it together, so a reader can rebuild every group. Where its members cannot agree on a name
 * without a message, the key alone says so.
 *
 * Names refer to shapes: the rows (world rank and entry) of all ranks that have the name. Equal
 * shapes are one (a thousand duplicates of the world are a thousand names and one shape), and
 * while ranks are merged a shape is a tree over others, made in O(1) for each distinct pair:
 *
 *	"comm:world.0" -+-> join -+-> sealed: columns of the ranks 0..7, as they were decoded
 *	"comm:world.4" -'         '-> leaf: one row, of rank 8
 *
 * On disk a shape is a column of ranks and one for each member of an entry, each constant, even or
 * a Series, so that what follows a pattern costs the same for any number of ranks (doc/format.md).
 *
 * Cost: add and find O(1) names, plus the depth of the tree; merge the size of the set that is
 *taken in; encode the rows of the distinct shapes, one after the other, in constant memory; decode
 *the bytes. Memory from the arena, which encode, members and check also use as scratch and leave as
 *it was. Not locked.
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

#define RN_COMM_RANKS_MAX ((uint64_t)1 << 31) /* world ranks are below it, sizes not above */

/* Keys below it (usually a world rank + 1) are of one name: members have it by the same name. From
 * it on, a key is a communicator's own, and its members are all who have it by whatever name. */
#define RN_COMM_KEY_APART ((uint64_t)1 << 62)

struct rn_comm_entry {
	uint64_t my_rank, size; /* my_rank < size */
	uint64_t remote;        /* the remote group's size; 0 for an intra-communicator */
	uint64_t key;           /* who has the same is in it too; see below */
	uint64_t remote_key;    /* the other side's key; 0 for an intra-communicator */
};

/*
 * Numbers that each rank has its own of (colours and keys of a split, coordinates) are kept in the
 * same way, as they are of the same nature: table K is named "slot:K", the number is the key, in
 * zigzag, my_rank the rank of the world and size the size of the world.
 */
#define RN_VARIES_NAME_MAX 32

/* The name of a table, terminated; returns its length. */
size_t rn_varies_name(char name[RN_VARIES_NAME_MAX], int64_t table);
int rn_varies_add(struct rn_comms *c, int64_t table, uint64_t world_rank, uint64_t ranks,
		  int64_t value);

/* So is where the ranks are, unless all of them share a node: the key is the how manieth rank of
 * its node it is, and 2^31 times how many are there. */
#define RN_NODE_NAME "node"

static inline struct rn_comm_entry rn_node_entry(uint64_t world_rank, uint64_t ranks, uint32_t rank,
						 uint32_t size)
{
	return (struct rn_comm_entry){ .my_rank = world_rank,
				       .size = ranks,
				       .key = (uint64_t)size << 31 | rank };
}

/* What is known of a rank: false, if that is nothing. */
bool rn_node_find(const struct rn_comms *c, uint64_t world_rank, uint64_t *rank, uint64_t *size);

/* NULL when there is no memory. */
struct rn_comms *rn_comms_new(struct rn_arena *mem);

/* RN_OK; RN_E_NOMEM; or RN_E_ARG: no name (1 to 255 characters that are graphic ASCII and none of
 * "\,()[]{}), numbers out of range, or the name has an entry of this rank or a later one already.
 * What fails leaves the set as it was. */
int rn_comms_add(struct rn_comms *c, const char *name, size_t len, uint64_t world_rank,
		 const struct rn_comm_entry *entry);

/* Takes `b`, whose ranks all come after a's, into `a`. b is not changed and not referred to
 * afterwards. RN_OK, RN_E_NOMEM, or RN_E_ARG when the ranks do not follow; a is then as it was. */
int rn_comms_merge(struct rn_comms *a, const struct rn_comms *b);

/* For a set of all ranks, before it is written: what has a key of its own, but one name, gets a key
 * of that name, which follows the pattern that the ranks follow. RN_OK; RN_E_NOMEM or RN_E_DATA
 * with a set that says the same. O(n log n) of the rows of such names, and leaves as much in the
 * arena. */
int rn_comms_tidy(struct rn_comms *c);

/* Appends the section "comms" to out. The bytes depend on the entries alone, not on how they were
 * merged. On failure (RN_E_NOMEM, or RN_E_DATA as for rn_comms_find) out is as it was. */
int rn_comms_encode(const struct rn_comms *c, struct rn_buf *out);

/* Trusts no byte, and expands nothing. The set can be merged and encoded again. */
int rn_comms_decode(struct rn_arena *mem, const void *bytes, size_t len, struct rn_comms **out,
		    struct rn_err *err);

/* RN_OK; RN_E_RANGE when there is no such entry; RN_E_DATA when it makes no sense, which only a
 * decoded set can have: decoding does not look at every row. */
int rn_comms_find(const struct rn_comms *c, const char *name, size_t len, uint64_t world_rank,
		  struct rn_comm_entry *entry);

/* A rank of the communicator and the world rank that it is. Other than 0 ends the walk. */
typedef int rn_comms_fn(void *arg, uint64_t rank, uint64_t world_rank);

/* Everybody in the communicator that world_rank knows by this name, by their rank in it. Those of
 * whom nothing is known (their part is missing) are left out. What the callback returned, if it
 * was not 0; RN_E_NOMEM; or as for rn_comms_find. Goes through all rows of the name, or of all
 * names.
 */
int rn_comms_members(const struct rn_comms *c, const char *name, size_t len, uint64_t world_rank,
		     rn_comms_fn *fn, void *arg);

/* The same for the other side of an inter-communicator: those whose key is this one's remote_key
 * and the other way round. Nobody for an intra-communicator. */
int rn_comms_remote_members(const struct rn_comms *c, const char *name, size_t len,
			    uint64_t world_rank, rn_comms_fn *fn, void *arg);

/* One of the groups of a communicator: who of it is known, by their rank in it. */
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
	struct rn_comm_side by;            /* those of `local` who have it by this name */
};

/* Each communicator under each of its names, an inter-communicator once from each side. What the
 * callback returned, if it was not 0; RN_E_NOMEM; or RN_E_DATA. O(n log n) of all rows. */
typedef int rn_comms_list_fn(void *arg, const struct rn_comm_listed *comm);
int rn_comms_list(const struct rn_comms *c, rn_comms_list_fn *fn, void *arg);

/* The names, numbered from 0. Not terminated. */
uint32_t rn_comms_count(const struct rn_comms *c);
const char *rn_comms_name(const struct rn_comms *c, uint32_t i, size_t *len);

/* All world ranks are below it; 0 when there are none. A reader holds it against the trace's. */
uint64_t rn_comms_ranks(const struct rn_comms *c);

/* Goes through everything: names are found, ranks ascend, entries are in range, and those of one
 * communicator agree on its size and its other side and have ranks of their own in it. RN_OK,
 * RN_E_NOMEM or RN_E_DATA. */
int rn_comms_check(const struct rn_comms *c, struct rn_err *err);

#endif
