/*
 * cuda_hooks.c - see cuda_hooks.h.
 *
 * Only the driver's interface is hooked: libcuda.so.1 and libamdhip64.so. The CUDA runtime calls
 * the driver for every allocation, and obtains the driver's functions by dlsym and
 * cuGetProcAddress, whether it is linked statically or not. Both forms, and programs that call the
 * driver directly, therefore have the same memory locations. This file is built without headers or
 * libraries of CUDA and HIP.
 *
 * Each hooked function has two entries:
 *
 *   name()        is exported and called by programs that are linked with the driver. The next
 *                 function is the one of the first object after the tracer that defines the name.
 *   given_name()  is returned by dlsym and cuGetProcAddress instead of the requested function,
 *                 which is the next function.
 *
 * A lookup that finds a second driver returns its function without a hook, because an entry has one
 * next function. Allocations that reach no hook are found when an unknown address is used
 * (gpu_driver.h).
 */
#include "base/errno_guard.h"
#include "preload/cuda_hooks.h"

#include "preload/chain.h"
#include "preload/gpu_driver.h"
#include "preload/loaded_object.h"
#include "track/memory.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* The result of a call without a driver: CUDA_ERROR_UNKNOWN, hipErrorUnknown. */
#define NO_DRIVER 999

/*
 * The hooked functions. Each row has the name; the symbol of cuGetProcAddress, the version from
 * which the symbol means this function, and the kind of default stream; parameters and arguments.
 * Allocations also have the size and the class, where RN_MEM_GPU means the class of the device.
 * Pinned host memory has its own class.
 */
#define ANY_STREAM 0
#define LEGACY     1
#define PER_THREAD 2

#define CUDA(ALLOC, FREE, LOOKUP)                                                                  \
	LOOKUP(CUDA, cuGetProcAddress, "cuGetProcAddress", 11030, ANY_STREAM,                      \
	       (const char *symbol, void **f, int version, uint64_t flags),                        \
	       (symbol, f, version, flags))                                                        \
	LOOKUP(CUDA, cuGetProcAddress_v2, "cuGetProcAddress", 12000, ANY_STREAM,                   \
	       (const char *symbol, void **f, int version, uint64_t flags, int *status),           \
	       (symbol, f, version, flags, status))                                                \
	ALLOC(CUDA, cuMemAlloc_v2, "cuMemAlloc", 3020, ANY_STREAM, (void **p, size_t n), (p, n),   \
	      n, RN_MEM_GPU)                                                                       \
	ALLOC(CUDA, cuMemAllocPitch_v2, "cuMemAllocPitch", 3020, ANY_STREAM,                       \
	      (void **p, size_t *pitch, size_t width, size_t height, unsigned element),            \
	      (p, pitch, width, height, element), *pitch *height, RN_MEM_GPU)                      \
	ALLOC(CUDA, cuMemAllocManaged, "cuMemAllocManaged", 6000, ANY_STREAM,                      \
	      (void **p, size_t n, unsigned flags), (p, n, flags), n, RN_MEM_MANAGED)              \
	ALLOC(CUDA, cuMemAllocAsync, "cuMemAllocAsync", 11020, LEGACY,                             \
	      (void **p, size_t n, void *stream), (p, n, stream), n, RN_MEM_GPU)                   \
	ALLOC(CUDA, cuMemAllocAsync_ptsz, "cuMemAllocAsync", 11020, PER_THREAD,                    \
	      (void **p, size_t n, void *stream), (p, n, stream), n, RN_MEM_GPU)                   \
	ALLOC(CUDA, cuMemAllocFromPoolAsync, "cuMemAllocFromPoolAsync", 11020, LEGACY,             \
	      (void **p, size_t n, void *pool, void *stream), (p, n, pool, stream), n, RN_MEM_GPU) \
	ALLOC(CUDA, cuMemAllocFromPoolAsync_ptsz, "cuMemAllocFromPoolAsync", 11020, PER_THREAD,    \
	      (void **p, size_t n, void *pool, void *stream), (p, n, pool, stream), n, RN_MEM_GPU) \
	ALLOC(CUDA, cuMemAllocHost_v2, "cuMemAllocHost", 3020, ANY_STREAM, (void **p, size_t n),   \
	      (p, n), n, RN_MEM_PINNED)                                                            \
	ALLOC(CUDA, cuMemHostAlloc, "cuMemHostAlloc", 2020, ANY_STREAM,                            \
	      (void **p, size_t n, unsigned flags), (p, n, flags), n, RN_MEM_PINNED)               \
	FREE(CUDA, cuMemFree_v2, "cuMemFree", 3020, ANY_STREAM, (void *p), (p))                    \
	FREE(CUDA, cuMemFreeAsync, "cuMemFreeAsync", 11020, LEGACY, (void *p, void *stream),       \
	     (p, stream))                                                                          \
	FREE(CUDA, cuMemFreeAsync_ptsz, "cuMemFreeAsync", 11020, PER_THREAD,                       \
	     (void *p, void *stream), (p, stream))                                                 \
	FREE(CUDA, cuMemFreeHost, "cuMemFreeHost", 2000, ANY_STREAM, (void *p), (p))               \
	FREE(CUDA, cuMemAddressFree, "cuMemAddressFree", 10020, ANY_STREAM, (void *p, size_t n),   \
	     (p, n))

