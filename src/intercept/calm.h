/*
 * calm.h - writing without signals.
 *
 * A write to a pipe that nobody reads, or beyond a limit of file sizes, is an error to us and a
 * signal to the process, whose signals are the program's. Between begin and end both are held back
 * from this thread, and those that came of it are taken away.
 */
#ifndef RN_INTERCEPT_CALM_H
#define RN_INTERCEPT_CALM_H

#include <signal.h>

struct rn_calm {
	sigset_t before, ours;
};

void rn_calm_begin(struct rn_calm *c);
void rn_calm_end(const struct rn_calm *c);

#endif
