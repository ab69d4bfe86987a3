/*
 * journal_read_stream.h - one stream from its extents; for journal_read.c.
 *
 * Memory from the arena. Every number in the extents is hostile.
 */
#ifndef RN_RECOVER_JOURNAL_READ_STREAM_H
#define RN_RECOVER_JOURNAL_READ_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "journal/journal_file.h"

struct rn_arena;
struct rn_now;
struct rn_segment_list;
struct rn_recorded_stream;

/* An extent, as far as the file has it. */
struct rn_found {
	struct rn_extent head;
	const unsigned char *at; /* of the head */
	size_t len;
};

/* The extent that begins at a page. One that the file does not have the end of is cut. */
bool rn_found_at(const unsigned char *bytes, size_t len, uint64_t page, struct rn_found *f);

/* The next extent from *page on, which moves behind it. Where there is none the pages are those of
 * a process that was stopped before it could say what they are for. */
bool rn_found_next(const unsigned char *bytes, size_t len, uint64_t *page, struct rn_found *f);

/* Of one process and one stream, ascending. */
struct rn_founds {
	const struct rn_found *extent;
	uint32_t n;
};

struct rn_stream_facts {
	uint64_t scale;              /* in: of the clock */
	const unsigned char *wanted; /* in: by function; NULL: all are */
	bool sealed_only;            /* in: RN_SALVAGE_SEALED */
	uint32_t stopped;            /* out: the function it was in, or RN_STOPPED_NOWHERE */
	bool damaged;                /* out */
};

/* Calls fn for the records of a log, in order, as long as it returns true. False when the log
 * breaks off. */
typedef bool rn_fact_fn(void *arg, uint32_t type, const void *bytes, size_t len);
bool rn_found_log(struct rn_founds f, rn_fact_fn *fn, void *arg);

/* Gets a record of n bytes. */
static inline bool rn_fact_get(const void *bytes, size_t len, void *to, size_t n)
{
	if (len == n)
		memcpy(to, bytes, n);
	return len == n;
}

/* A stream that has nothing. RN_OK or RN_E_NOMEM. */
int rn_salvage_nothing(struct rn_arena *mem, struct rn_recorded_stream *out,
		       struct rn_segment_list *pieces);

/* RN_OK or RN_E_NOMEM. `out` and `pieces` were made by the above. If there are several pieces,
 * `out` is the last. With `now`: only its distinct calls, and where it is. */
int rn_salvage_stream(struct rn_arena *mem, struct rn_founds f, struct rn_stream_facts *facts,
		      struct rn_recorded_stream *out, struct rn_segment_list *pieces,
		      struct rn_now *now);

#endif
