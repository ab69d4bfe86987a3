/*
 * reintern.h - moves calls from one set of tables to another: the ids of texts, long arrays and
 * requests in their words are replaced by those of the other set.
 *
 * Used for streams that consist of segments, each with its own tables (journal/journal_file.h). The
 * tracer copies the calls that the next segment needs; recovery joins all segments into one stream.
 *
 * Words are untrusted: the words of a malformed call are left unchanged. Cost: O(words), including
 * those of the arrays that they refer to. Releases scratch memory; does not change errno.
 */
#ifndef RN_ENCODE_REINTERN_H
#define RN_ENCODE_REINTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_sigs;

struct rn_tables {
	struct rn_sigs *words, *blobs, *texts; /* distinct calls, long arrays, texts */
};

struct rn_carrier {
	struct rn_tables from, to;
	/* Returns the new word of a request; NULL: requests are unchanged. */
	uint64_t (*request)(void *arg, uint64_t word);
	void *arg;
	struct rn_arena *scratch;
};

/* Converts the words of a call in place. Returns RN_OK or RN_E_NOMEM. */
int rn_carry_words(struct rn_carrier *c, uint64_t *words, size_t n);

/* Converts call i; *id: its id in the table `to`. Returns RN_OK or RN_E_NOMEM. */
int rn_carry_call(struct rn_carrier *c, uint32_t i, uint32_t *id);

#endif
