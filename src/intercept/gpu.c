/*
 * gpu.c - memory from the CUDA runtime, as the traced program sees it.
 *
 * By name only: nothing of CUDA is needed to build this, and in a program without it nothing here
 * is ever called. A program that has the runtime linked in statically does not call us either.
 *
 * The real function is the next one of that name. When the runtime was loaded behind the program's
 * back (a Python module and its libraries), the next is none; then it is the one that our caller's
 * own libraries have.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#include "track/memory.h"

#define EXPORT __attribute__((visibility("default")))

/* What a program gets that calls a runtime that cannot be found. */
#define CUDA_ERROR_UNKNOWN 999

static void *find_behind(const void *caller, const char *name)
{
	Dl_info info;
	void *lib = NULL, *f = NULL;

	if (dladdr(caller, &info) && info.dli_fname)
		lib = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (lib) {
		f = dlsym(lib, name);
		dlclose(lib); /* the caller keeps it */
	}
	return f;
}

static void *find(void **known, const void *caller, const char *name)
{
	int saved = errno;

	if (!*known)
		*known = dlsym(RTLD_NEXT, name);
	if (!*known)
		*known = find_behind(caller, name);
	errno = saved;
	return *known;
}

/* The result of the real `name`, which takes these arguments. */
#define CALL(result, name, types, ...)                                              \
	do {                                                                        \
		static void *known_;                                                \
		int(*f_) types = find(&known_, __builtin_return_address(0), #name); \
		result = f_ ? f_(__VA_ARGS__) : CUDA_ERROR_UNKNOWN;                 \
	} while (0)

static uint32_t device_now(const void *caller)
{
	static void *known;
	int (*get)(int *) = find(&known, caller, "cudaGetDevice");
	int device = 0;

	if (!get || get(&device) != 0 || device < 0 || device >= RN_MEM_GPUS)
		return 0;
	return (uint32_t)device;
}

static int seen(int rc, void **p, size_t n, uint32_t cls)
{
	if (rc == 0)
		rn_mem_region_add(*p, n, cls);
	return rc;
}

#define SEEN_ON_GPU(rc, p, n) \
	((rc) == 0 ? seen(0, p, n, RN_MEM_GPU + device_now(__builtin_return_address(0))) : (rc))

EXPORT int cudaMalloc(void **p, size_t n)
{
	int rc;

	CALL(rc, cudaMalloc, (void **, size_t), p, n);
	return SEEN_ON_GPU(rc, p, n);
}

EXPORT int cudaMallocAsync(void **p, size_t n, void *stream)
{
	int rc;

	CALL(rc, cudaMallocAsync, (void **, size_t, void *), p, n, stream);
	return SEEN_ON_GPU(rc, p, n);
}

EXPORT int cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
	int rc;

	CALL(rc, cudaMallocPitch, (void **, size_t *, size_t, size_t), p, pitch, width, height);
	return SEEN_ON_GPU(rc, p, *pitch * height);
}

EXPORT int cudaMallocManaged(void **p, size_t n, unsigned flags)
{
	int rc;

	CALL(rc, cudaMallocManaged, (void **, size_t, unsigned), p, n, flags);
	return seen(rc, p, n, RN_MEM_MANAGED);
}

EXPORT int cudaMallocHost(void **p, size_t n)
{
	int rc;

	CALL(rc, cudaMallocHost, (void **, size_t), p, n);
	return seen(rc, p, n, RN_MEM_PINNED);
}

EXPORT int cudaHostAlloc(void **p, size_t n, unsigned flags)
{
	int rc;

	CALL(rc, cudaHostAlloc, (void **, size_t, unsigned), p, n, flags);
	return seen(rc, p, n, RN_MEM_PINNED);
}

EXPORT int cudaFree(void *p)
{
	int rc;

	rn_mem_region_drop(p);
	CALL(rc, cudaFree, (void *), p);
	return rc;
}

EXPORT int cudaFreeAsync(void *p, void *stream)
{
	int rc;

	rn_mem_region_drop(p);
	CALL(rc, cudaFreeAsync, (void *, void *), p, stream);
	return rc;
}

EXPORT int cudaFreeHost(void *p)
{
	int rc;

	rn_mem_region_drop(p);
	CALL(rc, cudaFreeHost, (void *), p);
	return rc;
}
