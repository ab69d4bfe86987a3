/* replay_plan.c - see replay_plan.h. */
#include "order/replay_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bisect.h"
#include "base/buf.h"
#include "encode/call_words.h"
#include "order/ordinal_set.h"

#define ALIGN 8u

/* Maximum number of open receives that a completion can overtake. */
#define LATE_MAX ((uint64_t)1 << 24)

/* ---- writing ---- */

/* A plan that is being appended to a buffer. */
struct pen {
	struct rn_buf *out;
	size_t base;
};

static uint64_t put(const struct pen *pen, const void *bytes, size_t n)
{
	static const unsigned char zero[ALIGN];
	size_t at = pen->out->len - pen->base;

	if (n)
		rn_buf_add(pen->out, bytes, n);
	rn_buf_add(pen->out, zero, -n % ALIGN);
	return at;
}

static struct rn_plan_list put_list(const struct pen *pen, const void *p, size_t size, size_t n)
{
	return (struct rn_plan_list){ put(pen, p, size * n), n };
}

/* Overwrites bytes that were appended before. */
static void put_again(const struct pen *pen, uint64_t at, const void *bytes, size_t n)
{
	if (!pen->out->failed && n)
		memcpy(pen->out->data + pen->base + at, bytes, n);
}

static struct rn_plan_list put_zeros(const struct pen *pen, uint32_t n)
{
	struct rn_plan_list l = { pen->out->len - pen->base, n };

	for (uint32_t i = 0; i < n; i++)
		rn_buf_add(pen->out, &(uint64_t){ 0 }, sizeof(uint64_t));
	return l;
}

static struct rn_plan_list put_names(const struct pen *pen, const char *const *name, uint32_t n)
{
	struct rn_plan_list l = put_zeros(pen, n);

	for (uint32_t i = 0; i < n; i++) {
		uint64_t at = put(pen, name[i], strlen(name[i]) + 1);

		put_again(pen, l.at + i * sizeof(at), &at, sizeof(at));
	}
	return l;
}

static struct rn_plan_list put_members(const struct pen *pen, const struct rn_plan_source *s)
{
	struct rn_plan_list l = { pen->out->len - pen->base, s->members };

	for (uint64_t i = 0; i < s->members; i++)
		rn_buf_add(pen->out, &s->member[i].in, sizeof(s->member[i].in));
	for (uint64_t i = 0; i < s->members; i++) {
		const char *name = s->member[i].name;
		uint64_t at = put(pen, name, strlen(name) + 1);

		put_again(pen, l.at + i * sizeof(s->member[i].in), &at, sizeof(at));
	}
	return l;
}

/* Data derived from the events of a thread. */
struct derived {
	const struct rn_plan_match *match;
	struct rn_plan_cancel *cancel;
	size_t matches, cancels;
};

/* Returns the number of rows up to the last one with which a call is compared. */
static size_t rows_to_replay(const struct rn_order *o)
{
	size_t n = o->rows;

	while (n > 0 && !rn_order_in_order(&o->site[o->row[n - 1].site]))
		n--;
	return n;
}

static uint64_t count_known(const struct derived *d)
{
	uint64_t known = 0;

	for (size_t i = 0; i < d->matches; i++)
		known += d->match[i].state != RN_PLAN_UNSEEN;
	return known;
}

static struct rn_plan_stream put_stream(const struct pen *pen, const struct rn_plan_part *p,
					const struct derived *d)
{
	const struct rn_order *o = &p->order;

	return (struct rn_plan_stream){
		.site = put_list(pen, o->site, sizeof(*o->site), o->sites),
		.row = put_list(pen, o->row, sizeof(*o->row), o->rows),
		.done = put_list(pen, o->done, sizeof(*o->done), o->dones),
		.value = put_list(pen, o->value, sizeof(*o->value), o->values),
		.match = put_list(pen, d->match, sizeof(*d->match), d->matches),
		.cancel = put_list(pen, d->cancel, sizeof(*d->cancel), d->cancels),
		.call = put_list(pen, p->call, sizeof(*p->call), p->calls),
		.last_row = rows_to_replay(o),
		.known = count_known(d),
		.born = p->born,
		.birth = p->birth,
	};
}

