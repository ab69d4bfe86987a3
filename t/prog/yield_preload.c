/*
 * yield_preload.c - Preloaded: lets MPICH (ch4:ucx) run more ranks than there are processors. MPICH
 * polls without yielding the processor, so that a waiting rank prevents the rank it waits for from
 * running. This library yields whenever a poll found nothing.
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
