/*
 * gpu_driver.h - queries the loaded GPU drivers about addresses.
 *
 * A driver is identified by the functions that it defines (libcuda.so.1, libamdhip64.so), and is
 * searched for again when the dynamic linker has loaded or unloaded an object. A query is a call of
 * the driver (92 ns with CUDA on an H200), so only allocations and unknown addresses are queried. A
 * query changes neither the state of the driver nor errno. The first call of HIP initializes it, so
 * HIP is not queried before the program has allocated memory from it.
 */
#ifndef RN_PRELOAD_GPU_DRIVER_H
#define RN_PRELOAD_GPU_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "track/memory.h"

enum rn_gpu_driver { RN_GPU_CUDA, RN_GPU_HIP, RN_GPU_DRIVERS };

/* The program has allocated memory from the driver. */
void rn_gpu_note_use(enum rn_gpu_driver driver);

/* A rn_mem_driver (track/memory.h). */
bool rn_gpu_query(uintptr_t p, struct rn_mem_range *range);

/* The class of device memory that the driver has just allocated at p: RN_MEM_GPU + the device.
 * RN_MEM_OTHER if the driver does not report the device. */
uint32_t rn_gpu_class(enum rn_gpu_driver driver, const void *p);

#endif
