/* stream_list.c - see stream_list.h. */
#include "trace/stream_list.h"

#include "base/spin.h"
#include "runtime/tracer_state.h"
#include "trace/stream.h"

#include <string.h>

#define STREAMS_OWN 32u  /* as many threads are told apart, though they may follow each other */
#define STREAMS_MAX 2046 /* a request's word has 11 bits for it */

static struct {
	struct rn_spin lock;
	bool in_use[STREAMS_MAX];              /* by number */
	struct rn_stream *stream[STREAMS_MAX]; /* by number */
} list;

bool rn_stream_list_is_full(void)
{
	return rn_tracer_nstreams() >= STREAMS_MAX;
}

struct rn_stream *rn_stream_list_take(void)
{
	struct rn_stream *t = NULL;
	bool *free = NULL;

	rn_spin_lock(&list.lock);
	if (rn_tracer.nstreams >= STREAMS_OWN)
		free = memchr(list.in_use, false, rn_tracer.nstreams);
	if (free) {
		*free = true;
		t = list.stream[free - list.in_use];
	}
	rn_spin_unlock(&list.lock);
	return t;
}

bool rn_stream_list_number(struct rn_stream *t)
{
	rn_spin_lock(&list.lock);
	if (rn_stream_list_is_full()) {
		rn_spin_unlock(&list.lock);
		return false;
	}
	t->number = rn_tracer.nstreams;
	__atomic_store_n(&rn_tracer.nstreams, t->number + 1, __ATOMIC_RELAXED);
	return true;
}

void rn_stream_list_publish(struct rn_stream *t)
{
	list.stream[t->number] = t;
	list.in_use[t->number] = true;
	__atomic_store_n(rn_tracer.last_stream, t, __ATOMIC_RELEASE);
	rn_tracer.last_stream = &t->next;
	rn_spin_unlock(&list.lock);
}

struct rn_stream *rn_stream_list_get(uint32_t number)
{
	return list.stream[number];
}

void rn_stream_list_leave(const struct rn_stream *t)
{
	rn_spin_lock(&list.lock);
	list.in_use[t->number] = false;
	rn_spin_unlock(&list.lock);
}
