/*
 * loop_stream.h - streams whose rules have loops inside: how long they are, without expanding them.
 *
 * A loop is a symbol of the rules, behind the others. What one round of it is, is the same for all
 * streams of a pool; how many rounds each execution has is a series of the stream's, in the order
 * of the executions. Executions of a loop are numbered, and those inside a piece of the stream are
 * consecutive, however often and however deep it stands there. So what a piece has inside follows
 * from where it begins, the number of executions of each loop before it:
 *
 *	rules    R = L x,  M = R^*       L has the rounds 3, 1, 4, 1, 5 ...
 *	piece    R^3 from execution 1 on: executions 1, 2 and 3 of L, 1 + 4 + 1 rounds
 *
 * and rules and loops are gone through once, outer ones before what they have inside. Loops with
 * rules, and rules with loops inside, are called units, and numbered in that order.
 *
 * Cost: measuring a piece is O(units and their parts in it), with a question to a series for each
 * loop. Memory from the arena. Trusts no number: what contradicts itself, or is longer than 2^62,
 * is refused when a stream is opened, and everything inside of it is less.
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

/* One round: a symbol, or a rule, in which there may be loops with lower numbers. */
struct rn_loop {
	uint32_t kind; /* enum rn_kind */
	uint32_t id;
};

/* The rounds of the first n executions; UINT64_MAX when there are fewer, or too many rounds. */
typedef uint64_t rn_rounds_fn(const void *series, uint64_t n);

/* The loops of a pool, whose terminals from `symbols` on they are; rules and loops outlive it.
 * RN_OK, RN_E_NOMEM or RN_E_DATA: a loop is inside itself, or there is too much of it. */
int rn_loopset_new(struct rn_arena *mem, const struct rn_rules *r, uint32_t symbols,
		   const struct rn_loop *loop, uint32_t loops, rn_rounds_fn *rounds,
		   struct rn_loopset **out);

/* All rules and loops, inner ones first: entry i of as many as there are. A loop is the number of
 * rules + its own. Without loops (NULL) they are the rules as they stand. */
uint32_t rn_loopset_order(const struct rn_loopset *l, uint32_t i);
uint32_t rn_loopset_count(const struct rn_loopset *l);
/* Terminals from here on are loops. */
uint32_t rn_loopset_symbols(const struct rn_loopset *l);
/* One round of a loop, as an item. */
struct rn_item rn_loopset_round(const struct rn_loopset *l, uint32_t loop);
/* The body of rule or loop `id`, numbered as above: that of a loop is one round. */
struct rn_body rn_loopset_body(const struct rn_loopset *l, const struct rn_rules *r, uint32_t id);
/* A loop, or a rule with loops inside. */
bool rn_loopset_holds(const struct rn_loopset *l, const struct rn_item *it);

/* A stream. */
struct rn_flow {
	const struct rn_rules *rules;
	uint32_t root;
	const struct rn_loopset *loops; /* NULL: there are none */
	const void *const *series;      /* by loop; NULL for one that the stream does not have */
	uint64_t length;
};

/* Room to measure in; at most `left` parts are looked at in all. NULL: no memory. */
struct rn_stretch *rn_stretch_new(struct rn_arena *mem, const struct rn_loopset *l, uint64_t left);

/* Fills in the length of a flow that has loops, and how often each of them is executed. False: it
 * contradicts itself, or is too long, or takes too much to tell. */
bool rn_flow_measure(struct rn_stretch *s, struct rn_flow *f, uint64_t *executions);

/* Calls fn for each item without loops in the whole stream, which is measured: n times what it
 * says. Without loops the stretch may be NULL. */
typedef void rn_fixed_fn(void *arg, const struct rn_item *it, uint64_t n);
void rn_flow_each(struct rn_stretch *s, const struct rn_flow *f, rn_fixed_fn *fn, void *arg);

/* The rounds of the first n executions of a loop; UINT64_MAX when there are fewer. */
uint64_t rn_flow_rounds(const struct rn_flow *f, uint32_t loop, uint64_t n);

/* Levels of bodies and executions in the stream. */
uint32_t rn_flow_height(const struct rn_flow *f);

/* A walker of a stream that is measured; what the flow points to outlives it. */
int rn_walk_flow(struct rn_walk *w, const struct rn_flow *f, struct rn_arena *mem);
/* The stream of a walker. */
struct rn_flow rn_walk_stream(const struct rn_walk *w);

#endif
