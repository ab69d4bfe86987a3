/*
 * cmd_check.c - `rondo check FILE`: checks every invariant of the trace format.
 *
 * Exit status 0: all hold. 1: the file can be read, but an invariant is violated; this is caused by
 * a bug of the writer, not by damage. 3: the file cannot be read: missing, not a trace, truncated,
 * damaged, or of a newer format.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/err.h"
#include "base/intern.h"
#include "base/number_text.h"
#include "cmd/cmd.h"
#include "read/trace.h"
#include "read/trace_check.h"

static const struct opt opts[] = { OPT_MAX_MEMORY };

static const struct usage usage = {
	"check",
	"FILE",
	"Verifies every invariant of a trace. Exit status 0: all hold; 1: one does not;\n"
	"3: the file cannot be read.",
	"rondo check demo.rondo && echo good",
	opts,
	sizeof(opts) / sizeof(*opts),
};

static int check(const struct rn_trace *t, const char *file)
{
	struct rn_err err = { 0 };
	int rc = rn_trace_check(t, &err);
	uint32_t rules, sigs;

	if (rc == RN_E_NOMEM)
		return fail_memory(file);
	if (rc < 0)
		return fail(EXIT_NO, "%s: %s", file, err.text);
	rules = rn_rules_count(t->streams.rules);
	sigs = rn_sigs_count(t->streams.sigs);
	print_safe(stdout, file);
	printf(": ok, %" PRIu64 " rank%s, %u group%s, %u rule%s, %u signature%s\n", t->ranks,
	       rn_plural(t->ranks), t->streams.groups, rn_plural(t->streams.groups), rules,
	       rn_plural(rules), sigs, rn_plural(sigs));
	return EXIT_DONE;
}

int cmd_check(int argc, char **argv)
{
	return on_trace(&usage, argc, argv, check, NULL);
}
