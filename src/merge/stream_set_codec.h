/*
 * stream_set_codec.h - a stream set (merge/stream_set.h) as bytes, for sending from rank to rank.
 *
 *   size    contents
 *   bytes   the section `signatures`, and the section `rules` (doc/format.md)
 *   varint  number of stream groups; per group, ascending by its first stream:
 *     varint  root rule
 *     varint  number of runs; per run, ascending:
 *       varint  its first stream - 1 - the last stream of the previous run (for the first run: the
 *               first stream, relative to that of the set)
 *       varint  number of streams - 1
 *       varint  if there is more than one: their distance - 1
 *
 * Streams are numbered from the first one of the set. The decoder gets the number of that stream
 * from its caller, not from the bytes. Encoder and decoder have the same vocabulary.
 *
 * Cost: linear. Uses malloc through struct rn_buf; decoded data are in the given arena. Input of
 * the decoder is untrusted. After decoding, the invariants of merge/stream_set.h hold, no stream
 * occurs twice, and every signature is valid under the vocabulary, so the set can be merged.
 */
#ifndef RN_MERGE_STREAM_SET_CODEC_H
#define RN_MERGE_STREAM_SET_CODEC_H

#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_buf;
struct rn_reader;
struct rn_stream_set;
struct rn_vocab;

int rn_part_encode(const struct rn_stream_set *p, struct rn_buf *out);

/* The stream numbers for a decoded set: the first one, and how many numbers from there it may use,
 * at most RN_RANKS_MAX. A set that needs more is refused; this limits the cost of malicious input.
 */
struct rn_part_place {
	uint64_t first, most;
};

/* Decodes a set into `mem`. Signatures are validated under the vocabulary. The caller verifies the
 * end of the input. Returns RN_OK, or RN_E_NOMEM or RN_E_DATA with the arena unchanged. */
int rn_part_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_part_place place,
		   const struct rn_vocab *vocab, struct rn_stream_set *out, struct rn_err *err);

#endif
