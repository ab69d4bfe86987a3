/*
 * journal_read_stream.h - reads one stream from its extents; for journal_read.c.
 *
 * Memory is the arena's. Input is untrusted.
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

/* An extent; `len` bytes of it are in the file, the head included. */
struct rn_found {
	struct rn_extent head;
	const unsigned char *at; /* the head */
	size_t len;
};

/* Finds the extent that begins at a page. If the file does not contain its end, `len` is shorter.
 * False if no valid extent begins there. */
bool rn_found_at(const unsigned char *bytes, size_t len, uint64_t page, struct rn_found *f);

/* Finds the next extent at or after *page, and sets *page to the page after it. Pages in between
 * belong to a process that was stopped before it wrote the head of its extent. False if there is no
 * further extent. */
bool rn_found_next(const unsigned char *bytes, size_t len, uint64_t *page, struct rn_found *f);

/* The extents of one process and one stream, in ascending order of pages. */
struct rn_founds {
	const struct rn_found *extent;
	uint32_t n;
};

struct rn_stream_facts {
	uint64_t scale;              /* in: nanoseconds per tick, 32.32 fixed point */
	const unsigned char *wanted; /* in: by function: whether the filter selects it; NULL: all */
	bool sealed_only;            /* in: RN_SALVAGE_SEALED */
	uint32_t stopped; /* out: function of the call in flight, or RN_STOPPED_NOWHERE */
	bool damaged;     /* out */
};

/* Calls fn for the records of a log, in order, until it returns false. Returns false if a record is
 * invalid or missing, or fn returned false. */
typedef bool rn_fact_fn(void *arg, uint32_t type, const void *bytes, size_t len);
bool rn_found_log(struct rn_founds f, rn_fact_fn *fn, void *arg);

/* Copies a record of n bytes to `to`. False if its length is not n. */
static inline bool rn_fact_get(const void *bytes, size_t len, void *to, size_t n)
{
	if (len == n)
		memcpy(to, bytes, n);
	return len == n;
}

/* Creates an empty stream. RN_OK or RN_E_NOMEM. */
int rn_salvage_nothing(struct rn_arena *mem, struct rn_recorded_stream *out,
		       struct rn_segment_list *pieces);

/* Reads a stream. `out` and `pieces` were created by rn_salvage_nothing. If the stream has several
 * segments, `out` is the last one. If `now` is not NULL, reads only the distinct calls and the live
 * position. Returns RN_OK or RN_E_NOMEM. */
int rn_salvage_stream(struct rn_arena *mem, struct rn_founds f, struct rn_stream_facts *facts,
		      struct rn_recorded_stream *out, struct rn_segment_list *pieces,
		      struct rn_now *now);

#endif
