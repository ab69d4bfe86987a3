/* decode.c - see decode.h. */
#include "read/decode.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/number_text.h"
#include "file/sites.h"
#include "identity/comms.h"
#include "read/form.h"
#include "read/numbering.h"

/* A communicator, and what the caller is in it. */
struct context {
	const char *comm; /* NULL: the call's own, which nobody has looked for yet */
	size_t len;
	uint64_t rank, size;
	enum { NOT_ASKED, KNOWN, UNKNOWN } state;
};

/* A call being printed. Most print their values in the order in which they stand; so where a value
 * begins is found by printing the one before, or else by passing over it. */
struct view {
	const struct rn_decoder *d;
	const struct rn_call *c;
	const struct rn_form *form;
	struct rn_buf *out;
	const struct rn_func *func;
	const unsigned char *end;
	const unsigned char *value[RN_CALL_VALUES_MAX + 1]; /* where each begins */
	uint32_t made[RN_CALL_VALUES_MAX + 1]; /* requests that the values before it create */
	uint32_t known;                        /* values of which that is known */
	uint32_t created;                      /* requests that came before what is being printed */
	bool statuses;                         /* there is one among what was printed */
	struct context comm;
};

/*
 * Ranks
 */

static const char world_name[] = "MPI_COMM_WORLD", self_name[] = "MPI_COMM_SELF";

static struct context context_of(const char *comm, size_t len)
{
	return (struct context){ .comm = comm, .len = len };
}

static bool is_comm(const char *comm, size_t len, const char *name)
{
	return len == strlen(name) && memcmp(comm, name, len) == 0;
}

bool rn_decoder_rank(const struct rn_decoder *d, const char *comm, size_t len, uint64_t of,
		     uint64_t *rank, uint64_t *size)
{
	struct rn_comm_entry e = { .my_rank = of, .size = d->ranks };

	if (is_comm(comm, len, self_name))
		e = (struct rn_comm_entry){ .size = 1 };
	else if (!is_comm(comm, len, world_name) &&
		 (!d->comms || rn_comms_find(d->comms, comm, len, of, &e) < 0))
		return false;
	*rank = e.my_rank;
	*size = e.remote ? e.remote : e.size;
	return true;
}

static void put_displacement(struct rn_buf *out, int64_t v)
{
	if (v >= 0)
		rn_buf_byte(out, '+');
	rn_put_i64(out, v);
}

/* Names consist of characters that need no escaping (rn_name_valid). */
static void put_mark(struct view *v)
{
	if (v->form->quote_names)
		rn_buf_byte(v->out, '"');
}

static void put_plain_name(struct view *v, const char *name)
{
	put_mark(v);
	rn_put(v->out, name);
	put_mark(v);
}

/* A relative number that nobody can say more about. */
static void put_relative(struct view *v, const struct rn_value *value)
{
	put_mark(v);
	rn_put(v->out, value->kind == RN_V_XOR ? "rank^" : "rank");
	if (value->kind == RN_V_XOR)
		rn_put_i64(v->out, value->num);
	else
		put_displacement(v->out, value->num);
	if (value->kind == RN_V_RELMOD)
		rn_put(v->out, "%size");
	put_mark(v);
}

/* The communicator that the value is, if it is one. */
static bool comm_of(const struct rn_decoder *d, const struct rn_value *value, struct context *comm)
{
	if (value->kind == RN_V_NAME && rn_comm_name(value->text, value->len))
		*comm = context_of(value->text, value->len);
	else if (value->kind == RN_V_CONST && value->word == d->world)
		*comm = context_of(world_name, sizeof(world_name) - 1);
	else if (value->kind == RN_V_CONST && value->word == d->self)
		*comm = context_of(self_name, sizeof(self_name) - 1);
	else
		return false;
	return true;
}

static void skip_values(struct rn_reader *in, uint64_t n)
{
	struct rn_value value;

	while (n-- > 0 && rn_call_value(in, &value))
		n += rn_value_parts(&value);
}

