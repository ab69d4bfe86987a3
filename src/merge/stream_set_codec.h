/*
 * stream_set_codec.h - a part (merge/stream_set.h) as bytes, on its way from one rank to another.
 *
 *   size    what
 *   bytes   the section `signatures`, and the section `rules` (doc/format.md)
 *   varint  number of groups; per group, ascending by its first stream:
 *     varint  root rule
 *     varint  number of runs; per run, ascending:
 *       varint  its first stream - 1 - the last one of the run before (the part's first stream, for
 *               the first run: itself)
 *       varint  how many streams it has - 1
 *       varint  if there is more than one, their distance - 1
 *
 * Streams are numbered from the part's own first one: where that comes is known to whoever reads
 * it, not taken from the bytes. Reader and writer have the same vocabulary.
 *
 * Cost: linear. Uses malloc through struct rn_buf; what is decoded is in the arena given. Decoding
 * trusts no byte: afterwards the invariants of merge/stream_set.h hold, no stream is there twice,
 * and every signature is valid under the vocabulary, so that the part can be merged.
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

/* Where a part's streams go: the number of the first, and how many numbers from there on they may
 * have, up to RN_RANKS_MAX. A part that wants more is refused; this bounds what hostile bytes can
 * cost. */
struct rn_part_place {
	uint64_t first, most;
};

/* The part, in `mem`; signatures are verified against the vocabulary. The caller verifies the end
 * of the input. RN_OK; RN_E_NOMEM or RN_E_DATA with the arena as it was. */
int rn_part_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_part_place place,
		   const struct rn_vocab *vocab, struct rn_stream_set *out, struct rn_err *err);

#endif
