/*
 * range_coder.h - an adaptive arithmetic coder: decisions to about as many bits as they are
 * surprising.
 *
 * One set of functions codes and decodes: each takes the value to write and gives the value that
 * stands there, so that a model is written down once and both directions agree by construction.
 * Contexts learn as they are used: the first decisions move a probability fast, later ones slowly.
 *
 * Decoding trusts no byte: what is read past the end is zeros, impossible values set `bad`, and
 * from then on every value is 0. Cost: some 10 ns a decision. The buffer is the caller's (malloc);
 * nothing else is allocated. On disk: doc/format.md.
 */
#ifndef RN_COLUMN_RANGE_CODER_H
#define RN_COLUMN_RANGE_CODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rn_buf;

struct rn_coder {
	struct rn_buf *out; /* NULL when decoding */
	/* The interval that the decisions so far have left, as its lower end and its width. */
	uint64_t low;
	uint32_t range;
	/* Coding: the last byte waits for a carry, and with it the 255s behind it. */
	uint64_t waiting;
	unsigned char cache;
	bool begun;
	/* Decoding */
	uint32_t code; /* where in the interval the input is */
	const unsigned char *in;
	size_t len, at;
	bool bad;
};

/* How likely a decision is. Zeroed is even chances. */
struct rn_chance {
	int16_t lean; /* from below -32000, surely not, to above 32000, surely so */
	uint16_t seen;
};

#define RN_CODER_LENGTHS 12
#define RN_CODER_SMALL   12

/* For numbers of any size: the number of digits is learnt, and the first two of them. */
struct rn_number {
	struct rn_chance length[RN_CODER_LENGTHS], top[RN_CODER_LENGTHS][3];
};

/* For numbers that are below RN_CODER_SMALL as a rule: how often each comes is learnt. */
struct rn_small {
	struct rn_chance more[RN_CODER_SMALL];
	struct rn_number rest;
};

void rn_coder_write(struct rn_coder *c, struct rn_buf *out);
void rn_coder_read(struct rn_coder *c, const void *bytes, size_t len);

/* Coding: writes what is left; the buffer's status tells whether all went well. Decoding: false
 * when the input was impossible, shorter than what was read, or longer. */
bool rn_coder_end(struct rn_coder *c);

/* Decoding: more has been read than the input can have meant. */
bool rn_coder_past(const struct rn_coder *c);

bool rn_coder_bit(struct rn_coder *c, struct rn_chance *p, bool bit);

/* The same with a chance that somebody else knows: of 65536, 0 < ones < 65536. */
bool rn_coder_weighed(struct rn_coder *c, uint32_t ones, bool bit);

/* v < n, all as likely; 0 < n <= 2^16. */
uint32_t rn_coder_even(struct rn_coder *c, uint32_t v, uint32_t n);

/* v <= max < 2^64 - 1. */
uint64_t rn_coder_number(struct rn_coder *c, struct rn_number *m, uint64_t v, uint64_t max);
uint64_t rn_coder_small(struct rn_coder *c, struct rn_small *m, uint64_t v, uint64_t max);

#endif