/* The communicator of the call, given where its n values begin. */
static struct context call_comm(const struct rn_decoder *d, struct rn_reader in, uint32_t n)
{
	struct context comm = context_of(world_name, sizeof(world_name) - 1);
	struct rn_value value;

	for (uint32_t i = 0; i < n && rn_call_value(&in, &value); i++) {
		if (comm_of(d, &value, &comm))
			break;
		skip_values(&in, rn_value_parts(&value));
	}
	return comm;
}

static struct rn_reader reader_at(const struct view *v, uint32_t i)
{
	return (struct rn_reader){ v->value[i], v->end, false };
}

/* What the caller is in the communicator that numbers are relative to now. */
static const struct context *find_context(struct view *v)
{
	struct context *c = &v->comm;

	if (!c->comm)
		*c = call_comm(v->d, reader_at(v, 0), rn_func_values(v->func));
	if (c->state == NOT_ASKED)
		c->state = rn_decoder_rank(v->d, c->comm, c->len, v->c->rank, &c->rank, &c->size)
				   ? KNOWN
				   : UNKNOWN;
	return c;
}

/* What this rank has in a table of values. */
static void put_varying(struct view *v, const struct rn_value *value)
{
	char name[RN_VARIES_NAME_MAX];
	size_t len = rn_varies_name(name, value->num);
	struct rn_comm_entry e;

	if (v->d->comms && rn_comms_find(v->d->comms, name, len, v->c->rank, &e) == RN_OK)
		v->form->number(v->out, rn_unzigzag(e.key));
	else
		put_plain_name(v, name);
}

static void put_number(struct view *v, const struct rn_value *value)
{
	const struct context *c;

	if (value->kind == RN_V_INT) {
		v->form->number(v->out, value->num);
		return;
	}
	if (value->kind == RN_V_VARIES) {
		put_varying(v, value);
		return;
	}
	c = find_context(v);
	if (c->state == KNOWN)
		v->form->number(v->out, rn_value_resolve(value, c->rank, c->size));
	else
		put_relative(v, value);
}

/*
 * Names
 */

static void put_request(struct view *v, bool known, uint64_t number)
{
	put_mark(v);
	rn_put(v->out, RN_REQUEST_LIVE ":");
	if (known)
		rn_put_u64(v->out, number);
	else
		rn_buf_byte(v->out, '?');
	put_mark(v);
}

/* False when the value is not about a request. */
static bool try_request(struct view *v, const struct rn_value *value)
{
	const struct rn_numbering *n = v->d->requests;
	uint64_t number = 0;
	bool known;

	if (value->kind == RN_V_CONST && value->word == v->d->made) {
		if (n)
			number = rn_numbering_next(n) + v->created;
		v->created++;
		put_request(v, n, number);
		return true;
	}
	if (value->kind != RN_V_PLACE || (value->word != v->d->live && value->word != v->d->gone))
		return false;
	known = n && rn_numbering_find(n, value->id, value->num, &number);
	put_request(v, known, number);
	return true;
}

static void put_name(struct view *v, const struct rn_value *value)
{
	if (try_request(v, value))
		return;
	put_mark(v);
	if (value->kind == RN_V_NAME)
		rn_buf_add(v->out, value->text, value->len);
	else
		rn_put(v->out, rn_vocab_word(v->d->vocab, value->word));
	if (value->kind == RN_V_OBJECT || value->kind == RN_V_PLACE) {
		rn_buf_byte(v->out, ':');
		rn_put_u64(v->out, value->id);
	}
	if (value->kind == RN_V_PLACE)
		put_displacement(v->out, value->num);
	put_mark(v);
}

/*
 * Values that are made of others
 */

static void put_value(struct view *v, struct rn_reader *in);

/* The form of the status that comes next, or RN_STATUS_FORMS when it is something else. Moves
 * behind its head, and gives the communicator it is about if it names one. */
static enum rn_status_form status_form(struct rn_reader *in, struct context *comm)
{
	struct rn_value value;

	if (!rn_call_value(in, &value))
		return RN_STATUS_FORMS;
	if (value.kind == RN_V_IN) {
		*comm = context_of(value.text, value.len);
		rn_call_value(in, &value);
	}
	return value.kind == RN_V_STATUS ? (enum rn_status_form)value.num : RN_STATUS_FORMS;
}

