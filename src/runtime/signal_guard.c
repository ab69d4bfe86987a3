/*
 * signal_guard.c - see signal_guard.h.
 */
#include "runtime/signal_guard.h"

#include "base/errno_guard.h"

#include <time.h>

void rn_calm_begin(struct rn_calm *c)
{
	static const int kinds[] = { SIGPIPE, SIGXFSZ };
	sigset_t pending;
	RN_ERRNO_GUARD;

	sigemptyset(&c->ours);
	sigpending(&pending);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!sigismember(&pending, kinds[i])) /* pending: not caused by the tracer */
			sigaddset(&c->ours, kinds[i]);
	pthread_sigmask(SIG_BLOCK, &c->ours, &c->before);
	feholdexcept(&c->floats);
}

void rn_calm_end(const struct rn_calm *c)
{
	const struct timespec at_once = { 0, 0 };
	RN_ERRNO_GUARD;

	fesetenv(&c->floats);
	while (sigtimedwait(&c->ours, NULL, &at_once) > 0)
		;
	pthread_sigmask(SIG_SETMASK, &c->before, NULL);
}
