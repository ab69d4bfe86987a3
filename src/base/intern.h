/*
 * intern.h - intern table: byte strings to consecutive ids, such as signatures to terminals.
 *
 * Interning hashes once (XXH3), compares on a match, and copies new bytes to the arena. Equal bytes
 * always have the same id. O(1) expected, and no insertion is slow, because the table grows in
 * pieces. Memory: the bytes plus about 40 bytes per entry. Not locked: one table per stream.
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

/* Removes all entries. Their bytes stay allocated in the arena. */
void rn_sigs_reset(struct rn_sigs *s);

uint32_t rn_sigs_count(const struct rn_sigs *s);

/* Stores the id of the bytes, which are added if they are new. Returns RN_OK, or RN_E_NOMEM with
 * the table unchanged. */
int rn_sigs_intern(struct rn_sigs *s, const void *bytes, size_t len, uint32_t *id);

/* Interns entry `i` of another table. Merging uses it, because the hash is already known. */
int rn_sigs_copy(struct rn_sigs *s, const struct rn_sigs *from, uint32_t i, uint32_t *id);

/* Whether the table contains the bytes. Stores their id. */
bool rn_sigs_find(const struct rn_sigs *s, const void *bytes, size_t len, uint32_t *id);

const void *rn_sigs_get(const struct rn_sigs *s, uint32_t id, size_t *len);

/* Encode and decode a table: the number of entries, and each entry after its length. The table to
 * decode into must be empty. Input is untrusted. Returns RN_OK, RN_E_NOMEM, or RN_E_DATA if the
 * input is malformed or contains an entry twice. */
void rn_sigs_put(const struct rn_sigs *s, struct rn_buf *out);
int rn_sigs_take(struct rn_sigs *s, struct rn_reader *in);

/* Verifies that every entry is found under its own id and hash. */
bool rn_sigs_check(const struct rn_sigs *s);

#endif
