/*
 * rules.h - immutable, hash-consed rules, on which all readers of a grammar operate.
 *
 * A pool contains rules numbered from 0. A body refers only to lower numbers, so a pool has no
 * cycle, and one pass in ascending order visits children first. Equal bodies are one rule, across
 * all grammars that were added. Streams that were built by the same appends have the same root;
 * other appends with the same resulting symbols may produce other rules. The structural hash covers
 * terminals, counts and child hashes, but no rule numbers. Equal rules therefore have equal hashes
 * in different pools. A rule stores its length in expanded symbols and, per item, the length before
 * it, so the k-th symbol is found in O(depth * log body).
 *
 * Bodies are in normal form. Neighbors differ, and no item has count 0. A rule of a single item
 * does not occur inside another body: its item replaces it, and the counts are multiplied. Counts
 * and lengths have 64 bits. Values that would overflow are rejected.
 *
 * Memory is from the arena. Adding a rule may fail with RN_E_NOMEM. The pool is then unchanged,
 * except for space in the arena. If sealing or importing fails, the pool may contain unused rules.
 * Reading allocates nothing, except for the stacks of walkers. File format: doc/format.md.
 */
#ifndef RN_RULES_RULES_H
#define RN_RULES_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "grammar/grammar.h"

struct rn_arena;
struct rn_buf;
struct rn_reader;
struct rn_rules;   /* opaque */
struct rn_stretch; /* opaque */

struct rn_item {
	uint32_t id;   /* terminal, rule number, or literal run number */
	uint32_t kind; /* enum rn_kind */
	uint64_t count;
};

struct rn_body {
	const struct rn_item *item;
	const uint64_t *before; /* before[i]: number of symbols in items 0..i-1 */
	uint32_t n;
	uint64_t length;
};

struct rn_rules *rn_rules_new(struct rn_arena *mem);
uint32_t rn_rules_count(const struct rn_rules *r);
uint32_t rn_rules_literals(const struct rn_rules *r);
struct rn_body rn_rules_body(const struct rn_rules *r, uint32_t rule);
uint64_t rn_rules_length(const struct rn_rules *r, uint32_t rule);
/* Returns the number of levels of bodies below the rule, including its own. */
uint32_t rn_rules_height(const struct rn_rules *r, uint32_t rule);
/* Returns the symbols of literal run `lit`, and stores their number in *n. */
const uint32_t *rn_rules_literal(const struct rn_rules *r, uint32_t lit, uint64_t *n);

/* Adds a rule, or finds the equal one. Items refer to rules and literal runs of this pool. The body
 * is converted to normal form first. Returns RN_E_RANGE if its length would exceed 2^62. */
int rn_rules_add(struct rn_rules *r, const struct rn_item *items, uint32_t n, uint32_t *rule);
int rn_rules_add_literal(struct rn_rules *r, const uint32_t *symbols, uint64_t n, uint32_t *lit);

/* Adds the current contents of the builder, including its open cursor. The builder is not changed.
 * *root is the rule that expands to the whole stream. */
int rn_rules_seal(struct rn_rules *r, const struct rn_grammar *g, uint32_t *root);

/* Copies rules of another pool. memo has rn_rules_count(from) entries, and UINT32_MAX for a rule
 * that has not been copied yet. Pass the same memo in further calls for the same pair of pools. If
 * map is not NULL, map[t] replaces terminal t. */
int rn_rules_import(struct rn_rules *r, const struct rn_rules *from, uint32_t root,
		    const uint32_t *map, uint32_t *memo, uint32_t *out);

/* Verifies all invariants of the header comment. */
bool rn_rules_check(const struct rn_rules *r);

/* Encode and decode the whole pool. Decoder input is untrusted; malformed input, also a symbol that
 * is not below `terminals`, returns RN_E_DATA. */
int rn_rules_encode(const struct rn_rules *r, struct rn_buf *out);
int rn_rules_decode(struct rn_arena *mem, struct rn_reader *in, uint32_t terminals,
		    struct rn_rules **out, struct rn_err *err);

/* Encode the current contents of the builder in the same form, but quickly. Bodies are encoded as
 * the builder stores them, which may not be normal form. The last rule is the stream. `scratch` is
 * not rewound. The reader converts the bodies to normal form; *root is the rule that the last one
 * becomes. */
int rn_rules_encode_grammar(const struct rn_grammar *g, struct rn_arena *scratch,
			    struct rn_buf *out);
int rn_rules_decode_grammar(struct rn_arena *mem, struct rn_reader *in, uint32_t terminals,
			    struct rn_rules **out, uint32_t *root, struct rn_err *err);

/*
 * Walking. The position of a walker is between two symbols of the expansion of `root`. rn_walk_next
 * returns the symbol after it. The stack of a walker is allocated from the given arena. It has room
 * for the height of the root (which is not O(log n)), so that moving never allocates.
 */
struct rn_walk_frame {
	uint32_t rule; /* or RN_IN_LOOP + loop (loop_stream.h): one execution of the loop */
	uint32_t item;
	uint64_t iter; /* complete repeats of the item (literal: symbols) before the position */
	size_t from;   /* buffer index in rn_walk_read where the repeat began, or SIZE_MAX */
	struct rn_item round; /* the only item of an execution */
};

#define RN_IN_LOOP 0xffff0000u

struct rn_walk {
	const struct rn_rules *rules;
	struct rn_walk_frame *frame;
	uint32_t depth; /* frames in use; capacity: the height of the root */
	uint32_t root;
	uint64_t pos;
	/* Only in a stream with loops: */
	uint32_t symbols;           /* terminals from here on are loops */
	uint64_t *done;             /* by loop: number of executions that have begun */
	struct rn_stretch *stretch; /* for measuring spans */
};

int rn_walk_init(struct rn_walk *w, const struct rn_rules *r, uint32_t root, struct rn_arena *mem);
uint64_t rn_walk_pos(const struct rn_walk *w);
/* Returns the body that a frame is in. For an execution of a loop, it has no `before` and no
 * `length`. */
struct rn_body rn_walk_body(const struct rn_walk *w, const struct rn_walk_frame *f);
/* Moves to position k, 0 <= k <= length. Returns RN_OK or RN_E_RANGE. O(depth * log body). In a
 * stream with loops, it searches (rule_search.h) from the current position, or from the beginning.
 */
int rn_walk_seek(struct rn_walk *w, uint64_t k);
/* Returns 1 and the next symbol; 0 at the end. */
int rn_walk_next(struct rn_walk *w, uint32_t *t);
/* Reads up to n symbols and returns their number. Repeats are copied, not walked. */
size_t rn_walk_read(struct rn_walk *w, uint32_t *out, size_t n);

#endif
