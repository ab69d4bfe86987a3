/*
 * signal_guard.h - blocks the side effects of the tracer's own writes and arithmetic.
 *
 * A write to a closed pipe raises SIGPIPE, and a write beyond the file size limit raises SIGXFSZ.
 * Both signals would be delivered to the traced program. Between begin and end this thread blocks
 * them, and end discards those that the tracer caused. The floating-point environment is saved and
 * restored, so that the tracer's arithmetic neither traps nor sets exception flags that the program
 * sees.
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
