/*
 * run_command.h - runs a command, measures it, and reads its output.
 *
 * The command inherits the environment. Its standard input is empty. Standard output is read up to
 * OUTPUT_MAX bytes and then closed, so a command that prints without end ends, too. A command is
 * killed if it uses more CPU time than the limit, or does not end within WALL_SECONDS.
 *
 * Cost: posix_spawn, which does not copy the caller's memory. Not for several threads.
 */
#ifndef RN_T_RUN_COMMAND_H
#define RN_T_RUN_COMMAND_H

#include <stdbool.h>

#include "base/buf.h"

#define OUTPUT_MAX   ((size_t)256 << 10)
#define WALL_SECONDS 120u

struct run_result {
	int code;           /* exit code, or -1 */
	int signal;         /* signal that ended the command, or 0 */
	bool killed;        /* exceeded a limit */
	double cpu_seconds; /* of the command and its children */
	long memory_kib;    /* maximum of the command and its children */
	bool is_cut;        /* output beyond OUTPUT_MAX was discarded */
	struct rn_buf out, err;
};

/* argv ends with NULL. The buffers of `r` are reused. Returns false if it could not be started. */
bool run_command(const char *const *argv, unsigned cpu_limit, struct run_result *r);

#endif
