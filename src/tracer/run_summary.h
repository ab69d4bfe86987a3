/*
 * run_summary.h - prints the summary line of a run, and posts its result to the waiting command.
 */
#ifndef RN_TRACER_RUN_SUMMARY_H
#define RN_TRACER_RUN_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

struct rn_written;
struct rn_finish;

/* Reports that the trace was written. */
void rn_summary_trace(const struct rn_finish *f, const struct rn_written *file);

/* Report that no trace was written: --rank selects no rank, or no call was recorded. */
void rn_summary_no_rank(void);
void rn_summary_unchanged(void);

/* Reports that the journals are the result. The waiting command builds the trace; without one, the
 * user does. */
void rn_summary_journal(const char *tag, const char *why);

/* Reports that the watchers of the ranks build the trace from the journals. If `first`, the rank
 * prints the line itself, because its launcher still reads its standard error. */
void rn_summary_watched(const char *why, bool first);

/* Reports calls that the trace does not contain: `kept` are in the journal, `lost` were only
 * counted. The waiting command adds up those of all ranks. Without one, rank 0 reports its own
 * calls. */
void rn_summary_late(uint64_t kept, uint64_t lost);

#endif
