/*
 * birth.h - which thread this is, in a way that is the same in the next run.
 *
 * Streams are numbered as threads come to call MPI, which is a matter of chance. The lineage of a
 * thread is not, in a program that is otherwise deterministic: its creator, and its position in the
 * creator's sequence of created threads. pthread_create and thrd_create are therefore interposed
 * and count.
 *
 * Cost: two atomic operations per thread. Locks nothing; safe to call at any time.
 */
#ifndef RN_INTERCEPT_BIRTH_H
#define RN_INTERCEPT_BIRTH_H

#include <stdint.h>

/* The lineage of the calling thread; not negative. 0: the program's first thread, or one that was
 * created neither by pthread_create nor by thrd_create. */
int64_t rn_birth(void);

#endif
