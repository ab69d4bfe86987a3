/* tracer_state.c - see tracer_state.h. */
#include "intercept/tracer_state.h"

#include "intercept/stream.h"

#include <sched.h>
#include <string.h>

#define STREAMS_OWN  32u  /* as many threads are told apart, though they may follow each other */
#define STREAMS_MAX  2046 /* a request's word has 11 bits for it */
#define TABLES_LIMIT ((size_t)4 << 30)

struct rn_tracer rn_tracer = { .threaded = true, .last_stream = &rn_tracer.streams };

static struct {
	bool lock;
	bool in_use[STREAMS_MAX];              /* by number */
	struct rn_stream *stream[STREAMS_MAX]; /* by number */
	/* Memory of the first tables: without tables this rank could not report to the other ranks
	 * that it has no memory, and they would wait for it. */
	_Alignas(64) unsigned char tables[64 << 10];
} state;

static void lock(bool *held)
{
	while (__atomic_test_and_set(held, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void unlock(bool *held)
{
	__atomic_clear(held, __ATOMIC_RELEASE);
}

void rn_tracer_lock_slow(void)
{
	lock(&rn_tracer.lock);
}

int rn_tracer_init_tables(void)
{
	rn_arena_init_over(&rn_tracer.mem, TABLES_LIMIT, state.tables, sizeof(state.tables));
	return rn_requests_init(&rn_tracer.requests, &rn_tracer.mem);
}

bool rn_tracer_full(void)
{
	return rn_tracer_nstreams() >= STREAMS_MAX;
}

struct rn_stream *rn_tracer_take_stream(void)
{
	struct rn_stream *t = NULL;
	bool *free = NULL;

	lock(&state.lock);
	if (rn_tracer.nstreams >= STREAMS_OWN)
		free = memchr(state.in_use, false, rn_tracer.nstreams);
	if (free) {
		*free = true;
		t = state.stream[free - state.in_use];
	}
	unlock(&state.lock);
	return t;
}

bool rn_tracer_number_stream(struct rn_stream *t)
{
	lock(&state.lock);
	if (rn_tracer_full()) {
		unlock(&state.lock);
		return false;
	}
	t->number = rn_tracer.nstreams;
	__atomic_store_n(&rn_tracer.nstreams, t->number + 1, __ATOMIC_RELAXED);
	return true;
}

void rn_tracer_publish_stream(struct rn_stream *t)
{
	state.stream[t->number] = t;
	state.in_use[t->number] = true;
	__atomic_store_n(rn_tracer.last_stream, t, __ATOMIC_RELEASE);
	rn_tracer.last_stream = &t->next;
	unlock(&state.lock);
}

struct rn_stream *rn_tracer_stream(uint32_t number)
{
	return state.stream[number];
}

void rn_tracer_leave_stream(const struct rn_stream *t)
{
	lock(&state.lock);
	state.in_use[t->number] = false;
	unlock(&state.lock);
}
