/* blocked_on.c - see blocked_on.h. */
#include "analysis/blocked_on.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "encode/call_words_visit.h"
#include "merge/process_trace.h"
#include "read/call_text.h"
#include "read/output_form.h"

#include <stdio.h>
#include <string.h>

/* ---- arguments ---- */

struct look {
	const struct rn_recorded *p;
	uint32_t stream;
	struct rn_arena *mem;
	struct rn_decoder decoder;
	bool failed; /* an allocation failed */
};

static const void *keep(struct look *l, const void *s, size_t n)
{
	char *copy = rn_new(l->mem, char, n + 1);

	if (copy && n)
		memcpy(copy, s, n);
	l->failed |= !copy;
	return copy ? copy : "";
}

/* Returns NULL if the words are malformed or memory is exhausted. */
static struct rn_template *parse_call(struct look *l, const uint64_t *words, size_t n)
{
	struct rn_template *t = rn_new(l->mem, struct rn_template, 1);
	struct rn_buf b = { 0 };
	int rc = t ? rn_canonical_one(&l->p->stream[l->stream].calls, words, n, &b) : RN_E_NOMEM;

	if (rc == RN_OK) {
		const void *sig = keep(l, b.data, b.len);

		rc = l->failed ? RN_E_NOMEM
			       : rn_template_parse(l->mem, &l->decoder.keywords, sig, b.len, t);
	}
	l->failed |= rc == RN_E_NOMEM;
	rn_buf_free(&b);
	return rc == RN_OK && !l->failed ? t : NULL;
}

static const struct rn_proto *proto_of(const struct rn_template *t)
{
	return &rn_mpi_protos[t->func->number];
}

static const struct rn_traits *traits_of(const struct rn_template *t)
{
	return &proto_of(t)->traits;
}

/* The value of a parameter before the call; NULL for RN_NO_PARAM. */
static const struct rn_value *arg_of(const struct rn_template *t, uint8_t param)
{
	return param == RN_NO_PARAM ? NULL : &t->value[t->top[proto_of(t)->param[param].value]];
}

static bool is_word(const struct rn_value *v, const char *word)
{
	const char *text = v->kind == RN_V_CONST ? rn_vocab_word(&rn_mpi_vocab, v->word) : NULL;

	return text && strcmp(text, word) == 0;
}

/* ---- the communicator of a call ---- */

static const char *comm_of_window(const struct look *l, const uint64_t *words, size_t n)
{
	const struct rn_process_table *process = &l->p->process;

	return rn_process_comm(process, (uint32_t)(words[n - 1] >> 32)).name;
}

static bool is_input(const struct rn_param *p)
{
	return p->how != RN_HOW_out && p->how != RN_HOW_new;
}

/* The first communicator parameter that is an input, including one that the call frees. */
static uint8_t comm_param(const struct rn_proto *f)
{
	for (uint32_t i = 0; i < f->nparams; i++)
		if (f->param[i].kind == RN_K_comm && is_input(&f->param[i]))
			return (uint8_t)i;
	return RN_NO_PARAM;
}

static const char *comm_of(struct look *l, const struct rn_template *t)
{
	const struct rn_value *v = arg_of(t, comm_param(proto_of(t)));

	if (v && v->kind == RN_V_NAME)
		return keep(l, v->text, v->len);
	return v && v->kind == RN_V_CONST ? rn_vocab_word(&rn_mpi_vocab, v->word) : NULL;
}

/* Finds the first word that is a communicator handle. */
static void find_comm(void *arg, enum rn_raw_part part, enum rn_param_kind kind, uint64_t *w)
{
	uint64_t **found = arg;

	if (part == RN_RAW_HANDLE && kind == RN_K_comm && !*found)
		*found = w;
}

/* The size of the call's communicator and the rank of the process in it. Without a communicator
 * argument: those of MPI_COMM_WORLD. */
static struct rn_seen_comm seen_comm(const struct look *l, const struct rn_template *t,
				     const uint64_t *words, size_t n)
{
	const struct rn_process_table *process = &l->p->process;
	struct rn_seen_comm s = { 0 };
	uint64_t *word = NULL;

	/* The visitor does not modify the words. */
	rn_raw_visit((uint64_t *)(uintptr_t)words, n, find_comm, &word, NULL);
	if (word && comm_param(proto_of(t)) != RN_NO_PARAM)
		s = rn_process_comm(process, (uint32_t)*word);
	return s.name ? s : (struct rn_seen_comm){ NULL, process->rank, process->size, 0 };
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
		return is_input(p) && !p->array;
	default:
		return false;
	}
}

/* Writes a rank relative to the caller's, as the smallest distance modulo the size. */
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
	rn_put(b, d >= 0 ? "rank+" : "rank");
	rn_put_i64(b, d);
}