#define HIP_ALLOC(ALLOC, name, decl, args, size, cls) \
	ALLOC(HIP, name, #name, 0, ANY_STREAM, decl, args, size, cls)
#define HIP_FREE(FREE, name, decl, args) FREE(HIP, name, #name, 0, ANY_STREAM, decl, args)

#define HIP(ALLOC, FREE, LOOKUP)                                                                   \
	LOOKUP(HIP, hipGetProcAddress, "hipGetProcAddress", 0, ANY_STREAM,                         \
	       (const char *symbol, void **f, int version, uint64_t flags, int *status),           \
	       (symbol, f, version, flags, status))                                                \
	HIP_ALLOC(ALLOC, hipMalloc, (void **p, size_t n), (p, n), n, RN_MEM_GPU)                   \
	HIP_ALLOC(ALLOC, hipExtMallocWithFlags, (void **p, size_t n, unsigned flags),              \
		  (p, n, flags), n, RN_MEM_GPU)                                                    \
	HIP_ALLOC(ALLOC, hipMallocPitch, (void **p, size_t *pitch, size_t width, size_t height),   \
		  (p, pitch, width, height), *pitch *height, RN_MEM_GPU)                           \
	HIP_ALLOC(ALLOC, hipMemAllocPitch,                                                         \
		  (void **p, size_t *pitch, size_t width, size_t height, unsigned element),        \
		  (p, pitch, width, height, element), *pitch *height, RN_MEM_GPU)                  \
	HIP_ALLOC(ALLOC, hipMallocAsync, (void **p, size_t n, void *stream), (p, n, stream), n,    \
		  RN_MEM_GPU)                                                                      \
	HIP_ALLOC(ALLOC, hipMallocFromPoolAsync, (void **p, size_t n, void *pool, void *stream),   \
		  (p, n, pool, stream), n, RN_MEM_GPU)                                             \
	HIP_ALLOC(ALLOC, hipMallocManaged, (void **p, size_t n, unsigned flags), (p, n, flags), n, \
		  RN_MEM_MANAGED)                                                                  \
	HIP_ALLOC(ALLOC, hipMallocHost, (void **p, size_t n), (p, n), n, RN_MEM_PINNED)            \
	HIP_ALLOC(ALLOC, hipMemAllocHost, (void **p, size_t n), (p, n), n, RN_MEM_PINNED)          \
	HIP_ALLOC(ALLOC, hipHostMalloc, (void **p, size_t n, unsigned flags), (p, n, flags), n,    \
		  RN_MEM_PINNED)                                                                   \
	HIP_ALLOC(ALLOC, hipHostAlloc, (void **p, size_t n, unsigned flags), (p, n, flags), n,     \
		  RN_MEM_PINNED)                                                                   \
	HIP_FREE(FREE, hipFree, (void *p), (p))                                                    \
	HIP_FREE(FREE, hipFreeAsync, (void *p, void *stream), (p, stream))                         \
	HIP_FREE(FREE, hipFreeHost, (void *p), (p))                                                \
	HIP_FREE(FREE, hipHostFree, (void *p), (p))                                                \
	HIP_FREE(FREE, hipMemAddressFree, (void *p, size_t n), (p, n))

/* ---- the entries ---- */

static void allocated(enum rn_gpu_driver driver, const void *p, size_t n, uint32_t cls)
{
	rn_gpu_note_use(driver);
	if (cls == RN_MEM_GPU)
		cls = rn_gpu_class(driver, p);
	rn_mem_region_add(p, n, cls);
}

static void *next_function(void **known, const char *name)
{
	void *f = __atomic_load_n(known, __ATOMIC_RELAXED);

	if (!f) {
		f = rn_chain_find(name);
		__atomic_store_n(known, f, __ATOMIC_RELAXED);
	}
	return f;
}

static void *hook_of_symbol(const char *symbol, int version, uint64_t flags, void *f);

#define BODY(function, decl, args, before, after)  \
	{                                          \
		int(*next) decl = function;        \
		int rc;                            \
                                                   \
		before;                            \
		rc = next ? next args : NO_DRIVER; \
		if (rc == 0) {                     \
			after;                     \
		}                                  \
		return rc;                         \
	}

#define HOOK(name, decl, args, before, after)                                                     \
	static void *after_##name, *after_given_##name;                                           \
	static int given_##name decl BODY(__atomic_load_n(&after_given_##name, __ATOMIC_RELAXED), \
					  decl, args, before, after)                              \
	EXPORT int name decl BODY(next_function(&after_##name, #name), decl, args, before, after)

#define DEFINE_ALLOC(driver, name, symbol, since, stream, decl, args, size, cls) \
	HOOK(name, decl, args, , allocated(RN_GPU_##driver, *p, size, cls))
/* Removes the block before the call, because another thread may get the same memory after it. */
#define DEFINE_FREE(driver, name, symbol, since, stream, decl, args) \
	HOOK(name, decl, args, rn_mem_region_drop(p), )
#define DEFINE_LOOKUP(driver, name, text, since, stream, decl, args) \
	HOOK(name, decl, args, , *f = hook_of_symbol(symbol, version, flags, *f))

CUDA(DEFINE_ALLOC, DEFINE_FREE, DEFINE_LOOKUP)
HIP(DEFINE_ALLOC, DEFINE_FREE, DEFINE_LOOKUP)

/* ---- the table ---- */

struct hook {
	const char *name, *symbol;
	int since;  /* version */
	int stream; /* ANY_STREAM, LEGACY or PER_THREAD */
	void *given;
	void **next_given; /* atomic; the next function of `given` */
	void **next;       /* atomic; the next function of the exported entry */
};

#define ROW(driver, name, symbol, since, stream, ...) \
	{ #name, symbol, since, stream, (void *)given_##name, &after_given_##name, &after_##name },

static const struct hook hooks[] = { CUDA(ROW, ROW, ROW) HIP(ROW, ROW, ROW) };

#define HOOKS (sizeof(hooks) / sizeof(hooks[0]))

static const struct hook *hook_of_name(const char *name)
{
	for (size_t i = 0; i < HOOKS; i++)
		if (strcmp(hooks[i].name, name) == 0)
			return &hooks[i];
	return NULL;
}

bool rn_gpu_hooks_name(const char *name)
{
	return hook_of_name(name) != NULL;
}

/* The entry to use instead of f; f itself if the entry belongs to another driver. */
static void *give(const struct hook *hook, void *f)
{
	void *known = __atomic_load_n(hook->next_given, __ATOMIC_RELAXED);
	const struct link_map *object = known ? rn_object_at((uintptr_t)known) : NULL;

	if (object && object != rn_object_at((uintptr_t)f))
		return f;
	__atomic_store_n(hook->next_given, f, __ATOMIC_RELAXED);
	return hook->given;
}

void rn_gpu_forget(void)
{
	for (size_t i = 0; i < HOOKS; i++)
		__atomic_store_n(hooks[i].next, NULL, __ATOMIC_RELAXED);
}

/* ---- lookups ---- */

static bool fits(const struct hook *hook, const char *symbol, int version, uint64_t flags)
{
	int stream = flags & PER_THREAD ? PER_THREAD : LEGACY;

	return version >= hook->since && (hook->stream == ANY_STREAM || hook->stream == stream) &&
	       strcmp(hook->symbol, symbol) == 0;
}

/* The hook of f, which cuGetProcAddress returned: the newest variant that the version has. */
static void *hook_of_symbol(const char *symbol, int version, uint64_t flags, void *f)
{
	const struct hook *best = NULL;

	for (size_t i = 0; i < HOOKS; i++)
		if (fits(&hooks[i], symbol, version, flags) &&
		    (!best || hooks[i].since > best->since))
			best = &hooks[i];
	return best && f ? give(best, f) : f;
}

/* The function that dlsym finds after the tracer in the global scope. The call is not the last
 * statement. Otherwise the compiler would make it a jump, and dlsym would use the program as its
 * caller. */
static void *find_next(const char *name)
{
	RN_ERRNO_GUARD;
	void *f = rn_libc()->dlsym(RTLD_NEXT, name);

	return f;
}

/* The function that dlsym finds in the caller and the libraries that were loaded with it. */
static void *find_local(const struct link_map *caller, const char *name)
{
	RN_ERRNO_GUARD;
	void *object = caller ? dlopen(caller->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *f = object ? rn_libc()->dlsym(object, name) : NULL;

	if (object)
		dlclose(object);
	return f;
}

static bool is_ours(void *f)
{
	return f && rn_object_at((uintptr_t)f) == rn_object_ours();
}

/* The function that RTLD_DEFAULT finds without the tracer. It is returned without a hook, because
 * tools that patch the driver's code (UCX) find it in this way. */
static void *find_default(const char *name, uintptr_t caller)
{
	const struct link_map *first = rn_object_next(NULL, name);
	void *f;

	if (first && first != rn_object_ours())
		return rn_object_symbol(first, name); /* in an object before the tracer */
	f = find_next(name);
	if (!f)
		f = find_local(rn_object_at(caller), name);
	return f && !is_ours(f) ? f : find_next(name); /* sets dlerror */
}

void *rn_gpu_dlsym(void *handle, const char *name, uintptr_t caller)
{
	void *f;

	if (handle == RTLD_DEFAULT)
		return find_default(name, caller);
	f = rn_libc()->dlsym(handle, name);
	if (is_ours(f)) /* a handle of the program */
		return find_next(name) ? f : NULL;
	return f ? give(hook_of_name(name), f) : NULL;
}
