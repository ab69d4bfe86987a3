/*
 * text.h - text that others have made, in output for people: no byte of it controls a terminal, and
 * paths in suggested commands can be pasted into a shell.
 *
 * Allocates nothing.
 */
#ifndef RN_BASE_TEXT_H
#define RN_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The length of the UTF-8 character at s, of which n >= 1 bytes are left; 0: not UTF-8 (shortest
 * form, no surrogates, up to U+10FFFF). */
size_t rn_text_length(const unsigned char *s, size_t n);

/* The letter that follows the backslash in the C escape of a character; 0: it has no letter. */
char rn_text_letter(unsigned char c);

/* Whether a character of `len` bytes is C0, DEL or C1, which terminals execute. */
bool rn_text_is_control(const unsigned char *s, size_t len);

#define RN_TEXT_CHAR 5

/* The character at s, of which n >= 1 bytes are left, as the text form shows it, terminated: as it
 * is, or, for backslashes, control characters and bytes that are not UTF-8, as an escape of C
 * (octal where there is no letter). Returns how many bytes of s that was. */
size_t rn_text_char(const char *s, size_t n, char out[RN_TEXT_CHAR]);

/* Writes a path as one word of a shell command: in quotes if a shell requires it, as $'...', which
 * POSIX has since 2024, if it has characters that are not printable, and after ./ if it begins with
 * a dash. A word that does not fit is cut. Returns `out`. */
#define RN_TEXT_PATH (4 * 4096 + 8) /* bytes that suffice for a path of PATH_MAX */
const char *rn_text_path(const char *path, char *out, size_t cap);

#endif
