/*
 * cmd_recover.c - `rondo recover DIR.part [-o FILE]`: a trace from what a run has left (parts.h).
 *
 * Exit status 0: every part that is there is in the trace, though ranks may be missing. 3: one
 * could not be read, or there is none. 70: no memory, or the trace could not be written.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/parts.h"
#include "file/recover.h"

static const char *output;

static const struct opt opts[] = {
	{ "-o", "FILE", "the trace; without it, DIR less its .part", OPT_TEXT, &output, NULL },
};

static const struct usage usage = {
	"recover",
	"DIR.part [-o FILE]",
	"Makes a trace of what the ranks of a run have left.",
	"rondo recover demo.rondo.part",
	opts,
	sizeof(opts) / sizeof(*opts),
};

/* The folder's name without its .part, in place; false when there is none. */
static bool cut_suffix(char *path)
{
	size_t n = strlen(path), m = strlen(RN_PART_FOLDER);

	if (n <= m || strcmp(path + n - m, RN_PART_FOLDER) || path[n - m - 1] == '/')
		return false;
	path[n - m] = 0;
	return true;
}

int cmd_recover(int argc, char **argv)
{
	const char *arg;
	char *path, *trace;
	int code = parse_args(&usage, argc, argv, &arg);

	if (code || !arg)
		return code;
	path = strdup(arg);
	for (size_t n = path ? strlen(path) : 0; n > 1 && path[n - 1] == '/';)
		path[--n] = 0;
	trace = path ? strdup(path) : NULL;
	if (!trace)
		code = fail(EXIT_SELF, "out of memory");
	else if (!output && !cut_suffix(trace))
		code = fail(EXIT_USAGE, "recover: %s does not end in %s; where to? (-o FILE)", path,
			    RN_PART_FOLDER);
	else
		code = parts_recover(path, output ? output : trace, stdout);
	if (code == EXIT_DONE) {
		code = finish_output();
		hint("rondo info", output ? output : trace, "");
	}
	free(path);
	free(trace);
	return code;
}
