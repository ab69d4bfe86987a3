/*
 * spin.h - a lock for short critical sections. Zero bytes are an unlocked lock.
 *
 * A thread that finds the lock held yields the processor. The lock is not recursive. It uses no
 * function of a thread library, so a wrapper of such a function may hold it.
 */
#ifndef RN_BASE_SPIN_H
#define RN_BASE_SPIN_H

#include <sched.h>
#include <stdbool.h>

struct rn_spin {
	bool held;
};

static inline void rn_spin_lock(struct rn_spin *s)
{
	while (__atomic_test_and_set(&s->held, __ATOMIC_ACQUIRE))
		sched_yield();
}

static inline void rn_spin_unlock(struct rn_spin *s)
{
	__atomic_clear(&s->held, __ATOMIC_RELEASE);
}

#endif
