/*
 * list_delta.h - delta coding of long lists in stored signatures.
 *
 * The requests of a large MPI_Waitall are request 0, 1, 2, ...; its statuses come from rank 0, 1,
 * 2, ... In memory a signature has such a list in full (encode/signature.h), so that only this
 * module handles the coded form. In the section `signatures` the list is coded as differences
 * between elements. Nearly all differences are equal. A general compressor does not find this
 * pattern: 500,000 requests need a hundred bytes instead of 1.6 MB.
 *
 * A list of more than RN_STEPS_FEW elements is treated as the sequence of its values. A value is
 * replaced by a value of kind RN_STEPS_KIND with the difference if three conditions hold: it is a
 * number, an object or a memory location; the value at the same position of the previous element
 * has the same kind; and both are equal except for their last number. On disk: doc/format.md, 8.3.
 */
#ifndef RN_MODEL_LIST_DELTA_H
#define RN_MODEL_LIST_DELTA_H

#include <stdbool.h>
#include <stddef.h>

struct rn_buf;

#define RN_STEPS_KIND RN_V_STEP
#define RN_STEPS_FEW  64u /* in elements: lists up to this length are stored in full */

/* True if the stored form of a signature (given in either form) differs from the signature. O(1)
 * for short signatures. */
bool rn_steps_needed(const void *sig, size_t len);

/* Appends the stored form of a valid signature for which rn_steps_needed is true. `out` is empty.
 */
void rn_steps_pack(const void *sig, size_t len, struct rn_buf *out);

/* Appends the signature of a stored form. False if it is malformed or too long. The caller must
 * validate the signature like any other. The output is at most 32 bytes per input byte. `out` is
 * empty. */
bool rn_steps_unpack(const void *stored, size_t len, struct rn_buf *out);

#endif
