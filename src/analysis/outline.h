/*
 * outline.h - the structure of the traced program: its calls and loops as a tree.
 *
 * The rules of a trace, folded as they are in the file (merge/loop_fold.h), are nearly the program:
 *
 *	rules     R = a b    S = i (R L)^1000 f     L = c, each time as often as its series says
 *	outline   i
 *	          loop 1000 times
 *	            a
 *	            b
 *	            c          0..3 times
 *	          f
 *
 * A rule that is repeated is a loop; one that is only shared stands in place. A call that is made
 * n times in a row is one part. Where every part of a loop's round may come 0 times, folding may
 * have cut a round in two (a^5, a^7 b is a^12 b); here it is one again. What was called inside
 *another call (model/markers.h) is below it. Streams whose trees have the same shape, whatever
 *their arguments and counts, are one tree; those that are much alike too: what only some of them do
 *has these as its streams.
 *
 * No stream is expanded: the cost is that of the rules and of the executions of loops whose counts
 * change. A tree has at most RN_OUTLINE_PARTS parts and RN_OUTLINE_DEPTH levels; beyond, what is
 * there is only summed up (RN_PIECE_REST). Nothing here is lost: what the parts weigh is what the
 * streams weigh.
 *
 * Deterministic. Trusts nothing but that the streams were opened without an error.
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

/* What calls amount to. */
struct rn_weight {
	uint64_t calls, bytes;
	uint64_t unsized; /* calls that move bytes of which it is not known how many */
	double ns;
};

/* About each signature. Markers weigh nothing. */
struct rn_outline_sig {
	uint32_t function;
	uint64_t manner;      /* equal for calls that do the same with the same partners */
	unsigned char marker; /* enum rn_marker */
	struct rn_weight one; /* of one call */
};

/* Groups of the trace that differ in counts alone. */
struct rn_count_variants {
	uint32_t group;
	struct rn_count_variants *next;
};

/* Whose streams a part is there for. */
struct rn_members {
	const struct rn_count_variants *family;
	struct rn_members *next;
};

/* How often a part's call was made with which arguments; a signature may come up again. */
struct rn_variant {
	uint32_t sig;
	uint64_t calls, manner;
	struct rn_variant *next;
};

/* How often one came somewhere, how often it then went round in all, the least and the most. */
struct rn_rounds {
	uint64_t visits, rounds, min, max;
};

enum rn_piece_kind { RN_PIECE_CALL, RN_PIECE_LOOP, RN_PIECE_REST };

/* The root of a tree is a loop of one round. Its doers are the groups of the first family in it. */
struct rn_piece {
	enum rn_piece_kind kind;
	struct rn_piece *next;
	struct rn_piece *child; /* the round of a loop; what was called inside of a call */
	struct rn_rounds total; /* over all streams of the part */
	uint64_t streams;
	struct rn_members *members, *last_member;
	struct rn_variant *variant; /* of a call */
	uint32_t function;          /* of a call */
	struct rn_weight weight;    /* of everything in it, over all rounds */
	struct rn_weight rest;      /* of a rest: of one visit */
	/* For those who build it. */
	uint64_t count;       /* rounds a visit, where they are always the same */
	uint32_t loop;        /* number of the loop that has them + 1, otherwise 0 */
	uint64_t now;         /* rounds in the present round of what is around it */
	struct rn_rounds one; /* of the group that is being gone through */
	struct rn_count_variants *doers, *last_doer; /* groups that come here and go round */
	uint64_t doing;                              /* their streams */
	bool open;                                   /* all that is in it has such counts */
	unsigned char marker;
	uint32_t size;                       /* parts in it, itself included */
	struct rn_piece *held, *held_behind; /* the first such loop in it; the next beside it */
};

struct rn_outline {
	struct rn_piece *tree; /* by number of streams, descending, then by lowest group */
	uint32_t trees;
};

/* Builds the outline of the streams with calls. RN_OK or RN_E_NOMEM. */
int rn_outline(const struct rn_streams *s, const struct rn_outline_sig *sig, struct rn_arena *mem,
	       struct rn_arena *scratch, struct rn_outline *out);

#endif
