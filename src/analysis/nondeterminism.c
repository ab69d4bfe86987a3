/* nondeterminism.c - see nondeterminism.h. */
#include "analysis/nondeterminism.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/vec.h"
#include "order/cdc_tables.h"
#include "order/lamport.h"

/* Maps pairs of numbers to values, for the outcomes of one site. */
struct table {
	struct rn_sigs *key;
	uint64_t *value;
	bool failed; /* an allocation failed */
};

struct work {
	struct rn_arena *mem;    /* for the result */
	struct rn_arena scratch; /* for the current thread */
	struct rn_sigs *sites;   /* struct rn_order_site; the id is the index in `site` */
	struct rn_seg site;      /* struct rn_disorder_site */
	uint64_t ranks;
	bool sends, clocks;
};

/* The outcomes of one thread at one site. */
struct visit {
	const struct rn_order_chunk *c;
	uint32_t site;
	int32_t rank;
	bool chooses;                      /* the call chooses among several requests */
	const struct rn_order_done **done; /* completions in reporting order */
	uint32_t dones;
	uint64_t received;
	struct table table;
};

static uint64_t key_of(uint64_t a, uint64_t b)
{
	const uint64_t words[] = { a, b };

	return rn_hash(words, sizeof(words)) | 1;
}

static bool is_received(const struct rn_order_done *d)
{
	return (d->flags & (RN_ORDER_MATCHED | RN_ORDER_CANCELLED)) == RN_ORDER_MATCHED;
}

/* ---- sites of all threads ---- */

static struct rn_disorder_site *site_at(const struct work *w, uint32_t i)
{
	return RN_SEG_AT(&w->site, struct rn_disorder_site, i);
}

/* NULL if memory is exhausted. */
static struct rn_disorder_site *find_site(struct work *w, const struct rn_order_site *s)
{
	uint32_t i;

	if (!rn_seg_reserve(&w->site, w->mem, 1) || rn_sigs_intern(w->sites, s, sizeof(*s), &i) < 0)
		return NULL;
	if (i == w->site.n)
		RN_SEG_PUT(&w->site, struct rn_disorder_site,
			   (struct rn_disorder_site){ .site = *s, .fixed = ~0u });
	return site_at(w, i);
}

/* ---- outcomes of a thread at a site ---- */

static bool make_table(struct table *t, struct rn_arena *mem, uint32_t n)
{
	*t = (struct table){ rn_sigs_new(mem), rn_new(mem, uint64_t, (size_t)n + 1), false };
	return t->key && t->value;
}

/* Returns the value of a pair, which is added if it is new. *known: it existed. */
static uint64_t *look_up(struct table *t, uint64_t a, uint64_t b, bool *known)
{
	const uint64_t key[] = { a, b };
	uint32_t n = rn_sigs_count(t->key), i = 0;

	t->failed |= rn_sigs_intern(t->key, key, sizeof(key), &i) < 0;
	*known = i < n;
	return &t->value[i];
}

static uint64_t source_of(const struct rn_order_done *d)
{
	return (uint32_t)d->source;
}

static uint64_t tag_of(const struct rn_order_done *d)
{
	return (uint32_t)d->tag;
}

static uint64_t index_of(const struct rn_order_done *d)
{
	return d->index;
}

/* Returns the number of different values of `what` among the receives. *fixed: receives with equal
 * values always have the same source. */
static uint64_t count_different(struct visit *v, uint64_t (*what)(const struct rn_order_done *),
				bool *fixed)
{
	*fixed = true;
	rn_sigs_reset(v->table.key);
	for (uint32_t i = 0; i < v->dones; i++) {
		const struct rn_order_done *d = v->done[i];
		uint64_t *source;
		bool known;

		if (!is_received(d))
			continue;
		source = look_up(&v->table, what(d), 0, &known);
		if (!known)
			*source = source_of(d);
		*fixed = *fixed && *source == source_of(d);
	}
	return rn_sigs_count(v->table.key);
}

/* The part of a completion that can differ between runs: source and, if the call chooses, index.
 * Tags are excluded because they are often message counters. */
static uint64_t outcome_of(const struct visit *v, const struct rn_order_done *d)
{
	return key_of(v->chooses ? d->index : 0,
		      is_received(d) ? source_of(d) : (uint64_t)UINT32_MAX + 1);
}

static uint64_t count_irregular(struct visit *v)
{
	uint64_t before[2] = { 0, 0 }, n = 0;

	rn_sigs_reset(v->table.key);
	for (uint32_t i = 0; i < v->dones; i++) {
		uint64_t now = outcome_of(v, v->done[i]);
		bool known;
		uint64_t *next = look_up(&v->table, before[0], before[1], &known);

		n += known && *next != now;
		*next = now;
		before[0] = before[1];
		before[1] = now;
	}
	return n;
}

