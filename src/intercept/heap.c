/*
 * heap.c - malloc and its relatives, and mmap, as the traced program sees them.
 *
 * Each calls the function that the program would have called without us, and tells memory.h of the
 * block. Nothing else changes: results, errno, and which allocator the program uses. This works
 * from the first instruction on, whether or not the tracer ever wakes up, because blocks that are
 * allocated long before MPI_Init are sent later.
 *
 * The real functions are looked up at the first call. The lookup itself may allocate; what it gets
 * then comes from a small buffer of ours and is never freed.
 *
 * reallocarray is not here: glibc's calls realloc, which is. A program that brings an allocator of
 * its own in the executable never calls us, and its blocks are not known. A sanitizer's allocator
 * that precedes the tracer reports its blocks through hooks.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "intercept/object.h"
#include "track/memory.h"

#define EXPORT __attribute__((visibility("default")))

static void *first_malloc(size_t n);
static void *first_calloc(size_t n, size_t size);
static void *first_realloc(void *p, size_t n);
static void first_free(void *p);

/* The four that matter for speed never ask whether they have been looked up. */
static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void (*free)(void *);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
	void *(*mmap)(void *, size_t, int, int, int, off_t);
	int (*munmap)(void *, size_t);
	void *(*mremap)(void *, size_t, size_t, int, ...);
} real = {
	.malloc = first_malloc,
	.calloc = first_calloc,
	.realloc = first_realloc,
	.free = first_free,
};

/* ---- before the real functions are known ---- */

struct boot_block {
	_Alignas(16) size_t size;
	_Alignas(16) unsigned char bytes[];
};

static _Alignas(16) unsigned char boot[16384];
static size_t boot_used; /* atomic */
static _Thread_local bool looking_up __attribute__((tls_model("initial-exec")));

static bool is_boot(const void *p)
{
	return (uintptr_t)p - (uintptr_t)boot < sizeof(boot);
}

/* Memory that is zero. */
static void *boot_alloc(size_t n)
{
	size_t need = sizeof(struct boot_block) + ((n + 15) & ~(size_t)15), at;
	struct boot_block *b;

	if (n > sizeof(boot) ||
	    (at = __atomic_fetch_add(&boot_used, need, __ATOMIC_RELAXED)) > sizeof(boot) - need) {
		errno = ENOMEM;
		return NULL;
	}
	b = (struct boot_block *)(void *)(boot + at);
	b->size = n;
	return b->bytes;
}

static void *move_from_boot(const void *p, size_t n)
{
	const struct boot_block *b =
		(const void *)((const unsigned char *)p - sizeof(struct boot_block));
	void *to = malloc(n);

	return to ? memcpy(to, p, n < b->size ? n : b->size) : NULL;
}

/* Several threads may do this at once: they all find the same. */
static void look_up(void)
{
	int saved = errno;

	if (looking_up)
		return;
	looking_up = true;
	real.posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
	real.aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
	real.memalign = dlsym(RTLD_NEXT, "memalign");
	real.valloc = dlsym(RTLD_NEXT, "valloc");
	real.pvalloc = dlsym(RTLD_NEXT, "pvalloc");
	real.mmap = dlsym(RTLD_NEXT, "mmap");
	real.munmap = dlsym(RTLD_NEXT, "munmap");
	real.mremap = dlsym(RTLD_NEXT, "mremap");
	real.free = dlsym(RTLD_NEXT, "free");
	real.realloc = dlsym(RTLD_NEXT, "realloc");
	real.calloc = dlsym(RTLD_NEXT, "calloc");
	real.malloc = dlsym(RTLD_NEXT, "malloc");
	looking_up = false;
	errno = saved;
}

static void *first_malloc(size_t n)
{
	look_up();
	return looking_up ? boot_alloc(n) : real.malloc(n);
}

static void *first_calloc(size_t n, size_t size)
{
	size_t bytes;

	look_up();
	if (!looking_up)
		return real.calloc(n, size);
	return boot_alloc(__builtin_mul_overflow(n, size, &bytes) ? SIZE_MAX : bytes);
}

static void *first_realloc(void *p, size_t n)
{
	look_up();
	return looking_up ? boot_alloc(n) : real.realloc(p, n);
}

static void first_free(void *p)
{
	look_up();
	if (!looking_up)
		real.free(p);
}

/* False: not now (the lookup itself asks), or the libraries have no such function. */
static bool known(void *const *function)
{
	if (!*function)
		look_up();
	return *function != NULL;
}

#define KNOWN(name) known((void *const *)&real.name)

