/*
 * reintern.h - calls from one set of tables to another: numbers of texts, of long arrays and of
 * requests in their words become those of the other.
 *
 * For streams that are in pieces, of which each has tables of its own (journal/journal_file.h): the
 * tracer takes over what the next piece needs, and who reads them makes one stream of all.
 *
 * Trusts no word: of a call that makes no sense, words stay as they are. Cost: the words, and those
 * of the arrays that they refer to. Scratch memory is given back; errno is left alone.
 */
#ifndef RN_ENCODE_REINTERN_H
#define RN_ENCODE_REINTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_sigs;

struct rn_tables {
	struct rn_sigs *words, *blobs, *texts; /* of distinct calls, of long arrays, of texts */
};

struct rn_carrier {
	struct rn_tables from, to;
	/* What a request's word becomes; NULL: it stays. */
	uint64_t (*request)(void *arg, uint64_t word);
	void *arg;
	struct rn_arena *scratch;
};

/* Words of a call, in place. RN_OK or RN_E_NOMEM. */
int rn_carry_words(struct rn_carrier *c, uint64_t *words, size_t n);

/* Call i, and its number there. RN_OK or RN_E_NOMEM. */
int rn_carry_call(struct rn_carrier *c, uint32_t i, uint32_t *id);

#endif
