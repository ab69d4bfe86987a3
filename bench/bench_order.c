/*
 * bench_order.c - measures the size of the order of a run in all codecs, and the speed of coding.
 *
 *	bench_order [FILE]      FILE: a trace with the events (bench/order-size)
 *
 * Without FILE the events are simulated. All codecs encode the same events, thread by thread,
 * without the time. The clocks come from the sends. In a trace of --order-codec=clock they are
 * positions in the reference order; this changes only the last clocks of the sources, one word
 * each. For comparison, the data that clock-delta compression as published stores is encoded in
 * two ways: its tables as 64-bit words with gzip, and as varints with zstd. The published tables
 * lack the data needed for decoding without messages; Rondo's codecs contain it. An event is a
 * receive or a failed test.
 */
#include "bench.h"

#include <math.h>
#include <zlib.h>
#include <zstd.h>

#include "analysis/event_source.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/varint.h"
#include "order/adaptive_codec.h"
#include "order/cdc_codec.h"
#include "order/cdc_tables.h"
#include "order/context_mix.h"
#include "order/event_codec.h"
#include "order/lamport.h"
#include "read/trace.h"
#include "order_sim.h"

enum { REPS = 7, THREADS = 4096, RECEIVES = 100000, ITERATIONS = 1000 };

static struct rn_arena mem;
static struct rn_order thread[THREADS];
static int32_t rank_of[THREADS];
static size_t threads;
static double receives, tests; /* number of receives; number of failed tests */
static const char *events;     /* source of the events, for messages */

static void must(int rc)
{
	if (rc < 0)
		abort();
}

/* --- the events --- */

static void count(void)
{
	receives = tests = 0;
	for (size_t t = 0; t < threads; t++) {
		receives += (double)thread[t].dones;
		for (size_t i = 0; i < thread[t].rows; i++)
			tests += thread[t].row[i].fails;
	}
	if (!thread[0].clock)
		must(rn_order_clocks(&mem, thread, rank_of, threads));
}

static void simulate(void (*sim)(struct rn_arena *, size_t, struct rn_order *), size_t n)
{
	threads = ORDER_SIM_RANKS;
	for (size_t t = 0; t < threads; t++)
		rank_of[t] = (int32_t)t;
	sim(&mem, n, thread);
	count();
}

/* Removes the rows of event sites that record numbers. */
static void drop_values(struct rn_order *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->rows; i++)
		if (!rn_order_has_numbers(&o->site[o->row[i].site]))
			o->row[n++] = o->row[i];
	o->rows = n;
	o->values = 0;
}

static bool known(const struct rn_order *o)
{
	return o->clock || o->sends || !o->dones;
}

static int read_threads(const struct rn_trace *t, struct rn_err *err)
{
	struct rn_orders orders;
	int rc = rn_orders_init(&orders, &mem, t, err);

	if (rc == RN_OK && orders.streams > THREADS)
		rc = rn_err_set(err, RN_E_ARG, "more than %d streams", THREADS);
	for (threads = 0; rc == RN_OK && threads < orders.streams; threads++) {
		struct rn_order *o = &thread[threads];

		rank_of[threads] = (int32_t)(threads / t->threads);
		rc = rn_orders_read(&orders, threads, &mem, o, err);
		if (rc == RN_OK && !known(o))
			rc = rn_err_set(err, RN_E_ARG, "recorded without --order-codec=clock");
		drop_values(o);
	}
	rn_orders_free(&orders);
	return rc;
}

static int load(const char *path)
{
	struct rn_err err = { 0 };
	static struct rn_trace t; /* static: the threads refer to its event sites */
	int rc = rn_trace_open(&t, path, &err);

	if (rc == RN_OK)
		rc = read_threads(&t, &err);
	if (rc == RN_OK)
		count();
	else
		fprintf(stderr, "bench_order: %s: %s\n", path, err.text);
	return rc != RN_OK;
}

/* --- sizes --- */

static double encoded(enum rn_order_codec codec)
{
	double n = 0;

	for (size_t t = 0; t < threads; t++) {
		struct rn_buf out = { 0 };

		must(rn_order_encode(&mem, codec, &thread[t], &out));
		n += (double)out.len;
		rn_buf_free(&out);
	}
	return n;
}

/* Returns the ideal code length of the decisions of the model codec, in bytes. Sets *written to the
 * number of bytes that the codec writes for them. */
static double ideal(double *written)
{
	double bits = 0;

	*written = 0;
	for (size_t t = 0; t < threads; t++) {
		const struct rn_order *o = &thread[t];
		struct rn_buf out = { 0 };
		struct rn_guess *g = rn_guess_write(&mem, 4 * (o->rows + o->dones), &out, &bits);

		must(rn_order_model_code(&mem, g, o));
		must(rn_guess_end(g));
		*written += (double)out.len;
		rn_buf_free(&out);
	}
	return bits / 8;
}

/* A table as 64-bit words, as published, and as varints. */
struct published {
	struct rn_buf words, varints;
};

static void put(struct published *p, int64_t v)
{
	rn_buf_le64(&p->words, (uint64_t)v);
	rn_buf_i64(&p->varints, v);
}

