/*
 * journal_read.h - what processes have recorded, from the part file of their node (journal_file.h).
 *
 * Of each process that has said who it is: its streams as they were when it ended, however that
 * came about, ready to be put into a trace (process_trace.h). A call that was under way is the
 * stream's last one, without results; what others were made inside of comes behind them, as it
 * always does.
 *
 * Input is untrusted. At an invalid byte of a log or ring, the stream ends. If a snapshot is
 * invalid, the stream lacks the calls of its segment, or those since its seal. Such a process is
 * `damaged`. One that makes no sense only when its calls are written is found by whoever does that.
 *
 * Cost: linear in the file, whatever the calls that its rules stand for. All memory is the arena's;
 * it refers to nothing of the file afterwards.
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

#define RN_SALVAGE_STREAMS 2048u /* of a process */
#define RN_STOPPED_NOWHERE UINT32_MAX

/* Where a stream is. Words are those of encode/call_words.h; NULL: there are none, or they are not
 * known.
 */
struct rn_now {
	const uint64_t *call, *outer, *last;
	size_t call_n, outer_n; /* words of the call it is in, which ends with what that was given,
				 * and of the one that this was made inside of */
	size_t last_n;          /* of the latest call that was recorded, as a whole */
	uint64_t again;         /* so many of the latest calls are that one */
	uint64_t calls;         /* recorded so far */
	uint64_t entered, left; /* ticks: when it went into the call, out of the latest */
	uint8_t off;            /* RN_OFF_* */
	bool busy;              /* it changes faster than can be read */
};

struct rn_salvaged {
	uint32_t process; /* its id */
	uint32_t file;    /* index of the part file; set and used by recover.c */
	struct rn_fact_world world;
	struct rn_recorded recorded;
	struct rn_meta meta;
	struct rn_fact_clock clock;
	const char *ended;      /* how, if it could say so; NULL: it was killed, or still runs */
	bool complete;          /* it ended by itself, and every call that it made is there */
	struct rn_fact_end end; /* if it ended by itself */
	bool damaged;
	uint32_t *stopped;  /* by stream: the function it was in, or RN_STOPPED_NOWHERE */
	struct rn_now *now; /* by stream; only of RN_SALVAGE_NOW */
};

struct rn_salvage {
	uint64_t run;
	struct rn_salvaged *process;
	uint32_t n;
	uint32_t unknown; /* processes that have not said who they are */
};

/* The data that is read of each stream. RN_SALVAGE_NOW reads live positions only. It takes a time
 * that is independent of the number of calls, and processes may write to the file meanwhile. */
enum rn_salvage_what {
	RN_SALVAGE_NOW, /* the distinct calls, and `now` */
	RN_SALVAGE_ALL,
	RN_SALVAGE_SEALED, /* calls before the first damage and before the latest seal; later calls
			    * have no checksum */
};

/* RN_OK, RN_E_NOMEM, or RN_E_DATA: this is not a part file. */
int rn_salvage(struct rn_arena *mem, const void *bytes, size_t len, enum rn_salvage_what what,
	       struct rn_salvage *out, struct rn_err *err);

/* The run, and when the latest of its processes here began; 0 if that is not known. */
int rn_salvage_peek(const void *bytes, size_t len, uint64_t *run, uint64_t *time,
		    struct rn_err *err);

/* Of a file that was peeked at: is it a copy of one (journal_copy.h)? */
bool rn_salvage_is_copy(const void *bytes);

/* A copy of a file that processes go on writing to, of which each stream is as it was at one
 * moment. `to` has room for `len` bytes. False when one changes faster than it can be read. */
bool rn_salvage_copy(void *to, const void *from, size_t len);

#endif