/* Whether the next value is undefined: the call did not define it, or it has no meaning. */
static bool is_undefined(const struct view *v, struct rn_reader in)
{
	struct rn_value value;

	return rn_call_value(&in, &value) && value.kind == RN_V_CONST &&
	       (value.word == v->d->unset || value.word == v->d->nothing);
}

/* Prints the first n fields of a status as an object, without those that MPI did not define. */
static void put_fields(struct view *v, struct rn_reader *in, unsigned n)
{
	static const char *const field[] = { "source", "tag", "error", "count", "cancelled" };
	const char *between = "";

	rn_buf_byte(v->out, '{');
	for (unsigned i = 0; i < n; i++) {
		if (is_undefined(v, *in)) {
			skip_values(in, 1);
			continue;
		}
		rn_put(v->out, between);
		between = v->form->separator;
		v->form->key(v->out, field[i]);
		put_value(v, in);
	}
	rn_buf_byte(v->out, '}');
}

static void put_status(struct view *v, struct rn_reader *in, const struct rn_value *value)
{
	v->statuses = true;
	if (value->num == RN_STATUS_FULL) {
		put_fields(v, in, 5);
		return;
	}
	skip_values(in, rn_value_parts(value));
	put_plain_name(v, "MPI_STATUS_IGNORE");
}

/* Whether the n values that come next are statuses that the program ignored. */
static bool all_ignored(struct rn_reader in, uint64_t n)
{
	struct context comm;

	for (uint64_t i = 0; i < n; i++) {
		enum rn_status_form form = status_form(&in, &comm);

		if (form != RN_STATUS_MATCHED && form != RN_STATUS_NOTHING)
			return false;
		skip_values(&in, form == RN_STATUS_MATCHED ? 2 : 0);
	}
	return n > 0;
}

/* No deeper than RN_CALL_DEPTH_MAX in a valid signature. */
static void put_list(struct view *v, struct rn_reader *in, uint64_t n)
{
	if (all_ignored(*in, n)) {
		v->statuses = true;
		skip_values(in, n);
		put_plain_name(v, "MPI_STATUSES_IGNORE");
		return;
	}
	rn_buf_byte(v->out, '[');
	for (uint64_t i = 0; i < n; i++) {
		if (i)
			rn_put(v->out, v->form->separator);
		put_value(v, in);
	}
	rn_buf_byte(v->out, ']');
}

static void put_value_in(struct view *v, struct rn_reader *in, const struct rn_value *value)
{
	struct context outer = v->comm;

	v->comm = context_of(value->text, value->len);
	put_value(v, in);
	v->comm = outer;
}

static void put_value(struct view *v, struct rn_reader *in)
{
	struct rn_value value;

	if (!rn_call_value(in, &value))
		return;
	switch (value.kind) {
	case RN_V_CONST:
	case RN_V_OBJECT:
	case RN_V_PLACE:
	case RN_V_NAME:
		put_name(v, &value);
		break;
	case RN_V_STRING:
		v->form->quote(v->out, value.text, value.len);
		break;
	case RN_V_ELASTIC: /* of no call in particular */
		put_plain_name(v, "?");
		break;
	case RN_V_LIST:
		put_list(v, in, (uint64_t)value.num);
		break;
	case RN_V_IN:
		put_value_in(v, in, &value);
		break;
	case RN_V_STATUS:
		put_status(v, in, &value);
		break;
	default:
		put_number(v, &value);
	}
}

/*
 * Calls
 */

/* Field by field: most of the arrays is never needed. */
static void look_at(struct view *v, const struct rn_decoder *d, const struct rn_call *c,
		    const struct rn_form *form, struct rn_buf *out)
{
	struct rn_reader in = rn_reader(c->sig, c->len);

	v->d = d;
	v->c = c;
	v->form = form;
	v->out = out;
	v->func = rn_vocab_func(d->vocab, rn_get_u64(&in));
	v->end = in.end;
	v->value[0] = in.p;
	v->made[0] = 0;
	v->known = 1;
	v->statuses = false;
	v->comm = context_of(NULL, 0);
}