/* Encodes indices by linear prediction, as the residuals x - 2 x' + x''. */
static void put_indices(struct published *p, const uint32_t *v, size_t n)
{
	int64_t a = 0, b = 0;

	for (size_t i = 0; i < n; i++) {
		put(p, v[i] - 2 * a + b);
		b = a;
		a = v[i];
	}
}

static void put_numbers(struct published *p, const uint32_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put(p, v[i]);
}

/* Encodes the rows of an event site: which completions share a row with the next completion, and
 * the numbers of failed tests. */
static void put_rows(struct published *p, const struct rn_order_chunk *c, uint32_t site)
{
	uint32_t *with = rn_new(&mem, uint32_t, c->at[c->rows]), withs = 0, thing = 0, full = 0;
	uint32_t *at = rn_new(&mem, uint32_t, c->rows), *fails = rn_new(&mem, uint32_t, c->rows);
	uint32_t n = 0;

	if (!with || !at || !fails)
		abort();
	for (uint32_t r = c->first[site]; r != RN_TABLES_NONE; r = c->next[r]) {
		const struct rn_order_row *row = &c->row[r];

		for (uint32_t k = 1; k < row->done; k++)
			with[withs++] = thing++;
		thing += row->done > 0;
		at[n] = full;
		fails[n] = row->fails;
		n += row->done && row->fails;
		full += row->done > 0;
	}
	put_indices(p, with, withs);
	put_indices(p, at, n);
	put_numbers(p, fails, n);
}

static void put_site(struct published *p, const struct rn_order_chunk *c, uint32_t site)
{
	struct rn_order_matched_tables m;

	if (!rn_order_matched_tables(&mem, c, site, &m))
		abort();
	put_indices(p, m.moved_at, m.moved);
	for (uint32_t i = 0; i < m.moved; i++)
		put(p, m.delay[i]);
	put_rows(p, c, site);
	for (uint32_t i = 0; i < m.epochs; i++) {
		put(p, m.epoch[i].source);
		put(p, (int64_t)m.epoch[i].clock);
	}
}

static void put_thread(struct published *p, size_t t)
{
	const struct rn_order *o = &thread[t];
	struct rn_order_chunk c = { .site = o->site, .sites = o->sites, .clock = o->clock };

	c.row = o->row;
	c.done = o->done;
	for (size_t left = o->rows; left; left -= c.rows) {
		struct rn_arena_mark mark = rn_arena_mark(&mem);

		c.rows = left < RN_CLOCK_DELTA_ROWS ? (uint32_t)left : RN_CLOCK_DELTA_ROWS;
		if (!rn_order_chunk_begin(&mem, &c))
			abort();
		rn_order_chunk_count(&c);
		for (uint32_t s = 0; s < c.sites; s++)
			if (c.first[s] != RN_TABLES_NONE)
				put_site(p, &c, s);
		c.row += c.rows;
		c.done += c.at[c.rows];
		c.clock += c.at[c.rows];
		rn_arena_rewind(&mem, mark);
	}
}

static double gzipped(const struct rn_buf *b)
{
	uLongf n = compressBound(b->len);
	unsigned char *to = malloc(n);

	if (!to || compress(to, &n, b->data, b->len) != Z_OK)
		abort();
	free(to);
	return (double)n;
}

static double zstded(const struct rn_buf *b)
{
	size_t room = ZSTD_compressBound(b->len), n;
	unsigned char *to = malloc(room);

	n = ZSTD_compress(to, room, b->data, b->len, 19);
	if (!to || ZSTD_isError(n))
		abort();
	free(to);
	return (double)n;
}

static void published(double *gzip, double *zstd)
{
	*gzip = *zstd = 0;
	for (size_t t = 0; t < threads; t++) {
		struct published p = { { 0 }, { 0 } };

		put_thread(&p, t);
		*gzip += gzipped(&p.words);
		*zstd += zstded(&p.varints);
		rn_buf_free(&p.words);
		rn_buf_free(&p.varints);
	}
}

/* Numbers of columns of a row and of a completion. Without a codec, events are encoded as 32-bit
 * words row by row, and as columns of varints. */
enum { ROW = 3, DONE = 5 };

static void row_words(const struct rn_order_row *r, uint32_t out[ROW])
{
	out[0] = r->site;
	out[1] = r->fails;
	out[2] = r->done;
}

static void done_words(const struct rn_order_done *d, uint32_t out[DONE])
{
	bool there = d->flags & RN_ORDER_MATCHED;

	out[0] = d->index;
	out[1] = d->late + 1u; /* RN_ORDER_NOT is 0 */
	out[2] = there ? (uint32_t)rn_zigzag(d->source) : 0;
	out[3] = there ? (uint32_t)rn_zigzag(d->tag) : 0;
	out[4] = d->flags;
}

