/* needs.c - see needs.h. */
#include "analyse/needs.h"

#include "base/arena.h"
#include "base/buf.h"
#include "encode/raw_walk.h"
#include "encode/sigs.h"
#include "file/recorded.h"
#include "read/form.h"

#include <stdio.h>
#include <string.h>

/* ---- arguments ---- */

struct arg {
	const struct rn_param *p;
	struct rn_value v;
	struct rn_reader parts; /* of a list */
};

struct call {
	const struct rn_proto *f;
	struct arg arg[RN_CALL_VALUES_MAX];
	uint32_t args;
	struct rn_buf bytes;
};

struct look {
	const struct rn_recorded *p;
	uint32_t stream;
	struct rn_arena *mem;
	bool failed; /* no memory */
};

static void skip(struct rn_reader *in, uint64_t n)
{
	struct rn_value v;

	while (n-- > 0 && rn_call_value(in, &v))
		n += rn_value_parts(&v);
}

/* A value; of one that says whose ranks it is about, the value itself. */
static void read_arg(struct call *c, struct rn_reader *in, const struct rn_param *p)
{
	struct arg *a = &c->arg[c->args];

	a->p = p;
	if (!rn_call_value(in, &a->v) || (a->v.kind == RN_V_IN && !rn_call_value(in, &a->v)))
		return;
	c->args++;
	a->parts = *in;
	skip(in, rn_value_parts(&a->v));
}

static bool comes_first(const struct rn_param *p)
{
	return p->how != RN_HOW_out && p->how != RN_HOW_new;
}

/* False when there is nothing to be had of the words. */
static bool read_call(struct look *l, const uint64_t *words, size_t n, struct call *c)
{
	const struct rn_stream_calls *of = &l->p->stream[l->stream].calls;
	struct rn_reader in;

	*c = (struct call){ .f = &rn_mpi_protos[RN_RAW_FUNCTION(words[0])] };
	if (rn_canonical_one(of, words, n, &c->bytes) < 0) {
		l->failed |= rn_buf_status(&c->bytes) < 0;
		return false;
	}
	in = rn_reader(c->bytes.data, c->bytes.len);
	rn_get_u64(&in);
	for (uint32_t i = 0; i < c->f->nparams; i++)
		if (comes_first(&c->f->param[i]))
			read_arg(c, &in, &c->f->param[i]);
	for (uint32_t i = 0; i < c->f->nparams; i++)
		if (!comes_first(&c->f->param[i]) || c->f->param[i].how == RN_HOW_inout)
			read_arg(c, &in, &c->f->param[i]);
	return true;
}

static const struct arg *find_arg(const struct call *c, uint8_t param)
{
	for (uint32_t i = 0; i < c->args && param != RN_NO_PARAM; i++)
		if (c->arg[i].p == &c->f->param[param])
			return &c->arg[i];
	return NULL;
}

static const char *keep(struct look *l, const void *s, size_t n)
{
	char *copy = rn_new(l->mem, char, n + 1);

	if (copy)
		memcpy(copy, s, n);
	else
		l->failed = true;
	return copy ? copy : "";
}

static bool is_word(const struct rn_value *v, const char *word)
{
	const char *text = v->kind == RN_V_CONST ? rn_vocab_word(&rn_mpi_vocab, v->word) : NULL;

	return text && strcmp(text, word) == 0;
}

/* ---- the communicator of a call ---- */

static const char *comm_of_window(const struct look *l, const uint64_t *words, size_t n)
{
	const struct rn_caller *who = &l->p->who;

	return who->comm(who->arg, (uint32_t)(words[n - 1] >> 32)).name;
}

static const char *comm_of(struct look *l, const struct call *c)
{
	for (uint32_t i = 0; i < c->args; i++) {
		const struct rn_value *v = &c->arg[i].v;

		if (c->arg[i].p->kind != RN_K_comm || !comes_first(c->arg[i].p))
			continue;
		if (v->kind == RN_V_NAME)
			return keep(l, v->text, v->len);
		if (v->kind == RN_V_CONST)
			return rn_vocab_word(&rn_mpi_vocab, v->word);
	}
	return NULL;
}

