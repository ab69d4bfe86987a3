/*
 * alloc_hooks.c - hooks of malloc and the other allocation functions, and of mmap.
 *
 * Each hook calls the next function, which is the one that the program would call without the
 * tracer, and registers the block in track/memory.h. Results, errno and the choice of the allocator
 * are unchanged. The hooks work from the first instruction of the process, even if the tracer is
 * never started, because blocks that are allocated long before MPI_Init are sent later.
 *
 * reallocarray is not hooked, because glibc's version calls realloc. If a program has its own
 * allocator in the executable, the hooks are not called and its blocks are unknown. A sanitizer's
 * allocator that precedes the tracer reports its blocks through hooks.
 */
#include <stdarg.h>

#include "preload/chain.h"
#include "preload/loaded_object.h"
#include "track/memory.h"

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

/* Registers the fork handlers early: after a fork in one thread while another is in memory.c, the
 * child must not find its lock held. */
__attribute__((constructor)) static void start(void)
{
	rn_mem_start();
	hook_sanitizer();
}

/* ---- the heap ---- */

static void *seen(void *p, size_t n)
{
	rn_mem_alloc(p, n);
	return p;
}

void *malloc(size_t n)
{
	return seen(rn_libc()->malloc(n), n);
}

void *calloc(size_t n, size_t size)
{
	return seen(rn_libc()->calloc(n, size), n * size);
}

void free(void *p)
{
	if (!p)
		return;
	rn_mem_free(p);
	rn_libc()->free(p);
}

void *realloc(void *p, size_t n)
{
	struct rn_mem_moving moving = rn_mem_realloc_begin(p);
	void *to = rn_libc()->realloc(p, n);

	if (to || !n)
		rn_mem_realloc_end(moving, to, n);
	else
		rn_mem_realloc_undo(moving);
	return to;
}

int posix_memalign(void **p, size_t align, size_t n)
{
	int rc = rn_libc()->posix_memalign(p, align, n);

	if (rc == 0)
		rn_mem_alloc(*p, n);
	return rc;
}

void *aligned_alloc(size_t align, size_t n)
{
	return seen(rn_libc()->aligned_alloc(align, n), n);
}

void *memalign(size_t align, size_t n)
{
	return seen(rn_libc()->memalign(align, n), n);
}

void *valloc(size_t n)
{
	return seen(rn_libc()->valloc(n), n);
}

void *pvalloc(size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return seen(rn_libc()->pvalloc(n), n < SIZE_MAX - page ? (n + page - 1) & ~(page - 1) : n);
}

/* ---- mappings ---- */

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	void *p = rn_libc()->mmap(at, n, prot, flags, fd, offset);

	if (p != MAP_FAILED)
		rn_mem_map(p, n);
	return p;
}

void *mmap64(void *at, size_t n, int prot, int flags, int fd, off_t offset)
	__attribute__((alias("mmap")));

static bool whole_page(const void *p)
{
	return (uintptr_t)p % (uintptr_t)sysconf(_SC_PAGESIZE) == 0;
}

/* The mapping is removed before the call, as in free. If munmap will fail because p is not the
 * start of a page, the mapping is retained. */
int munmap(void *p, size_t n)
{
	if (whole_page(p))
		rn_mem_unmap(p, n);
	return rn_libc()->munmap(p, n);
}

void *mremap(void *p, size_t n, size_t new_n, int flags, ...)
{
	void *at = NULL, *to;
	va_list ap;

	va_start(ap, flags);
	if (flags & MREMAP_FIXED)
		at = va_arg(ap, void *);
	va_end(ap);
	if (whole_page(p))
		rn_mem_unmap(p, n);
	to = rn_libc()->mremap(p, n, new_n, flags, at);
	if (to != MAP_FAILED)
		rn_mem_map(to, new_n);
	else if (whole_page(p))
		rn_mem_map(p, n);
	return to;
}
