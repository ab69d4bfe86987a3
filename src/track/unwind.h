/*
 * unwind.h - from a frame of the stack to the one that called it, exactly, and with what that
 * depended on.
 *
 * For each return address the compiler has left a rule (.eh_frame) that says where the frame of its
 * function begins: so far from the stack pointer, or from the frame pointer, if the function keeps
 * one. A rule is found once for an address and may be remembered as long as the code is loaded. One
 * step then is a few loads, and it says which words of the stack it has used: as long as those are
 * the same, so is the step. That is what unwinders of others do not tell, and why this is not one
 * of theirs: it makes it possible to remember whole stacks and know when they are still true.
 *
 * Frame pointers alone would be simpler, but where a function does not keep one, the chain goes on
 * with that of its caller, which so is left out, and nothing shows it. They are followed only where
 * there is no rule at all (code that was made at run time; other machines than x86-64).
 *
 * Reads nothing outside of the stack it is given. No memory, no locks but the dynamic linker's
 * while a rule is looked for.
 */
#ifndef RN_TRACK_UNWIND_H
#define RN_TRACK_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

/* Where the frame of the function begins; its return address is right below. */
enum rn_unwind_cfa {
	RN_CFA_CHAIN, /* no rule: by the chain of frame pointers */
	RN_CFA_END,   /* nobody has called it, or nobody can tell */
	RN_CFA_SP,    /* stack pointer + offset */
	RN_CFA_FP,    /* frame pointer + offset */
	RN_CFA_AT_FP, /* in memory, at frame pointer + offset: the stack was aligned */
};

/* What the frame pointer was before. */
enum rn_unwind_fp {
	RN_FP_SAME,
	RN_FP_AT_CFA, /* in memory, at the beginning of the frame + offset */
	RN_FP_AT_FP,  /* in memory, at frame pointer + offset */
};

struct rn_unwind_rule {
	uint8_t cfa, fp;
	int32_t cfa_offset, fp_offset;
};

/* A frame: where its function goes on, and the registers it then has. */
struct rn_unwind {
	uintptr_t pc, sp, fp;
	uintptr_t fp_at; /* the word of the stack that fp has come from */
};

#define RN_UNWIND_USES 3u

/* Words of the stack: with the same values the step would be the same. */
struct rn_unwind_uses {
	uintptr_t at[RN_UNWIND_USES];
	uint32_t n;
};

/* The rule for a return address. */
struct rn_unwind_rule rn_unwind_rule(uintptr_t pc);

/* The caller of a function that has set up a frame pointer, which is `frame`. */
struct rn_unwind rn_unwind_from(const void *frame);

/* To the next frame, within a stack that ends at `end`; false, with the frame as it was, when there
 * is none, which depends on `uses` as well. */
bool rn_unwind_step(struct rn_unwind_rule rule, uintptr_t end, struct rn_unwind *u,
		    struct rn_unwind_uses *uses);

#endif
