/*
 * use_trace.h - the operations of the commands on a trace, as functions for fuzz_trace.c.
 *
 * The trace is hostile, but rn_trace_parse accepted it. A function may fail because the data is
 * invalid (RN_E_DATA, with one line of text where it fills in an error) or because the memory
 * limit (base/budget.h) is exceeded. Any other failure is a finding. Streams with more than
 * CALLS_READ calls are not read call by call.
 */
#ifndef RN_T_USE_TRACE_H
#define RN_T_USE_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bytes_moved.h"
#include "analysis/event_diff.h"
#include "analysis/event_source.h"
#include "analysis/infer_receives.h"
#include "analysis/nondeterminism.h"
#include "analysis/outline.h"
#include "analysis/thread_events.h"
#include "base/arena.h"
#include "base/budget.h"
#include "base/buf.h"
#include "base/intern.h"
#include "encode/call_words.h"
#include "identity/comm_table.h"
#include "model/markers.h"
#include "order/replay_plan.h"
#include "read/call_text.h"
#include "read/event_reader.h"
#include "read/event_text.h"
#include "read/output_form.h"
#include "read/stream_printer.h"
#include "read/trace.h"
#include "read/trace_check.h"

#define CALLS_READ   10000u
#define STREAMS_READ 64u

static inline bool is_over(int rc)
{
	return rc == RN_E_NOMEM && rn_budget_exceeded();
}

static inline bool is_line(const struct rn_err *err)
{
	return err->text[0] && !strchr(err->text, '\n');
}

/* Whether the step succeeded. It may fail because of the memory limit or the data. */
static inline bool is_done(int rc)
{
	if (rc != RN_OK && rc != RN_E_DATA && rc != RN_E_RANGE && !is_over(rc))
		abort();
	return rc == RN_OK;
}

static inline void require(bool condition)
{
	if (!condition && !rn_budget_exceeded())
		abort();
}

/* The output contains no control characters except newlines. */
static inline void require_text(const struct rn_buf *out)
{
	for (size_t i = 0; i < out->len; i++)
		require((out->data[i] >= ' ' && out->data[i] != 127) || out->data[i] == '\n');
}

/* ---- calls ---- */

static inline void print_stream(const struct rn_trace *t, uint64_t stream, struct rn_printer *p,
				struct rn_buf *out)
{
	uint32_t group;
	uint64_t from;
	int rc;

	if (rn_streams_find(&t->streams, stream, &group) < 0 ||
	    rn_streams_length(&t->streams, group) >= 10 * CALLS_READ)
		return;
	from = rn_printer_numbers(p, group) / 3 * (stream % 4);
	if (!is_done(rn_printer_begin(p, stream, group, from, from + 5)))
		return;
	while ((rc = rn_printer_next(p, out)) > 0)
		;
	is_done(rc);
}

static inline void print_calls(const struct rn_trace *t, struct rn_arena *mem, rn_decode_fn *form)
{
	struct rn_printer *p = rn_printer_new(mem, t, form);
	struct rn_err err = { 0 };
	struct rn_buf out = { 0 };

	require(p != NULL);
	if (p && is_done(rn_printer_times(p, &err)))
		for (uint64_t i = 0; i < 4; i++)
			print_stream(t, (t->streams.ranks - 1) * i / 3, p, &out);
	require_text(&out);
	rn_printer_free(p);
	rn_buf_free(&out);
}

static void use_text(const struct rn_trace *t, struct rn_arena *mem)
{
	print_calls(t, mem, rn_decode_text);
}

static void use_json(const struct rn_trace *t, struct rn_arena *mem)
{
	print_calls(t, mem, rn_decode_json);
}

/* ---- outline ---- */

static inline void describe_sigs(const struct rn_trace *t, const struct rn_markers *m,
				 const uint64_t *bytes, struct rn_outline_sig *sig)
{
	for (uint32_t i = 0; i < rn_sigs_count(t->streams.sigs); i++) {
		size_t len;
		const void *s = rn_sigs_get(t->streams.sigs, i, &len);

		sig[i].function = i / 2;
		sig[i].manner = bytes[i];
		sig[i].marker = (unsigned char)rn_marker_of(m, s, len);
		sig[i].one.calls = sig[i].marker == RN_MARKER_NONE;
	}
}

