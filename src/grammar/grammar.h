/*
 * grammar.h - online grammar over a stream of symbols: the mutable builder.
 *
 * The algorithm is Sequitur with repeat counts. A rule's body is a list of nodes symbol^count,
 * where a symbol is a terminal, a rule, or a literal run. Three invariants hold between two
 * appends. They may not hold for work that a full work budget or a failed allocation left pending.
 *   (1) Neighbors differ: A^i A^j has become A^(i+j).
 *   (2) No two neighbors a^i b^j occur together twice, in all rules taken together.
 *   (3) Every rule except the start rule is used at least twice, or once with a count above one.
 * A body of one node can occur. This is rare and correct, and sealing removes it (rules.h).
 *
 * The cursor. The cursor follows known structure in two cases. In a loop, the symbols repeat the
 * start rule's last node R^k once more. In a match, they repeat the symbols that followed an
 * earlier occurrence of the digram just appended. While the cursor follows, no node is appended. A
 * complete iteration of a loop increments k, and a match becomes one rule when it ends. On a miss,
 * the symbols that the cursor has passed are appended as structure, never symbol by symbol: the
 * prefix of each level becomes a separate rule in O(1). The cursor then tries to follow again
 * from the new last node. A rule is entered only when its first terminal has arrived. The descent
 * is paid from a credit that appends earn, so that deep grammars cannot make it quadratic.
 *
 * Cost: an append is amortized O(1), and a compare and an increment while the cursor follows. One
 * append does a bounded amount of work: tables grow in chunks, and rewriting that exceeds a budget
 * is deferred to the next append. Memory: O(grammar), from the arena only. No libc allocation and
 * no I/O, so a wrapper may call it. Not locked: one object per stream.
 */
#ifndef RN_GRAMMAR_GRAMMAR_H
#define RN_GRAMMAR_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_grammar; /* opaque; rn_grammar_expect reads its first field */

#define RN_TERMINAL_MAX  ((1u << 30) - 1)
#define RN_EXPECT_NONE   UINT32_MAX
#define RN_LITERAL_MAX   (1u << 20) /* maximum number of symbols in one literal run */
#define RN_LITERAL_LIMIT (1u << 20) /* literal_limit for streams of calls */

struct rn_grammar_opts {
	/* 0: no literal runs. Otherwise, once the grammar has more nodes than this, and a span of
	 * the stream has added more than one node per two symbols, the next span is stored as a
	 * literal run (4 bytes per symbol). The span is longer each time this happens again. */
	uint32_t literal_limit;
};

/* Returns NULL if memory is short. opts may be NULL. */
struct rn_grammar *rn_grammar_new(struct rn_arena *mem, const struct rn_grammar_opts *opts);

/* Discards the stream and retains the memory. */
void rn_grammar_reset(struct rn_grammar *g);

/* Returns RN_OK; RN_E_NOMEM with the grammar unchanged; RN_E_ARG if t > RN_TERMINAL_MAX. */
int rn_grammar_append(struct rn_grammar *g, uint32_t t);

/* Has the effect of appending t[0..n) `times` times, symbol by symbol, but is faster. Once an
 * iteration changes only one count, the remaining iterations are added to that count. On
 * RN_E_NOMEM, *done iterations and a prefix of the next one were appended. Returns RN_E_RANGE, with
 * the grammar unchanged, if this function would append more than 2^61 symbols in total. done may be
 * NULL. */
int rn_grammar_append_repeat(struct rn_grammar *g, const uint32_t *t, size_t n, uint64_t times,
			     uint64_t *done);

/* Returns the terminal that the cursor expects next, or RN_EXPECT_NONE. Costs one load, because it
 * is the first field. */
static inline uint32_t rn_grammar_expect(const struct rn_grammar *g)
{
	uint32_t sym = *(const uint32_t *)(const void *)g;

	return sym == RN_EXPECT_NONE ? sym : sym >> 2;
}

/* Returns the number of live nodes. Each node occupies 16 bytes. */
uint64_t rn_grammar_nodes(const struct rn_grammar *g);

/* Verifies the invariants above and all links, counts and tables. */
bool rn_grammar_check(const struct rn_grammar *g);

/*
 * Read access for rules.h: the bodies as they would be if the cursor were closed now. Rules are
 * numbered from 0 (the start rule) to rn_grammar_rules() - 1. Unused numbers have empty bodies.
 */
enum rn_kind { RN_KIND_TERMINAL, RN_KIND_RULE, RN_KIND_LITERAL };

struct rn_grammar_item {
	enum rn_kind kind;
	uint32_t id; /* terminal, rule number, or literal run number */
	uint64_t count;
};

struct rn_grammar_iter { /* private; created by rn_grammar_body */
	const struct rn_grammar *g;
	uint32_t node, end;
	uint32_t cut, cut_end, cut_rule; /* nodes cut..cut_end, returned as rule cut_rule */
	uint32_t level;
	bool open, half; /* the tail follows; half of `level` was returned */
};

uint32_t rn_grammar_rules(const struct rn_grammar *g);
struct rn_grammar_iter rn_grammar_body(const struct rn_grammar *g, uint32_t rule);
bool rn_grammar_body_next(struct rn_grammar_iter *it, struct rn_grammar_item *item);

/* Iterates over the rules that the start rule uses, children first, the start rule last. The caller
 * provides the arrays, each with rn_grammar_rules() elements, and sets all of `number` to
 * UINT32_MAX. The caller must store a number for each rule before it requests the next one. */
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
/* Returns the next rule and the number of items in its body. False after the start rule. */
bool rn_grammar_order_next(struct rn_grammar_order *o, uint32_t *rule, uint32_t *items);

/* Literal runs are numbered in the order of the stream, and none is empty. For run `id`: its
 * length, and a copy of its symbols from..from+n. */
uint32_t rn_grammar_literals(const struct rn_grammar *g);
uint64_t rn_grammar_literal_length(const struct rn_grammar *g, uint32_t id);
void rn_grammar_literal_read(const struct rn_grammar *g, uint32_t id, uint64_t from, uint32_t *out,
			     size_t n);

#endif
