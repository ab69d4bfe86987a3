/*
 * grammar_impl.h - grammar builder internals shared by the source files of this directory.
 *
 * All references are indices. A symbol has its kind in the low two bits. A count has 31 bits or, if
 * its top bit is set, is an index into a table of 64-bit counts. This limits a node to 16 bytes and
 * leaves room for counts that are not integers. A rule's body is a ring of nodes, closed by its
 * guard.
 */
#ifndef RN_GRAMMAR_GRAMMAR_IMPL_H
#define RN_GRAMMAR_GRAMMAR_IMPL_H

#include <assert.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"
#include "grammar/grammar.h"

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

#define NIL        UINT32_MAX
#define SYM_GUARD  0xFFFFFFFFu /* cnt: the rule whose body the guard closes */
#define SYM_FREE   0xFFFFFFFBu /* next: the next free node */
#define COUNT_WIDE 0x80000000u
#define COUNT_MAX  ((uint64_t)1 << 62) /* also the limit for the length of the stream */
#define RULE_FREE  NIL                 /* value of refs of a free rule; guard: the next free rule */

/* Maximum number of rewriting steps per append. Further steps are deferred to the next append. */
#define STEP_BUDGET 256
/* Maximum numbers of nodes and work items that one rewriting step needs. */
#define STEP_NODES 2
#define STEP_WORK  12

#define LITERAL_WINDOW 4096u
#define LITERAL_SPAN   65536u

struct node {
	uint32_t sym, cnt, prev, next;
};

struct rule {
	uint32_t guard, refs;
	uint32_t first; /* first terminal of the expansion, as a symbol; never changes */
};

struct frame {
	uint64_t iter; /* complete repeats of the node before the position */
	uint32_t node;
};

struct prefix_item {
	uint64_t count;
	uint32_t sym;
};

struct literal_run {
	uint64_t length;
	uint32_t start;
};

struct rn_grammar {
	uint32_t expect; /* must be the first field: rn_grammar_expect reads it */
	uint32_t depth;  /* frame[depth] is the leaf; for frame[0] see grammar_cursor.c */
	struct frame *frame;
	uint32_t frame_cap;
	bool taken;      /* the digram before frame[0] was removed from the table */
	bool may_follow; /* the current digram is the last of this append */
	uint32_t match;  /* first node of the span that the match follows, or NIL */
	uint32_t stop; /* first node of its repetition: the second to last node of the start rule */
	uint32_t credit;  /* number of levels that a descent may exceed FREE_DEPTH */
	uint64_t misses;  /* appends that the cursor did not accept */
	uint64_t in_bulk; /* symbols appended by rn_grammar_append_repeat */

	struct rn_seg nodes, rules, wide;
	uint32_t free_node, free_nodes, free_rule;
	struct rn_map digrams; /* tag of (symbol, count, symbol, count) -> left node */
	struct rn_seg work;    /* left nodes of the digrams that are still to be processed */
	struct rn_seg prefix;  /* scratch of a cursor miss */
	uint32_t held;         /* remaining appends for which memory is reserved */

	struct rn_grammar_opts opts;
	struct rn_seg runs, literals;
	uint64_t literal_left; /* symbols still to store in the open literal run; 0: none */
	uint64_t literal_span;
	uint32_t judged, nodes_then; /* misses since judge() last ran; live nodes then */

	struct rn_arena *mem;
};

static inline struct node *node_at(const struct rn_grammar *g, uint32_t i)
{
	assert(i < g->nodes.n);
	return RN_SEG_AT(&g->nodes, struct node, i);
}

static inline struct rule *rule_at(const struct rn_grammar *g, uint32_t i)
{
	assert(i < g->rules.n);
	return RN_SEG_AT(&g->rules, struct rule, i);
}

static inline uint64_t *wide_at(const struct rn_grammar *g, uint32_t i)
{
	assert(i < g->wide.n);
	return RN_SEG_AT(&g->wide, uint64_t, i);
}

static inline enum rn_kind kind_of(uint32_t sym)
{
	return (enum rn_kind)(sym & 3);
}

static inline bool is_rule(uint32_t sym)
{
	return kind_of(sym) == RN_KIND_RULE;
}

/* Whether a symbol marks a guard or a free node. */
static inline bool is_mark(uint32_t sym)
{
	return (sym & 3) == 3;
}

static inline uint32_t sym_of(enum rn_kind kind, uint32_t id)
{
	assert(id <= UINT32_MAX >> 2);
	return id << 2 | (uint32_t)kind;
}

static inline uint64_t count_of(const struct rn_grammar *g, const struct node *n)
{
	return LIKELY(!(n->cnt & COUNT_WIDE)) ? n->cnt : *wide_at(g, n->cnt & ~COUNT_WIDE);
}

static inline uint32_t first_of(const struct rn_grammar *g, uint32_t sym)
{
	return is_rule(sym) ? rule_at(g, sym >> 2)->first : sym;
}

static inline uint32_t start_guard(const struct rn_grammar *g)
{
	return rule_at(g, 0)->guard;
}