static int put_part(const struct pen *pen, const struct rn_plan_part *p, uint64_t at)
{
	struct derived d = { .match = p->match, .matches = p->matches };
	struct rn_plan_match *own;
	struct rn_plan_stream s;
	struct rn_arena mem;
	int rc;

	rn_arena_init(&mem, SIZE_MAX);
	rc = rn_plan_cancels(&mem, &p->order, &d.cancel, &d.cancels);
	if (rc == RN_OK && !p->match) {
		rc = rn_plan_matches(&mem, &p->order, &own, &d.matches);
		d.match = own;
	}
	if (rc == RN_OK) {
		s = put_stream(pen, p, &d);
		put_again(pen, at, &s, sizeof(s));
	}
	rn_arena_free(&mem);
	return rc;
}

int rn_plan_write(const struct rn_plan_source *s, struct rn_buf *out)
{
	struct rn_plan_head head = { .magic = RN_PLAN_MAGIC, .rank = s->rank, .ranks = s->ranks };
	struct pen pen = { out, out->len };
	int rc = RN_OK;

	put(&pen, &head, sizeof(head));
	head.stream = (struct rn_plan_list){ out->len - pen.base, s->parts };
	for (uint32_t i = 0; i < s->parts; i++)
		put(&pen, &(struct rn_plan_stream){ 0 }, sizeof(struct rn_plan_stream));
	for (uint32_t i = 0; i < s->parts && rc == RN_OK; i++)
		rc = put_part(&pen, &s->part[i],
			      head.stream.at + i * sizeof(struct rn_plan_stream));
	head.comm = put_names(&pen, s->comm, s->comms);
	head.place = put_names(&pen, s->place, s->places);
	head.member = put_members(&pen, s);
	head.fact = put_names(&pen, s->fact, 2 * s->facts);
	head.turn = put_list(&pen, s->turn, sizeof(*s->turn), s->turns);
	head.unenforced = put_zeros(&pen, rn_mpi_vocab.funcs);
	head.bytes = out->len - pen.base;
	put_again(&pen, 0, &head, sizeof(head));
	return rc == RN_OK ? rn_buf_status(out) : rc;
}

/* ---- validation ---- */

struct span {
	const unsigned char *bytes;
	size_t len;
};

static bool is_there(const struct span *f, const struct rn_plan_list *l, size_t size)
{
	return l->at % ALIGN == 0 && l->at <= f->len && l->n <= (f->len - l->at) / size;
}

static bool text_there(const struct span *f, uint64_t at)
{
	return at < f->len && memchr(f->bytes + at, 0, f->len - at);
}

/* Validates a list of elements that begin with the offset of a text. */
static bool names_there(const struct span *f, const struct rn_plan_list *l, size_t size)
{
	if (!is_there(f, l, size))
		return false;
	for (uint64_t i = 0; i < l->n; i++)
		if (!text_there(f, *(const uint64_t *)(const void *)(f->bytes + l->at + i * size)))
			return false;
	return true;
}

/* Returns whether the number of completions and values equals the sum over the rows. */
static bool rows_fit(const struct span *f, const struct rn_plan_stream *s)
{
	const struct rn_order_site *site = (const void *)(f->bytes + s->site.at);
	const struct rn_order_row *row = (const void *)(f->bytes + s->row.at);
	uint64_t dones = 0, values = 0;

	for (uint64_t i = 0; i < s->row.n; i++) {
		if (row[i].site >= s->site.n || site[row[i].site].kind >= RN_ORDER_KINDS)
			return false;
		if (rn_order_has_numbers(&site[row[i].site]))
			values += row[i].done;
		else
			dones += row[i].done;
	}
	return dones == s->done.n && values == s->value.n;
}

static bool stream_there(const struct span *f, const struct rn_plan_stream *s)
{
	return is_there(f, &s->site, sizeof(struct rn_order_site)) &&
	       is_there(f, &s->row, sizeof(struct rn_order_row)) &&
	       is_there(f, &s->done, sizeof(struct rn_order_done)) &&
	       is_there(f, &s->value, sizeof(int64_t)) &&
	       is_there(f, &s->match, sizeof(struct rn_plan_match)) &&
	       is_there(f, &s->cancel, sizeof(struct rn_plan_cancel)) &&
	       is_there(f, &s->call, sizeof(struct rn_plan_call)) && rows_fit(f, s);
}

