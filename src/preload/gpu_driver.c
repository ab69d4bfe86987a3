/*
 * gpu_driver.c - see gpu_driver.h.
 *
 * CUDA and HIP have the same query function under different names. HIP stores the result of each
 * call for hipGetLastError, and a program may read it later. HIP is therefore not queried while an
 * error is pending, and an error of the query itself is cleared.
 */
#include "base/errno_guard.h"
#include "preload/gpu_driver.h"

#include "preload/loaded_object.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

/* Pointer attributes: CU_POINTER_ATTRIBUTE_X and HIP_POINTER_ATTRIBUTE_X have the same values. */
enum { HOST_POINTER = 4, IS_MANAGED = 8, DEVICE_ORDINAL = 9, RANGE_START = 11, RANGE_SIZE = 12 };

typedef int query_function(unsigned n, int *attribute, void **value, uintptr_t p);
typedef int device_function(int *device);
typedef int error_function(void);

enum { QUERY, DEVICE, PEEK_ERROR, CLEAR_ERROR, FUNCTIONS };

static const char *const names[RN_GPU_DRIVERS][FUNCTIONS] = {
	[RN_GPU_CUDA] = { [QUERY] = "cuPointerGetAttributes", [DEVICE] = "cuCtxGetDevice" },
	[RN_GPU_HIP] = { [QUERY] = "hipDrvPointerGetAttributes",
			 [DEVICE] = "hipGetDevice",
			 [PEEK_ERROR] = "hipPeekAtLastError",
			 [CLEAR_ERROR] = "hipGetLastError" },
};

static void *functions[RN_GPU_DRIVERS][FUNCTIONS]; /* atomic; NULL: not loaded */

static void *function(enum rn_gpu_driver driver, int which)
{
	return __atomic_load_n(&functions[driver][which], __ATOMIC_RELAXED);
}

/* ---- which drivers are loaded ---- */

static void find_driver(enum rn_gpu_driver driver)
{
	const struct link_map *object = rn_object_next(NULL, names[driver][QUERY]);

	for (int i = 0; i < FUNCTIONS; i++) {
		const char *name = names[driver][i];
		void *f = object && name ? rn_object_symbol(object, name) : NULL;

		__atomic_store_n(&functions[driver][i], f, __ATOMIC_RELAXED);
	}
}

/* Called once, with the list of objects locked. */
static int find_changes(struct dl_phdr_info *info, size_t size, void *arg)
{
	static unsigned long long adds, subs; /* protected by the linker's lock */

	(void)size;
	(void)arg;
	if (info->dlpi_adds != adds || info->dlpi_subs != subs)
		for (int d = 0; d < RN_GPU_DRIVERS; d++)
			find_driver((enum rn_gpu_driver)d);
	adds = info->dlpi_adds;
	subs = info->dlpi_subs;
	return 1;
}

/* ---- queries ---- */

struct answer {
	void *host;
	uint64_t managed; /* CUDA writes 4 bytes, HIP 1 */
	int device;       /* negative: unknown to the driver */
	uintptr_t start;
	size_t size; /* some versions of HIP write only the low 32 bits */
};

static bool query(enum rn_gpu_driver driver, uintptr_t p, struct answer *a)
{
	int attribute[] = { HOST_POINTER, IS_MANAGED, DEVICE_ORDINAL, RANGE_START, RANGE_SIZE };
	void *value[] = { &a->host, &a->managed, &a->device, &a->start, &a->size };
	query_function *ask = (query_function *)function(driver, QUERY);
	error_function *peek = (error_function *)function(driver, PEEK_ERROR);
	error_function *clear = (error_function *)function(driver, CLEAR_ERROR);
	int failed;

	*a = (struct answer){ .device = -1 };
	if (!ask || (peek && peek() != 0))
		return false;
	failed = ask(sizeof(attribute) / sizeof(attribute[0]), attribute, value, p);
	if (failed && clear)
		clear();
	return !failed && a->device >= 0 && a->device < RN_MEM_GPUS;
}

/* Host memory that a driver has pinned retains the class of its heap block or mapping. */
static bool is_gpu_memory(const struct answer *a)
{
	return a->start && (a->managed || !a->host);
}

static bool hip_is_used; /* atomic */

void rn_gpu_note_use(enum rn_gpu_driver driver)
{
	if (driver == RN_GPU_HIP)
		__atomic_store_n(&hip_is_used, true, __ATOMIC_RELAXED);
}

static bool can_be_queried(enum rn_gpu_driver driver)
{
	return driver != RN_GPU_HIP || __atomic_load_n(&hip_is_used, __ATOMIC_RELAXED);
}

bool rn_gpu_query(uintptr_t p, struct rn_mem_range *range)
{
	bool loaded = false;
	struct answer a;
	RN_ERRNO_GUARD;

	range->cls = RN_MEM_OTHER;
	dl_iterate_phdr(find_changes, NULL);
	for (int i = 0; i < RN_GPU_DRIVERS && range->cls == RN_MEM_OTHER; i++) {
		enum rn_gpu_driver d = (enum rn_gpu_driver)i;

		loaded = loaded || function(d, QUERY);
		if (!can_be_queried(d) || !query(d, p, &a) || !is_gpu_memory(&a))
			continue;
		range->lo = a.start <= p ? a.start : p;
		range->hi = p - range->lo < a.size ? range->lo + a.size : p + 1;
		range->cls = a.managed ? RN_MEM_MANAGED : RN_MEM_GPU + (uint32_t)a.device;
	}
	return loaded;
}

uint32_t rn_gpu_class(enum rn_gpu_driver driver, const void *p)
{
	device_function *current;
	struct answer a;
	RN_ERRNO_GUARD;

	dl_iterate_phdr(find_changes, NULL);
	current = (device_function *)function(driver, DEVICE);
	/* The query does not cover memory of a graph that is being captured. */
	if (!query(driver, (uintptr_t)p, &a) && current && current(&a.device) != 0)
		a.device = -1;
	return a.device >= 0 && a.device < RN_MEM_GPUS ? RN_MEM_GPU + (uint32_t)a.device
						       : RN_MEM_OTHER;
}
