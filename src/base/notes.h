/*
 * notes.h - formatted text in a buffer, and messages that a library has for the user.
 *
 * Only commands print (src/cmd). A function that has to report something besides its result appends
 * notes to a buffer, each with a zero byte at its end. The command prints them.
 */
#ifndef RN_BASE_NOTES_H
#define RN_BASE_NOTES_H

#include "base/buf.h"

/* Appends text as printf formats it, without a zero byte. */
void rn_putf(struct rn_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Appends a note. */
void rn_note(struct rn_buf *notes, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
