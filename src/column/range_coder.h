/*
 * range_coder.h - adaptive binary range coder.
 *
 * A decision costs about as many bits as its information content. One set of functions encodes and
 * decodes: each function has the value to encode as an argument and returns the encoded or decoded
 * value. A model is therefore written only once, and both directions agree by construction. The
 * probabilities adapt with use: fast in the first decisions, slowly in later ones.
 *
 * Input is untrusted: bytes read past the end are 0, and impossible values set `bad`. From then on
 * every decoded value is 0. Cost: about 10 ns per decision. The caller owns the output buffer
 * (malloc); nothing else is allocated. Format in the file: doc/format.md.
 */
#ifndef RN_COLUMN_RANGE_CODER_H
#define RN_COLUMN_RANGE_CODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rn_buf;

struct rn_coder {
	struct rn_buf *out; /* NULL when decoding */
	/* The interval that the decisions so far have left: its lower end and its width. */
	uint64_t low;
	uint32_t range;
	/* Encoding: `cache` is the last byte, which is not written yet because of a possible carry.
	 * `waiting` is the number of 255 bytes that follow it. */
	uint64_t waiting;
	unsigned char cache;
	bool begun; /* `cache` is valid */
	/* Decoding. */
	uint32_t code; /* position of the input in the interval */
	const unsigned char *in;
	size_t len, at;
	bool bad; /* the input is invalid */
};

/* The probability that a decision is true. All fields 0: one half. */
struct rn_chance {
	/* Probability minus one half, in units of 1/65536: below -32000 is almost certainly false,
	 * above 32000 almost certainly true. */
	int16_t lean;
	uint16_t seen; /* number of decisions so far, up to a limit */
};

#define RN_CODER_LENGTHS 12
#define RN_CODER_SMALL   12

/* Model of numbers of any size. The number of binary digits and the first two digits after the
 * leading one are adaptive. */
struct rn_number {
	struct rn_chance length[RN_CODER_LENGTHS], top[RN_CODER_LENGTHS][3];
};

/* Model of numbers that are usually below RN_CODER_SMALL. The frequency of each such number is
 * adaptive. */
struct rn_small {
	struct rn_chance more[RN_CODER_SMALL];
	struct rn_number rest;
};

void rn_coder_write(struct rn_coder *c, struct rn_buf *out);
void rn_coder_read(struct rn_coder *c, const void *bytes, size_t len);

/* Encoding: writes the remaining bytes and returns true; the buffer has the error status. Decoding:
 * returns false if the input was impossible, shorter than what was read, or longer. */
bool rn_coder_end(struct rn_coder *c);

/* Decoding: whether more bytes were read than any valid input requires. */
bool rn_coder_past(const struct rn_coder *c);

bool rn_coder_bit(struct rn_coder *c, struct rn_chance *p, bool bit);

/* Codes a decision with a probability that the caller supplies: `ones` of 65536 that it is true; 0
 * < ones < 65536. */
bool rn_coder_weighed(struct rn_coder *c, uint32_t ones, bool bit);

/* Codes v < n with equal probabilities; 0 < n <= 2^16. */
uint32_t rn_coder_even(struct rn_coder *c, uint32_t v, uint32_t n);

/* Code v <= max < 2^64 - 1. */
uint64_t rn_coder_number(struct rn_coder *c, struct rn_number *m, uint64_t v, uint64_t max);
uint64_t rn_coder_small(struct rn_coder *c, struct rn_small *m, uint64_t v, uint64_t max);

#endif
