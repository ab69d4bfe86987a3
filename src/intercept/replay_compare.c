/*
 * replay_compare.c - where the record has every call, each is compared with it: the function, and
 * the communicator, peer, tag and count that it was given.
 *
 * Functions that a program may call more or less often, because they only ask something (tests,
 * the time), are not (gen.awk has the list); nor are calls made inside others. Tests are compared
 * by what comes out (replay.c).
 */
#include "intercept/replay.h"

#include "encode/raw.h"
#include "intercept/comm.h"
#include "intercept/handle.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct rn_real behind; /* what the calls go on to */
static bool compares[1024];   /* by function */

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

static bool other_comm(const struct rn_plan_call *recorded, const char *now)
{
	const char *name = rn_replay_comm(recorded->comm);

	return name && now && strcmp(name, now) != 0;
}

/* ", peer 3", or nothing. */
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
	if (comm && at < sizeof(args))
		snprintf(args + at, sizeof(args) - at, "%s%s", at ? ", " : "", comm);
	snprintf(text, cap, "%s(%s)", rn_mpi_protos[c->function].name, args);
}

/* The next one that is compared. */
static const struct rn_plan_call *next_call(struct rn_replay *r, uint64_t *k)
{
	uint64_t n, *next;
	const struct rn_plan_call *call = rn_replay_calls(r, &n, &next);

	while (call && *next < n) {
		const struct rn_plan_call *c = &call[*next];

		*k = (*next)++;
		if (c->function < sizeof(compares) && compares[c->function])
			return c;
	}
	return NULL;
}

static void arrive(uint32_t function, MPI_Comm comm, int64_t peer, int64_t tag, int64_t count)
{
	struct rn_stream *t = rn_me;
	struct rn_order_thread *o = rn_order_thread(t);
	const struct rn_plan_call now = { .function = function,
					  .peer = (int32_t)rank_number(peer),
					  .tag = (int32_t)tag_number(tag),
					  .count = count };
	const struct rn_plan_call *recorded;
	const char *name = NULL;
	char is[300], was[300];
	uint64_t k;

	if (!o || rn_stream_under_way(t) != t->buffer || !(recorded = next_call(o->replay, &k)))
		return;
	if (comm != MPI_COMM_NULL)
		name = rn_comm_get(
			       (uint32_t)rn_handle_word(t, RN_K_comm, (uint64_t)(uintptr_t)comm))
			       ->name;
	if (recorded->function == function && !differs(now.peer, recorded->peer) &&
	    !differs(now.tag, recorded->tag) && !differs(now.count, recorded->count) &&
	    !other_comm(recorded, name))
		return;
	describe(is, sizeof(is), &now, name);
	describe(was, sizeof(was), recorded, rn_replay_comm(recorded->comm));
	rn_replay_differs(o, k, is, was);
}

#define COMPARE(name, ret, number, decl, args, comm, peer, tag, count) \
	static ret compare_##name decl                                 \
	{                                                              \
		arrive(number, comm, peer, tag, count);                \
		return behind.name args;                               \
	}
#include "compare_calls.h"
#undef COMPARE

void rn_replay_hook_compare(void)
{
	behind = rn_next;
#define COMPARE(name, ret, number, decl, args, comm, peer, tag, count) \
	rn_next.name = compare_##name;                                 \
	compares[number] = true;
#include "compare_calls.h"
#undef COMPARE
}
