/*
 * good_parts.h - small journals (journal/journal_file.h) of every kind, for fuzzers.
 *
 *   calls      two ranks with one thread each: calls, stacks, a nested call
 *   segments   one rank of two, with two threads in segments: values, requests, strings and
 *              call times
 *   events     two ranks: a chunk of order events, and an event tail
 *   clock      as `events`, for the codec `clock`, with the messages that were sent
 *
 * The traces recovered from them have, taken together, all sections except `loops`. The bytes of a
 * kind are the same in every process.
 */
#ifndef RN_T_GOOD_PARTS_H
#define RN_T_GOOD_PARTS_H

#define PLACES 8u
#define AREA   ((size_t)1 << 12)

#include "encode/call_times.h"
#include "file/trace_writer.h"
#include "journal/event_tail.h"
#include "order/event_chunk.h"
#include "t/unit/part_files.h"

enum good_part { GOOD_CALLS, GOOD_SEGMENTS, GOOD_EVENTS, GOOD_CLOCK, GOOD_PARTS };

#define GOOD_PROCESS 1000u /* process id of rank 0 */

/* ---- calls ---- */

/* Adds one record with the times of all calls that the stream has so far. */
static inline void add_moments(struct stream *s)
{
	static const struct rn_grain exactly;
	struct rn_moment_writer *w = calloc(1, sizeof(*w));
	struct rn_moment m[CALLS_KNOWN];
	const uint64_t zero = 77;
	struct rn_buf b = { 0 };

	must(w != NULL);
	rn_moments_begin(w, &exactly, 100);
	for (uint32_t i = 0; i < s->functions; i++)
		m[i] = (struct rn_moment){ 100 + 50 * i, 110 + 51 * i, s->function[i],
					   RN_MOMENT_CALL };
	rn_moments_add(w, m, s->functions);
	rn_moments_close(w, &b);
	must(rn_log_add(&s->log, RN_FACT_MOMENTS, &zero, sizeof(zero), b.data, b.len) == 0);
	rn_buf_free(&b);
	free(w);
}

static inline void good_segments(const char *path)
{
	static struct stream s[2];
	struct rn_spill spill;
	struct rn_log shared = { .spill = &spill, .stream = RN_EXTENT_SHARED };

	open_part(&spill, path);
	add_facts(&shared, 0, 2);
	for (uint32_t k = 0; k < 2; k++) {
		start_stream(&spill, &s[k], k, 7);
		for (uint64_t i = 0; i < (k ? 4 : 16); i++) {
			next_segment(&spill, &s[k], i);
			add_rich(&spill, &s[k], i);
		}
		add_moments(&s[k]);
		end_so(&spill, &shared, &s[k], k ? IN_EXPECTED : IN_NESTED);
	}
	rn_spill_close(&spill, false);
}

/* ---- events ---- */

#define EVENT_SITES 6u
#define EVENT_BYTES ((size_t)1 << 12)

static inline void add_sites(struct stream *s, struct rn_order_site site[EVENT_SITES])
{
	static const char *const name[EVENT_SITES] = { "MPI_Test", "MPI_Waitany", "MPI_Testsome",
						       "MPI_Recv", "MPI_Iprobe",  "MPI_Wtime" };

	for (uint32_t i = 0; i < EVENT_SITES; i++) {
		site[i] =
			(struct rn_order_site){ i, function(name[i]),
						i == RN_ORDER_WAIT ? (uint32_t)world() : 0, i % 2 };
		must(rn_log_add(&s->log, RN_FACT_ORDER_SITE, &site[i], sizeof(*site), NULL, 0) ==
		     0);
	}
}

