/*
 * background.h - finds processes of a run that continue after the command has ended.
 *
 * They are identified by an entry of their initial environment, which the kernel stores
 * (/proc/PID/environ) even if the program removes the entry. Only processes of this node and this
 * user are found. Functions print nothing.
 */
#ifndef RN_LAUNCH_BACKGROUND_H
#define RN_LAUNCH_BACKGROUND_H

#include <sys/types.h>

/* Returns the id of a process that was started with the entry "NAME=VALUE"; 0 if there is no such
 * process. Processes that end within half a second, such as those of a launcher, are ignored. */
pid_t background_process(const char *entry);

#endif
