/*
 * command_text.h - a command line as one text, for comparing two command lines and for display.
 *
 * Arguments are quoted for a shell, and unprintable characters are escaped. A text that is too long
 * is truncated and ends with a hash of the whole command line. Texts are therefore equal only if
 * the arguments are. Allocates nothing and cannot fail.
 */
#ifndef RN_BASE_COMMAND_TEXT_H
#define RN_BASE_COMMAND_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define RN_WORDS_MAX 512 /* size of a text in bytes, with its terminator */

/* Must be zero-initialized. */
struct rn_words {
	char text[RN_WORDS_MAX];
	size_t len; /* length of the text without truncation */
	uint64_t hash;
};

void rn_words_add(struct rn_words *w, const char *word);

/* Returns the text, after the last argument was added. */
const char *rn_words_text(struct rn_words *w);

/* Replaces control characters and bytes that are not UTF-8 by question marks. The text is
 * untrusted. */
void rn_words_clean(char *text);

#endif
