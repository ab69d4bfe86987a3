/*
 * recover.h - the parts of single ranks, as they lie on disk, into the whole trace; without MPI.
 *
 * A part file is a container with the sections `meta`, `comms` (if the rank has any), `times` (if
 * it has any; the exact form, part_times.h) and `part` (part.h); its streams are those of one
 * rank's threads, from 0. Its metadata are those of the trace, and besides
 *
 *   rank       whose it is
 *   ranks      how many there were
 *   threads    how many streams the rank has
 *   lost       how many of its calls are not there as they were made; absent: none
 *   complete   absent or "yes"; otherwise the rank's calls are not all there
 *   run        absent, or the same in all parts of one run
 *
 * Parts are added in the order of their ranks, one after the other into one that grows: the cost of
 * each is its own size (merge.h), so no tree is needed. What is missing becomes empty streams, and
 * is named: ranks without a part, and ranks whose part says that it is not complete. A part that is
 * refused leaves the whole as it was, and its rank is missing then.
 *
 * Memory: O(result + the largest part). Tool-side code: uses malloc through struct rn_buf.
 */
#ifndef RN_FILE_RECOVER_H
#define RN_FILE_RECOVER_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "encode/call.h"
#include "file/payload.h"
#include "merge/merge.h"
#include "merge/merged.h"

struct rn_comms;
struct rn_times;

#define RN_PART_NAME   "rank-%06" PRIu64 ".part" /* of a rank's file, inside its folder */
#define RN_PART_FOLDER ".part"                   /* behind the name of the trace */

/* Streams that a recovered trace may have: a damaged number must not keep us busy for hours. */
#define RN_RECOVER_STREAMS ((uint64_t)1 << 26)

/* What a part file says of itself. */
struct rn_part_facts {
	uint64_t rank, ranks, threads, lost;
	bool complete;
};

/* From its metadata. RN_OK or RN_E_DATA. */
int rn_part_facts(const struct rn_meta *meta, struct rn_part_facts *out, struct rn_err *err);

/* The same from the whole file. */
int rn_part_peek(const void *bytes, size_t len, struct rn_part_facts *out, struct rn_err *err);

/* A list of ranks, ascending, as "2-3,7". */
struct rn_rank_text {
	struct rn_buf text;   /* the ranges that are done */
	uint64_t first, last; /* the one that may still grow, if there is any */
	uint64_t n;           /* ranks in all */
};

struct rn_whole {
	struct rn_arena mem;          /* what stays */
	struct rn_arena one, scratch; /* the part that is being added */
	struct rn_part part;          /* the streams 0 .. streams - 1, if there are any */
	uint64_t streams;
	uint64_t ranks, threads; /* of the whole; threads: the most that a rank has */
	uint64_t next;           /* the lowest rank that can still be added */
	struct rn_func *func;    /* what parts had in their vocabularies, by number; */
	const char **word;       /* without a name where nothing is known */
	struct rn_comms *comms;  /* NULL: none */
	struct rn_times *times;  /* by the part's signatures; NULL: none */
	uint64_t lost;
	uint64_t calls;      /* once it is finished; without markers */
	struct rn_meta meta; /* of the first part */
	struct rn_rank_text missing, incomplete;
};

void rn_whole_init(struct rn_whole *w, uint64_t ranks, uint64_t threads);

/* Takes in a part file; ranks ascend. RN_OK; RN_E_DATA or RN_E_ARG (the rank has been passed
 * already) with what was there as it was; RN_E_NOMEM, after which the whole is not to be used. */
int rn_whole_add(struct rn_whole *w, const void *bytes, size_t len, struct rn_err *err);

/* Everything that was added, finished; `s` is valid as long as w is. RN_E_ARG when nothing was.
 * Afterwards missing and incomplete are final, and nothing can be added any more. */
int rn_whole_finish(struct rn_whole *w, struct rn_streams *s, struct rn_err *err);

/* Writes the finished trace: the metadata of the first part, `threads` if there are several,
 * `complete`, and `incomplete` with the ranks that are. */
int rn_whole_write(struct rn_whole *w, const struct rn_streams *s, const char *path,
		   struct rn_err *err);

/* "2-3,7", or "" for no ranks; NULL without memory. The list must not grow any more. */
const char *rn_rank_text(struct rn_rank_text *t);

void rn_whole_free(struct rn_whole *w);

#endif
