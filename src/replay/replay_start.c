/* replay_start.c - see replay_start.h. */
#include "replay/replay_start.h"
#include "replay/replay_state.h"

#include "base/mpi_detect.h"
#include "record/post_order.h"
#include "runtime/outcome.h"
#include "runtime/tracer_config.h"
#include "runtime/tracer_state.h"
#include "trace/caller_filter.h"

#include <unistd.h>

#include "encode/call_words.h"

static void count_unenforced(struct rn_stream *t, uint64_t head)
{
	(void)t;
	rn_replay_count_unenforced(RN_RAW_FUNCTION(head));
}

/* A replay has no journal. */
static void ignore_stream(struct rn_stream *t)
{
	(void)t;
}

static const struct rn_outcome_ops outcome = { .libc_values = true,
					       .unreplayable = count_unenforced,
					       .thread_begins = rn_replay_thread,
					       .stream_stored = ignore_stream,
					       .value = rn_replay_libc_value,
					       .comm_created = rn_replay_made };

/* Called when the tracer starts, because programs may call time functions before MPI_Init. */
void rn_replay_install(void)
{
	int rank = rn_rank_of(environ, -1);

	rn_outcome_ops = &outcome;
	rn_config.order_sends = false; /* a replay records nothing */
	rn_replay_hook_receives();
	rn_replay_hook_probes();
	rn_replay_hook_polls();
	rn_replay_hook_completions();
	rn_replay_hook_values();
	rn_replay_hook_sends();
	if (rank >= 0)
		rn_replay_load(rank);
}

void rn_replay_begin(void)
{
	rn_replay_load(rn_tracer.world_rank);
	rn_replay_prepare();
	rn_replay_rejoin();
	if (!rn_tracer.threaded || !rn_replayed.plan || !rn_replayed.plan->turn.n)
		return;
	rn_turns = &rn_turns_replayed;
	rn_replay_hook_posts();
	rn_site_forget();
}
