/*
 * script_name.h - the name of the script that an interpreter runs, from its command line.
 *
 * A trace is named after the program. The program of an interpreter is its script: the executable
 * python3.11 that runs solver.py is named "solver".
 *
 * No allocation, no system calls: safe before a program's main.
 */
#ifndef RN_BASE_SCRIPT_NAME_H
#define RN_BASE_SCRIPT_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Stores the name of the script, without directory and extension, in `name`. `executable` is the
 * interpreter's file name. `args` contains the `len` bytes of its arguments, each terminated by a
 * zero byte, without the first argument, which is the program's own name (as in
 * /proc/self/cmdline). Returns false, with `name` unchanged, if the executable is not an
 * interpreter, or does not run a script because it reads standard input or executes an argument
 * (python3 -c). */
bool rn_script_name(const char *executable, const char *args, size_t len, char *name, size_t cap);

#endif