/* ---- texts ---- */

static bool is_shown(const struct rn_param *p)
{
	switch (p->kind) {
	case RN_K_rank:
	case RN_K_tag:
	case RN_K_comm:
	case RN_K_win:
	case RN_K_file:
	case RN_K_message:
	case RN_K_string:
		return comes_first(p) && !p->array;
	default:
		return false;
	}
}

static void put_text(struct rn_buf *b, const char *s)
{
	rn_buf_add(b, s, strlen(s));
}

static void put_value(struct rn_buf *b, const struct rn_value *v)
{
	const char *word = rn_vocab_word(&rn_mpi_vocab, v->word);

	switch (v->kind) {
	case RN_V_INT:
		rn_put_i64(b, v->num);
		break;
	case RN_V_NAME:
		if (rn_name_valid(v->text, v->len))
			rn_buf_add(b, v->text, v->len);
		else
			rn_buf_byte(b, '?');
		break;
	case RN_V_STRING:
		rn_form_text.quote(b, v->text, v->len);
		break;
	case RN_V_OBJECT:
		put_text(b, word ? word : "?");
		rn_buf_byte(b, ':');
		rn_put_u64(b, v->id);
		break;
	case RN_V_CONST:
		put_text(b, word ? word : "?");
		break;
	default:
		rn_buf_byte(b, '?');
	}
}

/* A rank as seen from ours: as near as it is, around the corner. */
static void put_relative(struct rn_buf *b, int64_t rank, const struct rn_seen_comm *in)
{
	int64_t size = in->remote ? in->remote : in->size, d;

	if (size <= 0 || rank < 0 || rank >= size || in->rank >= size) {
		rn_put_i64(b, rank);
		return;
	}
	d = (rank - in->rank) % size;
	if (d > size / 2)
		d -= size;
	else if (d < -(size - 1) / 2)
		d += size;
	put_text(b, "rank");
	if (d >= 0)
		rn_buf_byte(b, '+');
	rn_put_i64(b, d);
}

static void put_args(struct rn_buf *b, const struct call *c, const struct rn_seen_comm *relative)
{
	const char *between = "";

	put_text(b, c->f->name);
	rn_buf_byte(b, '(');
	for (uint32_t i = 0; i < c->args; i++) {
		const struct arg *a = &c->arg[i];

		if (!is_shown(a->p))
			continue;
		put_text(b, between);
		between = ", ";
		put_text(b, a->p->name);
		rn_buf_byte(b, '=');
		if (relative && a->p->kind == RN_K_rank && a->v.kind == RN_V_INT &&
		    a != find_arg(c, c->f->traits.root))
			put_relative(b, a->v.num, relative);
		else
			put_value(b, &a->v);
	}
}

static const char *finish_text(struct look *l, struct rn_buf *b)
{
	const char *s = keep(l, b->data, b->len);

	l->failed |= rn_buf_status(b) < 0;
	rn_buf_free(b);
	return s;
}

struct waited;
static void put_requests(struct rn_buf *b, const struct waited *w, bool relative);

static const char *make_text(struct look *l, const struct call *c,
			     const struct rn_seen_comm *relative, const struct waited *requests)
{
	struct rn_buf b = { 0 };

	put_args(&b, c, relative);
	if (requests)
		put_requests(&b, requests, relative);
	rn_buf_byte(&b, ')');
	return finish_text(l, &b);
}

/* What the process is in a communicator that it knows by name. */
static struct rn_seen_comm seen_comm(const struct look *l, const struct call *c,
				     const uint64_t *words, size_t n)
{
	const struct rn_caller *who = &l->p->who;

	/* Its word is among those of the call. */
	for (uint32_t i = 0; i < c->args; i++)
		if (c->arg[i].p->kind == RN_K_comm && comes_first(c->arg[i].p))
			for (size_t k = 1; k < n; k++) {
				struct rn_seen_comm s = who->comm(who->arg, (uint32_t)words[k]);
				const struct rn_value *v = &c->arg[i].v;

				if (s.name && ((v->kind == RN_V_NAME && strlen(s.name) == v->len &&
						memcmp(s.name, v->text, v->len) == 0) ||
					       is_word(v, s.name)))
					return s;
			}
	return (struct rn_seen_comm){ NULL, who->rank, who->size, 0 };
}

