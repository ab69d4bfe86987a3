/*
 * intern.h - the call signature table: byte strings to consecutive numbers (the terminals).
 *
 * Interning hashes once (XXH3), compares on a match, and copies new bytes into the arena; equal
 * bytes always give the same number. O(1) expected, and no insertion is slow: the table grows in
 * pieces. Memory: the bytes plus about 40 a signature. Not locked: one table per stream.
 */
#ifndef RN_BASE_INTERN_H
#define RN_BASE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;
struct rn_buf;
struct rn_reader;
struct rn_sigs; /* opaque */

struct rn_sigs *rn_sigs_new(struct rn_arena *mem);

/* Forgets the signatures. Their bytes stay allocated in the arena. */
void rn_sigs_reset(struct rn_sigs *s);

uint32_t rn_sigs_count(const struct rn_sigs *s);

/* RN_OK; RN_E_NOMEM with the table as it was. */
int rn_sigs_intern(struct rn_sigs *s, const void *bytes, size_t len, uint32_t *id);

/* The same for signature `i` of another table, whose hash is known: what merging does. */
int rn_sigs_copy(struct rn_sigs *s, const struct rn_sigs *from, uint32_t i, uint32_t *id);

/* Whether it is there. */
bool rn_sigs_find(const struct rn_sigs *s, const void *bytes, size_t len, uint32_t *id);

const void *rn_sigs_get(const struct rn_sigs *s, uint32_t id, size_t *len);

/* As bytes: how many, and each after its length. Taking, into an empty table, trusts no byte:
 * RN_OK, RN_E_NOMEM, or RN_E_DATA when they are none, or one is there twice. */
void rn_sigs_put(const struct rn_sigs *s, struct rn_buf *out);
int rn_sigs_take(struct rn_sigs *s, struct rn_reader *in);

/* Every signature is found under its own number and hash. */
bool rn_sigs_check(const struct rn_sigs *s);

#endif
