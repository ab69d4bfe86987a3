/*
 * gpu_cost.c - CPU time per call with a GPU buffer and with a heap buffer, measured alternately.
 *
 *	gpu_cost [DRIVER]       the CUDA driver to load (default: libcuda.so.1)
 *
 * Prints "case heap gpu", in nanoseconds: the minimum of 20 chunks. The messages are sent to
 * MPI_PROC_NULL, so MPI does not access the buffers. Exits with 77 if the driver cannot be loaded
 * or has no device. t/prog/fake_gpu.c is a driver for machines without a GPU.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CHUNKS 20
#define CALLS  20000
#define SIZE   ((size_t)1 << 20)

typedef int any_function();

/* A case uses `places` displacements of each buffer, `step` bytes apart. */
static const struct {
	const char *name;
	size_t places, step;
} cases[] = {
	{ "one-address", 1, 0 },
	{ "16-pages", 16, 4096 },
	{ "1024-addresses", 1024, 8 },
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void no_gpu(const char *why)
{
	fprintf(stderr, "gpu_cost: %s\n", why);
	MPI_Finalize();
	exit(77);
}

/* Calls a function of the driver. A fake driver has no contexts. */
#define CALL(name, ...)                                                  \
	do {                                                             \
		any_function *f_ = (any_function *)dlsym(driver, #name); \
		if (f_ && f_(__VA_ARGS__) != 0)                          \
			no_gpu(#name " failed");                         \
	} while (0)

static char *gpu_buffer(const char *file)
{
	void *driver = dlopen(file, RTLD_NOW), *context = NULL, *p = NULL;
	int device = 0;

	if (!driver)
		no_gpu(dlerror());
	CALL(cuInit, 0);
	CALL(cuDeviceGet, &device, 0);
	CALL(cuDevicePrimaryCtxRetain, &context, device);
	if (context)
		CALL(cuCtxSetCurrent, context);
	CALL(cuMemAlloc_v2, &p, SIZE);
	return p;
}

static double chunk(const char *p, size_t places, size_t step)
{
	double t = now();

	for (size_t i = 0; i < CALLS; i++)
		MPI_Send(p + i % places * step, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
	return (now() - t) / CALLS;
}

static void measure(int k, const char *heap, const char *gpu)
{
	double best[2] = { 1e18, 1e18 };

	for (int c = 0; c < 2 * CHUNKS; c++) {
		double t = chunk(c % 2 ? gpu : heap, cases[k].places, cases[k].step);

		if (t < best[c % 2])
			best[c % 2] = t;
	}
	printf("%s %.2f %.2f\n", cases[k].name, best[0], best[1]);
}

int main(int argc, char **argv)
{
	char *heap = malloc(SIZE), *gpu;

	MPI_Init(&argc, &argv);
	gpu = gpu_buffer(argc > 1 ? argv[1] : "libcuda.so.1");
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
		measure((int)k, heap, gpu);
	free(heap);
	MPI_Finalize();
	return 0;
}
