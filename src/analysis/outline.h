/*
 * outline.h - outline of the program: its loops and calls as a tree.
 *
 * The rules of a trace, folded as in the file (merge/loop_fold.h), are close to the program:
 *
 *   rules     R = a b    S = i (R L)^1000 f     L = c, with an elastic count
 *   outline   i
 *             loop 1000 times
 *               a
 *               b
 *               c          0..3 times
 *             f
 *
 * A repeated rule becomes a loop; a rule that is only shared is expanded in place. Consecutive
 * equal calls are one node. If every child of a loop has an elastic count, folding may have split
 * an iteration (a^5, then a^7 b, is a^12 b); the outline joins it again. Nested calls
 * (model/markers.h) are children of their outer call. Streams whose trees have the same structure,
 * with any arguments and counts, share one tree. Similar trees are merged as well; a node that only
 * some streams execute then lists these streams.
 *
 * No stream is expanded: the cost is O(rules + executions of loops with elastic counts). A tree has
 * at most RN_OUTLINE_PARTS nodes and RN_OUTLINE_DEPTH levels. Everything beyond is summed up in
 * nodes of kind RN_PIECE_REST. The weights of the nodes always add up to the weight of the streams.
 *
 * The result is deterministic. The streams must have been opened without an error; nothing else is
 * assumed about them.
 */
#ifndef RN_ANALYSIS_OUTLINE_H
#define RN_ANALYSIS_OUTLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_streams;

#define RN_OUTLINE_PARTS 16384u
#define RN_OUTLINE_DEPTH 64u

/* Calls, bytes and time. */
struct rn_weight {
	uint64_t calls, bytes;
	uint64_t unsized; /* number of calls whose bytes are unknown */
	double ns;
};

/* Properties of a signature. Markers have weight 0. */
struct rn_outline_sig {
	uint32_t function;
	uint64_t manner;      /* equal for calls that do the same with the same partners */
	unsigned char marker; /* enum rn_marker */
	struct rn_weight one; /* weight of one call */
};

/* A list of stream groups that differ only in elastic counts. */
struct rn_count_variants {
	uint32_t group;
	struct rn_count_variants *next;
};

/* A list of the streams that execute a node. */
struct rn_members {
	const struct rn_count_variants *family;
	struct rn_members *next;
};

/* A signature of a call node and its number of calls. A signature can occur more than once. */
struct rn_variant {
	uint32_t sig;
	uint64_t calls, manner;
	struct rn_variant *next;
};

/* Number of executions, and sum, minimum and maximum of their iterations. */
struct rn_rounds {
	uint64_t visits, rounds, min, max;
};

enum rn_piece_kind { RN_PIECE_CALL, RN_PIECE_LOOP, RN_PIECE_REST };

/* A node. The root of a tree is a loop with one iteration. Its doers are the stream groups of the
 * first count variants in it. */
struct rn_piece {
	enum rn_piece_kind kind;
	struct rn_piece *next;
	struct rn_piece *child; /* body of a loop; nested calls of a call */
	struct rn_rounds total; /* over all streams of the node */
	uint64_t streams;
	struct rn_members *members, *last_member;
	struct rn_variant *variant; /* for a call */
	uint32_t function;          /* for a call */
	struct rn_weight weight;    /* of the subtree, over all iterations */
	struct rn_weight rest;      /* for a rest: weight of one execution */
	/* Used only while the outline is built. */
	uint64_t count;       /* iterations per execution, if constant */
	uint32_t loop;        /* 1 + loop whose series has the iterations; 0: constant */
	uint64_t now;         /* iterations in the current iteration of the enclosing open loop */
	struct rn_rounds one; /* of the stream group whose counts are being read */
	struct rn_count_variants *doers, *last_doer; /* stream groups with at least one iteration */
	uint64_t doing;                              /* number of their streams */
	bool open; /* a loop in which every child has an elastic count */
	unsigned char marker;
	uint32_t size; /* number of nodes in the subtree, this one included */
	/* First child that has an elastic count or contains such a node; the next such sibling. */
	struct rn_piece *held, *held_behind;
};

struct rn_outline {
	struct rn_piece *tree; /* by number of streams, descending; then by group */
	uint32_t trees;
};

/* Builds the outline of the streams that have calls. Returns RN_OK or RN_E_NOMEM. */
int rn_outline(const struct rn_streams *s, const struct rn_outline_sig *sig, struct rn_arena *mem,
	       struct rn_arena *scratch, struct rn_outline *out);

#endif
