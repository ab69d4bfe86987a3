/*
 * background.h - processes of a run that still run when the command has ended.
 *
 * They are found by an entry of the environment that they were started with, which the kernel keeps
 * (/proc/PID/environ) even if the program removes it. Only processes of this node and this user are
 * found. Nothing here prints.
 */
#ifndef RN_CMD_BACKGROUND_H
#define RN_CMD_BACKGROUND_H

#include <sys/types.h>

/* The id of a process that was started with the entry "NAME=VALUE"; 0: there is none, or none that
 * has not ended within half a second, as processes that a launcher has left do. */
pid_t background_process(const char *entry);

#endif
