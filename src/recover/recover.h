/*
 * recover.h - builds the trace of a run from its journal files, without MPI.
 *
 * The processes of all nodes are read (journal_read.h). The rank expressions are chosen for all
 * processes together, as in MPI_Finalize, and the partial traces are merged in the order of their
 * ranks. Ranks without recorded data have no calls. A process whose calls are invalid is read
 * again, up to the first damage and without the calls after its latest checkpoints, which have no
 * checksum. If these calls are also invalid, its rank is missing.
 *
 * The metadata are those of the first process, and in addition:
 *
 *   complete          "yes", or "no": calls are missing
 *   incomplete        ranks whose calls may be incomplete: "0-2,5"
 *   stopped_in.F      ranks whose call in flight was a call of the function F
 *   stopped_outside   ranks that were killed while no recorded call was in flight
 *   threads, lost     as in every trace
 *
 * Memory: O(size of the files). Tool-side code: uses malloc through struct rn_buf.
 */
#ifndef RN_RECOVER_RECOVER_H
#define RN_RECOVER_RECOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/rank_text.h"

#define RN_PART_FOLDER ".part" /* appended to the name of the trace */

/* Maximum number of streams of a recovered trace. It limits the time that a damaged count can
 * cost. */
#define RN_RECOVER_STREAMS ((uint64_t)1 << 26)

/* The file of one node. rn_recover needs only its bytes. */
struct rn_node_file {
	const void *bytes;
	size_t len;
	const char *path, *host;
	int fd;
};

struct rn_recovered {
	uint64_t ranks, calls, bytes;
	uint64_t events;  /* number of order events; 0 if calls were recorded */
	uint64_t lost;    /* number of calls that were made and are missing */
	uint32_t damaged; /* number of processes of which some or all data is omitted */
	struct rn_rank_text missing, incomplete;
};

/* The processes that are read only up to the first damage and the latest checkpoints. */
enum rn_recover_sealed {
	RN_RECOVER_INVALID, /* processes whose calls are otherwise invalid */
	RN_RECOVER_DAMAGED, /* also processes with damaged data */
	RN_RECOVER_SEALED,  /* all processes */
};

/* Writes the trace. Returns RN_OK; RN_E_DATA if no process is found; or the error of the writer.
 * The caller frees `out` in any case. The trace can be invalid if calls of different streams
 * contradict each other. The caller therefore checks it, and on failure calls this function again
 * with the next value of `sealed`. */
int rn_recover(const struct rn_node_file *file, size_t n, enum rn_recover_sealed sealed,
	       const char *path, struct rn_recovered *out, struct rn_err *err);

void rn_recovered_free(struct rn_recovered *r);

#endif
