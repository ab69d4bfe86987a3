/* rondo.c - the program: one table of commands. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "file/section.h"
#include "file/version.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{ "check", cmd_check, "verify every invariant of a trace" },
	{ "dump", cmd_dump, "print the calls of a trace, in order" },
	{ "info", cmd_info, "say what a trace holds, as `key: value` lines" },
};

#define COMMANDS (sizeof(commands) / sizeof(*commands))

static void print_usage(FILE *out)
{
	fputs("usage: rondo COMMAND [OPTION]... FILE\n"
	      "       rondo COMMAND --help\n"
	      "       rondo --version\n"
	      "\n"
	      "commands:\n",
	      out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-8s  %s\n", commands[i].name, commands[i].summary);
	fputs("\nexit status: 0 done; 1 the answer is no; 2 wrong usage; 3 bad or unreadable "
	      "input\n",
	      out);
}

static int unknown_command(const char *name)
{
	const char *names[COMMANDS + 1] = { NULL }, *near;

	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = commands[i].name;
	near = nearest(name, names);
	if (near)
		return fail(EXIT_USAGE, "no command %s; did you mean %s?", name, near);
	return fail(EXIT_USAGE, "no command %s (see: rondo --help)", name);
}

int main(int argc, char **argv)
{
	/* A reader that goes away is an error of write(2), which dump ends quietly on. */
	signal(SIGPIPE, SIG_IGN);
	if (argc < 2) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
		print_usage(stdout);
		return finish_output();
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("rondo %s (format %d.%d)\n", RN_VERSION, RN_FORMAT_MAJOR, RN_FORMAT_MINOR);
		return finish_output();
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	return unknown_command(argv[1]);
}
