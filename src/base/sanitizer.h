/*
 * sanitizer.h - AddressSanitizer's shared runtime, which must precede all other libraries.
 *
 * It ends the program if it does not. So LD_PRELOAD names it first, before the tracer or the stub,
 * in each program that needs it, and RN_SANITIZER_FIRST has the value "1" then. The programs that
 * such a program starts need not use the sanitizer. The tracer or the stub therefore removes the
 * first name from the environment when the program starts, and sets the value to "0".
 *
 * String comparisons only: safe before a program's main.
 */
#ifndef RN_BASE_SANITIZER_H
#define RN_BASE_SANITIZER_H

#include <stdbool.h>
#include <string.h>

#include "base/which_mpi.h"

#define RN_SANITIZER_FIRST "RONDO_SANITIZER_FIRST"

/* Whether a library, by its name or path, is the shared runtime of gcc or clang. */
static inline bool rn_is_asan(const char *path)
{
	const char *name = rn_base_name(path);

	return rn_begins(name, "libasan.so") || rn_begins(name, "libclang_rt.asan");
}

/* The part of LD_PRELOAD after the first name. */
static inline const char *rn_after_first(const char *preload)
{
	preload += strcspn(preload, ": ");
	return preload + strspn(preload, ": ");
}

#endif
