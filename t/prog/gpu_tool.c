/*
 * gpu_tool.c - a tool that wraps the driver's allocation function and counts its calls.
 */
#include <dlfcn.h>
#include <stdio.h>

static int count;

int cuMemAlloc_v2(void **p, size_t n)
{
	int (*next)(void **, size_t) = (int (*)(void **, size_t))dlsym(RTLD_NEXT, "cuMemAlloc_v2");

	count++;
	return next ? next(p, n) : 1;
}

__attribute__((destructor)) static void report(void)
{
	if (count)
		fprintf(stderr, "tool: %d allocations\n", count);
}
