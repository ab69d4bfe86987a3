/*
 * recover.h - the part files of a run into its trace; without MPI, however the run ended.
 *
 * All processes of all nodes are found (journal_read.h), how their ranks are expressed is chosen
 * for all together, as it would have been in MPI_Finalize, and their bundles are put together in
 * the order of their ranks. Ranks of which nothing is there have no calls. A process whose calls
 * are invalid is read again, up to the first damage and without the calls after its latest seals,
 * which have no checksum. If these calls are also invalid, its rank is missing.
 *
 * The metadata are those of the first process, and besides
 *
 *   complete       "yes", or "no": calls are missing
 *   incomplete     ranks whose calls may not all be there: "0-2,5"
 *   stopped_in.F   ranks that were in a call of the function F
 *   stopped_outside   ranks that were killed in no call that was to be recorded
 *   threads, lost  as in every trace
 *
 * Memory: O(files). Tool-side code: uses malloc through struct rn_buf.
 */
#ifndef RN_RECOVER_RECOVER_H
#define RN_RECOVER_RECOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/rank_text.h"

#define RN_PART_FOLDER ".part" /* behind the name of the trace */

/* Streams that a recovered trace may have: a damaged number must not keep us busy for hours. */
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
	uint64_t events;  /* where those were recorded, and no calls */
	uint64_t lost;    /* calls that were made, and are not there */
	uint32_t damaged; /* processes of which something, or everything, is left out */
	struct rn_rank_text missing, incomplete;
};

/* The processes that are read only up to the first damage and the latest seals. */
enum rn_recover_sealed {
	RN_RECOVER_INVALID, /* processes whose calls are otherwise invalid */
	RN_RECOVER_DAMAGED, /* also processes with damaged data */
	RN_RECOVER_SEALED,  /* all processes */
};

/* Writes the trace. RN_OK; RN_E_DATA: no process can be found; or what writing says. `out` is to be
 * freed in any case. The trace can be invalid if calls of different streams contradict each other.
 * The caller therefore checks it, and on failure calls this function again with the next value of
 * `sealed`. */
int rn_recover(const struct rn_node_file *file, size_t n, enum rn_recover_sealed sealed,
	       const char *path, struct rn_recovered *out, struct rn_err *err);

void rn_recovered_free(struct rn_recovered *r);

#endif
