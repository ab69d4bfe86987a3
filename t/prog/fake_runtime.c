/*
 * fake_runtime.c - obtains the functions of the fake driver in one of several ways, and calls them.
 * It is linked into a program (static runtime) or built as a library (shared runtime).
 *
 *   -DBY_VERSION   dlopen, dlsym(cuGetProcAddress) and cuGetProcAddress: the runtime since 11.3
 *   -DBY_NAME      dlopen, and dlsym for each function: older runtimes
 *   -DBY_LINKER    the program is linked with the driver
 *   -DSTREAM=2     uses the functions for per-thread default streams
 *   -DHIP          HIP instead of CUDA
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu_functions.h"

#ifndef STREAM
#define STREAM 0
#endif

#ifdef HIP
#define NAME(cuda, hip) hip
#else
#define NAME(cuda, hip) cuda
#endif

#ifdef BY_LINKER
#define DECLARE(cuda, hip) extern int NAME(cuda, hip)(void);
DECLARE(cuMemAlloc_v2, hipMalloc)
DECLARE(cuMemAllocPitch_v2, hipMallocPitch)
DECLARE(cuMemAllocManaged, hipMallocManaged)
DECLARE(cuMemAllocAsync, hipMallocAsync)
DECLARE(cuMemAllocFromPoolAsync, hipMallocFromPoolAsync)
DECLARE(cuMemHostAlloc, hipHostMalloc)
DECLARE(cuMemAddressReserve, hipMemAddressReserve)
DECLARE(cuMemFree_v2, hipFree)
DECLARE(cuMemFreeAsync, hipFreeAsync)
DECLARE(cuMemFreeHost, hipHostFree)
DECLARE(cuMemAddressFree, hipMemAddressFree)
DECLARE(cuModuleGetGlobal_v2, hipModuleGetGlobal)
DECLARE(cuCtxSetCurrent, hipSetDevice)
#define GET(cuda, symbol, version, hip) ((void *)NAME(cuda, hip))
#else
typedef int lookup(const char *symbol, void **f, int version, uint64_t flags, int *status);

static void *need(void *p, const char *what)
{
	if (!p) {
		fprintf(stderr, "%s: %s\n", what, dlerror());
		exit(1);
	}
	return p;
}

static void *driver(void)
{
	static const char file[] = NAME("libcuda.so.1", "libamdhip64.so");

	return need(dlopen(file, RTLD_NOW), file);
}

/* Like the runtime, uses the first lookup function to obtain the lookup function of a version. */
static void *get(const char *name, const char *symbol, int version)
{
#ifdef BY_NAME
	(void)symbol;
	(void)version;
	return need(dlsym(driver(), name), name);
#else
	static const char first[] = NAME("cuGetProcAddress_v2", "hipGetProcAddress");
	lookup *find = (lookup *)need(dlsym(driver(), first), first);
	void *f = NULL;

	(void)name;
	find(NAME("cuGetProcAddress", "hipGetProcAddress"), &f, 12000, 0, NULL);
	find = (lookup *)need(f, first);
	f = NULL;
	find(symbol, &f, version, STREAM, NULL);
	return need(f, symbol);
#endif
}
#define GET(cuda, symbol, version, hip) get(NAME(#cuda, #hip), NAME(symbol, #hip), version)
#endif

#ifndef HIP
static int (*set_current)(void *context);
static int (*alloc_pitch)(void **, size_t *, size_t, size_t, unsigned);

static int set_device(int device)
{
	return set_current((void *)(intptr_t)(device + 1));
}

static int malloc_pitch(void **p, size_t *pitch, size_t width, size_t height)
{
	return alloc_pitch(p, pitch, width, height, 4);
}
#endif

static void fill(struct gpu *f)
{
	f->malloc = GET(cuMemAlloc_v2, "cuMemAlloc", 3020, hipMalloc);
	f->malloc_managed = GET(cuMemAllocManaged, "cuMemAllocManaged", 6000, hipMallocManaged);
	f->malloc_async = GET(cuMemAllocAsync, "cuMemAllocAsync", 11020, hipMallocAsync);
	f->malloc_from_pool = GET(cuMemAllocFromPoolAsync, "cuMemAllocFromPoolAsync", 11020,
				  hipMallocFromPoolAsync);
	f->malloc_host = GET(cuMemHostAlloc, "cuMemHostAlloc", 2020, hipHostMalloc);
	f->reserve = GET(cuMemAddressReserve, "cuMemAddressReserve", 10020, hipMemAddressReserve);
	f->free = GET(cuMemFree_v2, "cuMemFree", 3020, hipFree);
	f->free_async = GET(cuMemFreeAsync, "cuMemFreeAsync", 11020, hipFreeAsync);
	f->free_host = GET(cuMemFreeHost, "cuMemFreeHost", 2000, hipHostFree);
	f->unreserve = GET(cuMemAddressFree, "cuMemAddressFree", 10020, hipMemAddressFree);
	f->global = GET(cuModuleGetGlobal_v2, "cuModuleGetGlobal", 3020, hipModuleGetGlobal);
#ifdef HIP
	f->set_device = GET(cuCtxSetCurrent, "cuCtxSetCurrent", 4000, hipSetDevice);
	f->malloc_pitch = GET(cuMemAllocPitch_v2, "cuMemAllocPitch", 3020, hipMallocPitch);
#else
	set_current = GET(cuCtxSetCurrent, "cuCtxSetCurrent", 4000, hipSetDevice);
	alloc_pitch = GET(cuMemAllocPitch_v2, "cuMemAllocPitch", 3020, hipMallocPitch);
	f->set_device = set_device;
	f->malloc_pitch = malloc_pitch;
#endif
}

const struct gpu *gpu_functions(void)
{
	static struct gpu f;

	if (!f.malloc)
		fill(&f);
	return &f;
}
