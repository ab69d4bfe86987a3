/*
 * dlsym_hooks.c - dlsym and dlclose, as the traced program sees them.
 *
 * Who is linked with MPI gets our functions from the dynamic linker, because we come before the MPI
 * library. Who asks it later need not: dlsym(RTLD_NEXT) of a library that comes behind us (a tool),
 * or of a handle (MPI loaded by an interpreter, or with RTLD_LOCAL), finds the MPI library itself.
 * Such a question for a function that we have gets ours as an answer, and all others theirs.
 * Functions of GPU drivers are looked up in cuda_hooks.c.
 *
 * RTLD_NEXT and RTLD_DEFAULT depend on who asks, and the dynamic linker takes that from the return
 * address. So whatever is not answered here goes on by a jump. For the same reason there is no
 * dlopen here: what is loaded is found when it is used.
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

/* Our function, where MPI's would be found. */
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

/* RTLD_DEFAULT finds us first, if the program does not have the function itself. */
static bool is_ours(void *handle, const char *name)
{
	return handle != RTLD_DEFAULT && name &&
	       (strncmp(name, "MPI", 3) == 0 || strncmp(name, "PMPI", 4) == 0);
}

/* Not inlined, so that nothing of it is left on the stack when the function below jumps. */
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

/* What is unloaded may make room for something else. */
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
