/*
 * fake_gpu.c - a GPU driver without a GPU: libcuda.so.1, or with -DHIP libamdhip64.so.
 *
 * It has two devices. Like a real driver, it reserves address space by mmap and allocates in it, by
 * first fit; it never accesses device memory. A context and a memory pool are the number of their
 * device plus 1.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#ifdef HIP
#define NAME(cuda, hip) hip
#else
#define NAME(cuda, hip) cuda
#endif

enum { DEVICES = 2, HOST = DEVICES, MANAGED, ARENAS, BLOCKS = 64 };
enum { OUT_OF_MEMORY = 2, INVALID_VALUE = 1, NOT_FOUND = 500 };

#define ARENA_SIZE ((size_t)16 << 20)
#define ALIGN      512

/* Sorted by address. */
static struct block {
	char *lo;
	size_t size;
	int arena, device;
} block[BLOCKS];
static int blocks;
static char *memory;
static _Thread_local int device;
static int queries;

static void *reserve(int arena, size_t n)
{
	char *at = memory + (size_t)arena * ARENA_SIZE, *end = at + ARENA_SIZE;
	int i;

	n = (n + ALIGN - 1) / ALIGN * ALIGN;
	for (i = 0; i < blocks && block[i].lo < end; i++) {
		if (block[i].arena != arena)
			continue;
		if ((size_t)(block[i].lo - at) >= n)
			break;
		at = block[i].lo + block[i].size;
	}
	if (!n || blocks == BLOCKS || (size_t)(end - at) < n)
		return NULL;
	memmove(block + i + 1, block + i, (size_t)(blocks++ - i) * sizeof(block[0]));
	block[i] = (struct block){ at, n, arena, device };
	return at;
}

static int allocate(void **p, int arena, size_t n)
{
	if (!memory) {
		memory = mmap(NULL, ARENAS * ARENA_SIZE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (memory == MAP_FAILED)
			return OUT_OF_MEMORY;
	}
	*p = reserve(arena, n);
	return *p ? 0 : OUT_OF_MEMORY;
}

static struct block *find(void *p)
{
	for (int i = 0; i < blocks; i++)
		if ((size_t)((char *)p - block[i].lo) < block[i].size)
			return &block[i];
	return NULL;
}

static int release(void *p)
{
	struct block *b = find(p);

	if (!b || b->lo != p)
		return INVALID_VALUE;
	memmove(b, b + 1, (size_t)(block + --blocks - b) * sizeof(*b));
	return 0;
}

/* ---- functions that the tracer hooks ---- */

int NAME(cuMemAlloc_v2, hipMalloc)(void **p, size_t n)
{
	return allocate(p, device, n);
}

static int pitched(void **p, size_t *pitch, size_t width, size_t height)
{
	*pitch = (width + ALIGN - 1) / ALIGN * ALIGN;
	return allocate(p, device, *pitch * height);
}

#ifdef HIP
int hipMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
	return pitched(p, pitch, width, height);
}
#else
int cuMemAllocPitch_v2(void **p, size_t *pitch, size_t width, size_t height, unsigned element)
{
	return element ? pitched(p, pitch, width, height) : INVALID_VALUE;
}
#endif

int NAME(cuMemAllocManaged, hipMallocManaged)(void **p, size_t n, unsigned flags)
{
	return flags ? allocate(p, MANAGED, n) : INVALID_VALUE;
}

int NAME(cuMemAllocAsync, hipMallocAsync)(void **p, size_t n, void *stream)
{
	(void)stream;
	return allocate(p, device, n);
}

int NAME(cuMemAllocFromPoolAsync, hipMallocFromPoolAsync)(void **p, size_t n, void *pool,
							  void *stream)
{
	int current = device, rc;

	(void)stream;
	device = (int)(intptr_t)pool - 1;
	rc = allocate(p, device, n);
	device = current;
	return rc;
}