static bool turns_there(const struct span *f, const struct rn_plan_head *h)
{
	const struct rn_plan_turn *t;

	if (!is_there(f, &h->turn, sizeof(*t)))
		return false;
	t = (const void *)(f->bytes + h->turn.at);
	for (uint64_t i = 0; i < h->turn.n; i++)
		if (t[i].stream >= h->stream.n || t[i].comm > h->comm.n)
			return false;
	return true;
}

bool rn_plan_valid(const void *bytes, size_t len)
{
	const struct rn_plan_head *h = bytes;
	struct span f = { bytes, len };
	const struct rn_plan_stream *s;

	if (len < sizeof(*h) || (uintptr_t)bytes % ALIGN || h->magic != RN_PLAN_MAGIC ||
	    h->bytes != len || !is_there(&f, &h->stream, sizeof(*s)) ||
	    !names_there(&f, &h->comm, sizeof(uint64_t)) ||
	    !names_there(&f, &h->place, sizeof(uint64_t)) ||
	    !names_there(&f, &h->member, sizeof(struct rn_plan_member)) ||
	    !names_there(&f, &h->fact, sizeof(uint64_t)) || h->fact.n % 2 || !turns_there(&f, h) ||
	    !is_there(&f, &h->unenforced, sizeof(uint64_t)) ||
	    h->unenforced.n != rn_mpi_vocab.funcs)
		return false;
	s = rn_plan_at(h, h->stream.at);
	for (uint64_t i = 0; i < h->stream.n; i++)
		if (!stream_there(&f, &s[i]))
			return false;
	return true;
}

/* ---- lookup ---- */

const char *rn_plan_fact(const struct rn_plan_head *p, const char *key)
{
	for (uint64_t i = 0; i < p->fact.n; i += 2)
		if (strcmp(rn_plan_text(p, &p->fact, i), key) == 0)
			return rn_plan_text(p, &p->fact, i + 1);
	return NULL;
}

const struct rn_plan_member *rn_plan_member(const struct rn_plan_head *p, const char *name)
{
	const struct rn_plan_member *m = rn_plan_at(p, p->member.at);
	struct rn_bisect b = { 0, p->member.n, 0 };

	while (rn_bisect_next(&b))
		rn_bisect_go(&b, strcmp(rn_plan_at(p, m[b.mid].name), name) < 0);
	m += b.lo;
	return b.lo < p->member.n && strcmp(rn_plan_at(p, m->name), name) == 0 ? m : NULL;
}

uint32_t rn_plan_comm(const struct rn_plan_head *p, const char *name, uint32_t hint)
{
	for (uint64_t i = 0; i < p->comm.n; i++) {
		uint64_t k = (i + hint + p->comm.n - (hint > 0)) % p->comm.n;

		if (strcmp(rn_plan_text(p, &p->comm, k), name) == 0)
			return (uint32_t)k + 1;
	}
	return 0;
}

static bool is_before(const struct rn_plan_turn *t, uint32_t comm, enum rn_plan_turn_of of)
{
	return t->comm != comm ? t->comm < comm : t->of < of;
}

const struct rn_plan_turn *rn_plan_turns(const struct rn_plan_head *p, uint32_t comm,
					 enum rn_plan_turn_of of, uint64_t *n)
{
	const struct rn_plan_turn *t = rn_plan_at(p, p->turn.at), *end = t + p->turn.n, *first;
	struct rn_bisect b = { 0, p->turn.n, 0 };

	while (rn_bisect_next(&b))
		rn_bisect_go(&b, is_before(&t[b.mid], comm, of));
	first = t += b.lo;
	while (t < end && t->comm == comm && t->of == of)
		t++;
	*n = (uint64_t)(t - first);
	return first;
}

bool rn_plan_done(const struct rn_plan_stream *s)
{
	return __atomic_load_n(&s->progress.row, __ATOMIC_RELAXED) >= s->last_row &&
	       __atomic_load_n(&s->progress.messages, __ATOMIC_RELAXED) >= s->known;
}

/* ---- matches of receives ---- */

/* Computes the ordinal of each completion that is a wildcard receive, and the number of ordinals.
 */
