/*
 * command_text.h - the words of a command line as one text, by which two command lines are compared
 * and which people read: words are quoted as a shell wants them, and nothing in it is unprintable.
 *
 * What is too long is cut, and ends with a hash of all of it, so that texts are equal only if the
 * words are. No memory, no failure.
 */
#ifndef RN_BASE_COMMAND_TEXT_H
#define RN_BASE_COMMAND_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define RN_WORDS_MAX 512 /* bytes of a text, with its end */

/* Begins as zeros. */
struct rn_words {
	char text[RN_WORDS_MAX];
	size_t len; /* as it would be, if it were not cut */
	uint64_t hash;
};

void rn_words_add(struct rn_words *w, const char *word);

/* When all are there. */
const char *rn_words_text(struct rn_words *w);

/* Replaces control characters and bytes that are not UTF-8 with question marks. The text is
 * untrusted. */
void rn_words_clean(char *text);

#endif
