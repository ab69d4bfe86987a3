/*
 * call_nesting.h - calls inside calls: which number a call has, and where it stands.
 *
 * A stream has its calls in the order of their ends, with markers around what was made inside
 * another call (model/markers.h). Calls are numbered in the order of entry:
 *
 *	stream   A   enter   n1   n2   leave   OUTER   B
 *	number   0     1      2    3             1     4
 *
 * `leave` is followed by its call, or by nothing: the program ended. A call whose `leave` never
 * comes is missing, and so is its number. Where the markers of a stream do not fit, they count for
 * nothing: its calls are numbered as they stand, and none is inside another.
 *
 * For each rule is known how many calls and markers it has, and how many markers have their other
 * half outside, so that a search passes over what it is not looking for: O(height * body) for each,
 * not a walk. Where there are loops inside, it is known how much that can be, whatever their rounds
 * are, and calls are counted by these (rules/loop_stream.h); what could contain what is looked for
 *is looked into. Loops whose rounds begin calls that they do not end, or the other way round, are
 *gone through execution by execution.
 *
 * Memory is O(rules + signatures); where a trace has no marker, there is nothing to do, and nothing
 * is kept. From the arena. Trusts nothing but that the rules are valid.
 */
#ifndef RN_READ_CALL_NESTING_H
#define RN_READ_CALL_NESTING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/markers.h"

struct rn_arena;
struct rn_flow;
struct rn_loopset;
struct rn_nesting; /* opaque */
struct rn_rules;
struct rn_sigs;
struct rn_vocab;
struct rn_walk;

/* Of the signatures, rules and loops (or NULL) of a trace, which outlive it. NULL when there is no
 * memory. */
struct rn_nesting *rn_nesting_new(struct rn_arena *mem, const struct rn_vocab *vocab,
				  const struct rn_sigs *sigs, const struct rn_rules *rules,
				  const struct rn_loopset *loops);

enum rn_marker rn_nesting_marker(const struct rn_nesting *n, uint32_t sig);

/* A stream. */
struct rn_nested {
	const char *wrong; /* with its markers, in words; NULL if nothing is */
	uint64_t numbers;  /* those in it are below */
};

/* RN_OK or RN_E_NOMEM. */
int rn_nesting_look(struct rn_nesting *n, const struct rn_flow *f, struct rn_nested *out);

/* Moves a walker to where the call of that number begins: before the call itself or its `enter`.
 * open[0 .. *depth) are the numbers of the calls that are under way there, outermost first; there
 * is room for RN_NESTING_MAX. RN_OK, or RN_E_RANGE when there is no such number. */
int rn_nesting_seek(const struct rn_nesting *n, const struct rn_nested *of, struct rn_walk *w,
		    uint64_t number, uint64_t *open, uint32_t *depth);

/* Moves a walker on to the end of the innermost call that is under way: behind its `leave`. False,
 * with the walker at the end of the stream, when it never ends. */
bool rn_nesting_leave(const struct rn_nesting *n, struct rn_walk *w);

#endif
