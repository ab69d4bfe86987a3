/*
 * cmd.h - common definitions of the `rondo` commands: options, errors, exit codes.
 *
 * A command is one file cmd_NAME.c and one row of the table in rondo.c. Errors are printed only by
 * the files of this directory. Every error is one line, `rondo: ...`, on standard error.
 */
#ifndef RN_CMD_CMD_H
#define RN_CMD_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/budget.h"

struct rn_buf;
struct rn_err;
struct rn_trace;

enum exit_code {
	EXIT_DONE = 0,
	EXIT_NO = 1,    /* negative result, for example of a comparison */
	EXIT_USAGE = 2, /* wrong usage */
	EXIT_INPUT = 3, /* bad or unreadable input */
	EXIT_SELF = 70, /* failure of rondo itself: no memory, output cannot be written */
};

/* OPT_MAYBE, OPT_MAYBE_TEXT: an optional number or text, accepted only as --name=VALUE. Without a
 * value, the variable is unchanged. */
enum opt_kind { OPT_FLAG, OPT_NUMBER, OPT_SIZE, OPT_MAYBE, OPT_MAYBE_TEXT, OPT_RANGE, OPT_TEXT };

static inline bool is_maybe(enum opt_kind kind)
{
	return kind == OPT_MAYBE || kind == OPT_MAYBE_TEXT;
}

struct range {
	uint64_t first, last;
};

/* The only description of an option. --help prints it, tools/rondo.bash completes from --help, and
 * t/t0004-docs.t compares --help with the man page. */
struct opt {
	const char *name; /* with its dashes */
	const char *arg;  /* name of the value; NULL for a flag */
	const char *help;
	enum opt_kind kind;
	void *var;         /* bool, uint64_t, struct range or const char * */
	bool *given;       /* set to true if the option is given; may be NULL */
	const char *words; /* the accepted values, separated by spaces; NULL: any */
	const char *env;   /* the variable that export_options sets (base/tracer_env.h), or NULL */
};

/* The synopsis of a command, for its --help. */
struct usage {
	const char *name, *operands, *summary;
	const char *example;
	const struct opt *opts;
	unsigned nopts;
};

/* Parses options and `files` file names. Returns EXIT_DONE with all set; EXIT_DONE with file[0]
 * NULL if --help was printed; EXIT_USAGE after an error. argv[0] is the command's name. */
int parse_files(const struct usage *u, int argc, char **argv, const char **file, int files);

/* Parses options up to the first argument that is not an option. *command is the rest of argv,
 * which may be empty. *command is NULL if --help was printed, or after an error. */
int parse_command(const struct usage *u, int argc, char **argv, char ***command);

/* Sets the environment variables of the options that are given. For an option that is not given, a
 * variable set by an outer `rondo` is unchanged. Returns EXIT_DONE or EXIT_SELF. */
int export_options(const struct usage *u);

/* Prints untrusted text, such as a path, so that it cannot control a terminal (rn_text_line). */
void print_safe(FILE *to, const char *text);

/* Prints `rondo: ...` and returns the code, for `return fail(EXIT_USAGE, ...)`. */
int fail(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints an error of the libraries. Returns the exit code for it. */
int fail_err(const struct rn_err *err);

/* Prints an error of a function that starts programs or writes files. Returns EXIT_SELF. */
int fail_self(const struct rn_err *err);

/* Prints the result of rn_journal_set_recover: the notes, and the error if there is one. Returns
 * the exit code. */
struct rn_journal_set_trace;
int conclude_parts(const char *folder, int rc, const struct rn_journal_set_trace *t,
		   struct rn_buf *notes, const struct rn_err *err);

/* Prints the notes of a library (base/notes.h), and frees the buffer. */
void print_notes(struct rn_buf *notes);

/* Prints that memory is exhausted. Returns EXIT_INPUT if the memory limit was exceeded, EXIT_SELF
 * otherwise. `file`: the file being read, or NULL. */
int fail_memory(const char *file);

/* The option --max-memory of all commands that read traces or journals. */
#define OPT_MAX_MEMORY                                                                             \
	{                                                                                          \
		"--max-memory", "SIZE", "use up to SIZE of memory for a file: 512M, 2G", OPT_SIZE, \
			.var = &rn_budget_given                                                    \
	}

/* The default limit of commands that read every event of a trace. The events can be many times
 * larger than the trace. */
#define MEMORY_FOR_EVENTS ((uint64_t)2 << 30)

/* Opens a trace, or prints why it cannot be opened. Returns EXIT_DONE or another code. */
int open_trace(const char *path, struct rn_trace *t);

/* A command that reads one trace and prints. on_trace parses the arguments, opens the trace and
 * calls `does`. Returns the exit code. `next`: the options of the `rondo dump` command to suggest
 * afterwards, or NULL. */
typedef int trace_fn(const struct rn_trace *t, const char *file);
int on_trace(const struct usage *u, int argc, char **argv, trace_fn *does, const char *next);

/* Suggests a command, `command file options`, to an interactive user. It is printed to standard
 * error, and only if standard output is a terminal. The file name is quoted for the shell if
 * necessary. */
void hint(const char *command, const char *file, const char *options);

/* Whether an argument is the option, in its long or short form. */
bool is_either(const char *arg, const char *name, const char *short_name);

/* Flushes standard output and returns the exit code. It is not an error if the reader of standard
 * output has closed the pipe (EPIPE). */
int finish_output(void);

/* Returns the name in a table (a list of strings that ends with NULL) that is most similar to
 * `word`, or NULL if none is similar enough. */
const char *nearest(const char *word, const char *const *names);

int cmd_trace(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_recover(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_replay(int argc, char **argv);

#endif
