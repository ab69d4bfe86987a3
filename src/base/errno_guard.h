/*
 * errno_guard.h - restores errno when a scope is left.
 *
 * The tracer must not change the errno of the traced program. RN_ERRNO_GUARD is a declaration. It
 * saves errno, and every exit from the scope restores it.
 */
#ifndef RN_BASE_ERRNO_GUARD_H
#define RN_BASE_ERRNO_GUARD_H

#include <errno.h>

static inline void rn_errno_restore(const int *saved)
{
	errno = *saved;
}

#define RN_ERRNO_GUARD __attribute__((cleanup(rn_errno_restore))) int rn_saved_errno = errno

#endif
