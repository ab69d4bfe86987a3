/*
 * context_mix.h - decisions that several contexts have an opinion on, for the arithmetic coder.
 *
 * A context is a number, hashed by the caller, of what is known before a decision: the last outcome
 * at this site, the last two, ... Each learns by itself how likely a yes is. A decision has two,
 * one that has seen much and one that is more specific, which counts for the more the more it has
 * seen.
 *
 * As in range_coder.h one function codes and decodes. All is integers, so that every machine comes
 * to the same chances. Contexts share slots where their hashes meet: that costs size, never truth.
 * Cost: some 10 ns a decision. Memory: the caller's arena. Decoding trusts no byte.
 */
#ifndef RN_ORDER_CONTEXT_MIX_H
#define RN_ORDER_CONTEXT_MIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "column/range_coder.h"

struct rn_arena;

struct rn_guess;

/* What a decision depends on; contexts of different kinds have nothing to do with each other. */
struct rn_guess_on {
	unsigned kind;
	uint32_t general, specific;
};

/* To code into `out`, or to decode the bytes; about so many decisions will come. `ideal`, if not
 * NULL, becomes the bits that the decisions are worth. NULL: no memory. */
struct rn_guess *rn_guess_write(struct rn_arena *mem, uint64_t decisions, struct rn_buf *out,
				double *ideal);
struct rn_guess *rn_guess_read(struct rn_arena *mem, uint64_t decisions, const void *bytes,
			       size_t len);

/* Completes the bytes, or checks that all of them were read (rn_coder_end). RN_OK; RN_E_NOMEM if
 * the buffer failed; RN_E_DATA. */
int rn_guess_end(struct rn_guess *g);

bool rn_guess_writes(const struct rn_guess *g);

/* Decoding: what was read is impossible, or there is no more; and to say that it is. */
bool rn_guess_bad(const struct rn_guess *g);
void rn_guess_refuse(struct rn_guess *g);

bool rn_guess_bit(struct rn_guess *g, const struct rn_guess_on *on, bool bit);

/* v <= max. Decides how many binary digits v + 1 has, and then the digits. */
uint32_t rn_guess_number(struct rn_guess *g, const struct rn_guess_on *on, uint32_t v,
			 uint32_t max);

/* Codes any v: the number of its binary digits, and then the digits. Digits after the first 20 are
 * at even chances. */
uint64_t rn_guess_wide(struct rn_guess *g, const struct rn_guess_on *on, uint64_t v);

/* A decision by a chance of the caller's, of 65536. */
bool rn_guess_weighed(struct rn_guess *g, uint32_t ones, bool bit);

static inline uint32_t rn_guess_mix(uint32_t a, uint32_t b)
{
	uint64_t x = ((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(x >> 32) ^ (uint32_t)x >> 15;
}

#endif
