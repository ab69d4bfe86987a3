/*
 * cuda_hooks.h - hooks of the functions that allocate and free GPU memory.
 */
#ifndef RN_PRELOAD_CUDA_HOOKS_H
#define RN_PRELOAD_CUDA_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

bool rn_gpu_hooks_name(const char *name);

/* Whether a name may be hooked. Runs for every dlsym of the program; costs a few instructions. */
static inline bool rn_gpu_is_hooked(const char *name)
{
	return ((name[0] == 'c' && name[1] == 'u') || (name[0] == 'h' && name[1] == 'i')) &&
	       rn_gpu_hooks_name(name);
}

/* dlsym for a hooked name. The handle is not RTLD_NEXT. NULL, with dlerror set, if the program
 * would not find the function without the tracer. */
void *rn_gpu_dlsym(void *handle, const char *name, uintptr_t caller);

/* Called after dlclose: a driver that was unloaded may be loaded again at another address. */
void rn_gpu_forget(void);

#endif