/* Behind the last value that is known comes another one. */
static void add_known(struct view *v, const struct rn_reader *in, uint32_t made)
{
	v->value[v->known] = in->p;
	v->made[v->known++] = made;
}

static void pass_over(struct view *v)
{
	struct rn_reader in = reader_at(v, v->known - 1);
	uint32_t made = v->made[v->known - 1];
	struct rn_value value;

	for (uint64_t n = 1; n > 0 && rn_call_value(&in, &value); n += rn_value_parts(&value) - 1)
		made += value.kind == RN_V_CONST && value.word == v->d->made;
	add_known(v, &in, made);
}

static void put_at(struct view *v, uint32_t i)
{
	struct rn_reader in;

	while (v->known <= i)
		pass_over(v);
	in = reader_at(v, i);
	v->created = v->made[i];
	put_value(v, &in);
	if (v->known == i + 1)
		add_known(v, &in, v->created);
}

/* Goes through the parameters, and says which value each is shown as: of one that the call changes,
 * what it was changed to. */
struct params {
	const struct rn_func *f;
	uint32_t i, in, out;
};

static struct params params_of(const struct rn_func *f)
{
	struct params p = { .f = f };

	for (uint32_t i = 0; i < f->nparams; i++)
		p.out += rn_func_dir(f, i) != RN_DIR_OUT;
	return p;
}

static bool next_param(struct params *p, uint32_t *value)
{
	enum rn_dir dir;

	if (p->i == p->f->nparams)
		return false;
	dir = rn_func_dir(p->f, p->i++);
	*value = dir == RN_DIR_IN ? p->in : p->out;
	p->in += dir != RN_DIR_OUT;
	p->out += dir != RN_DIR_IN;
	return true;
}

static void put_params(struct view *v)
{
	struct params p = params_of(v->func);
	uint32_t value;

	for (uint32_t i = 0; next_param(&p, &value); i++) {
		if (i)
			rn_put(v->out, v->form->separator);
		v->form->key(v->out, v->func->param[i]);
		put_at(v, value);
	}
}

/* Whether the name is a number of seconds, as rn_double_text writes it: 1e-09, 0.01. */
static bool is_seconds(const char *s, size_t n)
{
	char text[RN_DOUBLE_TEXT], again[RN_DOUBLE_TEXT];
	double v;

	if (n >= sizeof(text))
		return false;
	memcpy(text, s, n);
	text[n] = '\0';
	v = strtod(text, NULL);
	return isfinite(v) && strcmp(rn_double_text(again, v), text) == 0;
}

/* The return value, unless it was not recorded. A call that never returned has `unfinished`
 * instead: the process ended in it, or a jump left it. A number of seconds is a name in a trace,
 * and a number in both forms. */
static void put_ret(struct view *v, const char *before, const char *unfinished)
{
	struct rn_reader in = reader_at(v, rn_func_values(v->func));
	struct rn_value value;
	bool known = rn_call_value(&in, &value), word = known && value.kind == RN_V_CONST;

	if (word && value.word == v->d->nothing)
		return;
	rn_put(v->out, before);
	if (word && value.word == v->d->unset)
		rn_put(v->out, unfinished);
	else if (known && value.kind == RN_V_NAME && is_seconds(value.text, value.len))
		rn_buf_add(v->out, value.text, value.len);
	else
		put_at(v, rn_func_values(v->func));
}

/* What is known of a status that was ignored; the reader is behind its head. */
static void put_matched(struct view *v, struct rn_reader *in, enum rn_status_form form,
			const struct context *comm)
{
	struct context outer = v->comm;

	if (form != RN_STATUS_MATCHED) {
		rn_put(v->out, "null");
		return;
	}
	if (comm->comm)
		v->comm = *comm;
	put_fields(v, in, 2);
	v->comm = outer;
}

