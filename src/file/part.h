/*
 * part.h - a part (merge/merge.h) as bytes, for a link between ranks and for the disk.
 *
 *   size    what
 *   1       1: a vocabulary comes first; 0: reader and writer have the same one
 *   pieces  functions and strings (if there is a vocabulary), signatures, rules: each a varint, its
 *           length, and the section of that name (doc/format.md)
 *   varint  number of groups; per group, ascending by its first stream:
 *     varint  root rule
 *     varint  number of runs; per run, ascending:
 *       varint  its first stream - 1 - the last one of the run before (the part's first stream, for
 *               the first run: itself)
 *       varint  how many streams it has - 1
 *       varint  if there is more than one, their distance - 1
 *
 * Streams are numbered from the part's own first one: where that comes is known to whoever reads
 * it (the child of a tree, the rank in the name of a file), not taken from the bytes.
 *
 * On disk a part is the section `part` of a container, beside the metadata and whatever else is
 * known of these ranks. It is made to be merged soon by the version that wrote it.
 *
 * Cost: linear. Uses malloc through struct rn_buf; what is decoded is in the arena given. Decoding
 * trusts no byte: afterwards rn_part_check holds, no stream is there twice, and every signature is
 * valid under the vocabulary, so that the part can be merged.
 */
#ifndef RN_FILE_PART_H
#define RN_FILE_PART_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_buf;
struct rn_container;
struct rn_container_writer;
struct rn_part;
struct rn_vocab;

/* Appends the part. With a vocabulary, what is used of it comes along, and signatures that are not
 * valid under it are refused (RN_E_ARG); with NULL it does not. */
int rn_part_encode(const struct rn_part *p, const struct rn_vocab *vocab, struct rn_buf *out);

/* Where a part's streams go: the number of the first, and how many numbers from there on they may
 * have, up to RN_RANKS_MAX. A part that wants more is refused; this bounds what hostile bytes can
 * cost. */
struct rn_part_place {
	uint64_t first, most;
};

/* The part, in `mem`. *vocab is what signatures are verified against, or becomes the one that comes
 * along. RN_OK; RN_E_NOMEM or RN_E_DATA with the arena as it was. */
int rn_part_decode(struct rn_arena *mem, const void *bytes, size_t len, struct rn_part_place place,
		   struct rn_vocab *vocab, struct rn_part *out, struct rn_err *err);

/* The section `part`, with its vocabulary, of a container that is being written (types ascend). */
int rn_part_put(struct rn_container_writer *w, const struct rn_part *p,
		const struct rn_vocab *vocab, struct rn_err *err);

/* The same from one that is open. RN_E_DATA when there is none. */
int rn_part_get(struct rn_container *c, struct rn_arena *mem, struct rn_part_place place,
		struct rn_vocab *vocab, struct rn_part *out, struct rn_err *err);

#endif
