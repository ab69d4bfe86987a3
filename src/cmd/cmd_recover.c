/*
 * cmd_recover.c - `rondo recover DIR.part [-o FILE]`: makes a trace from the journals of a run
 * (journal_set.h); `rondo recover --live DIR.part`: prints the live positions of the ranks of a
 * running program (live_json.h).
 *
 * Exit status 0: the trace contains every journal in the directory, though ranks may be missing. 3:
 * a journal could not be read, or the directory contains none. 70: no memory, or the trace could
 * not be written.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cmd/cmd.h"
#include "recover/journal_set.h"
#include "recover/recover.h"
#include "report/live_json.h"

static const char *output;
static bool live, json;

static const struct opt opts[] = {
	{ "-o", "FILE", "the trace; without it, DIR less its .part", OPT_TEXT, .var = &output },
	{ "--live", NULL, "say instead which rank is in which call, and who waits for whom",
	  OPT_FLAG, .var = &live },
	{ "--json", NULL, "with --live: a JSON object per rank, and one for all", OPT_FLAG,
	  .var = &json },
	OPT_MAX_MEMORY,
};

static const struct usage usage = {
	"recover",
	"DIR.part",
	"Makes a trace of what the ranks of a run have left; or says where a program hangs.",
	"rondo recover demo.rondo.part\n  rondo recover --live demo.rondo.part",
	opts,
	sizeof(opts) / sizeof(*opts),
};

/* Removes the suffix .part from the directory name, in place. Returns false if it has no such
 * suffix. */
static bool cut_suffix(char *path)
{
	size_t n = strlen(path), m = strlen(RN_PART_FOLDER);

	if (n <= m || strcmp(path + n - m, RN_PART_FOLDER) || path[n - m - 1] == '/')
		return false;
	path[n - m] = 0;
	return true;
}

/* Replaces an existing file only if the user named it with -o. */
static int make_trace(const char *path)
{
	struct rn_journal_set_trace t = { .how = output ? PLACE_EXACTLY : PLACE_NEW };
	int n = snprintf(t.path, sizeof(t.path), "%s", output ? output : path), rc, code;
	struct rn_buf notes = { 0 };
	struct rn_err err = { 0 };

	if (n >= (int)sizeof(t.path))
		return fail(EXIT_USAGE, "recover: %s: %s", path, strerror(ENAMETOOLONG));
	if (!output && !cut_suffix(t.path))
		return fail(EXIT_USAGE,
			    "recover: %s does not end in %s; name the trace with -o FILE", path,
			    RN_PART_FOLDER);
	rc = rn_journal_set_recover(path, 0, &t, &notes, &err);
	code = conclude_parts(path, rc, &t, &notes, &err);
	if (rc == RN_OK) {
		print_safe(stdout, (char *)t.line.data);
		putchar('\n');
	}
	rn_buf_free(&t.line);
	if (code == EXIT_DONE) {
		code = finish_output();
		hint("rondo info", t.path, "");
	}
	return code;
}

static int show_live(const char *path)
{
	struct rn_buf out = { 0 }, notes = { 0 };
	struct rn_err err = { 0 };
	int rc = live_show(path, json, &out, &notes, &err);

	print_notes(&notes);
	if (rc == RN_OK)
		fwrite(out.data, 1, out.len, stdout);
	rn_buf_free(&out);
	if (rc == RN_E_NOMEM)
		return fail_err(&err);
	return rc == RN_OK ? finish_output() : fail(EXIT_INPUT, "%s: %s", path, err.text);
}

int cmd_recover(int argc, char **argv)
{
	const char *arg;
	char *path;
	int code = parse_files(&usage, argc, argv, &arg, 1);

	if (code || !arg)
		return code;
	if (live && output)
		return fail(EXIT_USAGE, "recover: --live writes no trace, so -o has no meaning");
	if (json && !live)
		return fail(EXIT_USAGE, "recover: --json is for --live");
	path = strdup(arg);
	if (!path)
		return fail_memory(NULL);
	for (size_t n = strlen(path); n > 1 && path[n - 1] == '/';)
		path[--n] = 0;
	code = live ? show_live(path) : make_trace(path);
	free(path);
	return code;
}