int NAME(cuMemHostAlloc, hipHostMalloc)(void **p, size_t n, unsigned flags)
{
	(void)flags;
	return allocate(p, HOST, n);
}

int NAME(cuMemAddressReserve, hipMemAddressReserve)(void **p, size_t n, size_t align, void *at,
						    unsigned long long flags)
{
	return align || at || flags ? INVALID_VALUE : allocate(p, device, n);
}

int NAME(cuMemFree_v2, hipFree)(void *p)
{
	return release(p);
}

int NAME(cuMemFreeAsync, hipFreeAsync)(void *p, void *stream)
{
	(void)stream;
	return release(p);
}

int NAME(cuMemFreeHost, hipHostFree)(void *p)
{
	return release(p);
}

int NAME(cuMemAddressFree, hipMemAddressFree)(void *p, size_t n)
{
	return n ? release(p) : INVALID_VALUE;
}

/* ---- functions that the tracer does not hook ---- */

/* Returns a variable of a kernel: memory that no allocation function returns. */
int NAME(cuModuleGetGlobal_v2, hipModuleGetGlobal)(void **p, size_t *n, void *module,
						   const char *name)
{
	static void *global;

	(void)module;
	(void)name;
	*n = 4096;
	if (!global && allocate(&global, device, *n) != 0)
		return OUT_OF_MEMORY;
	*p = global;
	return 0;
}

#ifdef HIP
static _Thread_local int last_error;

int hipPeekAtLastError(void)
{
	return last_error;
}

int hipGetLastError(void)
{
	int e = last_error;

	last_error = 0;
	return e;
}

int hipSetDevice(int d)
{
	return last_error = d >= 0 && d < DEVICES ? (device = d, 0) : INVALID_VALUE;
}

int hipGetDevice(int *d)
{
	*d = device;
	return last_error = 0;
}
#else
int cuCtxSetCurrent(void *context)
{
	device = (int)(intptr_t)context - 1;
	return 0;
}

int cuCtxGetDevice(int *d)
{
	*d = device;
	return 0;
}
#endif

int fake_queries(void)
{
	return queries;
}

static void attribute(int which, void *value, void *p, const struct block *b)
{
	uint32_t managed = b && b->arena == MANAGED;
	void *host = b && b->arena >= HOST ? p : NULL;
	int d = b ? b->device : -2;

	if (which == 4)
		memcpy(value, &host, sizeof(host));
	else if (which == 8)
		memcpy(value, &managed, NAME(4, 1));
	else if (which == 9)
		memcpy(value, &d, sizeof(d));
	else if (which == 11)
		*(void **)value = b ? b->lo : NULL;
	else if (which == 12)
		*(size_t *)value = b ? b->size : 0;
}

int NAME(cuPointerGetAttributes, hipDrvPointerGetAttributes)(unsigned n, int *which, void **value,
							     void *p)
{
	const struct block *b = find(p);

	queries++;
	for (unsigned i = 0; i < n; i++)
		attribute(which[i], value[i], p, b);
#ifdef HIP
	return last_error = b ? 0 : INVALID_VALUE;
#else
	return 0;
#endif
}

/* ---- lookup by symbol and version ---- */

#ifndef HIP
int cuMemAllocAsync_ptsz(void **p, size_t n, void *stream)
{
	return cuMemAllocAsync(p, n, stream);
}

int cuMemAllocFromPoolAsync_ptsz(void **p, size_t n, void *pool, void *stream)
{
	return cuMemAllocFromPoolAsync(p, n, pool, stream);
}

int cuMemFreeAsync_ptsz(void *p, void *stream)
{
	return cuMemFreeAsync(p, stream);
}

/* The first version of the function, with device addresses of 32 bits. */
int cuMemAlloc(uint32_t *p, uint32_t n)
{
	*p = n;
	return 0;
}
#endif

