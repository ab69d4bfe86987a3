/*
 * context_mix.h - binary decisions predicted from two mixed contexts, for the range coder.
 *
 * A context is a hash, computed by the caller, of values known before the decision: the last
 * outcome at this event site, the last two outcomes, and so on. Each context has its own adaptive
 * probability. A decision has a general and a specific context. The weight of the specific context
 * increases with the number of decisions that it has seen.
 *
 * As in range_coder.h, the same function encodes and decodes. All arithmetic uses integers, so that
 * every machine computes the same probabilities. Contexts whose hashes collide share a slot, which
 * costs compression but not correctness.
 *
 * Cost: about 10 ns per decision. Memory: the caller's arena. Input of the decoder is untrusted.
 */
#ifndef RN_ORDER_CONTEXT_MIX_H
#define RN_ORDER_CONTEXT_MIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "column/range_coder.h"

struct rn_arena;

struct rn_guess;

/* The contexts of a decision. Contexts of different kinds are independent. */
struct rn_guess_on {
	unsigned kind;
	uint32_t general, specific;
};

/* Create an encoder that appends to `out`, or a decoder of the bytes, for about `decisions`
 * decisions. If `ideal` is not NULL, *ideal becomes the information content of the decisions in
 * bits. Return NULL without memory. */
struct rn_guess *rn_guess_write(struct rn_arena *mem, uint64_t decisions, struct rn_buf *out,
				double *ideal);
struct rn_guess *rn_guess_read(struct rn_arena *mem, uint64_t decisions, const void *bytes,
			       size_t len);

/* Completes the bytes, or verifies that all were read (rn_coder_end). Returns RN_OK, RN_E_NOMEM if
 * the buffer failed, or RN_E_DATA. */
int rn_guess_end(struct rn_guess *g);

bool rn_guess_writes(const struct rn_guess *g);

/* Decoding: rn_guess_bad returns whether the input was invalid or too short; rn_guess_refuse marks
 * it as invalid. */
bool rn_guess_bad(const struct rn_guess *g);
void rn_guess_refuse(struct rn_guess *g);

bool rn_guess_bit(struct rn_guess *g, const struct rn_guess_on *on, bool bit);

/* Codes v <= max: the number of binary digits of v + 1, and then the digits. */
uint32_t rn_guess_number(struct rn_guess *g, const struct rn_guess_on *on, uint32_t v,
			 uint32_t max);

/* Codes any v: the number of its binary digits, and then the digits. Digits after the first 20 are
 * coded with probability 1/2. */
uint64_t rn_guess_wide(struct rn_guess *g, const struct rn_guess_on *on, uint64_t v);

/* Codes a decision with the caller's probability, in units of 1/65536. */
bool rn_guess_weighed(struct rn_guess *g, uint32_t ones, bool bit);

static inline uint32_t rn_guess_mix(uint32_t a, uint32_t b)
{
	uint64_t x = ((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(x >> 32) ^ (uint32_t)x >> 15;
}

#endif
