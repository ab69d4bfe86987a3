/* thread_lineage.c - see thread_lineage.h. */
#include "base/errno_guard.h"
#include "preload/thread_lineage.h"

#include "preload/chain.h"
#include "runtime/wait_state.h"

#include <stdatomic.h>

#define MOST_CHILDREN 4096 /* children of a thread that have unique lineages */
#define SLOTS         64

/* Start function and lineage of a new thread. */
struct child {
	void *(*start)(void *);
	thrd_start_t thrd_start;
	void *arg;
	int64_t birth;
	atomic_bool taken;
};

/* Threads that were created and have not started. A new thread does not call free(), because the C
 * library would create an arena for it, unless more than SLOTS threads start at the same time. */
static struct child slot[SLOTS];

static _Thread_local int64_t birth __attribute__((tls_model("initial-exec")));
static _Thread_local int64_t children __attribute__((tls_model("initial-exec")));

int64_t rn_birth(void)
{
	return birth;
}

/* Returns a slot, or allocated memory if all slots are in use; NULL if out of memory. */
static struct child *take_child(void)
{
	RN_ERRNO_GUARD;
	struct child *c;

	for (size_t i = 0; i < SLOTS; i++)
		if (!atomic_exchange(&slot[i].taken, true))
			return &slot[i];
	c = malloc(sizeof(*c));
	return c;
}

static void release_child(struct child *c)
{
	if (c >= slot && c < slot + SLOTS)
		atomic_store(&c->taken, false);
	else
		free(c);
}

/* Lineages of deeply nested threads wrap around; a lineage is never negative. */
static int64_t next_birth(void)
{
	uint64_t n = (uint64_t)birth * MOST_CHILDREN + (uint64_t)++children;

	return (int64_t)(n & INT64_MAX);
}

static struct child begin(struct child *c)
{
	struct child copy = { .start = c->start, .thrd_start = c->thrd_start, .arg = c->arg };

	birth = c->birth;
	release_child(c);
	rn_wait_thread_begins();
	return copy;
}

static void *begin_thread(void *arg)
{
	struct child c = begin(arg);
	void *result = c.start(c.arg);

	rn_wait_thread_ends();
	return result;
}

static int begin_thrd(void *arg)
{
	struct child c = begin(arg);
	int result = c.thrd_start(c.arg);

	rn_wait_thread_ends();
	return result;
}

/* Undoes next_birth and take_child after the thread could not be created. */
static void undo(struct child *c)
{
	children--;
	release_child(c);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	struct child *c = take_child();
	int rc;

	if (!c)
		return rn_libc()->pthread_create(thread, attr, start, arg);
	c->start = start;
	c->arg = arg;
	c->birth = next_birth();
	rc = rn_libc()->pthread_create(thread, attr, begin_thread, c);
	if (rc != 0)
		undo(c);
	return rc;
}

int thrd_create(thrd_t *thread, thrd_start_t start, void *arg)
{
	struct child *c = take_child();
	int rc;

	if (!c)
		return rn_libc()->thrd_create(thread, start, arg);
	c->thrd_start = start;
	c->arg = arg;
	c->birth = next_birth();
	rc = rn_libc()->thrd_create(thread, begin_thrd, c);
	if (rc != thrd_success)
		undo(c);
	return rc;
}
