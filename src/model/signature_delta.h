/*
 * signature_delta.h - signatures in the file that differ from an earlier one in numbers alone.
 *
 * The partners of a butterfly are rank xor 1, 2, 4, ...; the messages of a sweep are 1, 2, 4, ...
 * long; tags count up. Such calls are relatives: the same but for numbers. In memory each is a
 * signature as any other (base/intern.h). In the section a line of
 * them, where each comes from the one before in the same way, is stored once, and so takes no more
 * bytes the longer it is. One alone may be stored as what it differs in from the latest relative
 * before it; whether that is smaller depends on what the general compressor finds in either form.
 *
 * Numbers are those of a signature's values in their order: a number itself, of an object its id,
 * of a place id and displacement. On disk: doc/format.md, 8.3.
 */
#ifndef RN_MODEL_SIGNATURE_DELTA_H
#define RN_MODEL_SIGNATURE_DELTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rn_arena;
struct rn_buf;
struct rn_reader;
struct rn_sigs;

/* So many bytes of signatures may come from lines when so many bytes of the section have been read:
 * few bytes stand for a long line, and a reader's memory is to stay in proportion to its input. */
static inline uint64_t rn_line_room(uint64_t bytes)
{
	return ((uint64_t)1 << 20) + 32 * bytes;
}

/* Who is whose relative, of the signatures of a table. */
struct rn_relatives; /* opaque */

/* In `mem`; NULL without memory. Refers to the table. */
struct rn_relatives *rn_relatives_new(struct rn_arena *mem, const struct rn_sigs *s);

/* Appends the line that begins with signature i, of at most `room` bytes of signatures. Returns how
 * many signatures it has, at least 2, or with `single` also one that is smaller so; 0, with nothing
 * done, if there is no such line. */
uint32_t rn_line_put(const struct rn_relatives *r, uint32_t i, uint64_t room, bool single,
		     struct rn_buf *out);

/* A line as it is read. */
struct rn_line {
	uint64_t back; /* the first one comes from the signature so many before the last one */
	uint64_t n;    /* signatures */
	uint64_t edits;
};

/* Reads how a line begins, where `before` signatures are known and `left` are to come. False, with
 * in->bad, when it is malformed. */
bool rn_line_get(struct rn_reader *in, uint64_t before, uint64_t left, struct rn_line *l);

/* Appends the next of the line, from the one that it comes from, which is valid; it still has to be
 * verified as any other. Reads the edits, which are the same for all. False when they are malformed
 * or do not fit. */
bool rn_line_next(const struct rn_line *l, struct rn_reader *edits, const void *sig, size_t len,
		  struct rn_buf *out);

#endif
