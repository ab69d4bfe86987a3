/*
 * grammar.h - online grammar over a stream of symbols: the mutable builder.
 *
 * Sequitur with repeat counts. A rule's body is a list of nodes symbol^count, where a symbol is a
 * terminal, a rule, or a literal run. Between two appends (and outside the tail that a full work
 * budget or a failed allocation left pending):
 *   (1) neighbours differ: A^i A^j has become A^(i+j);
 *   (2) no two neighbours a^i b^j occur together twice, in all rules taken together;
 *   (3) every rule but the start rule is used at least twice, or once with a count above one.
 * A body of one node can come up; rare, correct, and gone after sealing (rules.h).
 *
 * The cursor. While the symbols follow the start rule's last node R^k once more (a loop), or the
 * place where the digram just appended was seen before (a match), nothing is appended: the cursor
 * walks what is known. A whole round of a loop is k+1; a match becomes one rule when it ends. A
 * miss appends what was walked as structure (each level's prefix becomes a rule of its own in
 * O(1)), never symbol by symbol, and tries to enter again at the new last node. Going down into a
 * rule is put off until its first terminal has come, and is paid from a credit that appends earn,
 * so that deep grammars cannot make it quadratic.
 *
 * Cost: append is amortised O(1): a compare and an increment while the cursor holds. One append
 * does a bounded amount of work: tables grow in pieces, and rewriting beyond a budget waits for
 * the next append. Memory: O(grammar), from the arena alone. No libc allocation, no I/O, no locks:
 * one object per stream, safe inside a wrapper.
 */
#ifndef RN_GRAMMAR_GRAMMAR_H
#define RN_GRAMMAR_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_grammar; /* opaque, but see rn_grammar_expect */

#define RN_TERMINAL_MAX  ((1u << 30) - 1)
#define RN_EXPECT_NONE   UINT32_MAX
#define RN_LITERAL_MAX   (1u << 20) /* symbols in one literal run */
#define RN_LITERAL_LIMIT (1u << 20) /* literal_limit of streams of calls */

struct rn_grammar_opts {
	/* 0: never. Otherwise, once the grammar has more nodes than this and a stretch of the
	 * stream made it grow by more than a node for two symbols, the next stretch is kept as a
	 * literal run (4 bytes a symbol), and longer each time that this happens again. */
	uint32_t literal_limit;
};

/* NULL when memory is short. opts may be NULL. */
struct rn_grammar *rn_grammar_new(struct rn_arena *mem, const struct rn_grammar_opts *opts);

/* Forgets the stream, keeps the memory. */
void rn_grammar_reset(struct rn_grammar *g);

/* RN_OK; RN_E_NOMEM with the grammar exactly as it was; RN_E_ARG for t > RN_TERMINAL_MAX. */
int rn_grammar_append(struct rn_grammar *g, uint32_t t);

/* The same as appending t[0..n) `times` times, symbol by symbol, but faster: once a round only
 * moves one count, the remaining rounds are added to it. On RN_E_NOMEM, `*done` rounds are in
 * and, of the next one, a prefix. RN_E_RANGE, with the grammar as it was, when rounds
 * would bring the stream beyond 2^61 symbols. done may be NULL. */
int rn_grammar_append_repeat(struct rn_grammar *g, const uint32_t *t, size_t n, uint64_t times,
			     uint64_t *done);

/* The terminal that the cursor waits for, or RN_EXPECT_NONE. One load: it is the first field. */
static inline uint32_t rn_grammar_expect(const struct rn_grammar *g)
{
	uint32_t sym = *(const uint32_t *)(const void *)g;

	return sym == RN_EXPECT_NONE ? sym : sym >> 2;
}

/* Live nodes: what the stream costs, 16 bytes each. */
uint64_t rn_grammar_nodes(const struct rn_grammar *g);

/* Verifies the invariants above and all links, counts and tables. */
bool rn_grammar_check(const struct rn_grammar *g);

/*
 * Reading it, for rules.h: the bodies as they would be if the cursor were closed now. Rules are
 * numbered from 0 (the start rule) to rn_grammar_rules() - 1; unused numbers have empty bodies.
 */
enum rn_kind { RN_KIND_TERMINAL, RN_KIND_RULE, RN_KIND_LITERAL };

struct rn_grammar_item {
	enum rn_kind kind;
	uint32_t id; /* terminal, rule number, or literal run number */
	uint64_t count;
};

struct rn_grammar_iter { /* private; from rn_grammar_body */
	const struct rn_grammar *g;
	uint32_t node, end;
	uint32_t cut, cut_end, cut_rule; /* a stretch that is given out as a rule */
	uint32_t level;
	bool open, half; /* the walked part comes at the end; half of its level has been given */
};

uint32_t rn_grammar_rules(const struct rn_grammar *g);
struct rn_grammar_iter rn_grammar_body(const struct rn_grammar *g, uint32_t rule);
bool rn_grammar_body_next(struct rn_grammar_iter *it, struct rn_grammar_item *item);

/* The rules that the start rule uses, children first, the start rule last. The caller provides
 * the arrays, of rn_grammar_rules() elements, with `number` all UINT32_MAX, and stores a number
 * for each rule before it asks for the next one. */
struct rn_grammar_frame { /* private */
	struct rn_grammar_iter it;
	uint32_t rule, items;
};

struct rn_grammar_order {
	const struct rn_grammar *g;
	uint32_t *number; /* by rule */
	struct rn_grammar_frame *stack;
	uint32_t depth;
};

struct rn_grammar_order rn_grammar_order(const struct rn_grammar *g, uint32_t *number,
					 struct rn_grammar_frame *stack);
/* The next rule and the number of items in its body; false after the start rule. */
bool rn_grammar_order_next(struct rn_grammar_order *o, uint32_t *rule, uint32_t *items);

/* Literal runs, numbered in the order of the stream; none is empty. Run `id`: its length, and
 * copies of its symbols from..from+n. */
uint32_t rn_grammar_literals(const struct rn_grammar *g);
uint64_t rn_grammar_literal_length(const struct rn_grammar *g, uint32_t id);
void rn_grammar_literal_read(const struct rn_grammar *g, uint32_t id, uint64_t from, uint32_t *out,
			     size_t n);

#endif