/* The calls of all trees are equal to the calls of all streams. */
static inline void compare_calls(const struct rn_trace *t, const struct rn_markers *m,
				 const struct rn_outline *o, struct rn_arena *scratch)
{
	uint64_t calls = 0, sum = 0;

	if (!is_done(rn_markers_calls(m, &t->streams, scratch, &calls)))
		return;
	for (uint32_t i = 0; i < o->trees; i++)
		if (__builtin_add_overflow(sum, o->tree[i].weight.calls, &sum))
			sum = UINT64_MAX;
	require(sum == calls);
}

static void use_outline(const struct rn_trace *t, struct rn_arena *mem)
{
	uint32_t n = rn_sigs_count(t->streams.sigs);
	const struct rn_markers m = rn_markers_of(&t->vocab);
	struct rn_outline_sig *sig = rn_new(mem, struct rn_outline_sig, (size_t)n + 1);
	uint64_t *bytes = rn_new(mem, uint64_t, (size_t)n + 1);
	struct rn_outline o;
	struct rn_arena scratch;

	rn_arena_init(&scratch, SIZE_MAX);
	require(sig && bytes);
	if (sig && bytes &&
	    is_done(rn_volumes(t->streams.sigs, &t->values, &t->vocab, t->ranks, &scratch,
			       bytes))) {
		describe_sigs(t, &m, bytes, sig);
		if (is_done(rn_outline(&t->streams, sig, mem, &scratch, &o)))
			compare_calls(t, &m, &o, &scratch);
	}
	rn_arena_free(&scratch);
}

/* ---- check, communicators ---- */

/* Ranks are checked one by one, and a few bytes can claim billions. */
static void use_check(const struct rn_trace *t, struct rn_arena *mem)
{
	struct rn_err err = { 0 };

	(void)mem;
	if (t->streams.ranks <= 10000 && !is_done(rn_trace_check(t, &err)))
		require(is_line(&err));
}

static inline int count_comm(void *arg, const struct rn_comm_listed *c)
{
	*(uint64_t *)arg += c->by.n;
	return 0;
}

static void use_comms(const struct rn_trace *t, struct rn_arena *mem)
{
	uint64_t members = 0;

	(void)mem;
	if (t->comms && t->ranks <= 10000)
		is_done(rn_comms_list(t->comms, count_comm, &members));
}

/* ---- events ---- */

static inline void print_events(const struct rn_trace *t, const struct rn_order *o,
				const char *const *comm, bool json, struct rn_buf *out)
{
	const struct rn_decoder names = { .sites = &t->sites };
	struct rn_order_text x = {
		.t = t, .decoder = &names, .comm = comm, .order = o, .json = json
	};

	while (rn_order_text_next(&x, 0, CALLS_READ, out))
		;
}

/* Prints the events of the section `order` as text and JSON. */
static void use_events(const struct rn_trace *t, struct rn_arena *mem)
{
	struct rn_buf out = { 0 };
	struct rn_err err = { 0 };
	struct rn_order o;

	for (uint32_t i = 0; t->order && i < t->events->chunks.stream.n && i < 4; i++) {
		uint64_t s = rn_chunk_list_at(&t->events->chunks, i)->stream;

		if (!is_done(rn_trace_order(t, s, mem, &o, &err)))
			continue;
		print_events(t, &o, t->order->comm, false, &out);
		print_events(t, &o, t->order->comm, true, &out);
	}
	require_text(&out);
	rn_buf_free(&out);
}

/* Whether the streams are few, and short enough to be read call by call. */
static inline bool is_small(const struct rn_trace *t)
{
	uint64_t streams = t->ranks * t->threads;

	if (streams > STREAMS_READ || rn_trace_lossy(t).counts || rn_trace_lossy(t).params)
		return false;
	for (uint32_t k = 0; k < t->streams.groups; k++)
		if (rn_streams_length(&t->streams, k) > CALLS_READ)
			return false;
	return true;
}

static inline void compare_orders(const struct rn_order *a, const struct rn_order *b,
				  struct rn_arena *mem)
{
	size_t n = a->sites > b->sites ? a->sites : b->sites;
	uint32_t *number = rn_new(mem, uint32_t, n + 1);
	const struct rn_order_run run[2] = { { a, number }, { b, number } };

