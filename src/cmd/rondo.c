/* rondo.c - main function and table of commands. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/version.h"
#include "cmd/cmd.h"
#include "file/container.h"
#include "launch/spawn.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{ "check", cmd_check, "verify every invariant of a trace" },
	{ "diff", cmd_diff, "compare the order of two runs" },
	{ "doctor", cmd_doctor, "say which MPIs there are here, and what will work" },
	{ "dump", cmd_dump, "print the calls of a trace, in order" },
	{ "info", cmd_info, "say what a trace holds, as `key: value` lines" },
	{ "recover", cmd_recover,
	  "merge the parts that a run has left into one trace; say where one hangs" },
	{ "replay", cmd_replay, "run a program again, in the recorded order" },
	{ "report", cmd_report,
	  "show the loops and calls of a program, with their times and bytes" },
	{ "trace", cmd_trace, "run a program and record its MPI calls" },
};

#define COMMANDS (sizeof(commands) / sizeof(*commands))

static void print_usage(FILE *out)
{
	fputs("usage: rondo trace [OPTION]... PROGRAM [ARGUMENT]...\n"
	      "       rondo COMMAND [OPTION]... FILE\n"
	      "       rondo COMMAND --help\n"
	      "       rondo help COMMAND\n"
	      "       rondo --version\n"
	      "\n"
	      "commands:\n",
	      out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-8s  %s\n", commands[i].name, commands[i].summary);
	fputs("\nexit status: 0 done; 1 the answer is no; 2 wrong usage; 3 bad or unreadable "
	      "input;\n"
	      "             70 rondo itself could not do its work (no memory, no room for "
	      "output);\n"
	      "             of trace: what the program returns, or 70 if it cannot be traced\n",
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

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(name, commands[i].name) == 0)
			return &commands[i];
	return NULL;
}

/* `rondo help`, `rondo help COMMAND` */
static int help(char *name)
{
	const struct command *c = name ? find_command(name) : NULL;

	if (c)
		return c->run(2, (char *[]){ name, "--help", NULL });
	if (name)
		return unknown_command(name);
	print_usage(stdout);
	return finish_output();
}

int main(int argc, char **argv)
{
	const struct command *c;

	/* If the reader of the output closes the pipe, write(2) fails, and dump ends without a
	 * message. */
	pipe_was_ignored = signal(SIGPIPE, SIG_IGN) == SIG_IGN;
	if (argc < 2) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "help") == 0 || is_either(argv[1], "--help", "-h"))
		return help(argv[2]);
	if (is_either(argv[1], "--version", "-V")) {
		printf("rondo %s (format %d.%d)\n", RN_VERSION, RN_FORMAT_MAJOR, RN_FORMAT_MINOR);
		return finish_output();
	}
	c = find_command(argv[1]);
	return c ? c->run(argc - 1, argv + 1) : unknown_command(argv[1]);
}