/* Writes row i, preceded by a message if `sends`. Returns the end of the written bytes. */
static inline unsigned char *put_event(unsigned char *begin, unsigned char *p, uint32_t i,
				       bool sends)
{
	const uint32_t site = i * 7 % EVENT_SITES, done = site == RN_ORDER_SOME ? 1 + i % 3 : 1;
	struct rn_order_done d[3];

	if (sends && i % 2)
		p = rn_tail_put_send(p, RN_ORDER_WAIT, (int)(i % 3), (int)(i % 2), 5);
	if (i % 3 == 0 && site != RN_ORDER_VALUE)
		p = rn_tail_put_fails(begin, p, site);
	if (site == RN_ORDER_VALUE)
		return rn_tail_put_value(p, site, 1000000 * (int64_t)i);
	for (uint32_t k = 0; k < done; k++)
		d[k] = (struct rn_order_done){ .index = k,
					       .late = i % 5 ? 0 : RN_ORDER_NOT,
					       .source = (int32_t)((i + k) % 2),
					       .tag = (int32_t)(i % 4),
					       .flags = RN_ORDER_MATCHED };
	return rn_tail_put_done(p, site, d, done);
}

/* Writes the rows from .. to, the first of them at `begin`. Returns the number of bytes. */
static inline size_t put_events(unsigned char *begin, uint32_t from, uint32_t to, bool sends)
{
	unsigned char *p = begin;

	for (uint32_t i = from; i < to; i++)
		p = put_event(begin, p, i, sends);
	return (size_t)(p - begin);
}

static inline uint64_t add_chunk(struct stream *s, const struct rn_order_site *site, uint32_t rows,
				 bool sends)
{
	_Alignas(8) unsigned char bytes[EVENT_BYTES];
	struct rn_order o = { .site = site, .sites = EVENT_SITES };
	struct rn_buf b = { 0 };
	bool failed;

	must(rn_order_tail_read(&s->mem, bytes, put_events(bytes, 0, rows, sends), &o, &failed));
	must(rn_order_chunk_write(RN_ORDER_MODEL, &o, &s->mem, &b) == RN_OK);
	must(rn_log_add(&s->log, RN_FACT_ORDER, b.data, b.len, NULL, 0) == 0);
	rn_buf_free(&b);
	return rn_order_count(&o).events;
}

static inline void good_events(const char *path, int64_t rank, bool clock)
{
	static const char codec[] = "order_codec\0clock", only[] = "only\0order";
	static struct stream s;
	struct rn_order_site site[EVENT_SITES];
	struct rn_spill spill;
	struct rn_log shared = { .spill = &spill, .stream = RN_EXTENT_SHARED };
	struct rn_order_tail *tail;

	open_part(&spill, path);
	must(rn_log_add(&shared, RN_FACT_META, only, sizeof(only), NULL, 0) == 0);
	if (clock)
		must(rn_log_add(&shared, RN_FACT_META, codec, sizeof(codec), NULL, 0) == 0);
	add_facts(&shared, rank, 2);
	start_stream(&spill, &s, 0, 0);
	s.m->live.off = RN_OFF_ORDER;
	tail = (void *)claim(&spill, RN_EXTENT_ORDER, 0, sizeof(*tail) + EVENT_BYTES, NULL);
	add_sites(&s, site);
	tail->events = add_chunk(&s, site, 9, clock) + 8;
	tail->word = (uint64_t)1 << 32 | put_events(rn_order_tail_rows(tail), 9, 15, clock);
	enter(&s, (const uint64_t[]){ function("MPI_Barrier"), world() }, 2);
	rn_spill_close(&spill, false);
}

/* ---- all ---- */

/* Creates the journal of a kind. Its directory must be private. */
static inline void write_good_part(const char *path, enum good_part kind)
{
	for (uint32_t rank = 0; rank < 2; rank++) {
		part_process = GOOD_PROCESS + rank;
		if (kind == GOOD_CALLS)
			be_a_rank(path, rank, 2, 1, 18, 0, rank ? IN_BARRIER : IN_NESTED);
		else if (kind == GOOD_SEGMENTS && rank == 0)
			good_segments(path);
		else if (kind == GOOD_EVENTS || kind == GOOD_CLOCK)
			good_events(path, rank, kind == GOOD_CLOCK);
	}
	part_process = 0;
}

#endif
