/*
 * rank_expr.h - which expression makes a peer the same on all ranks.
 *
 * A peer is stored as it is (absolute), relative to the calling rank, relative modulo the size of
 * the communicator, or as an exclusive or. Which one is decided per *slot*: one place in one kind
 * of call, named by a key that does not depend on the peers themselves (a hash of the signature
 * with its peers masked, and the place's index). Each rank adds what its slots hold; the summaries
 * are absorbed along a tree; the root chooses, and the choices go back to all. The bytes:
 *
 *   summary    number of keys; per key, ascending: the key (u64), whether a rank has several values
 *              (u8), then for each expression
 *                head     varint: values << 2 | same order << 1 | same set
 *                values   the union over ranks, ascending; none when there are too many to keep
 *                hashes   of the order and of the set (u32), where they do not follow from that
 *   choices    for relative, modulo, exclusive or, varying: how many keys, the keys (u64),
 * ascending
 *
 * The choice, per key: an expression in which every rank that has the slot used the same values in
 * the same order; else the same set of values; else, if no rank has more than one value, a table of
 * the ranks' values (RN_V_VARIES); else the one with the fewest values over all ranks
 * (ranks at the border of a grid use a subset), if there are at most RN_PEERS_UNION; else absolute.
 * Among equals the first in the order absolute, relative, modulo, exclusive or. A wrong choice (a
 * hash that collides) costs bytes in the trace and nothing else: every value says what it is.
 *
 * Absorbing is associative and commutative: any tree gives the same summary, byte for byte.
 * Cost: O(1) an addition, O(bytes) to absorb, O(keys log keys) to encode. Memory from the arena,
 * about 150 bytes a key and 40 an added value; encoding writes into a buffer. No MPI. Not locked.
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

/* A value of a slot: a plain rank (MPI_PROC_NULL and the like are constants and never added), the
 * caller's own rank in the communicator, and the number of ranks that can be meant (of an
 * inter-communicator the remote ones). Saying it again changes nothing. RN_OK; RN_E_NOMEM; RN_E_ARG
 * once something has been absorbed. */
int rn_peers_add(struct rn_peers *p, uint64_t key, int64_t value, int64_t rank, int64_t size);

int rn_peers_encode(const struct rn_peers *p, struct rn_buf *out);

/* Takes in what another rank encoded. RN_OK; RN_E_NOMEM or RN_E_DATA with p as it was. */
int rn_peers_absorb(struct rn_peers *p, const void *bytes, size_t len, struct rn_err *err);

/* All choices that are not absolute. */
int rn_choices_encode(const struct rn_peers *p, struct rn_buf *out);
int rn_choices_decode(struct rn_arena *mem, const void *bytes, size_t len, struct rn_choices **out,
		      struct rn_err *err);
/* RN_V_INT, RN_V_REL, RN_V_RELMOD, RN_V_XOR or RN_V_VARIES. O(log keys). */
enum rn_value_kind rn_choices_get(const struct rn_choices *c, uint64_t key);
/* Which of the slots that vary it is, counted from 0. */
uint64_t rn_choices_varying(const struct rn_choices *c, uint64_t key);

/* The number that stands for a value in an expression, as rn_value_resolve gives it back. Returns
 * the kind that was possible: RN_V_INT for a value that no modulus can give. */
enum rn_value_kind rn_peer_express(enum rn_value_kind kind, int64_t value, int64_t rank,
				   int64_t size, int64_t *number);

#endif
