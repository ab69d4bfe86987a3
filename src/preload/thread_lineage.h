/*
 * thread_lineage.h - identifies a thread by its lineage, which is equal from run to run.
 *
 * Streams are numbered in the order in which threads first call MPI, which differs from run to run.
 * The lineage of a thread (its creator, and its position in the creator's sequence of created
 * threads) is the same in every run of an otherwise deterministic program. pthread_create and
 * thrd_create are therefore interposed and count the created threads.
 *
 * Cost: two atomic operations per thread. Locking: none; safe to call at any time.
 */
#ifndef RN_PRELOAD_THREAD_LINEAGE_H
#define RN_PRELOAD_THREAD_LINEAGE_H

#include <stdint.h>

/* The lineage of the calling thread; never negative. 0: the process's first thread, or a thread
 * that was created neither by pthread_create nor by thrd_create. */
int64_t rn_birth(void);

#endif