/* ---- peers ---- */

struct peers {
	struct rn_need_peer *peer;
	uint32_t n, cap;
	bool unknown; /* there is more that is waited for */
};

static void add_peer(struct look *l, struct peers *to, const char *comm, int64_t rank)
{
	for (uint32_t i = 0; i < to->n; i++)
		if (to->peer[i].rank == rank && strcmp(to->peer[i].comm, comm) == 0)
			return;
	if (to->n == to->cap) {
		uint32_t cap = to->cap ? 2 * to->cap : 8;
		struct rn_need_peer *more = rn_new(l->mem, struct rn_need_peer, cap);

		if (!more) {
			l->failed = true;
			return;
		}
		if (to->n)
			memcpy(more, to->peer, to->n * sizeof(*more));
		to->peer = more;
		to->cap = cap;
	}
	to->peer[to->n++] = (struct rn_need_peer){ comm, rank };
}

static void add_named(struct look *l, struct peers *to, const struct call *c, uint8_t param)
{
	const struct arg *a = find_arg(c, param);
	const char *comm = comm_of(l, c);

	if (!a || !comm)
		return;
	if (a->v.kind == RN_V_INT)
		add_peer(l, to, comm, a->v.num);
	else if (is_word(&a->v, "MPI_ANY_SOURCE"))
		add_peer(l, to, comm, RN_NEED_ANYBODY);
}

static void add_peers(struct look *l, struct peers *to, const struct call *c)
{
	const struct rn_traits *t = &c->f->traits;
	const char *comm = t->whom ? comm_of(l, c) : NULL;
	bool receives = (t->is & (RN_IS_receives | RN_IS_probes)) && t->source != RN_NO_PARAM;
	bool sends = (t->is & RN_IS_sends) && !(t->is & RN_IS_buffered);

	if (receives)
		add_named(l, to, c, t->source);
	if (sends)
		add_named(l, to, c, t->dest);
	if (comm)
		add_peer(l, to, comm, RN_NEED_ANYBODY);
	to->unknown |= !receives && !sends && !comm;
}

/* ---- requests ---- */

/* A call that makes requests; those of one shape (encode/raw.h) are made by the same. */
struct maker {
	const uint64_t *words;
	size_t n;
	uint64_t uses; /* by the call that waits */
	const char *text, *relative;
};

struct makers {
	struct maker *maker;
	uint32_t n;
};

/* Of one that is not known there are no words. */
static struct makers find_makers(struct look *l)
{
	const struct rn_recorded_stream *s = &l->p->stream[l->stream];
	struct makers m = { rn_new(l->mem, struct maker, (size_t)s->makers + 1), 0 };

	l->failed |= !m.maker;
	for (; m.n < s->makers && !l->failed; m.n++) {
		size_t len;

		if (s->maker[m.n] == RN_NO_MAKER)
			continue;
		m.maker[m.n].words = rn_sigs_get(s->calls.words, s->maker[m.n], &len);
		m.maker[m.n].n = len / sizeof(uint64_t);
	}
	return m;
}

/* What a call waits for: the calls that made its requests, each once. */
struct waited {
	struct peers peers;
	struct maker **used;
	uint32_t n;
	uint64_t unknown; /* requests */
	struct makers *by_stream;
};

static void use_maker(struct look *l, struct waited *to, struct maker *m)
{
	struct rn_seen_comm seen;
	struct call c = { 0 };

	if (m->uses++ || !read_call(l, m->words, m->n, &c))
		return;
	seen = seen_comm(l, &c, m->words, m->n);
	to->used[to->n++] = m;
	m->text = make_text(l, &c, NULL, NULL);
	m->relative = make_text(l, &c, &seen, NULL);
	add_peers(l, &to->peers, &c);
	rn_buf_free(&c.bytes);
}

