/*
 * replay_call_check.c - compares every call of a replay with the recorded call, if the trace has
 * all calls: the function, and its communicator, peer, tag and count.
 *
 * Functions that only query something (tests, the time) are not compared, because a program may
 * call them any number of times; gen.awk has the list. Nested calls are not compared either. Tests
 * are compared by their outcome (replay_cursor.c).
 *
 * All these functions, and tests, have a hook here, which also publishes the state of the process
 * (wait_state.h).
 */
#include "replay/replay_state.h"

#include "encode/call_words.h"
#include "runtime/wait_state.h"
#include "trace/comm_registry.h"
#include "trace/handles.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hand.h"

static bool compares[1024]; /* by function */
static uint8_t waits[1024]; /* by function: enum rn_wait_kind */

static int64_t rank_number(int64_t rank)
{
	return rank == RN_PLAN_NOTHING     ? RN_PLAN_NOTHING
	       : rank == MPI_ANY_SOURCE    ? RN_PLAN_ANY
	       : rank == MPI_PROC_NULL     ? RN_PLAN_NOBODY
	       : rank == (int64_t)MPI_ROOT ? RN_PLAN_ROOT
					   : rank;
}

static int64_t tag_number(int64_t tag)
{
	return tag == MPI_ANY_TAG ? RN_PLAN_ANY : tag;
}

static bool differs(int64_t now, int64_t recorded)
{
	return now != recorded && now != RN_PLAN_NOTHING && recorded != RN_PLAN_NOTHING &&
	       recorded != RN_PLAN_UNKNOWN;
}

static bool is_alike(const struct rn_plan_call *now, const struct rn_plan_call *recorded)
{
	return now->function == recorded->function && !differs(now->peer, recorded->peer) &&
	       !differs(now->tag, recorded->tag) && !differs(now->count, recorded->count) &&
	       !differs(now->source, recorded->source) && !differs(now->recvtag, recorded->recvtag);
}

static bool other_comm(const struct rn_plan_call *recorded, const char *now)
{
	const char *name = rn_replay_comm(recorded->comm);

	return name && now && strcmp(name, now) != 0;
}

/* Appends ", peer 3", or nothing if v has no value. Returns the new length. */
static size_t put(char *text, size_t at, size_t cap, const char *what, int64_t v)
{
	int n;

	if (v == RN_PLAN_NOTHING || v == RN_PLAN_UNKNOWN || at >= cap)
		return at;
	if (v == RN_PLAN_ANY || v == RN_PLAN_NOBODY || v == RN_PLAN_ROOT)
		n = snprintf(text + at, cap - at, "%s%s %s", at ? ", " : "", what,
			     v == RN_PLAN_ANY      ? "any"
			     : v == RN_PLAN_NOBODY ? "MPI_PROC_NULL"
						   : "MPI_ROOT");
	else
		n = snprintf(text + at, cap - at, "%s%s %" PRId64, at ? ", " : "", what, v);
	return at + (size_t)n;
}

static void describe(char *text, size_t cap, const struct rn_plan_call *c, const char *comm)
{
	char args[200] = "";
	size_t at = put(args, 0, sizeof(args), "peer", c->peer);

	at = put(args, at, sizeof(args), "tag", c->tag);
	at = put(args, at, sizeof(args), "count", c->count);
	at = put(args, at, sizeof(args), "source", c->source);
	at = put(args, at, sizeof(args), "recvtag", c->recvtag);
	if (comm && at < sizeof(args))
		snprintf(args + at, sizeof(args) - at, "%s%s", at ? ", " : "", comm);
	snprintf(text, cap, "%s(%s)", rn_mpi_protos[c->function].name, args);
}

/* Returns the next recorded call that is compared, or NULL. With `at_end`, the search ends at
 * MPI_Finalize. */
static const struct rn_plan_call *next_call(struct rn_replay *r, bool at_end)
{
	const struct rn_plan_call *call;

	if (!r || r->at->over)
		return NULL;
	call = rn_plan_at(rn_replayed.plan, r->s->call.at);
	while (r->call < r->s->call.n) {
		const struct rn_plan_call *c = &call[r->call];

		if (at_end && c->function == RN_N_MPI_Finalize)
			return NULL;
		r->call++;
		if (c->function < sizeof(compares) && compares[c->function])
			return c;
	}
	return NULL;
}

