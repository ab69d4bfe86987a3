/* thread_stream.c - see thread_stream.h. */
#include "trace/thread_stream.h"

#include "base/errno_guard.h"
#include "base/spin.h"
#include "preload/thread_lineage.h"
#include "runtime/tracer_config.h"
#include "runtime/tracer_state.h"
#include "runtime/wait_state.h"
#include "trace/stream.h"
#include "trace/stream_journal.h"
#include "trace/tracer_start.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* ---- the streams of the process ---- */

#define STREAMS_OWN 32u  /* a process with fewer streams reuses none */
#define STREAMS_MAX 2046 /* the call word of a request has 11 bits for the stream */

/* The list has its own lock, because threads begin and end at any time. */
static struct {
	struct rn_spin lock;
	bool in_use[STREAMS_MAX];              /* by stream id */
	struct rn_stream *stream[STREAMS_MAX]; /* by stream id */
} list;

static bool list_is_full(void)
{
	return rn_tracer_nstreams() >= STREAMS_MAX;
}

/* Returns the stream with the lowest id that no thread uses, and assigns it to the calling
 * thread. Returns NULL if all streams are in use, or if there are few streams; the thread then
 * creates one. */
static struct rn_stream *take_free(void)
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

/* Adds a stream in two steps. Between them no other stream is added, and no other thread sees this
 * one. False if there are too many streams; then the second step is omitted. */
static bool add_number(struct rn_stream *t)
{
	rn_spin_lock(&list.lock);
	if (list_is_full()) {
		rn_spin_unlock(&list.lock);
		return false;
	}
	t->number = rn_tracer.nstreams;
	__atomic_store_n(&rn_tracer.nstreams, t->number + 1, __ATOMIC_RELAXED);
	return true;
}

static void publish(struct rn_stream *t)
{
	list.stream[t->number] = t;
	list.in_use[t->number] = true;
	__atomic_store_n(rn_tracer.last_stream, t, __ATOMIC_RELEASE);
	rn_tracer.last_stream = &t->next;
	rn_spin_unlock(&list.lock);
}

struct rn_stream *rn_stream_get(uint32_t number)
{
	return list.stream[number];
}

static void release(const struct rn_stream *t)
{
	rn_spin_lock(&list.lock);
	list.in_use[t->number] = false;
	rn_spin_unlock(&list.lock);
}

/* ---- the stream of a thread ---- */

/* Whether the calling thread has released its stream, and whether it is about to get one. */
static _Thread_local struct {
	bool ended, beginning;
} this_thread __attribute__((tls_model("initial-exec")));

static struct {
	pthread_key_t key;
	bool exists; /* false: threads never release their streams */
} end_of_thread;

/* Destructors that run after this one may make calls. So this destructor schedules itself again,
 * and the thread retains its stream. It does not do so until the last round, because allocators and
 * similar libraries, which also schedule themselves again, must still be usable. Calls that the
 * thread makes later are lost. */
static void thread_ends(void *arg)
{
	struct rn_stream *t = arg;

	if (!rn_tracer_active()) /* tracing has ended, or this is a forked child */
		return;
	rn_stream_unwind(t); /* the thread called pthread_exit in a callback, or was canceled */
	if (++t->ends < PTHREAD_DESTRUCTOR_ITERATIONS - 1 &&
	    pthread_setspecific(end_of_thread.key, t) == 0)
		return;
	this_thread.ended = true;
	rn_me = NULL;
	rn_wait_thread_ends();
	rn_mem_thread_stop(&t->places);
	release(t);
}

void rn_stream_watch_ends(void)
{
	end_of_thread.exists = pthread_key_create(&end_of_thread.key, thread_ends) == 0;
}

/* Assigns the stream to the calling thread. Its calls follow those of the stream's previous thread,
 * if there was one. The disabling reasons are computed again, because those of the previous thread
 * may not apply. */
static void enter(struct rn_stream *t)
{
	uint8_t off = (uint8_t)(rn_config.call[0] ? RN_OFF_CALLS : 0);
	bool is_first = gettid() == getpid();
	uint64_t *top;

	if (rn_config.order || rn_config.replay[0])
		off |= RN_OFF_ORDER;
	if (rn_tracer.init_done && !rn_config_wants_rank(rn_tracer.world_rank))
		off |= RN_OFF_RANK;
	/* Sequentially consistent: either the thread that ends the run sees the stream, or this
	 * thread sees that the run has ended. */
	__atomic_store_n(&t->off, off, __ATOMIC_SEQ_CST);
	rn_stream_turn(t, RN_OFF_OVER, !rn_tracer_active());
	t->live.left = t->left = is_first ? rn_clock_started() : rn_clock_now();
	rn_mem_thread_start(&t->places, t->number, is_first ? __builtin_frame_address(0) : NULL);
	t->ends = 0;
	if (end_of_thread.exists)
		pthread_setspecific(end_of_thread.key, t);
	top = rn_stream_enter(t);
	rn_me = t;
	rn_stream_set_thread(t, rn_birth());
	rn_stream_show_expected(t);
	rn_stream_leave(t, top);
}

/* Initializes what belongs to the first stream, which has the id 0. */
static void first_stream(void)
{
	rn_config_give_back();
	rn_tracer.pid = (int)getpid();
}

/* The stream is in the journal before other threads see it. */
static struct rn_stream *make(void)
{
	struct rn_stream *t = list_is_full() ? NULL : rn_stream_new();

	if (!t)
		return NULL;
	if (!add_number(t)) {
		rn_stream_free(t);
		return NULL;
	}
	rn_spool_adopt(t);
	if (t->number == 0)
		first_stream();
	publish(t);
	return t;
}

static struct rn_stream *begin(void)
{
	struct rn_stream *t = NULL;

	rn_tracer_start();
	if (!rn_tracer_active() || (rn_tracer_nstreams() == 0 && rn_tracer_is_for_other()))
		return NULL;
	if (!this_thread.ended && !(t = take_free()))
		t = make();
	if (t)
		enter(t);
	else
		__atomic_fetch_add(&rn_tracer.lost, 1, __ATOMIC_RELAXED);
	return t;
}

/* A signal handler may call MPI while the thread is here; that call is lost. */
struct rn_stream *rn_stream_begin(void)
{
	RN_ERRNO_GUARD;
	struct rn_stream *t;

	if (this_thread.beginning) {
		__atomic_fetch_add(&rn_tracer.lost, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	this_thread.beginning = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t = begin();
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	this_thread.beginning = false;
	return t;
}