static void put_words(const struct rn_order *o, struct rn_buf *words, struct rn_buf column[])
{
	uint32_t w[ROW + DONE];

	for (size_t i = 0; i < o->rows; i++) {
		row_words(&o->row[i], w);
		for (int k = 0; k < ROW; k++) {
			rn_buf_le32(words, w[k]);
			rn_buf_u64(&column[k], w[k]);
		}
	}
	for (size_t i = 0; i < o->dones; i++) {
		done_words(&o->done[i], w + ROW);
		for (int k = ROW; k < ROW + DONE; k++) {
			rn_buf_le32(words, w[k]);
			rn_buf_u64(&column[k], w[k]);
		}
	}
}

struct plain {
	double words, gzip, columns; /* bytes */
};

static struct plain plain(void)
{
	struct plain n = { 0 };

	for (size_t t = 0; t < threads; t++) {
		struct rn_buf words = { 0 }, column[ROW + DONE] = { { 0 } };

		put_words(&thread[t], &words, column);
		n.words += (double)words.len;
		n.gzip += gzipped(&words);
		for (int k = 0; k < ROW + DONE; k++) {
			n.columns += zstded(&column[k]);
			rn_buf_free(&column[k]);
		}
		rn_buf_free(&words);
	}
	return n;
}

/* --- the table --- */

static void row(const char *what, double value, const char *unit, double bar, const char *note)
{
	char name[80];

	snprintf(name, sizeof(name), "%s: %s", events, what);
	bench_row(name, value, unit, bar, note);
}

static void size_row(const char *what, double bytes)
{
	char note[64];

	snprintf(note, sizeof(note), "%.4f an event", bytes / (receives + tests));
	row(what, bytes / receives, "B/recv", 0, note);
}

static double speed(enum rn_order_codec codec)
{
	double rate[REPS];

	for (int i = 0; i < REPS; i++) {
		double a = bench_cpu();

		encoded(codec);
		rate[i] = (receives + tests) / (bench_cpu() - a) * 1e3;
	}
	return bench_median(rate, REPS);
}

static double kinds_of(const size_t *n, size_t k, double all)
{
	double bits = 0;

	for (size_t i = 0; i < k; i++)
		if (n[i])
			bits -= (double)n[i] * log2((double)n[i] / all);
	return bits;
}

/* Prints the zero-order entropy of the events, in bits per receive. */
static void say_entropy(void)
{
	enum { MOST = 4096 };
	double fails = 0, source = 0, done = 0;

	for (size_t t = 0; t < threads; t++) {
		static size_t f[MOST], s[MOST], d[MOST];
		const struct rn_order *o = &thread[t];

		memset(f, 0, sizeof(f));
		memset(s, 0, sizeof(s));
		memset(d, 0, sizeof(d));
		for (size_t i = 0; i < o->rows; i++) {
			f[o->row[i].fails % MOST]++;
			d[o->row[i].done % MOST]++;
		}
		for (size_t i = 0; i < o->dones; i++)
			s[(uint32_t)o->done[i].source % MOST]++;
		fails += kinds_of(f, MOST, (double)o->rows);
		done += kinds_of(d, MOST, (double)o->rows);
		source += kinds_of(s, MOST, (double)o->dones);
	}
	printf("%s: %.0f receives, %.0f failed tests; bits a receive: failed %.2f, sources %.2f, "
	       "how many at once %.2f\n",
	       events, receives, tests, fails / receives, source / receives, done / receives);
}

/* The bars apply to the particle exchange. A recorded run is assumed to be one. */
static void sizes(bool bars)
{
	double gzip, zstd, written, best, model = encoded(RN_ORDER_MODEL),
					  clock = encoded(RN_ORDER_CLOCK);
	struct plain p = plain();

	say_entropy();
	published(&gzip, &zstd);
	best = ideal(&written);
	size_row("raw", p.words);
	size_row("raw, gzip", p.gzip);
	size_row("columns with zstd -19", p.columns);
	size_row("published clock-delta, gzip", gzip);
	size_row("published clock-delta, zstd -19", zstd);
	size_row("clock", clock);
	size_row("model", model);
	size_row("model, ideal code length", best);
	row("model / zstd", model / p.columns, "", bars ? 0.82 : 0, NULL);
	row("model / its ideal code length", written / best, "", bars ? 1.03 : 0, NULL);
	row("clock / published, gzip", clock / gzip, "", bars ? 0.75 : 0, NULL);
}

/* No bars for recorded events: the number of failed tests depends on the machine. */
static void speeds(bool bars)
{
	row("model, coding", speed(RN_ORDER_MODEL), "M/s", bars ? -5 : 0, "events");
	row("clock, coding", speed(RN_ORDER_CLOCK), "M/s", 0, "events");
}

int main(int argc, char **argv)
{
	rn_arena_init(&mem, SIZE_MAX);
	if (argc > 1) {
		if (load(argv[1]))
			return 1;
		events = "recorded";
		sizes(true);
		speeds(false);
		return bench_done();
	}
	events = "particles";
	simulate(order_sim_particles, RECEIVES);
	sizes(true);
	speeds(true);
	events = "Jacobi";
	simulate(order_sim_jacobi, ITERATIONS);
	sizes(false);
	row("model, bytes an event", encoded(RN_ORDER_MODEL) / (receives + tests), "B", 0.02, NULL);
	speeds(true);
	return bench_done();
}
