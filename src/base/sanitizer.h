/*
 * sanitizer.h - AddressSanitizer's shared runtime, which must precede all other libraries.
 *
 * If another library precedes the runtime, the runtime ends the program. For a program that needs
 * the runtime, LD_PRELOAD therefore names it before the tracer or the stub, and
 * RN_ENV_SANITIZER_FIRST is "1". The children of the program may not use the sanitizer. When the
 * program starts, the tracer or the stub therefore removes the first name from LD_PRELOAD and sets
 * RN_ENV_SANITIZER_FIRST to "0".
 *
 * String comparisons only: safe before a program's main.
 */
#ifndef RN_BASE_SANITIZER_H
#define RN_BASE_SANITIZER_H

#include <stdbool.h>
#include <string.h>

#include "base/mpi_detect.h"
#include "base/tracer_env.h"

/* Whether a path or name of a library is that of the shared runtime of gcc or clang. */
static inline bool rn_is_asan(const char *path)
{
	const char *name = rn_base_name(path);

	return rn_begins(name, "libasan.so") || rn_begins(name, "libclang_rt.asan");
}

/* The value of LD_PRELOAD without its first name. */
static inline const char *rn_after_first(const char *preload)
{
	preload += strcspn(preload, ": ");
	return preload + strspn(preload, ": ");
}

#endif