static int number_receives(const struct rn_order *o, struct rn_arena *mem, uint64_t *number,
			   uint64_t *n)
{
	struct rn_ordinals open = { 0 };
	uint64_t late;

	for (size_t i = 0; i < o->dones; i++) {
		if (o->done[i].late == RN_ORDER_NOT)
			continue;
		if (o->done[i].late > LATE_MAX)
			return RN_E_DATA;
		number[i] = rn_ordinals_number(&open, o->done[i].late);
		*n = number[i] >= *n ? number[i] + 1 : *n;
		if (!rn_ordinals_done(&open, mem, number[i], &late))
			return RN_E_NOMEM;
	}
	return RN_OK;
}

/* Returns the match of a receive that the event in `row` completed. */
static struct rn_plan_match match_of(const struct rn_order_done *d, size_t row)
{
	struct rn_plan_match m = { .state = RN_PLAN_UNSEEN, .row = (uint32_t)row + 1 };

	if (d->flags & RN_ORDER_CANCELLED) {
		m.state = RN_PLAN_CANCELLED;
	} else if (d->flags & RN_ORDER_MATCHED) {
		m.source = d->source;
		m.tag = d->tag;
		m.state = RN_PLAN_MATCHED;
	}
	return m;
}

static void take_matches(const struct rn_order *o, const uint64_t *number,
			 struct rn_plan_match *match)
{
	size_t done = 0;

	for (size_t i = 0; i < o->rows; i++) {
		uint32_t n = rn_order_has_numbers(&o->site[o->row[i].site]) ? 0 : o->row[i].done;

		for (; n > 0; n--, done++)
			if (o->done[done].late != RN_ORDER_NOT)
				match[number[done]] = match_of(&o->done[done], i);
	}
}

int rn_plan_matches(struct rn_arena *mem, const struct rn_order *o, struct rn_plan_match **match,
		    size_t *n)
{
	struct rn_arena scratch;
	uint64_t numbers = 0, *number;
	int rc = RN_E_NOMEM;

	rn_arena_init(&scratch, SIZE_MAX);
	*match = NULL;
	number = rn_new(&scratch, uint64_t, o->dones + 1);
	if (number)
		rc = number_receives(o, &scratch, number, &numbers);
	if (rc == RN_OK && !(*match = rn_new(mem, struct rn_plan_match, numbers + 1)))
		rc = RN_E_NOMEM;
	for (uint64_t i = 0; i < numbers && rc == RN_OK; i++)
		(*match)[i].state = RN_PLAN_UNSEEN;
	if (rc == RN_OK)
		take_matches(o, number, *match);
	*n = rc == RN_OK ? numbers : 0;
	rn_arena_free(&scratch);
	return rc;
}

/* ---- cancelled operations ---- */

static int by_number(const void *a, const void *b)
{
	uint64_t x = ((const struct rn_plan_cancel *)a)->number;
	uint64_t y = ((const struct rn_plan_cancel *)b)->number;

	return (x > y) - (x < y);
}

/* Stores the cancelled operations unless `to` is NULL. Returns their number. */
static size_t take_cancels(const struct rn_order *o, struct rn_plan_cancel *to)
{
	size_t n = 0, value = 0;

	for (size_t i = 0; i < o->rows; i++) {
		const struct rn_order_site *s = &o->site[o->row[i].site];
		uint32_t values = rn_order_has_numbers(s) ? o->row[i].done : 0;

		for (uint32_t k = 0; k < values && s->kind == RN_ORDER_CANCELLATION; k++, n++) {
			uint64_t v = (uint64_t)o->value[value + k];

			if (to)
				to[n] = (struct rn_plan_cancel){ v >> 1, v & 1 };
		}
		value += values;
	}
	return n;
}

int rn_plan_cancels(struct rn_arena *mem, const struct rn_order *o, struct rn_plan_cancel **cancel,
		    size_t *n)
{
	*n = take_cancels(o, NULL);
	*cancel = rn_new(mem, struct rn_plan_cancel, *n + 1);
	if (!*cancel)
		return RN_E_NOMEM;
	take_cancels(o, *cancel);
	qsort(*cancel, *n, sizeof(**cancel), by_number);
	return RN_OK;
}
