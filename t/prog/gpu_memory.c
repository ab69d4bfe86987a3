/*
 * gpu_memory.c - passes GPU memory of each kind to MPI. The messages are sent to MPI_PROC_NULL, so
 * MPI does not access the memory. The tag identifies the buffer; t/t2150-gpu.t contains the
 * locations.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "gpu_functions.h"

static void pass(const void *p, int tag)
{
	MPI_Send(p, 1, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
}

static void check(int rc)
{
	if (rc) {
		fprintf(stderr, "a GPU function returned %d\n", rc);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

/* Evaluates to the allocated memory. */
#define NEW(f, ...) (check(gpu->f(&p, __VA_ARGS__)), p)

static const struct gpu *gpu;

static void plain(void)
{
	void *p, *a = NEW(malloc, 4096), *b = NEW(malloc, 1024), *c;
	size_t pitch;

	pass(a, 10);
	pass((char *)a + 512, 11);
	pass(b, 12);
	check(gpu->free(a));
	c = NEW(malloc, 512); /* at the address of a, but shorter */
	pass(c, 13);
	pass(b, 14);
	check(gpu->malloc_pitch(&a, &pitch, 100, 3));
	pass((char *)a + 2 * pitch, 15);
	check(gpu->free(a));
	check(gpu->free(b));
	check(gpu->free(c));
}

static void others(void)
{
	void *p, *a = NEW(malloc_managed, 4096, 1), *b = NEW(malloc_host, 4096, 0);

	pass(a, 20);
	pass(b, 21);
	check(gpu->free(a));
	check(gpu->free_host(b));
}

static void async(void)
{
	void *p, *a = NEW(malloc_async, 4096, NULL),
		 *b = NEW(malloc_from_pool, 4096, (void *)2, NULL);

	pass(a, 30);
	pass((char *)b + 8, 31); /* a pool of the other device */
	check(gpu->free_async(a, NULL));
	check(gpu->free_async(b, NULL));
}

static void second_device(void)
{
	void *p, *a, *b;

	a = NEW(malloc, 4096);
	check(gpu->set_device(1));
	b = NEW(malloc, 4096);
	pass(b, 40);
	pass(a, 41);
	check(gpu->free(b));
	check(gpu->set_device(0));
	check(gpu->free(a));
}

/* Memory that no hook sees. */
static void unknown(void)
{
	size_t n;
	void *p, *a, *b;

	check(gpu->global(&a, &n, NULL, "x"));
	pass((char *)a + 16, 50);
	b = NEW(reserve, 8192, 0, NULL, 0);
	pass((char *)b + 4096, 51);
	check(gpu->unreserve(b, 8192));
	b = NEW(reserve, 1024, 0, NULL, 0);
	pass((char *)b + 8, 52);
	pass(a, 53);
	check(gpu->unreserve(b, 1024));
}

/* Passes a mapping between two others that the kernel does not merge with it: MPICH with UCX hides
 * mmap from the tracer, which then reads the kernel's list of mappings. */
static void of_the_host(void)
{
	char *heap = malloc(100);
	char *map = mmap(NULL, 12288, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	map = mmap(map + 4096, 4096, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	pass(heap + 4, 60);
	pass(map + 8, 61);
	munmap(map - 4096, 12288);
	free(heap);
}

/* The line omits the program name, because the lines of several programs are compared. */
int main(void)
{
	MPI_Init(NULL, NULL);
	gpu = gpu_functions();
	plain();
	others();
	async();
	second_device();
	unknown();
	of_the_host();
	MPI_Finalize();
	return 0;
}
