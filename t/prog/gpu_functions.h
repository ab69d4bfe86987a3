/*
 * gpu_functions.h - the functions of a GPU driver or runtime, obtained in one of several ways.
 */
#ifndef GPU_FUNCTIONS_H
#define GPU_FUNCTIONS_H

#include <stddef.h>

/* Each function returns 0 or an error code. */
struct gpu {
	int (*malloc)(void **p, size_t n);
	int (*malloc_pitch)(void **p, size_t *pitch, size_t width, size_t height);
	int (*malloc_managed)(void **p, size_t n, unsigned flags);
	int (*malloc_async)(void **p, size_t n, void *stream);
	int (*malloc_from_pool)(void **p, size_t n, void *pool, void *stream);
	int (*malloc_host)(void **p, size_t n, unsigned flags);
	int (*reserve)(void **p, size_t n, size_t align, void *at, unsigned long long flags);
	int (*free)(void *p);
	int (*free_async)(void *p, void *stream);
	int (*free_host)(void *p);
	int (*unreserve)(void *p, size_t n);
	int (*global)(void **p, size_t *n, void *module, const char *name);
	int (*set_device)(int device);
};

/* The way depends on the runtime that is linked with the program (fake_runtime.c). */
const struct gpu *gpu_functions(void);

#endif