static void put_args(struct rn_buf *b, const struct look *l, const struct rn_template *t,
		     const struct rn_seen_comm *relative)
{
	const struct rn_proto *f = proto_of(t);
	const char *between = "";

	rn_put(b, f->name);
	rn_buf_byte(b, '(');
	for (uint32_t i = 0; i < f->nparams; i++) {
		const struct rn_param *p = &f->param[i];
		const struct rn_value *v = arg_of(t, (uint8_t)i);

		if (!is_shown(p))
			continue;
		rn_put(b, between);
		between = ", ";
		rn_form_text.key(b, p->name);
		if (relative && p->kind == RN_K_rank && v->kind == RN_V_INT && i != f->traits.root)
			put_relative(b, v->num, relative);
		else
			rn_decode_value(&l->decoder, &rn_form_text, v, b);
	}
}

struct waited;
static void put_requests(struct rn_buf *b, const struct waited *w, bool relative);

static const char *make_text(struct look *l, const struct rn_template *t,
			     const struct rn_seen_comm *relative, const struct waited *requests)
{
	struct rn_buf b = { 0 };
	const char *s;

	put_args(&b, l, t, relative);
	if (requests)
		put_requests(&b, requests, relative);
	rn_buf_byte(&b, ')');
	l->failed |= rn_buf_status(&b) < 0;
	s = keep(l, b.data, b.len);
	rn_buf_free(&b);
	return s;
}

/* ---- peers ---- */

struct peers {
	struct rn_need_peer *peer;
	uint32_t n, cap;
	bool unknown; /* the call is also blocked on ranks that are not listed */
};

static void add_peer(struct look *l, struct peers *to, const char *comm, int64_t rank)
{
	for (uint32_t i = 0; i < to->n; i++)
		if (to->peer[i].rank == rank && strcmp(to->peer[i].comm, comm) == 0)
			return;
	if (RN_GROW(l->mem, to->peer, to->n + 1, to->cap))
		to->peer[to->n++] = (struct rn_need_peer){ comm, rank };
	else
		l->failed = true;
}

static void add_named(struct look *l, struct peers *to, const struct rn_template *t, uint8_t param)
{
	const struct rn_value *v = arg_of(t, param);
	const char *comm = comm_of(l, t);

	if (!v || !comm)
		return;
	if (v->kind == RN_V_INT)
		add_peer(l, to, comm, v->num);
	else if (is_word(v, "MPI_ANY_SOURCE"))
		add_peer(l, to, comm, RN_NEED_ANYBODY);
}

static void add_peers(struct look *l, struct peers *to, const struct rn_template *call)
{
	const struct rn_traits *t = traits_of(call);
	const char *comm = t->whom ? comm_of(l, call) : NULL;
	bool receives = (t->is & (RN_IS_receives | RN_IS_probes)) && t->source != RN_NO_PARAM;
	bool sends = (t->is & RN_IS_sends) && !(t->is & RN_IS_buffered);

	if (receives)
		add_named(l, to, call, t->source);
	if (sends)
		add_named(l, to, call, t->dest);
	if (comm)
		add_peer(l, to, comm, RN_NEED_ANYBODY);
	to->unknown |= !receives && !sends && !comm;
}

/* ---- requests ---- */

/* A call that creates requests. All requests with one creator (encode/call_words.h) are created by
 * the same call. */
struct maker {
	uint64_t uses; /* number of requests of the waiting call that it created */
	const char *text, *relative;
};

/* The calls that created the requests of a waiting call, each once. */
struct waited {
	struct peers peers;
	struct maker **used;
	uint32_t n;
	uint64_t unknown;         /* number of requests whose creator is unknown */
	struct maker **by_stream; /* by stream, then by creator; NULL: no creator in use */
};

static void use_maker(struct look *l, struct waited *to, struct maker *m, uint32_t call)
{
	size_t len;
	const uint64_t *words = rn_sigs_get(l->p->stream[l->stream].calls.words, call, &len);
	size_t n = len / sizeof(*words);
	struct rn_template *t = m->uses++ ? NULL : parse_call(l, words, n);
	struct rn_seen_comm seen;

	if (!t)
		return;
	seen = seen_comm(l, t, words, n);
	to->used[to->n++] = m;
	m->text = make_text(l, t, NULL, NULL);
	m->relative = make_text(l, t, &seen, NULL);
	add_peers(l, &to->peers, t);
}

static void use_shape(struct look *l, struct waited *to, uint64_t shape)
{
	const struct rn_recorded_stream *s = &l->p->stream[l->stream];
	struct maker **m = &to->by_stream[l->stream];

	if (!*m)
		*m = rn_new(l->mem, struct maker, (size_t)s->makers + 1);
	l->failed |= !*m;
	if (shape < s->makers && s->maker[shape] != RN_NO_MAKER && !l->failed)
		use_maker(l, to, &(*m)[shape], s->maker[shape]);
	else
		to->unknown++;
}

/* Adds a request of this stream, or one of another stream: "request:THREAD.CREATOR.INDEX". */
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

