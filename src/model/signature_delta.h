/*
 * signature_delta.h - delta coding of signatures that differ from an earlier one only in numbers.
 *
 * The partners of a butterfly are rank xor 1, 2, 4, ...; the messages of a sweep are 1, 2, 4, ...
 * bytes long; tags increase. Such signatures are relatives: equal except for their numbers. In
 * memory each is an ordinary signature (base/intern.h). In the section `signatures` a sequence of
 * relatives, each of which is derived from the previous one by the same edits, is stored once as a
 * "line". The size of a line is independent of its number of signatures. A single signature may be
 * stored as its difference from the latest relative before it. Whether that is smaller depends on
 * how the general compressor packs either form.
 *
 * The numbers of a signature are those of its values, in order: a number itself, the id of an
 * object, and the id and displacement of a memory location. On disk: doc/format.md, 8.3.
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

/* Returns how many bytes of signatures lines may produce after this many bytes of the section have
 * been read. A few bytes can encode a long line; the limit keeps the memory of a reader
 * proportional to its input. */
static inline uint64_t rn_line_room(uint64_t bytes)
{
	return ((uint64_t)1 << 20) + 32 * bytes;
}

/* The relatives among the signatures of a table. */
struct rn_relatives; /* opaque */

/* Allocates from `mem`; NULL without memory. The table must outlive the result. */
struct rn_relatives *rn_relatives_new(struct rn_arena *mem, const struct rn_sigs *s);

/* Appends the line that begins with signature i and produces at most `room` bytes of signatures.
 * Returns its number of signatures: at least 2, or 1 if `single` and the delta is smaller. Returns
 * 0, with nothing appended, if there is no such line. */
uint32_t rn_line_put(const struct rn_relatives *r, uint32_t i, uint64_t room, bool single,
		     struct rn_buf *out);

/* A line while it is decoded. */
struct rn_line {
	uint64_t back; /* distance from the last known signature to the base of the first one */
	uint64_t n;    /* number of signatures */
	uint64_t edits;
};

/* Decodes the header of a line. `before` signatures are known and `left` follow. False, with
 * in->bad set, if the header is malformed. */
bool rn_line_get(struct rn_reader *in, uint64_t before, uint64_t left, struct rn_line *l);

/* Appends the next signature of the line, derived from a valid signature. The caller must validate
 * the result like any other. Reads the edits, which are equal for the whole line. False if they are
 * malformed or do not fit the signature. */
bool rn_line_next(const struct rn_line *l, struct rn_reader *edits, const void *sig, size_t len,
		  struct rn_buf *out);

#endif
