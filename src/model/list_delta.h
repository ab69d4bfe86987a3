/*
 * list_delta.h - long lists in stored signatures: what changes from one element to the next.
 *
 * The requests of a large MPI_Waitall are request 0, 1, 2, ...; its statuses come from rank 0, 1,
 * 2, ... In memory a signature has them as they are (encode/signature.h), so that nobody else has
 * to know of this. In the section they are steps, nearly all of them equal, which a general
 * compressor makes nothing of: 500,000 requests take a hundred bytes instead of 1.6 MB.
 *
 * Elements of a list of more than RN_STEPS_FEW are taken as the sequence of their values. Where one
 * is a number, an object or a place, and the value with the same number in the element before is of
 * the same kind, and in everything equal but for its last number, kind RN_STEPS_KIND stands for it,
 * with the difference. On disk: doc/format.md, 8.3.
 */
#ifndef RN_MODEL_LIST_DELTA_H
#define RN_MODEL_LIST_DELTA_H

#include <stdbool.h>
#include <stddef.h>

struct rn_buf;

#define RN_STEPS_KIND RN_V_STEP
#define RN_STEPS_FEW  64u /* elements: shorter lists are stored as they are */

/* Whether a signature, in either form, has other bytes in the other one. O(1) for short ones. */
bool rn_steps_needed(const void *sig, size_t len);

/* The stored form of a valid signature that needs it. `out` is empty. */
void rn_steps_pack(const void *sig, size_t len, struct rn_buf *out);

/* The signature of a stored form; false when it is malformed or too long. It still has to be
 * verified as any other. At most 32 bytes for each byte. `out` is empty. */
bool rn_steps_unpack(const void *stored, size_t len, struct rn_buf *out);

#endif
