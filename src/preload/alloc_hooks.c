/*
 * alloc_hooks.c - malloc and its relatives, and mmap, as the traced program sees them.
 *
 * Each calls the function that the program would have called without us, and tells memory.h of the
 * block. Nothing else changes: results, errno, and which allocator the program uses. This works
 * from the first instruction on, whether or not the tracer ever wakes up, because blocks that are
 * allocated long before MPI_Init are sent later.
 *
 * reallocarray is not here: glibc's calls realloc, which is. A program that brings an allocator of
 * its own in the executable never calls us, and its blocks are not known. A sanitizer's allocator
 * that precedes the tracer reports its blocks through hooks.
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

/* A fork in one thread while another is in memory.c must not leave its lock taken in the child. */
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

/* Before the call, like free; but what the system is going to refuse stays known. */
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
