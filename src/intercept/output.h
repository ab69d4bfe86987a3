/*
 * output.h - the path of the trace: which number it gets, and whether it may still be written.
 *
 * Rank 0 chooses the path in MPI_Init, and its part directory reserves the name (spool_folder.h). A
 * name is in use if another run or another user has its part directory, if a file that is not a
 * trace has it, or if a trace has it that was written after `rondo trace` was started. A trace that
 * is older is replaced at the end. If the file has changed by then, for example because a run on
 * another node has the same name, the trace gets another number.
 */
#ifndef RN_INTERCEPT_OUTPUT_H
#define RN_INTERCEPT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

/* Sets rn_config.output and opens the part file of this node. Called by rank 0 only. */
void rn_output_choose(uint64_t run);

/* Called by rank 0 before the trace is written, and again if it could not be written: sets
 * rn_config.output to a name that may be used. False: the output is unchanged. */
bool rn_output_renew(void);

#endif
