/*
 * replay_comm_check.c - compares each communicator created in a replay with the recorded one.
 *
 * The name of a communicator is the sequence of calls that created it (comm_registry.h). All
 * communicators of one name on a rank have the same members, so the recording has one entry per
 * name. A call that creates a communicator equal to a freed one creates no new name, in both runs.
 * A new name therefore means that the members are new.
 */
#include "replay/replay_start.h"
#include "replay/replay_state.h"

#include "encode/call_words.h"
#include "runtime/tracer_state.h"
#include "trace/comm_registry.h"

#include <inttypes.h>
#include <stdio.h>

static struct rn_plan_member member_of(const struct rn_comm *c)
{
	return (struct rn_plan_member){ .rank = (uint64_t)c->rank,
					.size = (uint64_t)c->local.n,
					.leader = (uint64_t)(c->local.first + 1),
					.remote = (uint64_t)c->remote.n,
					.remote_leader = (uint64_t)(c->remote.first + 1) };
}

static bool same_leader(uint64_t recorded, uint64_t now)
{
	return recorded == now || !recorded || !now;
}

static bool same(const struct rn_plan_member *a, const struct rn_plan_member *b)
{
	return a->rank == b->rank && a->size == b->size && a->remote == b->remote &&
	       same_leader(a->leader, b->leader) &&
	       (!a->remote || same_leader(a->remote_leader, b->remote_leader));
}

static void describe(char *text, size_t cap, uint32_t function, const char *name,
		     const struct rn_plan_member *m)
{
	const char *by = rn_mpi_protos[function].name;
	char leader[32] = "", remote[96] = "";

	if (!m) {
		snprintf(text, cap, "%s(MPI_COMM_NULL, or one like before)", by);
		return;
	}
	if (m->leader)
		snprintf(leader, sizeof(leader), ", leader %" PRIu64, m->leader - 1);
	if (m->remote)
		snprintf(remote, sizeof(remote), ", remote size %" PRIu64 " and leader %" PRId64,
			 m->remote, (int64_t)m->remote_leader - 1);
	snprintf(text, cap, "%s(%.100s: size %" PRIu64 ", rank %" PRIu64 "%s%s)", by, name, m->size,
		 m->rank, leader, remote);
}

/* Returns whether a missing communicator is a certain difference. The position of a call in the
 * sequence is certain only if threads do not create communicators concurrently. A communicator that
 * is missing from the recording was not created, unless the recording ended before. */
static bool is_certain(const struct rn_plan_member *was, bool more)
{
	return rn_tracer_nstreams() == 1 && (was || more);
}

void rn_replay_made(uint32_t function, const char *name, const struct rn_comm *now)
{
	struct rn_order_thread *o = rn_order_current(rn_me);
	const struct rn_plan_member *was;
	struct rn_plan_member is;
	char is_text[250], was_text[250];
	bool more;

	if (!o || !rn_replay_is_on(o->replay, &more))
		return;
	was = rn_plan_member(rn_replayed.plan, name);
	if (now && !now->complete)
		return;
	if (now)
		is = member_of(now);
	if (now && was ? same(was, &is) : (!now && !was) || !is_certain(was, more))
		return;
	describe(is_text, sizeof(is_text), function, name, now ? &is : NULL);
	describe(was_text, sizeof(was_text), function, name, was);
	rn_replay_departs(o, is_text, was_text);
}
