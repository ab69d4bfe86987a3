/*
 * trace_output.h - chooses the path and the number of the trace.
 *
 * Rank 0 chooses the path in MPI_Init. The journal directory reserves the name (journal_dir.h). A
 * name is in use in three cases: another run or another user has its journal directory; a file of
 * that name is not a trace; or a trace of that name was written after `rondo trace` was started. An
 * older trace is replaced at the end of the run. If the file has changed by then, for example
 * because a run on another node uses the same name, the trace gets the next number.
 */
#ifndef RN_TRACER_TRACE_OUTPUT_H
#define RN_TRACER_TRACE_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

/* Sets rn_config.output and opens the journal file of this node. Called by rank 0 only. */
void rn_output_choose(uint64_t run);

/* Sets rn_config.output to the next unused number if the file has changed since rn_output_choose.
 * False: the output is unchanged. Called by rank 0 before the trace is written, and again if it
 * could not be written. */
bool rn_output_renew(void);

#endif