static void use_shape(struct look *l, struct waited *to, uint64_t shape)
{
	struct makers *m = &to->by_stream[l->stream];

	if (!m->maker)
		*m = find_makers(l);
	if (shape < m->n && m->maker[shape].words && !l->failed)
		use_maker(l, to, &m->maker[shape]);
	else
		to->unknown++;
}

/* A request of this stream's, or "request:THREAD.SHAPE.SLOT" of another's. */
static void use_request(struct look *l, struct waited *to, const struct rn_value *v)
{
	struct look other = *l;
	unsigned shape;
	char name[64];

	if (v->kind == RN_V_PLACE) {
		use_shape(l, to, v->id);
	} else if (v->kind == RN_V_NAME) {
		snprintf(name, sizeof(name), "%.*s", (int)v->len, v->text);
		if (sscanf(name, "request:%u.%u", &other.stream, &shape) == 2 &&
		    other.stream < l->p->streams)
			use_shape(&other, to, shape);
		else
			to->unknown++;
		l->failed |= other.failed;
	}
}

static const struct arg *find_requests(const struct call *c)
{
	for (uint32_t i = 0; i < c->args; i++)
		if (c->arg[i].p->kind == RN_K_request && comes_first(c->arg[i].p))
			return &c->arg[i];
	return NULL;
}

static void use_requests(struct look *l, struct waited *to, const struct call *c)
{
	const struct arg *given = find_requests(c);
	uint64_t n = !given ? 0 : given->v.kind == RN_V_LIST ? (uint64_t)given->v.num : 1;
	struct arg a;

	if (!n)
		return;
	a = *given;
	to->by_stream = rn_new(l->mem, struct makers, (size_t)l->p->streams + 1);
	to->used = rn_new(l->mem, struct maker *, n > c->bytes.len ? c->bytes.len : n);
	l->failed |= !to->by_stream || !to->used;
	if (a.v.kind != RN_V_LIST && !l->failed)
		use_request(l, to, &a.v);
	to->unknown += a.v.kind != RN_V_LIST && a.p->array; /* too many to be told */
	for (uint64_t k = 0; a.p->array && k < n && !l->failed && rn_call_value(&a.parts, &a.v);
	     k++)
		use_request(l, to, &a.v);
	to->peers.unknown |= to->unknown > 0;
}

#define REQUESTS_SHOWN 4u

static void put_count(struct rn_buf *b, uint64_t n, const char *what)
{
	if (n > 1) {
		rn_put_u64(b, n);
		put_text(b, " x ");
	}
	put_text(b, what);
}

static void put_requests(struct rn_buf *b, const struct waited *w, bool relative)
{
	for (uint32_t i = 0; i < w->n && i < REQUESTS_SHOWN; i++) {
		put_text(b, i ? ", " : "");
		put_count(b, w->used[i]->uses, relative ? w->used[i]->relative : w->used[i]->text);
	}
	if (w->n > REQUESTS_SHOWN) {
		put_text(b, ", and ");
		rn_put_u64(b, w->n - REQUESTS_SHOWN);
		put_text(b, " more kinds");
	}
	if (w->unknown) {
		put_text(b, w->n ? ", " : "");
		put_count(b, w->unknown, "request:?");
	}
}

/* ---- */

/* The communicator of a collective call; NULL: unknown. A call without a communicator argument has
 * a window as its last argument, or has no arguments and concerns MPI_COMM_WORLD. */
static const char *collective_comm(struct look *l, const struct call *c, const uint64_t *words,
				   size_t n)
{
	const char *comm = comm_of(l, c);
	uint32_t params = c->f->nparams;

	if (comm || params == 0)
		return comm ? comm : "MPI_COMM_WORLD"; /* MPI_Finalize */
	return c->f->param[params - 1].kind == RN_K_win ? comm_of_window(l, words, n) : NULL;
}

