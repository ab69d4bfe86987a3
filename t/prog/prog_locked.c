/*
 * prog_locked.c - Calls exit in a signal handler that has interrupted malloc while its lock was
 * held. Any allocation on this thread then blocks forever.
 *
 *	prog_locked FILE
 *
 * MPI's own destructors may allocate. Therefore another thread waits until FILE exists, and ends
 * the process with exit code 7, or with 9 if it does not appear.
 */
#include "log.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define HEAP ((size_t)1 << 22)

static unsigned char *heap;

static void *watch(void *file)
{
	const struct timespec moment = { 0, 100000000 };
	int tries = 0;

	while (access(file, F_OK) < 0 && tries++ < 200)
		nanosleep(&moment, NULL);
	nanosleep(&moment, NULL);
	_exit(access(file, F_OK) < 0 ? 9 : 7);
}

static void leave(int signal)
{
	(void)signal;
	mprotect(heap, HEAP, PROT_READ | PROT_WRITE);
	exit(7);
}

/* malloc accesses the memory after its allocated blocks, which is now protected. */
static void interrupt_malloc(void)
{
	const uintptr_t page = 4096;
	void *volatile p;

	p = malloc(5000);
	heap = (unsigned char *)(((uintptr_t)p + page) & ~(page - 1));
	signal(SIGSEGV, leave);
	EXPECT(mprotect(heap, HEAP, PROT_READ) == 0);
	for (;;)
		p = malloc(100000);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	begin();
	DO(MPI_Barrier(MPI_COMM_WORLD), "comm=MPI_COMM_WORLD");
	EXPECT(argc > 1 && pthread_create(&thread, NULL, watch, argv[1]) == 0);
	EXPECT(sbrk((intptr_t)(2 * HEAP)) != (void *)-1); /* so that it can be protected */
	interrupt_malloc();
	return 0;
}
