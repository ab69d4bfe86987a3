/* test_text.c - texts in messages, and paths in suggested commands. */
#include "base/text.h"

#include <string.h>

#include "tap.h"

static bool is_written(const char *path, const char *wanted)
{
	char out[64];

	return strcmp(rn_text_path(path, out, sizeof(out)), wanted) == 0;
}

/* The output is terminated and fits in every buffer size. */
static void test_cut(void)
{
	static const char *const paths[] = { "plain", "a b'c", "a\nb'c" };
	char whole[64], out[64];

	for (size_t i = 0; i < 3; i++)
		for (size_t cap = 1; cap < sizeof(out); cap++) {
			size_t full = strlen(rn_text_path(paths[i], whole, sizeof(whole)));

			memset(out, '#', sizeof(out));
			rn_text_path(paths[i], out, cap);
			CHECK(strlen(out) == (full < cap ? full : cap - 1));
			CHECK(out[cap] == '#');
		}
}

static void test_words(void)
{
	CHECK(is_written("/a/b-c_d+e.rondo", "/a/b-c_d+e.rondo"));
	CHECK(is_written("", "''"));
	CHECK(is_written("a b", "'a b'"));
	CHECK(is_written("-a", "./-a"));
	CHECK(is_written("-a b", "./'-a b'"));
	CHECK(is_written("it's", "'it'\\''s'"));
	CHECK(is_written("a\\b", "'a\\b'"));
	CHECK(is_written("~", "'~'"));
	CHECK(is_written("\303\251", "'\303\251'"));
	CHECK(is_written("a\nb", "$'a\\nb'"));
	CHECK(is_written("a\nit's\\", "$'a\\nit\\'s\\\\'"));
	CHECK(is_written("\377", "$'\\377'"));
	CHECK(is_written("\302\233", "$'\\302\\233'"));
}

static bool is_line(const char *text, size_t cap, const char *wanted)
{
	char out[64];

	return strcmp(rn_text_line(text, out, cap), wanted) == 0;
}

static void test_line(void)
{
	CHECK(is_line("a\\b", 64, "a\\b"));
	CHECK(is_line("\303\251 \342\200\250", 64, "\303\251 \342\200\250"));
	CHECK(is_line("a\033[1m\n\r\tb\177", 64, "a\\033[1m\\n\\r\\tb\\177"));
	CHECK(is_line("\302\233\377\342\202", 64, "\\302\\233\\377\\342\\202"));
	CHECK(is_line("abc", 1, "") && is_line("abc", 3, "ab"));
	CHECK(is_line("ab\033c", 6, "ab")); /* an escape is not cut */
}

int main(void)
{
	test_line();
	ok("a line has no control characters and is UTF-8");
	test_words();
	ok("a path is one word of a shell command");
	test_cut();
	ok("a word that does not fit is truncated");
	return tap_done();
}