/* The shortest period of the completions that occurs at least twice; 0: none, or an allocation
 * failed (*failed). It is n minus the longest border of the sequence, as computed by the
 * Knuth-Morris-Pratt algorithm. */
static uint64_t find_period(struct work *w, const struct visit *v, bool *failed)
{
	uint32_t n = v->dones, *border = rn_new(&w->scratch, uint32_t, (size_t)n + 1), k = 0;
	uint64_t *what = rn_new(&w->scratch, uint64_t, n), period;

	*failed = !border || !what;
	if (*failed || n < 2)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		what[i] = outcome_of(v, v->done[i]);
	for (uint32_t i = 1; i < n; i++) {
		while (k && what[i] != what[k])
			k = border[k];
		k += what[i] == what[k];
		border[i + 1] = k;
	}
	period = n - border[n];
	return period * 2 <= n ? period : 0;
}

static unsigned find_fixed(struct visit *v, uint64_t sources)
{
	bool by_tag, by_index;
	unsigned is = sources == 1 ? RN_FIXED_SOURCE : 0;

	/* Tags or indices that occur only once are no evidence. */
	if (count_different(v, tag_of, &by_tag) * 2 <= v->received && by_tag)
		is |= RN_FIXED_BY_TAG;
	if (v->chooses && count_different(v, index_of, &by_index) * 2 <= v->received && by_index)
		is |= RN_FIXED_BY_INDEX;
	return is;
}

/* Compares the first source of a thread with those of the other threads. */
static void add_source(const struct work *w, struct rn_disorder_site *s, int64_t source,
		       int64_t rank)
{
	int64_t ranks = (int64_t)w->ranks, step = ((source - rank) % ranks + ranks) % ranks;

	if (s->receivers == 0) {
		s->source = source;
		s->step = step;
		s->one_source = s->one_step = true;
	}
	s->one_source = s->one_source && s->source == source;
	s->one_step = s->one_step && s->step == step;
}

static const struct rn_order_done *first_received(const struct visit *v)
{
	uint32_t i = 0;

	while (!is_received(v->done[i]))
		i++;
	return v->done[i];
}

static void add_period(struct rn_disorder_site *s, uint64_t period)
{
	if (s->repeaters == 0 || period < s->period[0])
		s->period[0] = period;
	if (s->repeaters == 0 || period > s->period[1])
		s->period[1] = period;
	s->repeaters++;
}

/* Whether most array indices occur only once. Such indices do not describe the message order. */
static bool once_each(struct visit *v)
{
	bool fixed;

	return v->received && count_different(v, index_of, &fixed) * 2 > v->received;
}

/* Adds the measures that depend on the order of completions. */
static int add_sequence(struct work *w, struct visit *v, struct rn_disorder_site *s)
{
	uint64_t sources;
	bool fixed, failed = false;

	if (!make_table(&v->table, &w->scratch, v->dones))
		return RN_E_NOMEM;
	v->chooses = v->chooses && !once_each(v);
	s->irregular += count_irregular(v);
	if (v->dones > 1)
		add_period(s, find_period(w, v, &failed));
	if (failed || v->table.failed)
		return RN_E_NOMEM;
	if (!v->received)
		return RN_OK;
	sources = count_different(v, source_of, &fixed);
	if (sources > s->sources)
		s->sources = sources;
	/* A single message cannot show that a source is fixed. */
	s->fixed &= v->received > 1 ? find_fixed(v, sources) : ~0u;
	add_source(w, s, first_received(v)->source, v->rank);
	s->receivers++;
	return v->table.failed ? RN_E_NOMEM : RN_OK;
}

static int add_moved(struct work *w, const struct visit *v, struct rn_disorder_site *s)
{
	struct rn_order_matched_tables t;

	if (!rn_order_matched_tables(&w->scratch, v->c, v->site, &t))
		return RN_E_NOMEM;
	s->moved += t.moved;
	return RN_OK;
}

/* ---- threads ---- */

static void count_done(struct visit *v, const struct rn_order_done *d, struct rn_disorder_site *s)
{
	v->done[v->dones++] = d;
	v->received += is_received(d);
	s->late += d->late != RN_ORDER_NOT && d->late > 0;
}

static int look_at_site(struct work *w, struct visit *v)
{
	const struct rn_order_chunk *c = v->c;
	struct rn_disorder_site *s = find_site(w, &c->site[v->site]);
	int rc;

	if (!s)
		return RN_E_NOMEM;
	for (uint32_t r = c->first[v->site]; r != RN_TABLES_NONE; r = c->next[r]) {
		s->calls += (uint64_t)c->row[r].fails + (c->row[r].done > 0);
		s->failed += c->row[r].fails;
		for (uint32_t i = c->at[r]; i < c->at[r + 1]; i++)
			count_done(v, &c->done[i], s);
	}
	s->done += v->dones;
	s->received += v->received;
	rc = v->dones ? add_sequence(w, v, s) : RN_OK;
	return rc == RN_OK && v->received && c->clock ? add_moved(w, v, s) : rc;
}

