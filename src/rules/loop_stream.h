/*
 * loop_stream.h - streams whose rules contain loops with elastic counts: length and position
 *without expansion.
 *
 * A loop is a terminal of the rules whose id follows those of the symbols. One iteration of a loop
 *is the same in all streams of a pool. The iteration counts of the executions of a loop are a
 *series of the stream, in execution order. The executions of a loop are numbered. Those inside a
 *span of the stream have consecutive numbers, however often and however deep the loop occurs in the
 *span. The contents of a span therefore follow from its start, which is the number of executions of
 *each loop before it:
 *
 *	rules    R = L x,  M = R^*       L has the iteration counts 3, 1, 4, 1, 5 ...
 *	span     R^3 from execution 1 on: executions 1, 2 and 3 of L, 1 + 4 + 1 iterations
 *
 * Each rule and loop is processed once, after those that contain it. Loops, and rules that contain
 * loops, are called units, and are numbered in that order.
 *
 * Cost: measuring a span is O(units in it and their items), with lookups in a series for each loop.
 * Memory: from the arena. Input is untrusted: rn_flow_measure rejects a stream that contradicts
 * itself or is longer than 2^62 symbols. Every span inside an accepted stream is shorter.
 */
#ifndef RN_RULES_LOOP_STREAM_H
#define RN_RULES_LOOP_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "rules/rules.h"

struct rn_arena;
struct rn_loopset; /* opaque */
struct rn_stretch; /* opaque */

#define RN_LOOPS_MOST ((uint32_t)1 << 16)

/* One iteration of a loop: a symbol, or a rule that may contain loops with lower ids. */
struct rn_loop {
	uint32_t kind; /* enum rn_kind */
	uint32_t id;
};

/* Returns the number of iterations of the first n executions; UINT64_MAX if the series is shorter
 * or the number is too large. */
typedef uint64_t rn_rounds_fn(const void *series, uint64_t n);

/* Creates the loops of a pool: terminal `symbols` + k is loop k. Rules and loops must outlive the
 * result. Returns RN_OK, RN_E_NOMEM, or RN_E_DATA if a loop contains itself or a limit is exceeded.
 */
int rn_loopset_new(struct rn_arena *mem, const struct rn_rules *r, uint32_t symbols,
		   const struct rn_loop *loop, uint32_t loops, rn_rounds_fn *rounds,
		   struct rn_loopset **out);

/* Returns element i of the list of all rules and loops, inner ones first. In this list, the id of a
 * loop is the number of rules plus its own id. If there are no loops (NULL), the list is the rules
 * in ascending order. */
uint32_t rn_loopset_order(const struct rn_loopset *l, uint32_t i);
uint32_t rn_loopset_count(const struct rn_loopset *l);
/* Returns the terminal from which on terminals are loops. */
uint32_t rn_loopset_symbols(const struct rn_loopset *l);
/* Returns one iteration of a loop, as an item. */
struct rn_item rn_loopset_round(const struct rn_loopset *l, uint32_t loop);
/* Returns the body of rule or loop `id`, numbered as above. The body of a loop is one iteration. */
struct rn_body rn_loopset_body(const struct rn_loopset *l, const struct rn_rules *r, uint32_t id);
/* Whether an item is a loop, or a rule that contains loops. */
bool rn_loopset_holds(const struct rn_loopset *l, const struct rn_item *it);

/* A stream. */
struct rn_flow {
	const struct rn_rules *rules;
	uint32_t root;
	const struct rn_loopset *loops; /* NULL if the stream has no loops */
	const void *const *series; /* by loop; NULL for a loop that does not occur in the stream */
	uint64_t length;
};

/* Allocates memory for measuring spans. All measurements together visit at most `left` units and
 * items. Returns NULL if memory is short. */
struct rn_stretch *rn_stretch_new(struct rn_arena *mem, const struct rn_loopset *l, uint64_t left);

/* Computes the length of a stream that has loops, and the number of executions of each loop.
 * Returns false if the stream contradicts itself, is too long, or requires too many steps. */
bool rn_flow_measure(struct rn_stretch *s, struct rn_flow *f, uint64_t *executions);

/* Calls fn for each item without loops in the whole stream, which must have been measured. The
 * item, including its count, occurs n times. If the stream has no loops, the stretch may be NULL.
 */
typedef void rn_fixed_fn(void *arg, const struct rn_item *it, uint64_t n);
void rn_flow_each(struct rn_stretch *s, const struct rn_flow *f, rn_fixed_fn *fn, void *arg);

/* Returns the number of iterations of the first n executions; UINT64_MAX if there are fewer. */
uint64_t rn_flow_rounds(const struct rn_flow *f, uint32_t loop, uint64_t n);

/* Returns the number of levels of bodies and executions in the stream. */
uint32_t rn_flow_height(const struct rn_flow *f);

/* Initializes a walker of a measured stream. The objects to which f refers must outlive it. */
int rn_walk_flow(struct rn_walk *w, const struct rn_flow *f, struct rn_arena *mem);
/* Returns the stream of a walker. */
struct rn_flow rn_walk_stream(const struct rn_walk *w);

#endif
