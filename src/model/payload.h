/*
 * payload.h - the contents of the following sections of a trace; each encoder is next to its
 * decoder.
 *
 *   meta        keys and values about the whole trace
 *   functions   the functions that signatures refer to, with the names and directions of
 *               parameters
 *   strings     the keywords that signatures refer to
 *   signatures  the terminals, in order of their ids
 *   ranks       the stream groups: root rule and rank set
 *
 * (Rules and series encode themselves.) Encoders append to a buffer; the caller checks once whether
 * it ran out of memory (rn_buf_status). Input of the decoders is untrusted. They return RN_OK,
 * RN_E_NOMEM, or RN_E_DATA with the reason. The caller verifies the end of the input (rn_err_end),
 * which also reports a malformed number. Results are in the given arena, and texts are terminated.
 * On disk: doc/format.md, chapters 8-10.
 */
#ifndef RN_MODEL_PAYLOAD_H
#define RN_MODEL_PAYLOAD_H

#include <stdint.h>

#include "base/err.h"
#include "encode/signature.h"

struct rn_arena;
struct rn_buf;
struct rn_reader;
struct rn_sigs;
struct rn_streams;

struct rn_meta_entry {
	const char *key, *value;
};

/* Keys are names (rn_name_valid), each once. Values are any text of at most RN_META_VALUE_MAX
 * bytes. Decoded keys ascend; the encoder accepts any order. */
struct rn_meta {
	const struct rn_meta_entry *entry;
	uint32_t n;
};

#define RN_NUMBER_MAX     65535 /* highest id of a function or a keyword */
#define RN_META_VALUE_MAX 65535 /* bytes */

/* Returns RN_OK if the metadata can be encoded, or RN_E_ARG with the reason. */
int rn_meta_check(const struct rn_meta *m, struct rn_err *err);

/* The metadata must be valid. O(n^2) in the number of entries, which is small. */
void rn_meta_encode(const struct rn_meta *m, struct rn_buf *out);
int rn_meta_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_meta *out,
		   struct rn_err *err);
/* Returns the value of a key, or NULL. */
const char *rn_meta_get(const struct rn_meta *m, const char *key);

/* Stores the part of a vocabulary that the signatures use. Shares the texts. The vocabulary must be
 * acceptable to a reader: that of MPI (a test verifies it) or a decoded one. Returns RN_OK,
 * RN_E_NOMEM, or RN_E_ARG if a signature is not valid under the vocabulary. */
int rn_vocab_used(struct rn_arena *mem, const struct rn_vocab *all, const struct rn_sigs *sigs,
		  struct rn_vocab *out);

void rn_funcs_encode(const struct rn_vocab *v, struct rn_buf *out);
int rn_funcs_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_vocab *out,
		    struct rn_err *err);

void rn_words_encode(const struct rn_vocab *v, struct rn_buf *out);
int rn_words_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_vocab *out,
		    struct rn_err *err);

/* Encodes signatures without lines (signature_delta.h): for partial traces, and for traces whose
 * metadata has "elastic" = "no". */
void rn_sigs_encode(const struct rn_sigs *s, struct rn_buf *out);
/* Encodes signatures for the file, with lines (signature_delta.h) where that is smaller. `out` is
 * empty. Returns RN_OK or RN_E_NOMEM. */
int rn_sigs_encode_small(const struct rn_sigs *s, struct rn_buf *out);
/* Validates every signature under the vocabulary, and that it occurs once. */
int rn_sigs_decode(struct rn_arena *mem, struct rn_reader *in, const struct rn_vocab *vocab,
		   struct rn_sigs **out, struct rn_err *err);

int rn_groups_encode(const struct rn_streams *s, struct rn_buf *out);
/* Sets groups and ranks of *s, whose rules are already decoded, and indexes them. */
int rn_groups_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_streams *s,
		     struct rn_err *err);

#endif