static int look_at_thread(struct work *w, const struct rn_order *o, int32_t rank)
{
	/* The functions that build tables from a chunk do not modify it. */
	struct rn_order_chunk c = { .site = o->site,
				    .sites = o->sites,
				    .row = o->row,
				    .done = o->done,
				    .clock = o->clock,
				    .rows = (uint32_t)o->rows };
	const struct rn_order_done **done =
		rn_new(&w->scratch, const struct rn_order_done *, o->dones);
	int rc = RN_OK;

	if (!done || !rn_order_chunk_begin(&w->scratch, &c))
		return RN_E_NOMEM;
	rn_order_chunk_count(&c);
	for (uint32_t i = 0; i < o->sites && rc == RN_OK; i++) {
		struct rn_arena_mark mark = rn_arena_mark(&w->scratch);
		uint32_t kind = o->site[i].kind;
		struct visit v = { .c = &c,
				   .site = i,
				   .rank = rank,
				   .chooses = kind == RN_ORDER_ANY || kind == RN_ORDER_SOME,
				   .done = done };

		if (c.first[i] != RN_TABLES_NONE && !rn_order_kinds[kind].numbers &&
		    kind != RN_ORDER_LOOSE)
			rc = look_at_site(w, &v);
		rn_arena_rewind(&w->scratch, mark);
	}
	return rc;
}

static int look_at_all(struct work *w, struct rn_order *thread, const int32_t *rank, size_t n)
{
	int rc = w->sends ? rn_order_clocks(w->mem, thread, rank, n) : RN_OK;

	for (size_t t = 0; t < n && rc == RN_OK; t++) {
		struct rn_arena_mark mark = rn_arena_mark(&w->scratch);

		if (thread[t].rows >= UINT32_MAX || thread[t].dones >= UINT32_MAX)
			return RN_E_RANGE;
		rc = look_at_thread(w, &thread[t], rank[t]);
		rn_arena_rewind(&w->scratch, mark);
	}
	return rc;
}

/* ---- the result ---- */

static int by_done(const void *a, const void *b)
{
	const struct rn_disorder_site *x = a, *y = b;

	if (x->done != y->done)
		return x->done < y->done ? 1 : -1;
	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	return memcmp(&x->site, &y->site, sizeof(x->site));
}

static void add_up(struct rn_disorder_site *to, const struct rn_disorder_site *s)
{
	to->calls += s->calls;
	to->failed += s->failed;
	to->done += s->done;
	to->received += s->received;
	to->moved += s->moved;
	to->late += s->late;
	to->irregular += s->irregular;
}

static int finish(struct work *w, struct rn_disorder *out)
{
	*out = (struct rn_disorder){ .site = rn_new(w->mem, struct rn_disorder_site, w->site.n),
				     .sites = w->site.n };
	if (!out->site)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < out->sites; i++) {
		struct rn_disorder_site *s = &out->site[i];

		*s = *site_at(w, i);
		/* No thread received two messages, so nothing can be fixed. */
		if (s->received < 2 * s->receivers || !s->receivers)
			s->fixed = 0;
		add_up(&out->all, s);
	}
	out->clocks = w->clocks && out->all.received;
	for (uint32_t i = 0; i < out->sites; i++)
		out->disorderly += (out->clocks ? out->site[i].moved : out->site[i].irregular) > 0;
	qsort(out->site, out->sites, sizeof(*out->site), by_done);
	return RN_OK;
}

int rn_disorder(struct rn_arena *mem, struct rn_order *thread, const int32_t *rank, size_t n,
		uint64_t ranks, struct rn_disorder *out)
{
	struct work w = { .mem = mem, .ranks = ranks, .sites = rn_sigs_new(mem) };
	int rc = w.sites ? RN_OK : RN_E_NOMEM;

	for (size_t t = 0; t < n; t++) {
		w.sends |= thread[t].sends > 0;
		w.clocks |= thread[t].sends > 0 || thread[t].clock;
	}
	rn_arena_init(&w.scratch, SIZE_MAX);
	rn_seg_init(&w.site, sizeof(struct rn_disorder_site));
	if (rc == RN_OK)
		rc = look_at_all(&w, thread, rank, n);
	if (rc == RN_OK)
		rc = finish(&w, out);
	rn_arena_free(&w.scratch);
	return rc;
}
