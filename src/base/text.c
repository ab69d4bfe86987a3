/* text.c - see text.h. */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

char rn_text_letter(unsigned char c)
{
	static const char from[] = "\\\b\f\n\r\t", to[] = "\\bfnrt";
	const char *p = c ? strchr(from, c) : NULL;

	return p ? to[p - from] : 0;
}

size_t rn_text_length(const unsigned char *s, size_t n)
{
	size_t len = s[0] < 0x80   ? 1
		     : s[0] < 0xc2 ? 0
		     : s[0] < 0xe0 ? 2
		     : s[0] < 0xf0 ? 3
		     : s[0] < 0xf5 ? 4
				   : 0;

	if (len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f))
		return 0;
	if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

/* A C1 character, U+0080 to U+009F, has two bytes; the second byte is the code. */
bool rn_text_is_control(const unsigned char *s, size_t len)
{
	return s[0] < 0x20 || s[0] == 0x7f || (len == 2 && s[0] == 0xc2 && s[1] < 0xa0);
}

size_t rn_text_char(const char *text, size_t n, char out[RN_TEXT_CHAR])
{
	const unsigned char *s = (const unsigned char *)text;
	size_t len = rn_text_length(s, n);
	char letter = rn_text_letter(s[0]);

	if (letter) {
		snprintf(out, RN_TEXT_CHAR, "\\%c", letter);
		return 1;
	}
	if (len == 0 || rn_text_is_control(s, len)) {
		/* Always three digits, because an octal escape then needs no delimiter. */
		snprintf(out, RN_TEXT_CHAR, "\\%03o", s[0]);
		return 1; /* the second byte of a C1 character is then a byte that is not UTF-8 */
	}
	memcpy(out, s, len);
	out[len] = 0;
	return len;
}

/* Whether a shell needs no quotes for the word. */
static bool is_plain(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-+./:@%,=";

	return *word && !word[strspn(word, plain)];
}

static bool is_printable(const char *word)
{
	size_t left = strlen(word), used;
	char c[RN_TEXT_CHAR];

	for (; left; word += used, left -= used) {
		used = rn_text_char(word, left, c);
		if (c[0] == '\\' && *word != '\\')
			return false;
	}
	return true;
}

static size_t put(char *out, size_t cap, size_t at, const char *s)
{
	int n = snprintf(out + at, cap - at, "%s", s);

	return at + (size_t)n < cap ? at + (size_t)n : cap - 1;
}

/* Appends the body of $'...', with C escapes. */
static size_t put_escaped(char *out, size_t cap, size_t at, const char *word)
{
	size_t left = strlen(word), used;
	char c[RN_TEXT_CHAR];

	for (; left; word += used, left -= used) {
		used = rn_text_char(word, left, c);
		at = put(out, cap, at, *word == '\'' ? "\\" : "");
		at = put(out, cap, at, c);
	}
	return at;
}

/* Appends the body of '...'. A quote is written as '\''. */
static size_t put_quoted(char *out, size_t cap, size_t at, const char *word)
{
	for (; *word; word++)
		at = put(out, cap, at, *word == '\'' ? "'\\''" : (char[]){ *word, 0 });
	return at;
}

const char *rn_text_line(const char *text, char *out, size_t cap)
{
	size_t left = strlen(text), used, at = 0;
	char c[RN_TEXT_CHAR];

	for (out[0] = 0; left; text += used, left -= used) {
		used = rn_text_char(text, left, c);
		if (*text == '\\')
			c[1] = 0;
		if (at + strlen(c) >= cap)
			break;
		at = put(out, cap, at, c);
	}
	return out;
}

const char *rn_text_path(const char *path, char *out, size_t cap)
{
	size_t at = put(out, cap, 0, *path == '-' ? "./" : "");

	if (is_plain(path)) {
		put(out, cap, at, path);
		return out;
	}
	if (is_printable(path))
		at = put_quoted(out, cap, put(out, cap, at, "'"), path);
	else
		at = put_escaped(out, cap, put(out, cap, at, "$'"), path);
	put(out, cap, at, "'");
	return out;
}

bool rn_name_valid(const char *s, size_t n)
{
	if (n == 0 || n > RN_NAME_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		if (s[i] <= ' ' || s[i] > '~' || strchr("\"\\,()[]{}", s[i]))
			return false;
	return true;
}
