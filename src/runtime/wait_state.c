/* wait_state.c - see wait_state.h. */
#include "runtime/wait_state.h"

#include "encode/call_words.h"
#include "order/replay_control.h"
#include "runtime/tracer_state.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct rn_job *job;
static struct rn_job_rank *slot; /* NULL: nothing is published */
static bool describing;          /* atomic; a thread writes the description in the slot */

/* A call that was left by longjmp remains the call in flight until the next call. */
static _Thread_local struct {
	bool counted, inside, silent;
} mine __attribute__((tls_model("initial-exec")));

static void add32(uint32_t *to, uint32_t n)
{
	__atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

static void add64(uint64_t *to)
{
	__atomic_fetch_add(to, 1, __ATOMIC_RELAXED);
}

static void count_thread(void)
{
	if (mine.counted)
		return;
	mine.counted = true;
	add32(&slot->threads, 1);
	add32(&slot->silent, mine.silent ? (uint32_t)-1 : 0);
	mine.silent = false;
}

void rn_wait_thread_begins(void)
{
	if (!slot)
		return;
	mine.silent = true;
	add32(&slot->silent, 1);
}

void rn_wait_begin(struct rn_job *of)
{
	if (!of || !rn_job_is_near(of) || (uint32_t)rn_tracer.world_rank >= of->slots)
		return;
	job = of;
	slot = &job->rank[rn_tracer.world_rank];
	count_thread();
	__atomic_store_n(&job->world, (uint32_t)rn_tracer.world_size, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->pid, (uint32_t)getpid(), __ATOMIC_RELEASE);
}

enum rn_wait_kind rn_wait_kind_of(uint32_t function)
{
	uint32_t is = rn_mpi_protos[function].traits.is;

	return is & RN_IS_external ? RN_WAIT_EXTERNAL
	       : is & RN_IS_file   ? RN_WAIT_NOT
				   : RN_WAIT_CALL;
}

/* One thread at a time writes the description. The others do not wait: a signal handler may have
 * interrupted that thread. */
static bool begin_description(void)
{
	return !__atomic_test_and_set(&describing, __ATOMIC_ACQUIRE);
}

static void end_description(void)
{
	__atomic_clear(&describing, __ATOMIC_RELEASE);
}

static void write_awaited(const char *where, const char *awaited)
{
	snprintf(slot->where, sizeof(slot->where), "%s", where);
	snprintf(slot->awaited, sizeof(slot->awaited), "%s", awaited);
}

static void describe(uint32_t function, enum rn_wait_kind kind, int peer, int tag, const char *comm)
{
	if (!begin_description())
		return;
	if (kind != RN_WAIT_POLL || slot->function != function)
		write_awaited("", "");
	slot->function = function;
	slot->peer = peer;
	slot->tag = tag;
	slot->comm[0] = '\0';
	if (comm)
		strncpy(slot->comm, comm, sizeof(slot->comm) - 1);
	end_description();
}

void rn_wait_enter(uint32_t function, enum rn_wait_kind kind, int peer, int tag, const char *comm)
{
	if (!slot || kind == RN_WAIT_NOT)
		return;
	count_thread();
	if (kind == RN_WAIT_EXTERNAL)
		__atomic_store_n(&job->external, 1, __ATOMIC_RELAXED);
	describe(function, kind, peer, tag, comm);
	add32(&slot->inside, !mine.inside);
	mine.inside = true;
}

void rn_wait_leave(enum rn_wait_kind kind)
{
	if (!slot)
		return;
	add64(kind == RN_WAIT_POLL ? &slot->polls : &slot->calls);
	add32(&slot->inside, mine.inside ? (uint32_t)-1 : 0);
	mine.inside = false;
}

void rn_wait_describe(const char *where, const char *awaited)
{
	if (!slot || !begin_description())
		return;
	write_awaited(where, awaited);
	end_description();
}

void rn_wait_thread_ends(void)
{
	if (slot && mine.silent)
		add32(&slot->silent, (uint32_t)-1);
	mine.silent = false;
	if (!slot || !mine.counted)
		return;
	add32(&slot->inside, mine.inside ? (uint32_t)-1 : 0);
	add32(&slot->threads, (uint32_t)-1);
	mine.counted = mine.inside = false;
}

void rn_wait_end(void)
{
	if (slot)
		__atomic_store_n(&slot->finalized, 1, __ATOMIC_RELAXED);
}
