/*
 * yield_preload.c - lets MPICH (ch4:ucx) run more ranks than there are processors.
 *
 * It polls without ever giving the processor away, so that a waiting rank keeps the one it waits
 * for from running. Preloaded, this yields whenever a poll found nothing.
 */
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker)
{
	static unsigned (*real)(void *);
	unsigned events;

	if (!real)
		real = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
	events = real(worker);
	if (events == 0)
		sched_yield();
	return events;
}
