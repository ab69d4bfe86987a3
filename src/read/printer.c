/* printer.c - see printer.h. */
#include "read/printer.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "encode/sigs.h"
#include "read/moment_view.h"
#include "read/nesting.h"
#include "read/numbering.h"
#include "read/trace.h"
#include "read/value_view.h"

/* A call that is under way. */
struct open {
	uint64_t seq;
	size_t held; /* where its line belongs in what is held back */
};

/* What is known of the streams of a group. */
struct nested {
	bool known;
	struct rn_nested of;
};

struct rn_printer {
	const struct rn_trace *t;
	rn_decode_fn *form;
	struct rn_decoder decoder;
	struct rn_numbering *requests; /* as they are where the cursor stands */
	struct rn_value_view *values;  /* the same */
	struct rn_nesting *nesting;
	struct nested *nested;        /* by group */
	struct rn_moment_view *times; /* NULL: there are none */
	struct rn_err *times_err;
	int times_rc; /* of the times, or of values */
	size_t hold;
	struct rn_arena mem; /* the cursors' stacks */
	struct rn_buf held, line;
	/* The stream. */
	struct rn_cursor at;
	struct rn_walk ahead;
	struct rn_call call;
	uint64_t next, to; /* numbers of calls */
	bool flat;         /* the markers do not fit */
	bool leaving;      /* the call that comes next is the innermost open one */
	uint32_t depth;
	uint32_t shown; /* so many of the open ones are not waited for: the outermost */
	struct open open[RN_NESTING_MAX];
};

struct rn_printer *rn_printer_new(struct rn_arena *mem, const struct rn_trace *t,
				  rn_decode_fn *form)
{
	const struct rn_streams *s = &t->streams;
	struct rn_printer *p = rn_new(mem, struct rn_printer, 1);

	if (!p)
		return NULL;
	p->t = t;
	p->form = form;
	p->hold = RN_PRINTER_HELD;
	rn_arena_init(&p->mem, SIZE_MAX);
	p->nesting = rn_nesting_new(mem, &t->vocab, s->sigs, s->rules, rn_streams_loops(s));
	p->nested = rn_new(mem, struct nested, (size_t)s->groups + 1);
	if (!p->nesting || !p->nested)
		return NULL;
	p->requests = rn_numbering_new(mem, &t->vocab, s->sigs, s->rules, rn_streams_loops(s));
	p->values = rn_value_view_new(mem, t);
	if (!p->requests || !p->values)
		return NULL;
	rn_decoder_init(&p->decoder, &t->vocab, t->comms, p->requests, t->ranks);
	p->decoder.sites = &t->sites;
	return p;
}

void rn_printer_symbols(struct rn_printer *p, const char *(*symbol)(void *arg, uint32_t node),
			void *arg)
{
	p->decoder.symbol = symbol;
	p->decoder.symbol_arg = arg;
}

void rn_printer_times(struct rn_printer *p, struct rn_moment_view *times, struct rn_err *err)
{
	p->times = times;
	p->times_err = err;
}

void rn_printer_free(struct rn_printer *p)
{
	if (!p)
		return;
	rn_numbering_free(p->requests);
	rn_value_view_free(p->values);
	rn_arena_free(&p->mem);
	rn_buf_free(&p->held);
	rn_buf_free(&p->line);
}

void rn_printer_hold(struct rn_printer *p, size_t bytes)
{
	p->hold = bytes;
}

static int look(struct rn_printer *p, uint32_t group)
{
	struct nested *n = &p->nested[group];
	struct rn_flow flow = rn_streams_flow(&p->t->streams, group);
	int rc = n->known ? RN_OK : rn_nesting_look(p->nesting, &flow, &n->of);

	n->known = rc == RN_OK;
	return rc;
}

uint64_t rn_printer_numbers(struct rn_printer *p, uint32_t group)
{
	look(p, group);
	return p->nested[group].of.numbers;
}

/* What a walker is about to read: its requests and its numbers. */
static int stand_at(struct rn_printer *p, const struct rn_walk *w)
{
	rn_value_view_seek(p->values, w);
	return rn_numbering_seek(p->requests, w);
}

/* Calls that are under way at the beginning are not among those that are wanted. */
static int seek(struct rn_printer *p, const struct rn_nested *of, uint64_t from)
{
	uint64_t open[RN_NESTING_MAX];
	int rc = rn_nesting_seek(p->nesting, of, &p->at.walk, from, open, &p->depth);

	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < p->depth; i++)
		p->open[i] = (struct open){ .seq = open[i] };
	p->shown = p->depth;
	return stand_at(p, &p->at.walk);
}

int rn_printer_begin(struct rn_printer *p, uint64_t stream, uint32_t group, uint64_t from,
		     uint64_t to)
{
	struct rn_flow flow = rn_streams_flow(&p->t->streams, group);
	uint64_t end;

	if (look(p, group) < 0)
		return RN_E_NOMEM;
	end = p->nested[group].of.numbers;
	rn_arena_rewind(&p->mem, (struct rn_arena_mark){ 0 });
	rn_buf_clear(&p->held);
	p->call = (struct rn_call){ .rank = stream / p->t->threads,
				    .thread = stream % p->t->threads };
	p->flat = p->nested[group].of.wrong;
	p->next = from;
	/* Behind the last call there may be any number of markers, if they do not fit. */
	p->to = from >= end ? 0 : p->flat && to > end ? end : to;
	p->leaving = false;
	p->depth = p->shown = 0;
	if (p->next >= p->to)
		return RN_OK;
	if (rn_cursor_init_group(&p->at, p->t, stream, group, &p->mem) < 0 ||
	    rn_walk_flow(&p->ahead, &flow, &p->mem) < 0)
		return RN_E_NOMEM;
	rn_value_view_begin(p->values, stream);
	p->times_rc =
		p->times ? rn_moment_view_stream(p->times, stream, group, p->times_err) : RN_OK;
	return p->times_rc < 0 ? p->times_rc : seek(p, &p->nested[group].of, from);
}

