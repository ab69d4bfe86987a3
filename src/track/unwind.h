/*
 * unwind.h - exact stack unwinding that reports the stack words on which each step depends.
 *
 * For each return address, the compiler emits a rule (.eh_frame). The rule states where the frame
 * of the function begins: at an offset from the stack pointer, or from the frame pointer if the
 * function keeps one. A rule is looked up once per address and may be cached while the code is
 * loaded. A step is then a few loads. It reports the stack words that it used: while these are
 * unchanged, the step gives the same result. Other unwinders do not report them, which is why none
 * is used here. With them, whole stacks can be cached and validated.
 *
 * Frame pointers alone would be simpler. But where a function does not keep one, the chain
 * continues with that of its caller; the caller is skipped, and the error is not detectable. Frame
 * pointers are followed only where no rule exists: for code generated at run time, and on machines
 * other than x86-64.
 *
 * Reads no memory outside the given stack. Allocates nothing. Takes no lock except the dynamic
 * linker's during the lookup of a rule.
 */
#ifndef RN_TRACK_UNWIND_H
#define RN_TRACK_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

/* The start of the function's frame (CFA). The return address is directly below it. */
enum rn_unwind_cfa {
	RN_CFA_CHAIN, /* no rule: follow the chain of frame pointers */
	RN_CFA_END,   /* outermost frame, or the caller cannot be determined */
	RN_CFA_SP,    /* stack pointer + offset */
	RN_CFA_FP,    /* frame pointer + offset */
	RN_CFA_AT_FP, /* in memory, at frame pointer + offset: the stack was aligned */
};

/* The value of the caller's frame pointer. */
enum rn_unwind_fp {
	RN_FP_SAME,
	RN_FP_AT_CFA, /* in memory, at the beginning of the frame + offset */
	RN_FP_AT_FP,  /* in memory, at frame pointer + offset */
};

struct rn_unwind_rule {
	uint8_t cfa, fp;
	int32_t cfa_offset, fp_offset;
};

/* A frame: the address at which its function continues, and the registers at that point. */
struct rn_unwind {
	uintptr_t pc, sp, fp;
	uintptr_t fp_at; /* the stack word from which fp was loaded */
};

#define RN_UNWIND_USES 3u

/* The stack words that a step used. If their values are equal, the step gives the same result. */
struct rn_unwind_uses {
	uintptr_t at[RN_UNWIND_USES];
	uint32_t n;
};

/* Returns the rule for a return address. */
struct rn_unwind_rule rn_unwind_rule(uintptr_t pc);

/* Returns the caller of a function whose frame pointer is `frame`. */
struct rn_unwind rn_unwind_from(const void *frame);

/* Steps to the caller's frame, within a stack that ends at `end`. Returns false, with the frame
 * unchanged, if there is no caller; this result also depends on `uses`. */
bool rn_unwind_step(struct rn_unwind_rule rule, uintptr_t end, struct rn_unwind *u,
		    struct rn_unwind_uses *uses);

#endif
