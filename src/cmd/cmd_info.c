/* cmd_info.c - `rondo info FILE`: what a trace holds. Nothing is expanded for it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "encode/sigs.h"
#include "file/section.h"
#include "read/decode.h"
#include "read/trace.h"

static bool sections;

static const struct opt opts[] = {
	{ "--sections", NULL, "also print the size of each section", OPT_FLAG, &sections, NULL },
};

static const struct usage usage = {
	"info",
	"[--sections] FILE",
	"Says what a trace holds, as `key: value` lines.",
	"rondo info demo.rondo",
	opts,
	sizeof(opts) / sizeof(*opts),
};

static const char *meta(const struct rn_trace *t, const char *key, const char *otherwise)
{
	const char *value = rn_meta_get(&t->meta, key);

	return value ? value : otherwise;
}

/* Metadata is text of the traced program's making: control characters stay out of terminals. */
static void print_line(const char *key, const char *value)
{
	size_t left = strlen(value), used;
	char c[RN_TEXT_CHAR];

	printf("%s: ", key);
	for (; left; value += used, left -= used) {
		used = rn_text_char(value, left, c);
		fputs(c, stdout);
	}
	putchar('\n');
}

static void print_number(const char *key, uint64_t v)
{
	printf("%s: %" PRIu64 "\n", key, v);
}

static void print_sections(const struct rn_trace *t)
{
	uint64_t rest = t->file.len;

	for (size_t i = 0; i < rn_container_count(t->container); i++) {
		const struct rn_section *s = rn_container_section(t->container, i);
		const char *name = rn_section_name(s->type);

		if (name)
			printf("section.%s: ", name);
		else
			printf("section.%" PRIu64 ": ", s->type);
		printf("%" PRIu64 " bytes (%" PRIu64 " unpacked)\n", s->stored, s->raw);
		rest -= s->stored;
	}
	printf("section.container: %" PRIu64 " bytes\n", rest);
}

/* Keys of the format; those that are not printed at their place above come at the end. */
static const struct {
	const char *key;
	bool printed;
} known[] = { { "complete", true }, { "created_by", false }, { "mpi", true }, { "program", true } };

/* A key that the format does not know might look like one of the facts above: it is marked. */
static void print_entry(const struct rn_meta_entry *e)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strcmp(e->key, known[i].key))
			continue;
		if (!known[i].printed)
			print_line(e->key, e->value);
		return;
	}
	printf("meta.");
	print_line(e->key, e->value);
}

static void print_info(const struct rn_trace *t)
{
	const struct rn_streams *s = &t->streams;
	uint64_t calls = rn_streams_calls(s);
	unsigned major, minor;

	rn_container_version(t->container, &major, &minor);
	printf("format: %u.%u\n", major, minor);
	print_line("program", meta(t, "program", "unknown"));
	print_line("mpi", meta(t, "mpi", "none"));
	print_number("ranks", s->ranks);
	print_number("threads",
		     s->ranks); /* a stream is a rank, as long as nothing traces threads */
	print_number("calls", calls);
	print_number("groups", s->groups);
	print_number("signatures", rn_sigs_count(s->sigs));
	print_number("rules", rn_rules_count(s->rules));
	print_number("bytes", t->file.len);
	printf("bytes_per_call: %.3g\n", calls ? (double)t->file.len / (double)calls : 0.0);
	print_line("complete", meta(t, "complete", "unknown"));
	for (uint32_t i = 0; i < t->meta.n; i++)
		print_entry(&t->meta.entry[i]);
	if (sections)
		print_sections(t);
}

int cmd_info(int argc, char **argv)
{
	struct rn_trace t;
	const char *file;
	int code = parse_args(&usage, argc, argv, &file);

	if (code || !file)
		return code;
	code = open_trace(file, &t);
	if (code)
		return code;
	print_info(&t);
	rn_trace_close(&t);
	code = finish_output();
	if (code == EXIT_DONE)
		hint("rondo dump", file, "--rank 0 --to 20");
	return code;
}