static void put_matched_list(struct view *v, struct rn_reader *in, uint64_t n)
{
	rn_buf_byte(v->out, '[');
	for (uint64_t i = 0; i < n; i++) {
		struct context comm = { 0 };
		enum rn_status_form form = status_form(in, &comm);

		if (i)
			rn_put(v->out, v->form->separator);
		put_matched(v, in, form, &comm);
	}
	rn_buf_byte(v->out, ']');
}

/* Whether one of the n ignored statuses that come next says more than that. */
static bool any_matched(struct rn_reader in, uint64_t n)
{
	struct context comm;

	for (uint64_t i = 0; i < n; i++)
		if (status_form(&in, &comm) == RN_STATUS_MATCHED)
			return true;
	return false;
}

/* What a call got whose status, or statuses, the program ignored; false when that is nothing. */
static bool try_matched(struct view *v, struct rn_reader in, const char *before)
{
	struct context comm = { 0 };
	struct rn_reader list = in;
	enum rn_status_form form = status_form(&in, &comm);
	struct rn_value value;
	uint64_t n;

	if (form == RN_STATUS_MATCHED) {
		rn_put(v->out, before);
		put_matched(v, &in, form, &comm);
		return true;
	}
	rn_call_value(&list, &value);
	n = (uint64_t)value.num;
	if (value.kind != RN_V_LIST || !all_ignored(list, n) || !any_matched(list, n))
		return false;
	rn_put(v->out, before);
	put_matched_list(v, &list, n);
	return true;
}

static void put_all_matched(struct view *v, const char *before)
{
	struct params p = params_of(v->func);
	uint32_t value;

	while (v->statuses && next_param(&p, &value))
		if (try_matched(v, reader_at(v, value), before))
			return;
}

static void put_seconds(struct rn_buf *out, const char *before, uint64_t ns)
{
	char text[48];

	snprintf(text, sizeof(text), "%s%" PRIu64 ".%09u", before, ns / 1000000000,
		 (unsigned)(ns % 1000000000));
	rn_put(out, text);
}

/* Where it was made. */

static void put_module_offset(struct rn_buf *out, const struct rn_code_module *m, uint64_t offset)
{
	char text[32];

	snprintf(text, sizeof(text), "+0x%llx", (unsigned long long)offset);
	rn_buf_add(out, m->name_len ? m->name : "?", m->name_len ? m->name_len : 1);
	rn_put(out, m->name_len ? text : "");
}

/* Names of files may have any bytes. */
static void put_frame(const struct rn_decoder *d, const struct rn_form *form, uint32_t node,
		      struct rn_buf *out)
{
	const struct rn_site_node *n = &d->sites->node[node];
	const char *name = d->symbol ? d->symbol(d->symbol_arg, node) : NULL;
	struct rn_buf plain = { 0 };

	if (name)
		rn_put(&plain, name);
	else
		put_module_offset(&plain, &d->sites->module[n->module], n->offset);
	form->label(out, (const char *)plain.data, plain.len);
	out->failed |= plain.failed;
	rn_buf_free(&plain);
}

void rn_decode_stack(const struct rn_decoder *d, const struct rn_form *form, uint32_t node,
		     const char *between, struct rn_buf *out)
{
	for (uint32_t i = node; i; i = d->sites->node[i - 1].caller) {
		if (i != node)
			rn_put(out, between);
		put_frame(d, form, i - 1, out);
	}
}

static void put_site(struct view *v, const char *before, const char *between, const char *behind)
{
	uint32_t ret = rn_func_values(v->func), first = 0;
	struct rn_reader in;
	struct rn_value value;

	while (v->known <= ret + 1)
		pass_over(v);
	in = reader_at(v, ret + 1);
	if (!v->d->sites || !rn_left(&in) || !rn_call_value(&in, &value))
		return;
	if (value.kind == RN_V_INT) /* else it is of no call in particular */
		first = (uint32_t)value.num;
	rn_put(v->out, before);
	if (!first && !v->form->quote_names)
		rn_buf_byte(v->out, '?');
	rn_decode_stack(v->d, v->form, first, between, v->out);
	rn_put(v->out, behind);
}

