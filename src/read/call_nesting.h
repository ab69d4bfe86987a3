/*
 * call_nesting.h - numbers the calls of a stream in the order of entry, and finds calls by number.
 *
 * The calls of a stream are stored in the order in which they returned. The markers `enter` and
 * `leave` bracket the calls that were made inside another call (model/markers.h). Calls are
 * numbered in the order in which they were entered:
 *
 *	stream   A   enter   n1   n2   leave   OUTER   B
 *	number   0     1      2    3             1     4
 *
 * `leave` is followed by its call, or by the end of the stream if the program ended there. If the
 * `leave` of an `enter` is missing, the call is missing, and its number is not used. If the markers
 * of a stream do not match, they are ignored: its calls are numbered in stream order, and none is
 * nested.
 *
 * For each rule the tables contain the number of calls and markers, and the number of markers whose
 * counterpart is outside the rule. A search therefore skips whole rules. It costs O(height * body)
 * instead of a walk. For a rule with loops, the tables contain bounds that hold for every iteration
 * count, and the calls are counted from the actual counts (rules/loop_stream.h). The search enters
 * every rule that could contain its target. A loop whose iterations begin calls that they do not
 * end, or end calls that they do not begin, is searched execution by execution.
 *
 * Memory is O(rules + signatures), from the arena. A trace without markers needs no tables and no
 * search. Input is untrusted, except that the rules must be valid.
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

/* Creates the nesting tables of a trace. The signatures, rules and loops must outlive them; `loops`
 * may be NULL. Returns NULL without memory. */
struct rn_nesting *rn_nesting_new(struct rn_arena *mem, const struct rn_vocab *vocab,
				  const struct rn_sigs *sigs, const struct rn_rules *rules,
				  const struct rn_loopset *loops);

enum rn_marker rn_nesting_marker(const struct rn_nesting *n, uint32_t sig);

/* The nesting of one stream. */
struct rn_nested {
	const char *wrong; /* description of the error in the markers; NULL: they match */
	uint64_t numbers;  /* all call numbers of the stream are below this */
};

/* Checks the markers of a stream and sets *out. Returns RN_OK or RN_E_NOMEM. */
int rn_nesting_look(struct rn_nesting *n, const struct rn_flow *f, struct rn_nested *out);

/* Moves a walker to the position where the call with that number begins: before the call itself or
 * before its `enter`. open[0 .. *depth) are the numbers of the calls in flight there, outermost
 * first; the array must have RN_NESTING_MAX elements. Returns RN_OK, or RN_E_RANGE if the stream
 * has no such number. */
int rn_nesting_seek(const struct rn_nesting *n, const struct rn_nested *of, struct rn_walk *w,
		    uint64_t number, uint64_t *open, uint32_t *depth);

/* Moves a walker forward to the end of the innermost call in flight, after its `leave`. Returns
 * false, with the walker at the end of the stream, if the call never returns. */
bool rn_nesting_leave(const struct rn_nesting *n, struct rn_walk *w);

#endif