static bool is_waited_for(const struct rn_printer *p)
{
	return p->depth > p->shown;
}

/* The call at that place of the stream: when it was. */
static void look_at_time(struct rn_printer *p, uint64_t pos)
{
	struct rn_call *c = &p->call;
	int rc = rn_moment_view_at(p->times, pos, &c->start, &c->end, p->times_err);

	c->timed = rc > 0;
	if (rc < 0)
		p->times_rc = rc;
}

/* A call whose parent, if any, is open[depth - 1]; the walker stands behind it. */
static void print(struct rn_printer *p, const struct rn_walk *w, uint32_t sig, uint64_t seq,
		  uint32_t depth, struct rn_buf *out)
{
	struct rn_call *c = &p->call;

	p->times_rc = rn_value_view_get(p->values, sig, &c->sig, &c->len);
	if (p->times_rc < 0)
		return;
	c->seq = seq;
	c->inside = depth > 0;
	c->parent = depth ? p->open[depth - 1].seq : 0;
	if (p->times)
		look_at_time(p, rn_walk_pos(w) - 1);
	p->form(&p->decoder, c, out);
}

/* Prints open call i, which has come, in front of what was made inside of it. */
static void print_open(struct rn_printer *p, const struct rn_walk *w, uint32_t sig, uint32_t i)
{
	size_t at = p->open[i].held;

	rn_buf_clear(&p->line);
	print(p, w, sig, p->open[i].seq, i, &p->line);
	if (p->line.len == 0 && !p->line.failed) /* its numbers are not there */
		return;
	if (p->line.failed || !rn_buf_reserve(&p->held, p->line.len)) {
		p->held.failed = true;
		return;
	}
	memmove(p->held.data + at + p->line.len, p->held.data + at, p->held.len - at);
	memcpy(p->held.data + at, p->line.data, p->line.len);
	p->held.len += p->line.len;
}

static void let_go(struct rn_printer *p, struct rn_buf *out)
{
	rn_buf_add(out, p->held.data, p->held.len);
	out->failed |= p->held.failed;
	rn_buf_clear(&p->held);
}

/* Prints the open calls that are waited for from where they stand, and waits for none of them any
 * more. The requests are then those of another place. */
static int look_ahead(struct rn_printer *p, struct rn_buf *out)
{
	uint32_t sig;
	int rc = rn_walk_seek(&p->ahead, rn_walk_pos(&p->at.walk));

	for (uint32_t i = p->depth; i > p->shown && rc == RN_OK; i--) {
		if (!rn_nesting_leave(p->nesting, &p->ahead))
			break; /* nor do those around it */
		rc = stand_at(p, &p->ahead);
		if (rc == RN_OK && rn_walk_next(&p->ahead, &sig))
			print_open(p, &p->ahead, sig, i - 1);
		if (rc == RN_OK)
			rc = p->times_rc;
	}
	p->shown = p->depth;
	let_go(p, out);
	return rc;
}

static void print_call(struct rn_printer *p, uint32_t sig, struct rn_buf *out)
{
	if (!p->leaving) {
		print(p, &p->at.walk, sig, p->next++, p->depth, is_waited_for(p) ? &p->held : out);
		return;
	}
	p->leaving = false;
	if (is_waited_for(p))
		print_open(p, &p->at.walk, sig, p->depth - 1);
	p->depth--;
	p->shown = p->shown < p->depth ? p->shown : p->depth;
	if (!is_waited_for(p))
		let_go(p, out);
}

static int take_call(struct rn_printer *p, uint32_t sig, struct rn_buf *out)
{
	int rc;

	print_call(p, sig, out);
	if (p->times_rc < 0)
		return p->times_rc;
	rn_value_view_call(p->values, sig);
	if (rn_numbering_call(p->requests, sig) < 0 || p->held.failed)
		return RN_E_NOMEM;
	if (p->held.len <= p->hold)
		return 1;
	rc = look_ahead(p, out);
	if (rc == RN_OK)
		rc = stand_at(p, &p->at.walk);
	return rc == RN_OK ? 1 : rc;
}

static void take_marker(struct rn_printer *p, enum rn_marker m)
{
	if (p->flat)
		return;
	if (m == RN_MARKER_ENTER)
		p->open[p->depth++] = (struct open){ p->next++, p->held.len };
	else
		p->leaving = true;
}

/* Where no more is wanted, or nothing is left. */
static int finish(struct rn_printer *p, struct rn_buf *out)
{
	int rc = RN_OK;

	if (is_waited_for(p))
		rc = look_ahead(p, out);
	p->to = 0;
	p->depth = p->shown = 0;
	return rc;
}

int rn_printer_next(struct rn_printer *p, struct rn_buf *out)
{
	uint64_t pos;
	uint32_t sig;
	enum rn_marker m;

	if ((p->next >= p->to && !p->leaving) || !rn_cursor_next(&p->at, &pos, &sig))
		return finish(p, out);
	m = rn_nesting_marker(p->nesting, sig);
	if (m == RN_MARKER_NONE)
		return take_call(p, sig, out);
	if (m == RN_MARKER_ENDED)
		return rn_numbering_call(p->requests, sig) < 0 ? RN_E_NOMEM : 1;
	if (m == RN_MARKER_THREAD)
		rn_value_view_call(p->values, sig);
	else
		take_marker(p, m);
	return 1;
}
