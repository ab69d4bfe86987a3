/*
 * text.h - untrusted text: validates names, and escapes text for output. No byte of the output
 * controls a terminal, and paths in suggested commands can be pasted into a shell.
 *
 * Allocates nothing.
 */
#ifndef RN_BASE_TEXT_H
#define RN_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the length of the UTF-8 character at s; n >= 1 bytes are available. 0: not valid UTF-8
 * (shortest form, no surrogates, up to U+10FFFF). */
size_t rn_text_length(const unsigned char *s, size_t n);

/* Returns the character after the backslash in the C escape of a character; 0: no such escape. */
char rn_text_letter(unsigned char c);

/* Whether a character of `len` bytes is C0, DEL or C1. Terminals execute these characters. */
bool rn_text_is_control(const unsigned char *s, size_t len);

#define RN_TEXT_CHAR 5

/* Stores the text form of the character at s as a terminated string; n >= 1 bytes are available.
 * Backslashes, control characters and bytes that are not UTF-8 become C escapes, octal if there is
 * no letter. Other characters are unchanged. Returns the number of bytes of s that were used. */
size_t rn_text_char(const char *s, size_t n, char out[RN_TEXT_CHAR]);

/* Stores a text as one line that cannot control a terminal. Characters become escapes as in
 * rn_text_char, except backslashes, because the text may already contain escapes. A text that does
 * not fit is truncated. Returns `out`. */
const char *rn_text_line(const char *text, char *out, size_t cap);

/* Writes a path as one word of a shell command. It is quoted if a shell requires this, as $'...'
 * (in POSIX since 2024) if it has nonprintable characters. A path that starts with a dash gets the
 * prefix ./. A word that does not fit is truncated. Returns `out`. */
#define RN_TEXT_PATH (4 * 4096 + 8) /* sufficient for a path of PATH_MAX bytes */
const char *rn_text_path(const char *path, char *out, size_t cap);

/* Whether a text is a name in a trace: 1 to 255 graphic ASCII characters, without the characters
 * that delimit values in the text form of a call. */
#define RN_NAME_MAX 255
bool rn_name_valid(const char *s, size_t n);

#endif
