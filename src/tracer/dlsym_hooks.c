/*
 * dlsym_hooks.c - interposes dlsym and dlclose.
 *
 * A program that is linked with MPI binds to the wrappers, because the tracer precedes the MPI
 * library in the search order. A lookup at run time may not: dlsym(RTLD_NEXT) from a library that
 * follows the tracer (a tool), or dlsym on a handle (MPI loaded by an interpreter, or with
 * RTLD_LOCAL), finds the MPI library itself. The hook answers such a lookup with the wrapper if one
 * exists. Functions of GPU drivers are looked up in cuda_hooks.c.
 *
 * RTLD_NEXT and RTLD_DEFAULT depend on the caller, which the dynamic linker derives from the return
 * address. All other lookups are therefore forwarded by a jump. For the same reason dlopen is not
 * interposed; libraries that are loaded later are found when they are first used.
 */
#include "base/errno_guard.h"
#include "preload/chain.h"
#include "preload/cuda_hooks.h"
#include "preload/loaded_object.h"
#include "trace/caller_filter.h"
#include "trace/callstack.h"
#include "track/memory.h"

#include <errno.h>
#include <link.h>
#include <string.h>

static bool is_mpi(const struct link_map *object)
{
	return object && rn_object_kind(object) == RN_OBJECT_MPI;
}

/* Returns the wrapper if the lookup would find the function of the MPI library; otherwise NULL. */
static void *answer(void *handle, const char *name, uintptr_t from)
{
	const struct link_map *us = rn_object_ours(), *who = rn_object_at(from);
	void *ours = us ? rn_object_symbol(us, name) : NULL, *theirs;

	if (!ours || who == us || is_mpi(who))
		return NULL;
	if (handle == RTLD_NEXT)
		return who && is_mpi(rn_object_next(who, name)) ? ours : NULL;
	theirs = rn_libc()->dlsym(handle, name);
	return theirs && is_mpi(rn_object_at((uintptr_t)theirs)) ? ours : NULL;
}

/* Whether the lookup may need a wrapper. RTLD_DEFAULT finds the wrapper first, unless the program
 * defines the function itself. */
static bool is_ours(void *handle, const char *name)
{
	return handle != RTLD_DEFAULT && name &&
	       (strncmp(name, "MPI", 3) == 0 || strncmp(name, "PMPI", 4) == 0);
}

/* Not inlined, so that its stack frame is gone when the function below jumps. */
__attribute__((noinline)) static void *answer_calmly(void *handle, const char *name, uintptr_t from)
{
	RN_ERRNO_GUARD;
	void *ours = answer(handle, name, from);

	return ours;
}

__attribute__((optimize("O2"))) void *dlsym(void *restrict handle, const char *restrict name)
{
	uintptr_t from = (uintptr_t)__builtin_return_address(0);
	void *ours;

	if (handle != RTLD_NEXT && rn_gpu_is_hooked(name))
		return rn_gpu_dlsym(handle, name, from);
	ours = is_ours(handle, name) ? answer_calmly(handle, name, from) : NULL;
	return ours ? ours : rn_libc()->dlsym(handle, name);
}

/* Discards cached addresses: another object may be loaded at those of the unloaded one. */
int dlclose(void *lib)
{
	int ret = rn_libc()->dlclose(lib), saved = errno;

	rn_site_forget();
	rn_callstack_forget();
	rn_gpu_forget();
	rn_mem_modules_changed();
	errno = saved;
	return ret;
}