static void set_collective(struct look *l, const struct call *c, const uint64_t *words, size_t n,
			   struct rn_need *out)
{
	const struct rn_traits *t = &c->f->traits;
	const struct arg *root = find_arg(c, t->root);

	out->comm = collective_comm(l, c, words, n);
	if (!out->comm)
		return;
	out->kind = RN_NEED_MEMBERS;
	out->collective = rn_mpi_protos[t->base].name;
	out->whom = t->whom;
	out->root = root && root->v.kind == RN_V_INT ? root->v.num : -1;
}

static void set_peers(const struct peers *p, bool any, struct rn_need *out)
{
	if (p->n == 0 || p->unknown)
		return;
	out->kind = RN_NEED_PEERS;
	out->peer = p->peer;
	out->peers = p->n;
	out->all = p->n == 1 && p->peer->rank != RN_NEED_ANYBODY && !any;
}

static bool found_nothing(const struct call *c)
{
	const struct rn_traits *t = &c->f->traits;
	const struct arg *a = find_arg(c, t->is & RN_IS_some ? t->index : t->flag);

	return a && a->v.kind == RN_V_INT && a->v.num == 0;
}

static void keep_requests(struct look *l, const struct waited *w, struct rn_need *out)
{
	const char **text = rn_new(l->mem, const char *, (size_t)w->n + 1);

	l->failed |= !text;
	for (uint32_t i = 0; text && i < w->n; i++)
		text[i] = w->used[i]->text;
	out->request = text;
	out->requests = text ? w->n : 0;
}

static bool waits_for_requests(const struct rn_traits *t)
{
	return (t->is & (RN_IS_completes | RN_IS_tests)) && t->request != RN_NO_PARAM &&
	       !(t->is & RN_IS_partitioned);
}

static void describe(struct look *l, const struct call *c, const uint64_t *words, size_t n,
		     struct rn_need *out)
{
	struct rn_seen_comm seen = seen_comm(l, c, words, n);
	const struct rn_traits *t = &c->f->traits;
	struct waited w = { 0 };

	use_requests(l, &w, c);
	out->text = make_text(l, c, NULL, &w);
	out->relative = make_text(l, c, &seen, &w);
	keep_requests(l, &w, out);
	out->fruitless = found_nothing(c);
	out->sig = keep(l, c->bytes.data, c->bytes.len);
	out->sig_len = c->bytes.len;
	if (t->whom) {
		set_collective(l, c, words, n, out);
	} else if (waits_for_requests(t)) {
		set_peers(&w.peers, t->is & (RN_IS_any | RN_IS_some), out);
	} else {
		add_peers(l, &w.peers, c);
		set_peers(&w.peers, false, out);
	}
}

/* The words of a call that has no results yet, made whole. */
static const uint64_t *complete(struct look *l, const uint64_t *words, size_t *n)
{
	uint64_t *w = rn_new(l->mem, uint64_t, *n + RN_RAW_BARE_MAX);

	if (!w) {
		l->failed = true;
		return words;
	}
	memcpy(w, words, *n * sizeof(*w));
	*n = (size_t)(rn_raw_unset(w, w + *n) - w);
	return w;
}

int rn_need_of(const struct rn_recorded *p, uint32_t stream, const uint64_t *words, size_t n,
	       bool whole, struct rn_arena *mem, struct rn_need *out)
{
	struct look l = { p, stream, mem, false };
	const char *name = rn_mpi_protos[RN_RAW_FUNCTION(words[0])].name;
	const uint64_t *all = words;
	size_t len = n;
	struct call c = { 0 };

	*out = (struct rn_need){ .function = name, .text = name, .relative = name, .root = -1 };
	if (!whole)
		all = complete(&l, words, &len);
	if (!l.failed && read_call(&l, all, len, &c))
		describe(&l, &c, words, n, out);
	rn_buf_free(&c.bytes);
	return l.failed ? RN_E_NOMEM : RN_OK;
}
