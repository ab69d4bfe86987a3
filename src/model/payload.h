/*
 * payload.h - what stands inside the sections of a trace: each encoder beside its decoder.
 *
 *   meta        keys and values about the whole trace
 *   functions   the functions that signatures refer to, with their parameters' names and
 *               directions
 *   strings     the words that signatures refer to
 *   signatures  the terminals, in the order of their numbers
 *   ranks       the groups: root rule and ranklist
 *
 * (rules and series encode themselves.) Encoders write into a buffer whose failure the caller looks
 * at once (rn_buf_status). Decoders trust no byte: RN_OK, RN_E_NOMEM, or RN_E_DATA with the reason;
 * the caller verifies the end of the input (rn_err_end), which also reports a malformed number;
 * results are in the arena given, and texts are terminated. On disk: doc/format.md, chapters 8-10.
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

/* Keys are names (rn_name_valid), each once; values are any text of at most RN_META_VALUE_MAX
 * bytes. As decoded, keys ascend; encoding takes them in any order. */
struct rn_meta {
	const struct rn_meta_entry *entry;
	uint32_t n;
};

#define RN_NUMBER_MAX     65535 /* highest number of a function or a word */
#define RN_META_VALUE_MAX 65535 /* bytes */

/* Whether it can be written: RN_OK, or RN_E_ARG with the reason. */
int rn_meta_check(const struct rn_meta *m, struct rn_err *err);

/* The metadata must be valid. O(n^2) in the number of entries, which is small. */
void rn_meta_encode(const struct rn_meta *m, struct rn_buf *out);
int rn_meta_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_meta *out,
		   struct rn_err *err);
/* The value of a key, or NULL. */
const char *rn_meta_get(const struct rn_meta *m, const char *key);

/* The part of a vocabulary that signatures use. Shares the texts. The vocabulary is one that a
 * reader accepts: that of MPI (a test verifies it), or one that was decoded. RN_OK or RN_E_NOMEM;
 * RN_E_ARG when a signature is not valid under the vocabulary. */
int rn_vocab_used(struct rn_arena *mem, const struct rn_vocab *all, const struct rn_sigs *sigs,
		  struct rn_vocab *out);

void rn_funcs_encode(const struct rn_vocab *v, struct rn_buf *out);
int rn_funcs_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_vocab *out,
		    struct rn_err *err);

void rn_words_encode(const struct rn_vocab *v, struct rn_buf *out);
int rn_words_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_vocab *out,
		    struct rn_err *err);

/* As they are, for what is on its way. */
void rn_sigs_encode(const struct rn_sigs *s, struct rn_buf *out);
/* For the file: with relatives as lines (signature_delta.h). `out` is empty. RN_OK or RN_E_NOMEM.
 */
int rn_sigs_encode_small(const struct rn_sigs *s, struct rn_buf *out);
/* Every signature is verified against the vocabulary, and occurs once. */
int rn_sigs_decode(struct rn_arena *mem, struct rn_reader *in, const struct rn_vocab *vocab,
		   struct rn_sigs **out, struct rn_err *err);

int rn_groups_encode(const struct rn_streams *s, struct rn_buf *out);
/* Fills groups and ranks of *s, whose rules are known, and indexes them. */
int rn_groups_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_streams *s,
		     struct rn_err *err);

#endif
