/* record_start.c - see record_start.h. */
#include "record/record.h"
#include "record/record_start.h"

#include "record/event_log.h"
#include "record/post_order.h"
#include "runtime/outcome.h"
#include "runtime/tracer_config.h"
#include "runtime/tracer_state.h"
#include "trace/caller_filter.h"

static void ignore_comm(uint32_t function, const char *name, const struct rn_comm *now)
{
	(void)function;
	(void)name;
	(void)now;
}

static struct rn_outcome_ops outcome = { .unreplayable = rn_record_unreplayable,
					 .thread_begins = rn_record_thread,
					 .stream_stored = rn_order_log_adopt,
					 .value = rn_record_value,
					 .comm_created = ignore_comm };

void rn_record_install(void)
{
	outcome.libc_values = rn_config.values == RN_VALUES_ALL;
	rn_outcome_ops = &outcome;
	rn_record_hook_receives();
	rn_record_hook_probes();
	rn_record_hook_polls();
	rn_record_hook_completions();
	/* Without values, the calls are counted as unreplayable (bypass.h). */
	if (rn_config.values != RN_VALUES_NONE)
		rn_record_hook_values();
	rn_record_hook_sends();
}

void rn_record_begin(void)
{
	if (!rn_tracer.threaded)
		return;
	rn_turns = &rn_turns_recorded;
	rn_record_hook_posts();
	rn_site_forget();
}