static void use_requests(struct look *l, struct waited *to, const struct rn_template *t)
{
	const struct rn_proto *f = proto_of(t);
	uint8_t param = f->traits.request;
	bool has = param != RN_NO_PARAM && f->param[param].how != RN_HOW_new;
	const struct rn_value *v = has ? arg_of(t, param) : NULL;
	int64_t n = !v ? 0 : v->kind == RN_V_LIST ? v->num : 1;

	if (n == 0)
		return;
	to->by_stream = rn_new(l->mem, struct maker *, (size_t)l->p->streams + 1);
	to->used = rn_new(l->mem, struct maker *, (size_t)n);
	l->failed |= !to->by_stream || !to->used;
	/* If the value of an array is not a list, the call words omit the requests: too many. */
	to->unknown += v->kind != RN_V_LIST && f->param[param].array;
	for (v += v->kind == RN_V_LIST; n > 0 && !l->failed; n--, v++)
		use_request(l, to, v);
	to->peers.unknown |= to->unknown > 0;
}

#define REQUESTS_SHOWN 4u

static void put_count(struct rn_buf *b, uint64_t n, const char *what)
{
	if (n > 1) {
		rn_put_u64(b, n);
		rn_put(b, " x ");
	}
	rn_put(b, what);
}

static void put_requests(struct rn_buf *b, const struct waited *w, bool relative)
{
	for (uint32_t i = 0; i < w->n && i < REQUESTS_SHOWN; i++) {
		rn_put(b, i ? ", " : "");
		put_count(b, w->used[i]->uses, relative ? w->used[i]->relative : w->used[i]->text);
	}
	if (w->n > REQUESTS_SHOWN) {
		rn_put(b, ", and ");
		rn_put_u64(b, w->n - REQUESTS_SHOWN);
		rn_put(b, " more kinds");
	}
	if (w->unknown) {
		rn_put(b, w->n ? ", " : "");
		put_count(b, w->unknown, "request:?");
	}
}

/* ---- */

/* The communicator of a collective call; NULL: unknown. A call without a communicator argument has
 * a window as its last argument, or has no arguments and concerns MPI_COMM_WORLD. */
static const char *collective_comm(struct look *l, const struct rn_template *t,
				   const uint64_t *words, size_t n)
{
	const struct rn_proto *f = proto_of(t);
	const char *comm = comm_of(l, t);
	uint32_t params = f->nparams;

	if (comm || params == 0)
		return comm ? comm : "MPI_COMM_WORLD"; /* MPI_Finalize */
	return f->param[params - 1].kind == RN_K_win ? comm_of_window(l, words, n) : NULL;
}

static void set_collective(struct look *l, const struct rn_template *call, const uint64_t *words,
			   size_t n, struct rn_need *out)
{
	const struct rn_traits *t = traits_of(call);
	const struct rn_value *root = arg_of(call, t->root);

	out->comm = collective_comm(l, call, words, n);
	if (!out->comm)
		return;
	out->kind = RN_NEED_MEMBERS;
	out->collective = rn_mpi_protos[t->base].name;
	out->whom = t->whom;
	out->root = root && root->kind == RN_V_INT ? root->num : -1;
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

static bool found_nothing(const struct rn_template *call)
{
	const struct rn_traits *t = traits_of(call);
	const struct rn_value *v = arg_of(call, t->is & RN_IS_some ? t->index : t->flag);

	return v && v->kind == RN_V_INT && v->num == 0;
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

static void describe(struct look *l, struct rn_template *call, const uint64_t *words, size_t n,
		     struct rn_need *out)
{
	struct rn_seen_comm seen = seen_comm(l, call, words, n);
	const struct rn_traits *t = traits_of(call);
	struct waited w = { 0 };

	use_requests(l, &w, call);
	out->text = make_text(l, call, NULL, &w);
	out->relative = make_text(l, call, &seen, &w);
	keep_requests(l, &w, out);
	out->fruitless = found_nothing(call);
	out->args = call;
	if (t->whom) {
		set_collective(l, call, words, n, out);
	} else if (waits_for_requests(t)) {
		set_peers(&w.peers, t->is & (RN_IS_any | RN_IS_some), out);
	} else {
		add_peers(l, &w.peers, call);
		set_peers(&w.peers, false, out);
	}
}

/* Completes the words of a call that has no results yet. */
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
	struct look l = { p, stream, mem, { .keywords = rn_keywords_of(&rn_mpi_vocab) }, false };
	const char *name = rn_mpi_protos[RN_RAW_FUNCTION(words[0])].name;
	struct rn_template *call = NULL;
	const uint64_t *all = words;
	size_t len = n;

	*out = (struct rn_need){ .function = name, .text = name, .relative = name, .root = -1 };
	if (!whole)
		all = complete(&l, words, &len);
	if (!l.failed)
		call = parse_call(&l, all, len);
	if (call)
		describe(&l, call, words, n, out);
	return l.failed ? RN_E_NOMEM : RN_OK;
}
