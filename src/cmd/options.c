/* options.c - parses options; prints help, errors and suggestions for all commands. See cmd.h. */
#include "cmd/cmd.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"
#include "read/trace.h"
#include "recover/journal_set.h"
#include "recover/recover.h"

void print_safe(FILE *to, const char *text)
{
	size_t cap = 4 * strlen(text) + 1;
	char *line = malloc(cap);

	fputs(line ? rn_text_line(text, line, cap) : "out of memory", to);
	free(line);
}

/* Escapes the message, because it may contain a path or the name of a program. */
int fail(int code, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int n;

	fflush(stdout);
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	fputs("rondo: ", stderr);
	print_safe(stderr, n < 0 ? "out of memory" : text);
	fputc('\n', stderr);
	if (n >= 0)
		free(text);
	return code;
}

int fail_err(const struct rn_err *err)
{
	bool self = err->code == RN_E_NOMEM && !rn_budget_exceeded();

	return fail(self ? EXIT_SELF : EXIT_INPUT, "%s", err->text);
}

int fail_self(const struct rn_err *err)
{
	return fail(EXIT_SELF, "%s", err->text);
}

void print_notes(struct rn_buf *notes)
{
	for (size_t at = 0; at < notes->len; at += strlen((char *)notes->data + at) + 1)
		fail(EXIT_DONE, "%s", (char *)notes->data + at);
	rn_buf_free(notes);
}

int conclude_parts(const char *folder, int rc, const struct rn_journal_set_trace *t,
		   struct rn_buf *notes, const struct rn_err *err)
{
	print_notes(notes);
	switch (rc) {
	case RN_OK:
		return t->damaged ? EXIT_INPUT : EXIT_DONE;
	case RN_E_RANGE:
		return EXIT_NO;
	case RN_E_DATA:
		return fail(EXIT_INPUT, "%s: %s", folder, err->text);
	case RN_E_NOMEM:
		return fail_err(err);
	default:
		return fail_self(err);
	}
}

int fail_memory(const char *file)
{
	struct rn_err err;

	rn_err_nomem(&err);
	if (file)
		rn_err_prefix(&err, "%s", file);
	return fail_err(&err);
}

int open_trace(const char *path, struct rn_trace *t)
{
	struct rn_err err = { 0 };
	struct stat st = { 0 };
	bool exists = stat(path, &st) == 0;

	rn_budget_allow((uint64_t)st.st_size);
	if (rn_trace_open(t, path, &err) == RN_OK)
		return EXIT_DONE;
	if (strstr(path, RN_PART_FOLDER) && exists && S_ISDIR(st.st_mode))
		return fail(EXIT_INPUT, "%s: not a trace, but the parts of one; see: rondo recover",
			    path);
	return fail_err(&err);
}

int on_trace(const struct usage *u, int argc, char **argv, trace_fn *does, const char *next)
{
	struct rn_trace t;
	const char *file;
	int code = parse_files(u, argc, argv, &file, 1);

	if (code || !file)
		return code;
	code = open_trace(file, &t);
	if (code)
		return code;
	code = does(&t, file);
	rn_trace_close(&t);
	if (code == EXIT_DONE)
		code = finish_output();
	if (code == EXIT_DONE && next)
		hint("rondo dump", file, next);
	return code;
}

void hint(const char *command, const char *file, const char *options)
{
	char word[RN_TEXT_PATH];

	if (!isatty(STDOUT_FILENO))
		return;
	fflush(stdout);
	fprintf(stderr, "try: %s %s %s\n", command, rn_text_path(file, word, sizeof(word)),
		options);
}

int finish_output(void)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_DONE;
	if (errno == EPIPE)
		return EXIT_DONE;
	return fail(EXIT_SELF, "standard output: %s", errno ? strerror(errno) : "write error");
}

bool is_either(const char *arg, const char *name, const char *short_name)
{
	return strcmp(arg, name) == 0 || strcmp(arg, short_name) == 0;
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

/* Returns the number of edits (insert, delete, replace a character) between two words, both shorter
 * than 32. */
static unsigned distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	unsigned row[32], up, left;

	if (n > 30 || m > 30)
		return 99;
	for (unsigned j = 0; j <= m; j++)
		row[j] = j;
	for (unsigned i = 1; i <= n; i++) {
		up = row[0];
		row[0] = i;
		for (unsigned j = 1; j <= m; j++) {
			left = row[j];
			row[j] = min3(row[j] + 1, row[j - 1] + 1, up + (a[i - 1] != b[j - 1]));
			up = left;
		}
	}
	return row[m];
}