void rn_decode_text(const struct rn_decoder *d, const struct rn_call *c, struct rn_buf *out)
{
	struct view v;

	look_at(&v, d, c, &rn_form_text, out);
	rn_put_u64(out, c->rank);
	if (c->thread) {
		rn_buf_byte(out, '.');
		rn_put_u64(out, c->thread);
	}
	rn_buf_byte(out, ' ');
	rn_put_u64(out, c->seq);
	rn_buf_byte(out, ' ');
	rn_put(out, v.func->name);
	rn_buf_byte(out, '(');
	put_params(&v);
	rn_buf_byte(out, ')');
	put_ret(&v, " = ", "? unfinished");
	if (c->timed) {
		put_seconds(out, " [", c->start);
		put_seconds(out, " ", c->end - c->start);
		rn_buf_byte(out, ']');
	}
	if (c->inside) {
		rn_put(out, " <");
		rn_put_u64(out, c->parent);
		rn_buf_byte(out, '>');
	}
	put_all_matched(&v, " matched=");
	put_site(&v, " at ", " < ", "");
	rn_buf_byte(out, '\n');
}

void rn_decode_json(const struct rn_decoder *d, const struct rn_call *c, struct rn_buf *out)
{
	struct view v;

	look_at(&v, d, c, &rn_form_json, out);
	rn_put(out, "{\"rank\":");
	rn_put_u64(out, c->rank);
	if (c->thread) {
		rn_put(out, ",\"thread\":");
		rn_put_u64(out, c->thread);
	}
	rn_put(out, ",\"seq\":");
	v.form->number(out, (int64_t)c->seq); /* lengths are below 2^63 */
	rn_put(out, ",\"call\":\"");
	rn_put(out, v.func->name);
	rn_put(out, "\",\"args\":{");
	put_params(&v);
	rn_buf_byte(out, '}');
	put_ret(&v, ",\"ret\":", "null,\"unfinished\":true");
	if (c->inside) {
		rn_put(out, ",\"parent\":");
		v.form->number(out, (int64_t)c->parent);
	}
	put_all_matched(&v, ",\"matched\":");
	if (c->timed) {
		put_seconds(out, ",\"start\":", c->start);
		put_seconds(out, ",\"end\":", c->end);
	}
	put_site(&v, ",\"site\":[", ",", "]");
	rn_put(out, "}\n");
}

void rn_decoder_init(struct rn_decoder *d, const struct rn_vocab *vocab,
		     const struct rn_comms *comms, const struct rn_numbering *requests,
		     uint64_t ranks)
{
	*d = (struct rn_decoder){
		.vocab = vocab,
		.comms = comms,
		.requests = requests,
		.ranks = ranks,
		.world = rn_vocab_find(vocab, world_name),
		.self = rn_vocab_find(vocab, self_name),
		.live = rn_vocab_find(vocab, RN_REQUEST_LIVE),
		.gone = rn_vocab_find(vocab, RN_REQUEST_GONE),
		.made = rn_vocab_find(vocab, RN_REQUEST_NEW),
		.unset = rn_vocab_find(vocab, "unset"),
		.nothing = rn_vocab_find(vocab, "-"),
	};
}

int rn_decoder_comms(const struct rn_decoder *d, const void *sig, size_t len, rn_comm_fn *fn,
		     void *arg)
{
	struct rn_reader in = rn_reader(sig, len);
	const struct rn_func *f = rn_vocab_func(d->vocab, rn_get_u64(&in));
	struct context call = call_comm(d, in, rn_func_values(f)), other = call;
	uint64_t inside = 0; /* values left that are about the other */
	struct rn_value value;
	int rc = 0;

	while (rc == 0 && rn_left(&in) && rn_call_value(&in, &value)) {
		const struct context *c = inside ? &other : &call;

		if (rn_value_is_relative(&value))
			rc = fn(arg, c->comm, c->len);
		if (inside)
			inside += rn_value_parts(&value) - 1;
		if (value.kind == RN_V_IN) {
			other = context_of(value.text, value.len);
			inside = 1;
		}
	}
	return rc;
}
