/* report_events.c - see report_events.h. */
#include "report/report_events.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/event_source.h"
#include "analysis/nondeterminism.h"
#include "base/arena.h"
#include "base/budget.h"
#include "base/notes.h"
#include "base/number_text.h"
#include "encode/call_words.h"
#include "model/markers.h"
#include "read/call_text.h"
#include "read/event_reader.h"
#include "read/output_form.h"
#include "read/trace.h"
#include "report/report_format.h"
#include "report/symbolizer.h"

#define CALLS       ((uint64_t)1 << 24) /* maximum number of calls that are read without --all */
#define SITES_SHOWN 24u

struct page {
	const struct rn_trace *t;
	struct rn_orders orders;
	struct rn_disorder d;
	struct rn_decoder names;
	uint32_t shown; /* number of sites */
	struct rn_buf *out;
};

/* ---- formatting ---- */

/* "12 of 48 receives (25.0 %)" */
static void put_share(struct page *p, uint64_t part, uint64_t of, const char *noun)
{
	rn_putf(p->out, "%s of %s %s%s (%.1f %%)", COUNT(part), COUNT(of), noun, rn_plural(of),
		of ? 100.0 * (double)part / (double)of : 0.0);
}

static bool is_world(const char *comm)
{
	return strcmp(comm, "MPI_COMM_WORLD") == 0;
}

static const char *comm_of(const struct page *p, const struct rn_disorder_site *s)
{
	uint32_t n;
	const char *const *name = rn_orders_comms(&p->orders, &n);

	return s->site.comm ? name[s->site.comm - 1] : NULL;
}

/* "MPI_Waitany at main+0x12 (app.c:7)" */
static void put_site(struct page *p, const struct rn_disorder_site *s)
{
	const struct rn_func *f = rn_vocab_func(&rn_mpi_vocab, s->site.function);
	const char *comm = comm_of(p, s);

	rn_put(p->out, f ? f->name : "a function that is not known here");
	if (comm && !is_world(comm))
		rn_putf(p->out, " on %s", comm);
	if (s->site.place)
		rn_decode_stack(&p->names, &rn_form_text, s->site.place, p->out);
}

/* ---- measures ---- */

static void put_headline(struct page *p)
{
	const struct rn_disorder_site *all = &p->d.all;

	rn_put(p->out, "order: ");
	if (p->d.clocks) {
		put_share(p, all->moved, all->received, "receive");
		rn_put(p->out, " out of reference order");
	} else {
		put_share(p, all->irregular, all->done, "outcome");
		rn_put(p->out, " irregular");
	}
	rn_putf(p->out, ", at %s of %s call site%s", COUNT(p->d.disorderly), COUNT(p->d.sites),
		rn_plural(p->d.sites));
	if (all->failed)
		rn_putf(p->out, "; %s test%s found nothing", COUNT(all->failed),
			rn_plural(all->failed));
	rn_put(p->out, "\n\n");
}

static void put_table(struct page *p)
{
	bool clocks = p->d.clocks;

	rn_put(p->out, "       calls    failed      done  received");
	rn_put(p->out, clocks ? "  out of order" : "");
	rn_put(p->out, "     late  irregular  sources  where\n");
	for (uint32_t i = 0; i < p->shown; i++) {
		const struct rn_disorder_site *s = &p->d.site[i];

		rn_putf(p->out, "%12s%10s%10s%10s", COUNT(s->calls), COUNT(s->failed),
			COUNT(s->done), COUNT(s->received));
		if (clocks)
			rn_putf(p->out, "%14s", COUNT(s->moved));
		rn_putf(p->out, "%9s%11s%9s  ", COUNT(s->late), COUNT(s->irregular),
			COUNT(s->sources));
		put_site(p, s);
		rn_put(p->out, "\n");
	}
	if (p->shown < p->d.sites)
		rn_putf(p->out, "and %s more call site%s (--all shows them)\n",
			COUNT(p->d.sites - p->shown), rn_plural(p->d.sites - p->shown));
}

static void put_meaning(struct page *p)
{
	rn_put(p->out, "\n");
	if (p->d.clocks)
		rn_put(p->out, "out of order: to be moved to get the order of the senders' logical "
			       "clocks, ties by rank\n");
	rn_put(p->out, "late: done before one that was started earlier\n"
		       "irregular: another source or index than the last time behind the same two\n"
		       "sources: of the rank that has the most\n");
	if (!p->d.clocks && p->t->order)
		rn_put(p->out,
		       "What was sent is not in this trace; one of all calls, or with "
		       "--order-codec=clock, also tells\nwhat is out of reference order.\n");
}

/* ---- hidden determinism ---- */

/* Writes the source of a site whose receivers have one source each. Sources are ranks of the
 * communicator. Only on MPI_COMM_WORLD can they be compared with the rank of the receiver. */
static void put_source(struct page *p, const struct rn_disorder_site *s)
{
	const char *comm = comm_of(p, s);

	if (s->one_source)
		rn_putf(p->out, "always from rank %" PRId64, s->source);
	else if (s->one_step && (!comm || is_world(comm)))
		rn_putf(p->out, "always from (rank+%" PRId64 ")%%%" PRIu64, s->step, p->t->ranks);
	else
		rn_put(p->out, "on each rank always from the same one");
}

static void put_fixed(struct page *p, const struct rn_disorder_site *s)
{
	rn_put(p->out, "    ");
	if (s->fixed & RN_FIXED_SOURCE)
		put_source(p, s);
	else if (s->fixed & RN_FIXED_BY_TAG)
		rn_put(p->out, "messages with the same tag always from the same source");
	else
		rn_put(p->out, "requests at the same index always from the same source");
	rn_put(p->out, ": who asks for MPI_ANY_SOURCE could name it\n");
}