const char *nearest(const char *word, const char *const *names)
{
	const char *best = NULL;
	unsigned least = 3; /* words with at most two edits are similar */

	for (; *names; names++) {
		unsigned d = distance(word, *names);

		/* If every character of a name is replaced (-n for -o), it is not similar. */
		if (d < least && d < strlen(*names + strspn(*names, "-"))) {
			least = d;
			best = *names;
		}
	}
	return best;
}

static void print_help(const struct usage *u)
{
	printf("usage: rondo %s %s%s\n\n%s\n", u->name, u->nopts ? "[OPTION]... " : "", u->operands,
	       u->summary);
	puts("\noptions:");
	for (unsigned i = 0; i < u->nopts; i++) {
		const struct opt *o = &u->opts[i];
		int n = is_maybe(o->kind) ? printf("  %s[=%s]", o->name, o->arg)
					  : printf("  %s%s%s", o->name, o->arg ? " " : "",
						   o->arg ? o->arg : "");

		printf("%*s%s\n", n < 18 ? 18 - n : 1, "", o->help);
	}
	puts("  --help, -h      this text");
	printf("\nexample:\n  %s\n\nSee also: man rondo-%s\n", u->example, u->name);
}

static const char not_number[] = "not a number", too_large[] = "too large",
		  not_range[] = "not a number or a range such as 0-3";

/* The parsers advance *s beyond the number. They return NULL, or a description of the error. */
static const char *parse_digits(const char **s, uint64_t *v)
{
	char *stop;

	if (**s < '0' || **s > '9')
		return not_number;
	errno = 0;
	*v = strtoull(*s, &stop, 10);
	*s = stop;
	return errno ? too_large : NULL;
}

static const char *parse_number(const char *s, uint64_t *v)
{
	const char *wrong = parse_digits(&s, v);

	return *s && wrong != too_large ? not_number : wrong;
}

/* Parses a number of bytes. The suffix K, M or G multiplies it by 2^10, 2^20 or 2^30. */
static const char *parse_size(const char *s, uint64_t *bytes)
{
	static const char units[] = "KMG";
	const char *wrong = parse_digits(&s, bytes), *unit = *s ? strchr(units, *s) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;

	if (wrong || *bytes > UINT64_MAX >> (shift + 1) || (unit ? s[1] : *s))
		return "not a size such as 64M or 1G";
	*bytes <<= shift;
	return NULL;
}

static const char *parse_range(const char *s, struct range *r)
{
	const char *wrong = parse_digits(&s, &r->first);

	r->last = r->first;
	if (!wrong && *s == '-') {
		s++;
		wrong = parse_digits(&s, &r->last);
	}
	if (wrong == too_large)
		return wrong;
	return wrong || *s || r->first > r->last ? not_range : NULL;
}

static const char *parse_word(const char *s, const char *words)
{
	static char wrong[64];
	size_t n = strlen(s);

	snprintf(wrong, sizeof(wrong), "not one of: %s", words);
	for (; *words; words += strspn(words, " ")) {
		size_t len = strcspn(words, " ");

		if (n == len && memcmp(s, words, n) == 0)
			return NULL;
		words += len;
	}
	return wrong;
}

static const char *set_option(const struct opt *o, const char *value)
{
	if (o->given)
		*o->given = true;
	switch (o->kind) {
	case OPT_NUMBER:
		return parse_number(value, o->var);
	case OPT_SIZE:
		return parse_size(value, o->var);
	case OPT_MAYBE:
		return value ? parse_number(value, o->var) : NULL;
	case OPT_RANGE:
		return parse_range(value, o->var);
	case OPT_MAYBE_TEXT:
		if (!value)
			return NULL;
		/* fall through */
	case OPT_TEXT:
		*(const char **)o->var = value;
		return !*value ? "empty" : o->words ? parse_word(value, o->words) : NULL;
	case OPT_FLAG:
		*(bool *)o->var = true;
	}
	return NULL;
}

/* Returns the value of an option as text, in `number` if it is a number; NULL: the option is not
 * given. */
static const char *option_text(const struct opt *o, char number[24])
{
	if (o->given && !*o->given)
		return NULL;
	switch (o->kind) {
	case OPT_FLAG:
		return *(bool *)o->var ? "1" : NULL;
	case OPT_TEXT:
	case OPT_MAYBE_TEXT:
		return *(const char **)o->var;
	default:
		snprintf(number, 24, "%" PRIu64, *(uint64_t *)o->var);
		return number;
	}
}

int export_options(const struct usage *u)
{
	char number[24];

	for (unsigned i = 0; i < u->nopts; i++) {
		const char *text = u->opts[i].env ? option_text(&u->opts[i], number) : NULL;

		if (text && setenv(u->opts[i].env, text, 1) < 0)
			return fail_memory(NULL);
	}
	return EXIT_DONE;
}

