/*
 * rules.h - immutable, hash-consed rules: what every reader of a grammar works on.
 *
 * A pool holds rules numbered from 0; a body refers to lower numbers only, so a pool has no cycle
 * and one pass in order sees children first. Equal bodies are one rule, over all grammars that
 * were added: streams that were built by the same appends have the same root (other ways to the
 * same symbols may give other rules), and the structural hash (over terminals, counts and child
 * hashes, not over numbers) is equal in different pools. Per rule: length (expanded symbols) and,
 * per item, the length before it, so the k-th symbol is found in O(depth * log body).
 *
 * Bodies are normal: neighbours differ, no item has count 0, and no rule of a single item stands
 * inside another body (it is put in place, counts multiplied). Counts and lengths are 64 bits;
 * what would overflow is refused.
 *
 * Memory from the arena. Adding a rule may fail with RN_E_NOMEM and leaves the pool as it was
 * (space in the arena aside); sealing and importing may then leave rules behind that nothing uses.
 * Reading allocates nothing, except walkers their stacks. On disk: doc/format.md.
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
	uint32_t id;   /* terminal, rule number, or literal number */
	uint32_t kind; /* enum rn_kind */
	uint64_t count;
};

struct rn_body {
	const struct rn_item *item;
	const uint64_t *before; /* before[i]: symbols in items 0..i-1 */
	uint32_t n;
	uint64_t length;
};

struct rn_rules *rn_rules_new(struct rn_arena *mem);
uint32_t rn_rules_count(const struct rn_rules *r);
uint32_t rn_rules_literals(const struct rn_rules *r);
struct rn_body rn_rules_body(const struct rn_rules *r, uint32_t rule);
uint64_t rn_rules_length(const struct rn_rules *r, uint32_t rule);
/* Levels of bodies below the rule, its own included. */
uint32_t rn_rules_height(const struct rn_rules *r, uint32_t rule);
/* Symbols of literal run `lit`. */
const uint32_t *rn_rules_literal(const struct rn_rules *r, uint32_t lit, uint64_t *n);

/* Adds a rule, or finds the equal one; items refer to rules and literals of this pool. The body
 * is brought into normal form first. RN_E_RANGE when its length would exceed 2^62. */
int rn_rules_add(struct rn_rules *r, const struct rn_item *items, uint32_t n, uint32_t *rule);
int rn_rules_add_literal(struct rn_rules *r, const uint32_t *symbols, uint64_t n, uint32_t *lit);

/* Adds what the builder holds now, its open cursor included, without changing it. `*root` is the
 * rule that stands for the whole stream. */
int rn_rules_seal(struct rn_rules *r, const struct rn_grammar *g, uint32_t *root);

/* Copies rules of another pool. memo has rn_rules_count(from) entries, UINT32_MAX where a rule
 * has not been copied yet; keep it between calls for the same pair of pools. */
int rn_rules_import(struct rn_rules *r, const struct rn_rules *from, uint32_t root,
		    const uint32_t *map, uint32_t *memo, uint32_t *out);

/* All invariants of the header comment. */
bool rn_rules_check(const struct rn_rules *r);

/* Bytes of the whole pool; symbols are checked against `terminals` when decoding. */
int rn_rules_encode(const struct rn_rules *r, struct rn_buf *out);
int rn_rules_decode(struct rn_arena *mem, struct rn_reader *in, uint32_t terminals,
		    struct rn_rules **out, struct rn_err *err);

/* What the builder holds now, in the same form, but quickly: bodies are as the builder has them,
 * which may not be in normal form, and the last rule is the stream. `scratch` is not rewound. The
 * reader converts them to normal form; `*root` is the rule that the last one becomes. */
int rn_rules_encode_grammar(const struct rn_grammar *g, struct rn_arena *scratch,
			    struct rn_buf *out);
int rn_rules_decode_grammar(struct rn_arena *mem, struct rn_reader *in, uint32_t terminals,
			    struct rn_rules **out, uint32_t *root, struct rn_err *err);

/*
 * Walking. A walker stands between two symbols of the expansion of `root`; next reads the one
 * after it. Its stack, from the arena given, has room for the height of the root (which is not
 * O(log n)), so that moving never allocates.
 */
struct rn_walk_frame {
	uint32_t rule; /* or RN_IN_LOOP + a loop (loop_stream.h): one execution of it */
	uint32_t item;
	uint64_t iter;        /* repeats of the item (of a literal: symbols) before the position */
	size_t from;          /* where the current rn_walk_read began this repeat, or SIZE_MAX */
	struct rn_item round; /* in an execution, the only item */
};

#define RN_IN_LOOP 0xffff0000u

struct rn_walk {
	const struct rn_rules *rules;
	struct rn_walk_frame *frame;
	uint32_t depth; /* frames in use; there is room for the height of the root */
	uint32_t root;
	uint64_t pos;
	/* In a stream with loops: */
	uint32_t symbols;           /* terminals from here on are loops */
	uint64_t *done;             /* by loop: executions that have begun */
	struct rn_stretch *stretch; /* to measure pieces in */
};

int rn_walk_init(struct rn_walk *w, const struct rn_rules *r, uint32_t root, struct rn_arena *mem);
uint64_t rn_walk_pos(const struct rn_walk *w);
/* What a frame stands in; in an execution of a loop there are no lengths. */
struct rn_body rn_walk_body(const struct rn_walk *w, const struct rn_walk_frame *f);
/* Position k, 0 <= k <= length: RN_OK or RN_E_RANGE. O(depth * log body); where there are loops, a
 * search (rule_search.h) from where it stands, or from the beginning. */
int rn_walk_seek(struct rn_walk *w, uint64_t k);
/* 1 and the symbol; 0 at the end. */
int rn_walk_next(struct rn_walk *w, uint32_t *t);
/* Up to n symbols at once; returns how many. Repeats are copied, not walked. */
size_t rn_walk_read(struct rn_walk *w, uint32_t *out, size_t n);

#endif