	require(number != NULL);
	for (size_t i = 0; number && i < n; i++)
		number[i] = (uint32_t)i;
	if (number)
		require(rn_order_diff(run, n % 2).different <=
			a->dones + b->dones + a->values + b->values + a->rows + b->rows);
}

/* Analyzes the disorder and a difference of the events of all streams, and prints them as text. */
static void use_orders(const struct rn_trace *t, struct rn_arena *mem)
{
	struct rn_orders orders = { 0 };
	struct rn_order o[STREAMS_READ];
	int32_t rank[STREAMS_READ];
	struct rn_err err = { 0 };
	struct rn_disorder d;
	struct rn_buf out = { 0 };
	uint64_t n = 0;
	uint32_t comms;

	if (!is_small(t))
		return;
	if (is_done(rn_orders_init(&orders, mem, t, &err))) {
		for (; n < orders.streams && n < STREAMS_READ; n++) {
			rank[n] = (int32_t)(n / t->threads);
			if (!is_done(rn_orders_read(&orders, n, mem, &o[n], &err)))
				break;
		}
		is_done(rn_disorder(mem, o, rank, n, t->ranks, &d));
		if (n)
			print_events(t, &o[n - 1], rn_orders_comms(&orders, &comms), n % 2, &out);
		if (n > 1)
			compare_orders(&o[0], &o[n - 1], mem);
	}
	require_text(&out);
	rn_buf_free(&out);
	rn_orders_free(&orders);
}

/* ---- plans of a replay ---- */

static inline void write_plan(const struct rn_trace *t, struct rn_orders *orders,
			      struct rn_plan_part *part, uint32_t parts)
{
	struct rn_plan_source s = { .ranks = (uint32_t)t->ranks, .part = part, .parts = parts };
	struct rn_buf out = { 0 };

	s.comm = rn_orders_comms(orders, &s.comms);
	if (is_done(rn_plan_write(&s, &out)))
		require(rn_plan_valid(out.data, out.len));
	rn_buf_free(&out);
}

static inline void plan_events(const struct rn_trace *t, struct rn_orders *orders,
			       struct rn_arena *mem)
{
	struct rn_plan_part part[STREAMS_READ] = { { .born = false } };
	const struct rn_plan_turn *turn;
	struct rn_err err = { 0 };
	uint64_t n = 0;
	size_t turns;

	for (; n < t->threads && n < STREAMS_READ; n++)
		if (!is_done(rn_orders_read(orders, n, mem, &part[n].order, &err)))
			return;
	if (is_done(rn_turns_take(mem, part, (uint32_t)n, &turn, &turns)))
		write_plan(t, orders, part, (uint32_t)n);
}

static inline void plan_calls(const struct rn_trace *t, struct rn_orders *orders,
			      struct rn_arena *mem)
{
	struct rn_outcome out[STREAMS_READ];
	struct rn_plan_part part;
	struct rn_err err = { 0 };
	uint64_t n = 0, ambiguous;

	for (; n < orders->streams && n < STREAMS_READ; n++)
		if (!is_done(rn_orders_outcome(orders, n, true, mem, &out[n], &err)))
			return;
	if (!n || !is_done(rn_unseen_infer(mem, orders, out, n, &ambiguous)))
		return;
	part = (struct rn_plan_part){ .order = out[0].order,
				      .match = out[0].match,
				      .matches = out[0].matches,
				      .call = out[0].call,
				      .calls = out[0].calls };
	write_plan(t, orders, &part, 1);
}

/* Writes the plan of rank 0, as `rondo replay` does. */
static void use_plan(const struct rn_trace *t, struct rn_arena *mem)
{
	struct rn_orders orders = { 0 };
	struct rn_err err = { 0 };

	if (!is_small(t))
		return;
	if (is_done(rn_orders_init(&orders, mem, t, &err))) {
		if (t->order)
			plan_events(t, &orders, mem);
		else
			plan_calls(t, &orders, mem);
	}
	rn_orders_free(&orders);
}

typedef void use_fn(const struct rn_trace *t, struct rn_arena *mem);

static use_fn *const trace_uses[] = { use_text,  use_json,   use_outline, use_check,
				      use_comms, use_events, use_orders,  use_plan };

#define TRACE_USES (sizeof(trace_uses) / sizeof(*trace_uses))

#endif