int NAME(cuGetProcAddress_v2, hipGetProcAddress)(const char *symbol, void **f, int version,
						 uint64_t flags, int *status);

#ifndef HIP
int cuGetProcAddress(const char *symbol, void **f, int version, uint64_t flags)
{
	return cuGetProcAddress_v2(symbol, f, version, flags, NULL);
}
#endif

#define ROW(symbol, since, flags, name)            \
	{                                          \
		symbol, since, flags, (void *)name \
	}

static const struct {
	const char *symbol;
	int since, flags;
	void *f;
} rows[] = {
#ifdef HIP
	ROW("hipMalloc", 0, 0, hipMalloc),
	ROW("hipMallocPitch", 0, 0, hipMallocPitch),
	ROW("hipMallocManaged", 0, 0, hipMallocManaged),
	ROW("hipMallocAsync", 0, 0, hipMallocAsync),
	ROW("hipMallocFromPoolAsync", 0, 0, hipMallocFromPoolAsync),
	ROW("hipHostMalloc", 0, 0, hipHostMalloc),
	ROW("hipMemAddressReserve", 0, 0, hipMemAddressReserve),
	ROW("hipFree", 0, 0, hipFree),
	ROW("hipFreeAsync", 0, 0, hipFreeAsync),
	ROW("hipHostFree", 0, 0, hipHostFree),
	ROW("hipMemAddressFree", 0, 0, hipMemAddressFree),
	ROW("hipModuleGetGlobal", 0, 0, hipModuleGetGlobal),
	ROW("hipSetDevice", 0, 0, hipSetDevice),
	ROW("hipGetProcAddress", 0, 0, hipGetProcAddress),
#else
	ROW("cuMemAlloc", 3020, 0, cuMemAlloc_v2),
	ROW("cuMemAlloc", 2000, 0, cuMemAlloc),
	ROW("cuMemAllocPitch", 3020, 0, cuMemAllocPitch_v2),
	ROW("cuMemAllocManaged", 6000, 0, cuMemAllocManaged),
	ROW("cuMemAllocAsync", 11020, 2, cuMemAllocAsync_ptsz),
	ROW("cuMemAllocAsync", 11020, 0, cuMemAllocAsync),
	ROW("cuMemAllocFromPoolAsync", 11020, 2, cuMemAllocFromPoolAsync_ptsz),
	ROW("cuMemAllocFromPoolAsync", 11020, 0, cuMemAllocFromPoolAsync),
	ROW("cuMemHostAlloc", 2020, 0, cuMemHostAlloc),
	ROW("cuMemAddressReserve", 10020, 0, cuMemAddressReserve),
	ROW("cuMemFree", 3020, 0, cuMemFree_v2),
	ROW("cuMemFreeAsync", 11020, 2, cuMemFreeAsync_ptsz),
	ROW("cuMemFreeAsync", 11020, 0, cuMemFreeAsync),
	ROW("cuMemFreeHost", 2000, 0, cuMemFreeHost),
	ROW("cuMemAddressFree", 10020, 0, cuMemAddressFree),
	ROW("cuModuleGetGlobal", 3020, 0, cuModuleGetGlobal_v2),
	ROW("cuCtxSetCurrent", 4000, 0, cuCtxSetCurrent),
	ROW("cuGetProcAddress", 12000, 0, cuGetProcAddress_v2),
	ROW("cuGetProcAddress", 11030, 0, cuGetProcAddress),
#endif
};

int NAME(cuGetProcAddress_v2, hipGetProcAddress)(const char *symbol, void **f, int version,
						 uint64_t flags, int *status)
{
	*f = NULL;
	for (size_t i = 0; !*f && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].symbol, symbol) == 0 && version >= rows[i].since &&
		    ((int)flags & rows[i].flags) == rows[i].flags)
			*f = rows[i].f;
	if (status)
		*status = *f ? 0 : 1;
	return *f ? 0 : NOT_FOUND;
}
