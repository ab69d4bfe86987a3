/*
 * gpu_lookup.c - prints the effects of hooks in a GPU driver that are visible to a program. The
 * output must be the same with and without the tracer, for every way of linking the driver:
 *
 *   -DHIP   HIP instead of CUDA
 *
 * The first argument is the driver (default: none), the second one a library that is linked with
 * the driver.
 */
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "gpu_functions.h"

#ifdef HIP
#define NAME(cuda, hip) hip
#else
#define NAME(cuda, hip) cuda
#endif

typedef int allocate(void **p, size_t n);
typedef int lookup(const char *symbol, void **f, int version, uint64_t flags, int *status);

static const char name[] = NAME("cuMemAlloc_v2", "hipMalloc");

static const char *object_of(void *f)
{
	const char *file;
	Dl_info info;

	if (!f || !dladdr(f, &info))
		return "none";
	file = strrchr(info.dli_fname, '/');
	return file ? file + 1 : info.dli_fname;
}

static void found_by(const char *how, void *handle)
{
	void *f;

	dlerror();
	f = dlsym(handle, name);
	printf("%s: %s, %s\n", how, f ? "found" : "not found", dlerror() ? "error" : "no error");
}

/* Returns a new mapping. */
static void *fresh_memory(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void pass(const void *p)
{
	MPI_Send(p, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

static void lookups(void *driver)
{
	lookup *get = (lookup *)dlsym(driver, NAME("cuGetProcAddress_v2", "hipGetProcAddress"));
	void *f = &f;
	int rc = get("cuNothing", &f, 12000, 0, NULL);

	printf("an unknown symbol: %d, %s\n", rc, object_of(f));
#ifndef HIP
	uint32_t p = 0;

	rc = get("cuMemAlloc", &f, 2000, 0, NULL);
	printf("the first version: %d", rc);
	rc = ((int (*)(uint32_t *, uint32_t))f)(&p, 1234);
	printf(", %d, %u\n", rc, (unsigned)p);
#endif
}

static void allocations(void *driver)
{
	allocate *get = (allocate *)dlsym(driver, name);
	int (*queries)(void) = (int (*)(void))dlsym(driver, "fake_queries");
	void *p = NULL;
	int rc, before;

	errno = 77;
	rc = get(&p, 4096);
	printf("an allocation: %d, errno %d\n", rc, errno);
	pass(p);
	before = queries();
	for (int i = 0; i < 1000; i++)
		pass((char *)p + i % 8);
	printf("queries: %d\n", queries() - before);
	rc = get(&p, (size_t)1 << 40);
	printf("too much: %d, errno %d\n", rc, errno);
}

static void errors(void *driver)
{
#ifdef HIP
	int (*last)(void) = (int (*)(void))dlsym(driver, "hipGetLastError");
	int (*set)(int) = (int (*)(int))dlsym(driver, "hipSetDevice");

	last();
	pass(fresh_memory());
	printf("last error: %d\n", last());
	set(99);
	pass(fresh_memory());
	printf("last error: %d\n", last());
#else
	(void)driver;
#endif
}

static void occupy(uintptr_t at)
{
	mmap((void *)(at & ~(uintptr_t)4095), 4096, PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

/* The driver is unloaded with the library that needs it, and then loaded at another address. */
static void reloads(const char *library)
{
	for (int i = 0; i < 3; i++) {
		void *l = dlopen(library, RTLD_NOW), *p = NULL;
		const struct gpu *(*functions)(void) =
			(const struct gpu *(*)(void))dlsym(l, "gpu_functions");
		uintptr_t driver = (uintptr_t)functions()->global;

		printf("loaded %d: %d\n", i, functions()->malloc(&p, 4096));
		pass(p);
		dlclose(l);
		occupy(driver);
	}
}

int main(int argc, char **argv)
{
	const char *file = argc > 1 ? argv[1] : "no-such-driver.so";
	void *driver;

	MPI_Init(&argc, &argv);
	found_by("by default", RTLD_DEFAULT);
	found_by("in the program", dlopen(NULL, RTLD_NOW));
	printf("the default: %s\n", object_of(dlsym(RTLD_DEFAULT, name)));
	driver = dlopen(file, RTLD_NOW);
	printf("a driver: %d\n", driver != NULL);
	pass(fresh_memory());
	if (driver) {
		lookups(driver);
		allocations(driver);
		errors(driver);
		dlclose(driver);
	}
	if (argc > 2)
		reloads(argv[2]);
	MPI_Finalize();
	return 0;
}
