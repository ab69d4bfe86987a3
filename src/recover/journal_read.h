/*
 * journal_read.h - reads the data that the processes of a node recorded from their journal file.
 *
 * For each identified process, the result is its streams as they were when the process ended, ready
 * for conversion to a partial trace (merge/process_trace.h). The call in flight is the last call of
 * its stream and has no results. Nested calls precede the end of their outer call, as in every
 * stream.
 *
 * Input is untrusted. At an invalid byte of a log or ring, the stream ends. If a snapshot is
 * invalid, the stream lacks the calls of its segment, or those since its checkpoint. Such a process
 * is marked `damaged`. Errors that appear only when the calls are converted are reported by the
 * converter.
 *
 * Cost: linear in the size of the file, independent of the number of calls that its rules expand
 * to. All memory is the arena's; the results do not refer to the file.
 */
#ifndef RN_RECOVER_JOURNAL_READ_H
#define RN_RECOVER_JOURNAL_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "journal/journal_file.h"
#include "merge/process_trace.h"
#include "model/payload.h"

struct rn_arena;

#define RN_SALVAGE_STREAMS 2048u /* per process */
#define RN_STOPPED_NOWHERE UINT32_MAX

/* The live position of a stream. The words are call words (encode/call_words.h). NULL: there is no
 * such call, or it is unknown. */
struct rn_now {
	const uint64_t *call, *outer, *last;
	/* Words of the call in flight up to its last input, and of the call that contains it. */
	size_t call_n, outer_n;
	size_t last_n;          /* words of the latest recorded call, results included */
	uint64_t again;         /* number of consecutive latest calls that are equal to `last` */
	uint64_t calls;         /* number of calls recorded so far */
	uint64_t entered, left; /* ticks: start of the call in flight, end of the latest call */
	uint8_t off;            /* RN_OFF_* */
	bool busy;              /* the stream changes faster than it can be read */
};

struct rn_salvaged {
	uint32_t process; /* process id */
	uint32_t file;    /* index of the journal file; set and used by recover.c */
	struct rn_fact_world world;
	struct rn_recorded recorded;
	struct rn_meta meta;
	struct rn_fact_clock clock;
	const char *ended;      /* how the process ended; NULL: killed, or still running */
	bool complete;          /* the process ended by itself, and all of its calls are present */
	struct rn_fact_end end; /* valid if `ended` is not NULL */
	bool damaged;           /* some of its data is damaged or missing */
	uint32_t *stopped;  /* by stream: function of the call in flight, or RN_STOPPED_NOWHERE */
	struct rn_now *now; /* by stream; only with RN_SALVAGE_NOW */
};

struct rn_salvage {
	uint64_t run;
	struct rn_salvaged *process;
	uint32_t n;
	uint32_t unknown; /* number of processes without a valid RN_FACT_WORLD record */
};

/* The data to read of each stream. RN_SALVAGE_NOW reads live positions only. Its time is
 * independent of the number of calls, and processes may write to the file meanwhile. */
enum rn_salvage_what {
	RN_SALVAGE_NOW, /* the distinct calls, and the live positions in `now` */
	RN_SALVAGE_ALL,
	/* calls before the first damage and before the latest checkpoint; later calls have no
	 * checksum */
	RN_SALVAGE_SEALED,
};

/* Returns RN_OK; RN_E_NOMEM; or RN_E_DATA if this is not a journal file. */
int rn_salvage(struct rn_arena *mem, const void *bytes, size_t len, enum rn_salvage_what what,
	       struct rn_salvage *out, struct rn_err *err);

/* Reads the run id, and the start time of the process that started last, in nanoseconds since 1970;
 * 0: unknown. Returns RN_OK, or RN_E_DATA if this is not a journal file. */
int rn_salvage_peek(const void *bytes, size_t len, uint64_t *run, uint64_t *time,
		    struct rn_err *err);

/* Whether the file is a copy of a journal (journal_copy.h). rn_salvage_peek must have accepted the
 * file. */
bool rn_salvage_is_copy(const void *bytes);

/* Copies a file that processes are still writing to, so that each stream is copied as it was at one
 * moment. `to` has room for `len` bytes. False if a stream changes faster than it can be copied. */
bool rn_salvage_copy(void *to, const void *from, size_t len);

#endif
