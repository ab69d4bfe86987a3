/* command_text.c - see command_text.h. */
#include "base/command_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"

#define CUT (RN_WORDS_MAX - 24) /* bytes that remain of a truncated text */

static void put(struct rn_words *w, char c)
{
	if (w->len + 1 < sizeof(w->text))
		w->text[w->len] = c;
	w->len++;
}

static void put_text(struct rn_words *w, const char *s)
{
	while (*s)
		put(w, *s++);
}

static bool is_plain(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_@%+=:,./^-";

	return *word && word[strspn(word, plain)] == '\0';
}

static bool is_control(char c)
{
	return (unsigned char)c < ' ' || c == 127;
}

static void put_char(struct rn_words *w, char c)
{
	char code[8];

	if (c == '\'') {
		put_text(w, "'\\''");
	} else if (is_control(c)) {
		snprintf(code, sizeof(code), "\\x%02x", (unsigned)c);
		put_text(w, code);
	} else {
		put(w, c);
	}
}

void rn_words_add(struct rn_words *w, const char *word)
{
	const char *quote = is_plain(word) ? "" : "'";

	w->hash = rn_hash_u64(w->hash ^ rn_hash(word, strlen(word)));
	if (w->len)
		put(w, ' ');
	put_text(w, quote);
	for (const char *c = word; *c; c++)
		put_char(w, *c);
	put_text(w, quote);
}

const char *rn_words_text(struct rn_words *w)
{
	if (w->len < sizeof(w->text))
		w->text[w->len] = '\0';
	else
		snprintf(w->text + CUT, sizeof(w->text) - CUT, "...~%016" PRIx64, w->hash);
	return w->text;
}

void rn_words_clean(char *text)
{
	size_t left = strlen(text), n;

	for (; left; text += n, left -= n) {
		const unsigned char *s = (const unsigned char *)text;

		n = rn_text_length(s, left);
		if (n == 0 || rn_text_is_control(s, n))
			memset(text, '?', n ? n : 1);
		n = n ? n : 1;
	}
}
