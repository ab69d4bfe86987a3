/* untraced.c - explains why nothing was traced. See conclude.h. */
#include "cmd/conclude.h"

#include <stdbool.h>
#include <string.h>

#include "base/mpi_detect.h"
#include "cmd/cmd.h"
#include "launch/reports.h"
#include "launch/target_program.h"

/* Returns true, and prints the reason, if a word of the command names an untraceable program. */
static bool says_obstacle(const char *word)
{
	const char *why;
	struct target t;

	if (!strchr(word, '/') || target_open(&t, word, NULL) < 0)
		return false;
	why = target_obstacle(&t);
	target_free(&t);
	if (why)
		fail(EXIT_SELF, "nothing was traced: %s %s", word, why);
	return why != NULL;
}

static bool is_mpi_program(const char *word)
{
	struct target t;
	bool is;

	if (!strchr(word, '/') || target_open(&t, word, NULL) < 0)
		return false;
	is = elf_mpi(&t.elf) != RN_MPI_NONE;
	target_free(&t);
	return is;
}

/* Returns true, and prints the reason, if a word of the command shows why nothing was traced. */
static bool explains(const struct target *t, const char *word, int code)
{
	bool sets = strstr(word, "LD_PRELOAD"), mpi = is_mpi_program(word);

	if (sets)
		fail(EXIT_SELF, "nothing was traced: the command sets LD_PRELOAD, which rondo "
				"needs; try rondo trace after the launcher");
	else if (mpi && code)
		fail(EXIT_SELF,
		     "nothing was traced: %s failed with exit code %d, and rondo did not see %s "
		     "start",
		     t->name, code, word);
	else if (mpi)
		fail(EXIT_SELF,
		     "nothing was traced: %s found no LD_PRELOAD, which rondo needs, in its "
		     "environment; try rondo trace right before it",
		     word);
	return sets || mpi;
}

/* Returns the end of the words that may name a program that ran: all words if the command runs a
 * program that its arguments name, otherwise only the first word. */
static char **end_of_programs(const struct target *t, char **command, const struct reports *told)
{
	bool all = target_is_launcher(t) ? !*told->rank || rn_is_runner(told->rank)
					 : rn_is_runner(t->path);
	char **end = command + 1;

	while (all && *end)
		end++;
	return end;
}

/* Reports that a launcher failed before it started a program, or that the program that ran the
 * launcher failed. */
static int launcher_failed(const struct target *t, const struct reports *told, int code)
{
	if (target_is_launcher(t))
		return fail(EXIT_SELF,
			    "the launcher %s failed with exit code %d and started no program that "
			    "rondo could see; nothing was traced",
			    t->name, code);
	return fail(EXIT_SELF,
		    "the launcher %s started no program that rondo could see, and %s failed with "
		    "exit code %d; nothing was traced",
		    rn_base_name(told->launcher), t->name, code);
}

/* Returns true, and prints the reason, if the reason why the command could not be traced is
 * certain.
 */
static bool could_not_be_traced(const struct target *t, char **command, const struct reports *told,
				int code)
{
	char **end = end_of_programs(t, command, told);

	for (char **word = command; word < end; word++)
		if (says_obstacle(*word))
			return true;
	if (!code || told->ranked || !(target_is_launcher(t) || *told->launcher))
		return false;
	launcher_failed(t, told, code);
	return true;
}

static int no_program_traced(const struct target *t, char **command, const struct reports *told,
			     int code)
{
	char **end = end_of_programs(t, command, told);
	bool runs_others = target_is_launcher(t) || rn_is_runner(t->runs);

	for (char **word = command; word < end; word++)
		if (explains(t, *word, code))
			return EXIT_SELF;
	return fail(EXIT_DONE, "%s%s made %s MPI call; nothing was traced%s",
		    runs_others ? "no program started by " : "", t->name, runs_others ? "an" : "no",
		    code && !*told->launcher && forced_mpi() == RN_MPI_NONE
			    ? " (one that loads MPI while it runs needs --mpi=ompi or --mpi=mpich)"
			    : "");
}

/* Reports a program that was started with the tracer, if the tracer reported nothing. A killed
 * program also reports nothing. */
static int made_no_call(const struct reports *told, int code)
{
	return fail(EXIT_DONE, "%s made no MPI call%s; nothing was traced%s", told->started,
		    code ? ", or was killed before MPI_Init" : "",
		    rn_is_interpreter(told->started) && forced_mpi() == RN_MPI_NONE
			    ? " (if it uses another MPI than its launcher: --mpi=)"
			    : "");
}

int explain_untraced(const struct target *t, char **command, const struct reports *told,
		     pid_t background, int code)
{
	if (!*told->started && could_not_be_traced(t, command, told, code))
		return EXIT_SELF;
	if (background)
		return fail(EXIT_DONE,
			    "%s has made no MPI call so far; process %d is still running in the "
			    "background%s",
			    t->name, (int)background,
			    *told->started ? "" : " and writes a trace if it calls MPI");
	return *told->started ? made_no_call(told, code)
			      : no_program_traced(t, command, told, code);
}
