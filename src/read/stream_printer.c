/* stream_printer.c - see stream_printer.h. */
#include "read/stream_printer.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "read/calls.h"
#include "read/trace.h"

struct rn_printer {
	struct rn_calls *calls;
	rn_decode_fn *form;
	struct rn_decoder decoder;
	size_t hold;
	struct rn_buf held, line;
	/* Current stream. */
	bool done;
	uint32_t opened; /* number of calls in flight with a valid place[] */
	uint32_t shown;  /* number of outermost calls in flight that are not awaited: already
			    printed, or out of range */
	size_t place[RN_NESTING_MAX + 1];
};

struct rn_printer *rn_printer_new(struct rn_arena *mem, const struct rn_trace *t,
				  rn_decode_fn *form)
{
	struct rn_printer *p = rn_new(mem, struct rn_printer, 1);

	if (!p)
		return NULL;
	p->form = form;
	p->hold = RN_PRINTER_HELD;
	p->decoder =
		(struct rn_decoder){ .keywords = rn_keywords_of(&t->vocab), .sites = &t->sites };
	p->calls = rn_calls_new(mem, t, NULL);
	return p->calls ? p : NULL;
}

void rn_printer_symbols(struct rn_printer *p, const char *(*symbol)(void *arg, uint32_t node),
			void *arg)
{
	p->decoder.symbol = symbol;
	p->decoder.symbol_arg = arg;
}

int rn_printer_times(struct rn_printer *p, struct rn_err *err)
{
	return rn_calls_times(p->calls, err);
}

void rn_printer_free(struct rn_printer *p)
{
	if (!p)
		return;
	rn_calls_free(p->calls);
	rn_buf_free(&p->held);
	rn_buf_free(&p->line);
}

void rn_printer_hold(struct rn_printer *p, size_t bytes)
{
	p->hold = bytes;
}

uint64_t rn_printer_numbers(struct rn_printer *p, uint32_t group)
{
	return rn_calls_numbers(p->calls, group);
}

/* Calls in flight at the beginning are outside the range and are not printed. */
int rn_printer_begin(struct rn_printer *p, uint64_t stream, uint32_t group, uint64_t from,
		     uint64_t to)
{
	int rc = rn_calls_begin(p->calls, stream, group, from, to);

	rn_buf_clear(&p->held);
	p->done = false;
	p->opened = p->shown = rn_calls_depth(p->calls);
	return rc;
}

/* Sets the place of calls that were entered since the last line: their lines follow the lines
 * buffered so far. */
static void open_calls(struct rn_printer *p, uint32_t depth)
{
	while (p->opened < depth)
		p->place[p->opened++] = p->held.len;
}

/* Inserts the line of a call that encloses other calls before the lines of these. */
static void print_open(struct rn_printer *p, const struct rn_call *c)
{
	size_t at = p->place[c->depth];

	rn_buf_clear(&p->line);
	p->form(&p->decoder, c, &p->line);
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

/* Reads the awaited calls in flight from their positions in the stream, and prints them and the
 * buffered lines. Afterwards no call is awaited. */
static int look_ahead(struct rn_printer *p, struct rn_buf *out)
{
	uint32_t depth = rn_calls_depth(p->calls);
	struct rn_call c;
	int rc = 1;

	open_calls(p, depth);
	for (uint32_t i = depth; i > p->shown && rc > 0; i--) {
		rc = rn_calls_outer(p->calls, i - 1, &c);
		if (rc > 0)
			print_open(p, &c);
	}
	p->shown = depth;
	let_go(p, out);
	return rc < 0 ? rc : RN_OK;
}

static int print(struct rn_printer *p, const struct rn_call *c, struct rn_buf *out)
{
	open_calls(p, c->depth + c->has_nested);
	if (!c->has_nested) {
		p->form(&p->decoder, c, c->depth > p->shown ? &p->held : out);
	} else {
		if (c->depth >= p->shown)
			print_open(p, c);
		p->opened = c->depth;
		p->shown = p->shown < c->depth ? p->shown : c->depth;
		if (p->shown == c->depth)
			let_go(p, out);
	}
	if (p->held.failed)
		return RN_E_NOMEM;
	return p->held.len > p->hold ? look_ahead(p, out) : RN_OK;
}

int rn_printer_next(struct rn_printer *p, struct rn_buf *out)
{
	struct rn_call c;
	int rc = p->done ? 0 : rn_calls_next(p->calls, &c);

	if (rc > 0 && c.marker == RN_MARKER_NONE)
		return (rc = print(p, &c, out)) < 0 ? rc : 1;
	if (rc != 0 || p->done)
		return rc;
	p->done = true;
	return rn_calls_depth(p->calls) > p->shown ? look_ahead(p, out) : RN_OK;
}
