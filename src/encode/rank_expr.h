/*
 * rank_expr.h - selection of the rank expression that makes a rank argument equal on all ranks.
 *
 * A rank argument is stored as an absolute rank, relative to the calling rank, relative modulo the
 * size of the communicator, or as an exclusive or. The expression is selected per *slot*: one
 * parameter position of one kind of call. The key of a slot is a hash of the signature with its
 * rank arguments masked, and of the index of the position, so it does not depend on the arguments
 * themselves. Each rank adds the values of its slots. The summaries are merged along a tree. The
 * root chooses, and the choices are sent back to all ranks. The bytes:
 *
 *   summary    number of keys; per key, ascending: the key (u64), whether a rank has several values
 *              (u8), then for each expression
 *                head     varint: values << 2 | same order << 1 | same set
 *                values   the union over ranks, ascending; empty if they exceed the limit
 *                hashes   of the order and of the set (u32), unless the values imply them
 *   choices    for relative, modulo, exclusive or, varying: number of keys, then the
 *              keys (u64), ascending
 *
 * The choice for a key is the first of these that applies:
 *
 *   - an expression in which every rank that has the slot used the same values in the same order;
 *   - an expression in which they used the same set of values;
 *   - a per-rank table (RN_V_VARIES), if no rank has more than one value;
 *   - the expression with the fewest values over all ranks, if there are at most RN_PEERS_UNION
 *     (ranks at the border of a grid use a subset);
 *   - the absolute rank.
 *
 * Ties are resolved in the order absolute, relative, modulo, exclusive or. A wrong choice (caused
 * by a hash collision) costs bytes in the trace but no correctness, because every value states its
 * kind.
 *
 * The merge is associative and commutative: every tree gives the same summary, byte for byte. Cost:
 * O(1) per added value, O(bytes) per merge, O(keys log keys) per encoding. Memory is from the
 * arena: about 150 bytes per key and 40 bytes per added value. Encoding writes into a buffer. No
 * MPI. Not locked.
 */
#ifndef RN_ENCODE_RANK_EXPR_H
#define RN_ENCODE_RANK_EXPR_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "encode/signature.h"

struct rn_arena;
struct rn_buf;
struct rn_peers;   /* opaque */
struct rn_choices; /* opaque */

#define RN_PEERS_UNION 32

struct rn_peers *rn_peers_new(struct rn_arena *mem);

/* Adds a value of a slot: the rank argument, the caller's own rank in the communicator, and the
 * number of ranks that the argument can refer to (for an inter-communicator, the size of the remote
 * group). MPI_PROC_NULL and the like are constants and must not be added. Adding a value again has
 * no effect. Returns RN_OK; RN_E_NOMEM; RN_E_ARG if a summary has been absorbed before. */
int rn_peers_add(struct rn_peers *p, uint64_t key, int64_t value, int64_t rank, int64_t size);

int rn_peers_encode(const struct rn_peers *p, struct rn_buf *out);

/* Merges the encoded summary of another rank. Returns RN_OK; RN_E_NOMEM or RN_E_DATA with p
 * unchanged. */
int rn_peers_absorb(struct rn_peers *p, const void *bytes, size_t len, struct rn_err *err);

/* Encodes all choices that are not absolute. */
int rn_choices_encode(const struct rn_peers *p, struct rn_buf *out);
int rn_choices_decode(struct rn_arena *mem, const void *bytes, size_t len, struct rn_choices **out,
		      struct rn_err *err);
/* Returns RN_V_INT, RN_V_REL, RN_V_RELMOD, RN_V_XOR or RN_V_VARIES. O(log keys). */
enum rn_value_kind rn_choices_get(const struct rn_choices *c, uint64_t key);
/* Returns the index of a slot among those with per-rank tables, from 0. */
uint64_t rn_choices_varying(const struct rn_choices *c, uint64_t key);

/* Computes the number that represents `value` in an expression; rn_value_resolve is the inverse.
 * Returns the kind that was used: RN_V_INT if the value is not a result of the modulus. */
enum rn_value_kind rn_peer_express(enum rn_value_kind kind, int64_t value, int64_t rank,
				   int64_t size, int64_t *number);

#endif
