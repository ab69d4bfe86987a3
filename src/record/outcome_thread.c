/* outcome_thread.c - see outcome_thread.h. */
#include "record/outcome_thread.h"

#include "encode/call_words.h"
#include "preload/thread_lineage.h"
#include "runtime/outcome.h"
#include "runtime/tracer_state.h"
#include "trace/handles.h"

struct rn_order_thread *rn_order_threads;
_Thread_local struct rn_order_thread *rn_order_me;

bool rn_order_alone(void)
{
	return !rn_order_threads || !rn_order_threads->next;
}

struct rn_order_thread *rn_order_thread_new(struct rn_stream *t)
{
	struct rn_order_thread *o;

	rn_tracer_lock();
	o = rn_new(&rn_tracer.mem, struct rn_order_thread, 1);
	if (o) {
		o->stream = t->number;
		o->birth = rn_birth();
		o->next = rn_order_threads;
		rn_order_threads = o;
	}
	rn_tracer_unlock();
	rn_order_me = o;
	if (o)
		rn_outcome_ops->thread_begins(t, o);
	return o;
}

bool rn_order_call(struct rn_order_call *c, enum rn_order_kind kind, MPI_Comm comm)
{
	struct rn_stream *t = rn_me;
	struct rn_order_thread *o = rn_order_current(t);
	uint64_t head = rn_stream_under_way(t)[0];

	*c = (struct rn_order_call){ .t = t,
				     .o = o,
				     .function = RN_RAW_FUNCTION(head),
				     .place = RN_RAW_SITE(head),
				     .kind = kind,
				     .source = RN_PLAN_NOTHING,
				     .tag = RN_PLAN_NOTHING };
	if (comm != MPI_COMM_NULL)
		c->comm = (uint32_t)rn_handle_word(t, RN_K_comm, (uint64_t)(uintptr_t)comm);
	return o != NULL;
}