static const struct opt *find_option(const struct usage *u, const char *arg, size_t len)
{
	for (unsigned i = 0; i < u->nopts; i++)
		if (strlen(u->opts[i].name) == len && strncmp(u->opts[i].name, arg, len) == 0)
			return &u->opts[i];
	return NULL;
}

#define OPTIONS_MAX 40 /* maximum number of options of a command */

/* Reports an unknown option. Its name is the first `len` bytes of `arg`; a value may follow. */
static int unknown_option(const struct usage *u, const char *arg, size_t len)
{
	const char *names[OPTIONS_MAX + 2] = { "--help" }, *near;
	char word[64];

	assert(u->nopts <= OPTIONS_MAX);
	for (unsigned i = 0; i < u->nopts; i++)
		names[i + 1] = u->opts[i].name;
	snprintf(word, sizeof(word), "%.*s", (int)len, arg);
	near = nearest(word, names);
	if (near)
		return fail(EXIT_USAGE, "%s: no option %s; did you mean %s?", u->name, word, near);
	return fail(EXIT_USAGE, "%s: no option %s (see: rondo %s --help)", u->name, word, u->name);
}

/* Parses --name, --name VALUE or --name=VALUE. Returns the number of arguments used, or 0 after an
 * error. */
static int take_option(const struct usage *u, char **argv)
{
	const char *equals = strchr(argv[0], '=');
	const size_t len = equals ? (size_t)(equals - argv[0]) : strlen(argv[0]);
	const struct opt *o = find_option(u, argv[0], len);
	const bool alone = o && (o->kind == OPT_FLAG || (is_maybe(o->kind) && !equals));
	const char *value = equals ? equals + 1 : alone ? NULL : argv[1], *wrong;

	if (!o)
		unknown_option(u, argv[0], len);
	else if (o->kind == OPT_FLAG && equals)
		fail(EXIT_USAGE, "%s: %s takes no value", u->name, o->name);
	else if (!alone && !value)
		fail(EXIT_USAGE, "%s: %s needs a value: %s", u->name, o->name, o->arg);
	else if ((wrong = set_option(o, value)) != NULL)
		fail(EXIT_USAGE, "%s: %s %s: %s", u->name, o->name, value, wrong);
	else
		return alone || equals ? 1 : 2;
	return 0;
}

static int check_file(const struct usage *u, const char *file)
{
	if (!file)
		return fail(EXIT_USAGE, "%s: which file? (usage: rondo %s %s)", u->name, u->name,
			    u->operands);
	if (!*file)
		return fail(EXIT_USAGE, "%s: the name of the file is empty", u->name);
	if (strcmp(file, "-") == 0)
		return fail(EXIT_USAGE,
			    "%s: a trace cannot be read from a pipe (a file of that name is ./-)",
			    u->name);
	return EXIT_DONE;
}

static int too_many(const struct usage *u, int files, const char *arg)
{
	fail(EXIT_USAGE, "%s: %s, not %s too", u->name,
	     files == 1 ? "one file at a time" : "two files", arg);
	return 0;
}

/* Parses options and up to `files` file names. If `files` is 0, the first argument that is not an
 * option ends the options. Returns the number of arguments parsed, or -1 with an exit code: after
 * --help, or after an error. */
static int parse(const struct usage *u, int argc, char **argv, const char **file, int files,
		 int *code)
{
	bool options = true;
	int n = 0, i = 1, took;

	for (; i < argc; i += took) {
		took = 1;
		if (options && is_either(argv[i], "--help", "-h")) {
			print_help(u);
			*code = finish_output();
			return -1;
		}
		if (options && strcmp(argv[i], "--") == 0)
			options = false;
		else if (options && argv[i][0] == '-' && argv[i][1])
			took = take_option(u, argv + i);
		else if (files == 0)
			break;
		else if (n == files)
			took = too_many(u, files, argv[i]);
		else
			file[n++] = argv[i];
		if (took == 0) {
			*code = EXIT_USAGE;
			return -1;
		}
	}
	return i;
}

int parse_files(const struct usage *u, int argc, char **argv, const char **file, int files)
{
	int code = EXIT_DONE;

	for (int i = 0; i < files; i++)
		file[i] = NULL;
	if (parse(u, argc, argv, file, files, &code) < 0) {
		file[0] = NULL;
		return code;
	}
	for (int i = 0; i < files && code == EXIT_DONE; i++)
		code = check_file(u, file[i]);
	return code;
}

int parse_command(const struct usage *u, int argc, char **argv, char ***command)
{
	int code = EXIT_DONE, n = parse(u, argc, argv, NULL, 0, &code);

	*command = n < 0 ? NULL : argv + n;
	return code;
}
