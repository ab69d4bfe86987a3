/* run_summary.c - see run_summary.h. */
#include "tracer/run_summary.h"

#include "base/intern.h"
#include "base/number_text.h"
#include "base/text.h"
#include "base/tracer_env.h"
#include "file/trace_writer.h"
#include "model/event_list.h"
#include "runtime/message.h"
#include "runtime/process_log.h"
#include "runtime/status_line.h"
#include "runtime/tracer_config.h"
#include "runtime/tracer_state.h"
#include "tracer/finish_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PATH_BYTES                                                                     \
	1024 /* maximum bytes of a path in a message; rn_say truncates longer messages \
	      */

/* Prints the summary of a trace. The merge time is `tracer_ns` of the tally. The write time cannot
 * be stored in the file that is being written. */
static void say_done(const struct rn_finish *f, uint64_t calls, uint64_t size)
{
	uint64_t write_ns = rn_finish_elapsed_ns(f) - f->tracer_ns;
	char path[PATH_BYTES];

	rn_say("%" PRIu64 " call%s on %d rank%s in %" PRIu64
	       " bytes (%.3g per call), merged in %.4f s, written in %.4f s, "
	       "%" PRIu64 " lost; see: rondo info %s",
	       calls, rn_plural(calls), rn_tracer.world_size,
	       rn_plural((uint64_t)rn_tracer.world_size), size,
	       calls ? (double)size / (double)calls : 0.0, (double)f->bundle.tally.tracer_ns / 1e9,
	       (double)write_ns / 1e9, f->bundle.tally.lost,
	       rn_text_path(rn_config.output, path, sizeof(path)));
}

/* Whether a list of names, separated by commas, contains the name. */
static bool is_named(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at += n)
		if (at[n] == '\0' || at[n] == ',')
			return true;
	return false;
}

/* Formats the unreplayable calls: "; not exactly replayable: 12 calls of MPI_Get,
 * MPI_Fetch_and_op". */
static void say_loose(const struct rn_order_list *l, uint64_t calls, char *text, size_t cap)
{
	size_t at = (size_t)snprintf(text, cap, "; not exactly replayable: %" PRIu64 " call%s of ",
				     calls, rn_plural(calls));
	const char *between = "";

	for (uint32_t i = 0; i < rn_sigs_count(l->site) && at < cap; i++) {
		struct rn_order_place p = rn_order_list_site(l, i);
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)p.function_len, p.function);
		if (p.kind != RN_ORDER_LOOSE || is_named(text, name))
			continue;
		at += (size_t)snprintf(text + at, cap - at, "%s%s", between, name);
		between = ", ";
	}
}

/* Prints the summary of a recording. Spawned processes run freely in a replay, so the message names
 * `rondo report` for their traces. */
static void say_events(const struct rn_finish *f, const struct rn_order_count *n, uint64_t size)
{
	char loose[400] = "";
	char path[PATH_BYTES];

	if (n->loose)
		say_loose(&f->bundle.order, n->loose, loose, sizeof(loose));
	rn_say("%" PRIu64 " event%s (%" PRIu64 " message%s received, %" PRIu64
	       " failed test%s) on %d rank%s in %" PRIu64 " bytes (%.3g per event), %" PRIu64
	       " lost%s; see: rondo %s %s%s",
	       n->events, rn_plural(n->events), n->received, rn_plural(n->received), n->failed,
	       rn_plural(n->failed), rn_tracer.world_size,
	       rn_plural((uint64_t)rn_tracer.world_size), size,
	       n->events ? (double)size / (double)n->events : 0.0, f->bundle.tally.lost, loose,
	       f->spawned ? "report" : "replay", rn_text_path(rn_config.output, path, sizeof(path)),
	       f->spawned ? "" : " COMMAND");
}

void rn_summary_trace(const struct rn_finish *f, const struct rn_written *file)
{
	struct rn_order_count events = rn_order_list_count(&f->bundle.order);

	if (rn_config.order)
		say_events(f, &events, file->bytes);
	else
		say_done(f, file->calls, file->bytes);
}

void rn_summary_no_rank(void)
{
	rn_say("--rank %s selects none of the %d rank%s of the run; no trace was written",
	       rn_config.rank, rn_tracer.world_size, rn_plural((uint64_t)rn_tracer.world_size));
	rn_status_post(RN_TAG_FAILED, "no rank");
}

void rn_summary_unchanged(void)
{
	char path[PATH_BYTES];

	rn_say("no call was recorded, so the existing trace was not replaced: %s",
	       rn_text_path(rn_config.output, path, sizeof(path)));
	rn_status_post(RN_TAG_FAILED, "no call");
}

void rn_summary_journal(const char *word, const char *why)
{
	char folder[PATH_BYTES];

	if (!rn_status_post(word, why))
		rn_say("%s; %s did is kept; put together by: rondo recover %s", why,
		       rn_process_log_is_whole() ? "what every rank" : "some of what the ranks",
		       rn_text_path(rn_process_log_folder(), folder, sizeof(folder)));
}

void rn_summary_watched(const char *why, bool first)
{
	char folder[PATH_BYTES];

	rn_status_post(RN_TAG_PARTS, why);
	if (first)
		rn_say("%s; the trace is made when all ranks have ended; if it is not: rondo "
		       "recover %s",
		       why, rn_text_path(rn_process_log_folder(), folder, sizeof(folder)));
}

void rn_summary_late(uint64_t kept, uint64_t lost)
{
	char path[PATH_BYTES];
	char text[64];

	snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64, kept, lost);
	if (!rn_status_post(RN_TAG_LATE, text) && rn_tracer.world_rank == 0) {
		if (lost)
			rn_say("%" PRIu64 " call%s on rank 0 came when the trace had been written "
			       "(after MPI_Finalize), and cannot be added",
			       lost, rn_plural(lost));
		else
			rn_say("%" PRIu64 " call%s on rank 0 came when the trace had been written "
			       "(after MPI_Finalize); to add to it: rondo recover %s",
			       kept, rn_plural(kept),
			       rn_text_path(rn_process_log_folder(), path, sizeof(path)));
	}
}
