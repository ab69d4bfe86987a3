/*
 * signal_guard.h - writing without signals, and computing without leaving a mark.
 *
 * A write to a pipe that nobody reads, or beyond a limit of file sizes, is an error to us and a
 * signal to the process, whose signals are the program's. Between begin and end both are held back
 * from this thread, and those that came of it are taken away. In the same way floating-point
 * exceptions, which a program may have asked to be a signal or may look at afterwards, do not come
 * of what we compute.
 */
#ifndef RN_RUNTIME_SIGNAL_GUARD_H
#define RN_RUNTIME_SIGNAL_GUARD_H

#include <fenv.h>
#include <signal.h>

struct rn_calm {
	sigset_t before, ours;
	fenv_t floats;
};

void rn_calm_begin(struct rn_calm *c);
void rn_calm_end(const struct rn_calm *c);

#endif