static void hook_malloc(const volatile void *p, size_t n)
{
	rn_mem_alloc((const void *)p, n);
}

static void hook_free(const volatile void *p)
{
	if (p)
		rn_mem_free((const void *)p);
}

/* Installs the hooks, if malloc is not the tracer's. They are declared in
 * <sanitizer/allocator_interface.h> of gcc and clang. */
static void hook_sanitizer(void)
{
	typedef int install_fn(void (*)(const volatile void *, size_t),
			       void (*)(const volatile void *));
	install_fn *install;

	if (rn_object_at((uintptr_t)dlsym(RTLD_DEFAULT, "malloc")) == rn_object_ours())
		return;
	install = (install_fn *)dlsym(RTLD_DEFAULT, "__sanitizer_install_malloc_and_free_hooks");
	if (install)
		install(hook_malloc, hook_free);
}

/* A fork in one thread while another is in memory.c must not leave its lock taken in the child. */
__attribute__((constructor)) static void start(void)
{
	rn_mem_start();
	hook_sanitizer();
}

/* ---- the heap ---- */

EXPORT void *malloc(size_t n)
{
	void *p = real.malloc(n);

	rn_mem_alloc(p, n);
	return p;
}

EXPORT void *calloc(size_t n, size_t size)
{
	void *p = real.calloc(n, size);

	rn_mem_alloc(p, n * size);
	return p;
}

EXPORT void free(void *p)
{
	if (!p || is_boot(p))
		return;
	rn_mem_free(p);
	real.free(p);
}

EXPORT void *realloc(void *p, size_t n)
{
	struct rn_mem_moving moving;
	void *to;

	if (is_boot(p))
		return move_from_boot(p, n);
	moving = rn_mem_realloc_begin(p);
	to = real.realloc(p, n);
	if (to || !n)
		rn_mem_realloc_end(moving, to, n);
	else
		rn_mem_realloc_undo(moving);
	return to;
}

EXPORT int posix_memalign(void **p, size_t align, size_t n)
{
	int rc = KNOWN(posix_memalign) ? real.posix_memalign(p, align, n) : ENOMEM;

	if (rc == 0)
		rn_mem_alloc(*p, n);
	return rc;
}

static void *seen(void *p, size_t n)
{
	rn_mem_alloc(p, n);
	return p;
}

static void *no_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

EXPORT void *aligned_alloc(size_t align, size_t n)
{
	return KNOWN(aligned_alloc) ? seen(real.aligned_alloc(align, n), n) : no_memory();
}

EXPORT void *memalign(size_t align, size_t n)
{
	return KNOWN(memalign) ? seen(real.memalign(align, n), n) : no_memory();
}

EXPORT void *valloc(size_t n)
{
	return KNOWN(valloc) ? seen(real.valloc(n), n) : no_memory();
}

EXPORT void *pvalloc(size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!KNOWN(pvalloc))
		return no_memory();
	return seen(real.pvalloc(n), n < SIZE_MAX - page ? (n + page - 1) & ~(page - 1) : n);
}

/* ---- mappings ---- */

EXPORT void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	void *p = KNOWN(mmap) ? real.mmap(at, n, prot, flags, fd, offset)
			      : (void *)syscall(SYS_mmap, at, n, prot, flags, fd, offset);

	if (p != MAP_FAILED)
		rn_mem_map(p, n);
	return p;
}

EXPORT void *mmap64(void *at, size_t n, int prot, int flags, int fd, off_t offset)
	__attribute__((alias("mmap")));

static bool whole_page(const void *p)
{
	return (uintptr_t)p % (uintptr_t)sysconf(_SC_PAGESIZE) == 0;
}

/* Before the call, like free; but what the system is going to refuse stays known. */
EXPORT int munmap(void *p, size_t n)
{
	if (whole_page(p))
		rn_mem_unmap(p, n);
	return KNOWN(munmap) ? real.munmap(p, n) : (int)syscall(SYS_munmap, p, n);
}

EXPORT void *mremap(void *p, size_t n, size_t new_n, int flags, ...)
{
	void *at = NULL, *to;
	va_list ap;

	va_start(ap, flags);
	if (flags & MREMAP_FIXED)
		at = va_arg(ap, void *);
	va_end(ap);
	if (whole_page(p))
		rn_mem_unmap(p, n);
	to = KNOWN(mremap) ? real.mremap(p, n, new_n, flags, at)
			   : (void *)syscall(SYS_mremap, p, n, new_n, flags, at);
	if (to != MAP_FAILED)
		rn_mem_map(to, new_n);
	else if (whole_page(p))
		rn_mem_map(p, n);
	return to;
}