static void put_period(struct page *p, const struct rn_disorder_site *s)
{
	rn_putf(p->out, "    the same order again and again, after each %s", COUNT(s->period[0]));
	if (s->period[1] != s->period[0])
		rn_putf(p->out, "..%s", COUNT(s->period[1]));
	rn_put(p->out, "\n");
}

/* Whether every thread has a period and one is longer than 1. Period 1 means only one source. */
static bool has_period(const struct rn_disorder_site *s)
{
	return s->repeaters && s->period[0] && s->period[1] > 1;
}

static void put_hidden(struct page *p)
{
	bool any = false;

	for (uint32_t i = 0; i < p->shown; i++) {
		const struct rn_disorder_site *s = &p->d.site[i];

		if (!s->fixed && !has_period(s))
			continue;
		rn_put(p->out, any ? "" : "\nhidden determinism, as far as this run shows:\n");
		any = true;
		rn_put(p->out, "  ");
		put_site(p, s);
		rn_put(p->out, "\n");
		if (s->fixed)
			put_fixed(p, s);
		if (has_period(s))
			put_period(p, s);
	}
}

static bool has_places(const struct page *p)
{
	for (uint32_t i = 0; i < p->d.sites; i++)
		if (p->d.site[i].site.place)
			return true;
	return false;
}

static void put_loose(struct page *p)
{
	struct rn_order_count n = { 0 };

	if (p->t->order)
		n = rn_order_list_count(p->t->events);
	if (n.loose)
		rn_putf(p->out,
			"not exactly replayable: %s call%s, whose outcomes are not in the trace or "
			"cannot be enforced\n",
			COUNT(n.loose), rn_plural(n.loose));
}

static void put_next(struct page *p)
{
	rn_put(p->out, "\nnext: ");
	if (!has_places(p))
		rn_put(p->out, "`rondo trace --callsite` also tells where calls are made; ");
	if (p->d.disorderly)
		rn_put(p->out, "`rondo replay` runs the program again in this order; ");
	rn_put(p->out, "`rondo diff` says whether another run had the same\n");
}

/* ---- reading ---- */

/* Reads the events of all streams and computes the measures. */
static int read_all(struct page *p, struct rn_arena *mem, struct rn_err *err)
{
	size_t n = (size_t)p->orders.streams;
	struct rn_order *order = rn_new(mem, struct rn_order, n);
	int32_t *rank = rn_new(mem, int32_t, n);
	int rc = order && rank ? RN_OK : RN_E_NOMEM;

	for (size_t s = 0; s < n && rc == RN_OK; s++) {
		rank[s] = (int32_t)(s / p->t->threads);
		rc = rn_orders_read(&p->orders, s, mem, &order[s], err);
	}
	return rc == RN_OK ? rn_disorder(mem, order, rank, n, p->t->ranks, &p->d) : rc;
}

static int make_page(struct page *p, const char *file, bool all, struct rn_buf *notes,
		     struct rn_err *err)
{
	struct symbols *symbols = symbols_new(p->t, file, notes);
	struct rn_arena mem;
	int rc = symbols ? RN_OK : RN_E_NOMEM;

	p->names = (struct rn_decoder){ .sites = &p->t->sites,
					.symbol = symbols_name,
					.symbol_arg = symbols };
	rn_arena_init(&mem, SIZE_MAX);
	if (rc == RN_OK)
		rc = rn_orders_init(&p->orders, &mem, p->t, err);
	if (rc == RN_OK)
		rc = read_all(p, &mem, err);
	if (rc == RN_OK && p->d.sites) {
		p->shown = all || p->d.sites <= SITES_SHOWN ? p->d.sites : SITES_SHOWN;
		rn_put(p->out, "\n");
		put_headline(p);
		put_table(p);
		put_meaning(p);
		put_hidden(p);
		put_loose(p);
		put_next(p);
	} else if (rc == RN_OK) {
		put_loose(p);
	}
	rn_orders_free(&p->orders);
	rn_arena_free(&mem);
	symbols_free(symbols);
	if (rc == RN_E_NOMEM && rn_budget_exceeded()) {
		rn_putf(p->out,
			"\norder: not analyzed, because this needs more than %" PRIu64
			" MiB of memory (--max-memory)\n",
			(uint64_t)(rn_budget_limit() >> 20));
		return RN_OK;
	}
	return rc;
}

/* Whether the calls of the trace are read. If they are too many, appends a line that says so. */
static bool is_looked_at(const struct rn_trace *t, bool all, struct rn_buf *out)
{
	const struct rn_markers m = rn_markers_of(&t->vocab);
	struct rn_lossy lossy = rn_trace_lossy(t);
	struct rn_arena scratch;
	uint64_t calls = UINT64_MAX;
	bool any;

	rn_arena_init(&scratch, SIZE_MAX);
	any = !lossy.counts && !lossy.params && rn_orders_any(t);
	if (any && rn_markers_calls(&m, &t->streams, &scratch, &calls) < 0)
		out->failed = true;
	rn_arena_free(&scratch);
	if (!any || (t->ranks * t->threads <= RN_ORDERS_STREAMS && (all || calls <= CALLS)))
		return any;
	rn_putf(out, "\norder: not looked at, for there are very many calls%s\n",
		all ? "" : " (--all does)");
	return false;
}

int report_order(const struct rn_trace *t, const char *file, bool all, struct rn_buf *out,
		 struct rn_buf *notes, struct rn_err *err)
{
	struct page p = { .t = t, .out = out };

	return t->order || is_looked_at(t, all, out) ? make_page(&p, file, all, notes, err) : RN_OK;
}
