/* test_words.c - command lines as texts: quoted, printable, and distinct if the arguments are. */
#include "tap.h"

#include <string.h>

#include "base/command_text.h"

static const char *text_of(struct rn_words *w, const char *const *word)
{
	*w = (struct rn_words){ 0 };
	while (*word)
		rn_words_add(w, *word++);
	return rn_words_text(w);
}

static bool is_text(const char *want, const char *const *word)
{
	struct rn_words w;

	return strcmp(text_of(&w, word), want) == 0;
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void test_quoting(void)
{
	CHECK(is_text("", WORDS(NULL)));
	CHECK(is_text("-n 4 in.txt", WORDS("-n", "4", "in.txt")));
	CHECK(is_text("'a b' ''", WORDS("a b", "")));
	CHECK(is_text("'it'\\''s' '$x'", WORDS("it's", "$x")));
	CHECK(is_text("'a\\x0a\\x1b\\x7f'", WORDS("a\n\033\177")));
	CHECK(is_text("'\303\244'", WORDS("\303\244")));
}

/* Adds one character after the other, up to far beyond the limit, each time with a different last
 * one. */
static void test_long(void)
{
	char word[3 * RN_WORDS_MAX + 1], a[RN_WORDS_MAX];
	struct rn_words w, more;

	for (size_t n = 1; n < sizeof(word) - 1; n++) {
		memset(word, 'a', n);
		word[n] = '\0';
		snprintf(a, sizeof(a), "%s", text_of(&w, WORDS(word)));
		CHECK(strlen(a) < RN_WORDS_MAX && (n < RN_WORDS_MAX) == (strcmp(a, word) == 0));
		CHECK(strcmp(a, rn_words_text(&w)) == 0);
		word[n - 1] = 'b';
		CHECK(strcmp(a, text_of(&w, WORDS(word))) != 0);
		CHECK(strcmp(w.text, text_of(&more, WORDS(word, ""))) != 0);
	}
}

static void test_clean(void)
{
	char text[] = "a\033[1m b\177";

	rn_words_clean(text);
	CHECK(strcmp(text, "a?[1m b?") == 0);
}

int main(void)
{
	test_quoting();
	ok("words are quoted");
	test_long();
	ok("what is long is cut, and still another one");
	test_clean();
	ok("what is not printable goes");
	return tap_done();
}