/* Compares a call with the next call in the recording. */
static void compare(struct rn_order_thread *o, const struct rn_plan_call *now, const char *comm)
{
	const struct rn_plan_call *recorded;
	char is[300], was[300];

	recorded = next_call(o->replay, false);
	if (!recorded || (is_alike(now, recorded) && !other_comm(recorded, comm)))
		return;
	describe(is, sizeof(is), now, comm);
	describe(was, sizeof(was), recorded, rn_replay_comm(recorded->comm));
	rn_replay_departs(o, is, was);
}

/* Returns false if the call is nested. */
static bool arrive(const struct rn_plan_call *now, MPI_Comm comm)
{
	struct rn_stream *t = rn_me;
	struct rn_order_thread *o = rn_order_current(t);
	uint32_t function = now->function;
	const char *name = NULL;

	if (!o || rn_stream_under_way(t) != t->buffer)
		return false;
	if (comm != MPI_COMM_NULL)
		name = rn_comm_get(
			       (uint32_t)rn_handle_word(t, RN_K_comm, (uint64_t)(uintptr_t)comm))
			       ->name;
	if (compares[function])
		compare(o, now, name);
	rn_wait_enter(function, waits[function], now->peer, now->tag, name);
	return true;
}

/* Reports a divergence if calls or events remain in the recording at the end of the program. */
static void arrive_at_end(void)
{
	struct rn_order_thread *o = rn_order_current(rn_me);
	const struct rn_plan_call *left;
	char was[300];

	if (!o || !o->replay || rn_replay_gets_free(o))
		return;
	left = next_call(o->replay, true);
	if (left) {
		describe(was, sizeof(was), left, rn_replay_comm(left->comm));
		rn_replay_departs(o, "MPI_Finalize", was);
	} else if (!rn_replay_knows_sends(o->replay)) {
		rn_replay_check_end(o);
	}
}

static int compare_MPI_Finalize(void)
{
	int rc;

	arrive_at_end();
	rn_wait_enter(RN_N_MPI_Finalize, RN_WAIT_CALL, RN_PLAN_NOTHING, RN_PLAN_NOTHING, NULL);
	rc = rn_next[RN_LINK_CHECK].MPI_Finalize();
	rn_wait_leave(RN_WAIT_CALL);
	rn_wait_end();
	return rc;
}

#define COMPARE(name, ret, number, decl, args, comm, peer_, tag_, count_, source_, recvtag_)  \
	static ret compare_##name decl                                                        \
	{                                                                                     \
		const struct rn_plan_call now = { .function = number,                         \
						  .peer = (int32_t)rank_number(peer_),        \
						  .tag = (int32_t)tag_number(tag_),           \
						  .count = count_,                            \
						  .source = (int32_t)rank_number(source_),    \
						  .recvtag = (int32_t)tag_number(recvtag_) }; \
		const bool outermost = arrive(&now, comm);                                    \
		const ret rc = rn_next[RN_LINK_CHECK].name args;                              \
                                                                                              \
		if (outermost)                                                                \
			rn_wait_leave(waits[number]);                                         \
		return rc;                                                                    \
	}
#define POLL COMPARE
#include "compare_calls.h"
#undef POLL
#undef COMPARE

static void hook(uint32_t function, bool compared, bool polls)
{
	compares[function] = compared;
	waits[function] = (uint8_t)(polls ? RN_WAIT_POLL : rn_wait_kind_of(function));
}

void rn_replay_hook_compare(void)
{
#define COMPARE(name, ret, number, ...)               \
	RN_HOOK(RN_LINK_CHECK, name, compare_##name); \
	hook(number, true, false);
#define POLL(name, ret, number, ...)                  \
	RN_HOOK(RN_LINK_CHECK, name, compare_##name); \
	hook(number, false, true);
#include "compare_calls.h"
#undef POLL
#undef COMPARE
	RN_HOOK(RN_LINK_CHECK, MPI_Finalize, compare_MPI_Finalize);
}