static inline uint32_t last_node(const struct rn_grammar *g)
{
	return node_at(g, start_guard(g))->prev;
}

/* Whether a digram is in the table. Only digrams of terminals and rules can occur twice, because
 * every literal run is unique. */
static inline bool digram_counts(const struct node *a, const struct node *b)
{
	return (a->sym & 3) < RN_KIND_LITERAL && (b->sym & 3) < RN_KIND_LITERAL && a->sym != b->sym;
}

static inline uint32_t digram_tag(const struct rn_grammar *g, const struct node *a,
				  const struct node *b)
{
	uint32_t key[4] = { a->sym, a->cnt, b->sym, b->cnt };

	if (UNLIKELY((a->cnt | b->cnt) & COUNT_WIDE)) {
		key[1] = (uint32_t)rn_hash_u64(count_of(g, a));
		key[3] = (uint32_t)rn_hash_u64(count_of(g, b));
	}
	return (uint32_t)(rn_hash(key, sizeof(key)) >> 32);
}

static inline void link_nodes(struct rn_grammar *g, uint32_t a, uint32_t b)
{
	node_at(g, a)->next = b;
	node_at(g, b)->prev = a;
}

static inline void pend(struct rn_grammar *g, uint32_t n)
{
	assert(g->work.n < g->work.cap);
	*RN_SEG_AT(&g->work, uint32_t, g->work.n) = n;
	g->work.n++;
}

static inline void rule_ref(struct rn_grammar *g, uint32_t sym)
{
	if (is_rule(sym))
		rule_at(g, sym >> 2)->refs++;
}

static inline void rule_unref(struct rn_grammar *g, uint32_t sym)
{
	if (!is_rule(sym))
		return;
	assert(rule_at(g, sym >> 2)->refs > 0);
	rule_at(g, sym >> 2)->refs--;
}

/* grammar.c: changes to the grammar. The caller must have reserved the memory. */
void rn_grammar_set_count(struct rn_grammar *g, struct node *n, uint64_t count);
void rn_digram_forget(struct rn_grammar *g, uint32_t n);
bool rn_grammar_same(const struct rn_grammar *g, const struct node *a, const struct node *b);
/* Returns the rule, other than the start rule, whose whole body is first..last; NIL: no such rule.
 */
uint32_t rn_grammar_whole_body(const struct rn_grammar *g, uint32_t first, uint32_t last);
/* Moves the nodes first..last into the body of a new rule, which replaces them. */
uint32_t rn_grammar_rule_of(struct rn_grammar *g, uint32_t first, uint32_t last);
/* Replaces the digram at n, which is not in the table, by rule r. */
void rn_digram_replace(struct rn_grammar *g, uint32_t n, uint32_t r);
/* Inlines the rule of node u if this is its only use. */
void rn_grammar_inline_single(struct rn_grammar *g, uint32_t u);
/* Processes the pending digrams, within the step budget. */
void rn_grammar_drain(struct rn_grammar *g);
/* Appends symbol^count to the start rule. If `held`, the caller's reference to the rule is
 * transferred to the node. */
void rn_grammar_append_symbol(struct rn_grammar *g, uint32_t sym, uint64_t count, bool held);
uint32_t rn_digram_find(const struct rn_grammar *g, uint32_t tag, const struct node *a,
			const struct node *b);

/* Appends t, which the cursor did not accept: closes the cursor, appends the symbol, and opens the
 * cursor again if there is a loop to follow. */
int rn_grammar_append_slowly(struct rn_grammar *g, uint32_t t);

/* grammar_cursor.c */
#define CREDIT_MAX 512u /* also bounds the cost of a single miss */
void rn_gcursor_earn(struct rn_grammar *g, uint64_t credit);
/* Finds the nodes that the cursor has passed in the body of frame `level` (level 0: in the span of
 * the match): *first up to but excluding *end. Returns true if they become a separate rule.
 * This requires two nodes, or three in a match, because two are the digram itself. */
bool rn_gcursor_walked(const struct rn_grammar *g, uint32_t level, uint32_t *first, uint32_t *end);
/* Whether a match ends before node n: at the end of its body, at a literal run, or where its
 * repetition began. */
bool rn_gcursor_ends_match(const struct rn_grammar *g, uint32_t n);
void rn_gcursor_enter(struct rn_grammar *g);
/* Starts a match if the digram at n, which equals the one at p, can be followed. If true, the
 * cursor follows the nodes after the digram at p, and the digram at n is processed when the match
 * ends. */
bool rn_gcursor_follow(struct rn_grammar *g, uint32_t p, uint32_t n);
/* Moves the cursor past the expected terminal, which has arrived. Returns false, with nothing
 * changed, if the cursor cannot follow. */
bool rn_gcursor_advance(struct rn_grammar *g);
/* Reserves memory for rn_gcursor_leave and `more_nodes` nodes. Returns RN_OK or RN_E_NOMEM. */
int rn_gcursor_reserve(struct rn_grammar *g, uint32_t more_nodes);
/* Appends the symbols that the cursor has passed as structure, and closes the cursor. */
void rn_gcursor_leave(struct rn_grammar *g);

#endif
