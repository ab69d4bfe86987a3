/*
 * preload_path.h - provides a path of a Rondo library that LD_PRELOAD can contain.
 *
 * The dynamic loader splits LD_PRELOAD at spaces and colons, and expands $NAME in it. If the path
 * of a library contains such a character, LD_PRELOAD contains a path through a symbolic link:
 *
 *	DIR/.rondo-lib.XXXXXX/NAME -> the directory of the library
 *
 * The directory .rondo-lib.XXXXXX has mode 0700 and NAME is random. LD_PRELOAD may be read where
 * the link does not exist: on another node, or by a process that outlives the run. Another user may
 * be able to create the directory there, but cannot guess NAME.
 *
 * A process creates at most one link. It is removed when rondo exits. If rondo is killed while the
 * program runs, or has become the program by exec, a watcher removes the link. This watcher is a
 * process without terminal and open files that waits for the end of the program. Functions print
 * nothing.
 */
#ifndef RN_LAUNCH_PRELOAD_PATH_H
#define RN_LAUNCH_PRELOAD_PATH_H

#include <limits.h>
#include <sys/types.h>

/* Sets `path` to a path of `library`, which is an absolute path. A link is created in `dir` or, if
 * `dir` is NULL or cannot be used, in a directory for temporary files of this node. Returns 0, or
 * an errno value. */
int preload_path(const char *library, const char *dir, char path[PATH_MAX]);

/* Sets the program that needs the path, which may be this process. The link remains until the
 * program ends, and is then removed, even if rondo is killed. */
void preload_path_program(pid_t pid);

#endif
