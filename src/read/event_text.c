/* event_text.c - see event_text.h. */
#include "read/event_text.h"

#include "base/buf.h"
#include "base/number_text.h"
#include "encode/call_words.h"
#include "read/output_form.h"
#include "read/trace.h"

#include <math.h>
#include <string.h>

/* State of printing one line. */
struct line {
	const struct rn_order_text *x;
	const struct rn_form *form;
	const struct rn_order_site *site;
	uint32_t place; /* index of the site in the trace's table */
	const struct rn_order_done *done;
	uint32_t n;     /* number of completions */
	uint64_t times; /* number of failed polls that the line represents; 0: the line is a call
			   with an outcome */
	int64_t ret;
	struct rn_buf *out;
	bool any;
};

static void key(struct line *l, const char *name)
{
	if (l->any)
		rn_put(l->out, l->form->separator);
	l->any = true;
	l->form->key(l->out, name);
}

static void number(struct line *l, const char *name, int64_t v)
{
	key(l, name);
	l->form->number(l->out, v);
}

static void indices(struct line *l, const char *name)
{
	key(l, name);
	rn_buf_byte(l->out, '[');
	for (uint32_t i = 0; i < l->n; i++) {
		if (i)
			rn_put(l->out, l->form->separator);
		l->form->number(l->out, l->done[i].index);
	}
	rn_buf_byte(l->out, ']');
}

static void comm_name(struct line *l, const char *name)
{
	const char *comm = l->x->comm[l->site->comm - 1];

	key(l, name);
	l->form->label(l->out, comm, strlen(comm));
}

static bool has_match(const struct line *l)
{
	return l->n && (l->done[0].flags & RN_ORDER_MATCHED);
}

/* Prints a parameter if its value was recorded. */
static void put_param(struct line *l, const struct rn_proto *f, uint32_t param)
{
	bool some = l->site->kind == RN_ORDER_SOME, any = l->site->kind == RN_ORDER_ANY,
	     probe = l->site->kind == RN_ORDER_PROBE;
	const struct rn_traits *t = &f->traits;
	const char *name = f->param[param].name;

	if (param == t->flag)
		number(l, name, l->n > 0);
	else if (param == t->index && some)
		number(l, name, l->n);
	else if (param == t->indices && some && l->n)
		indices(l, name);
	else if (param == t->index && any && l->n)
		number(l, name, l->done[0].index);
	else if (param == t->source && probe && has_match(l))
		number(l, name, l->done[0].source);
	else if (param == t->recvtag && probe && has_match(l))
		number(l, name, l->done[0].tag);
	else if (param == t->comm && l->site->comm)
		comm_name(l, name);
}

static bool is_time(const struct line *l)
{
	return l->site->kind == RN_ORDER_VALUE && l->site->function < rn_mpi_vocab.funcs &&
	       (rn_mpi_protos[l->site->function].traits.is & RN_IS_seconds);
}

static void put_params(struct line *l)
{
	bool known = l->site->function < rn_mpi_vocab.funcs;
	const struct rn_proto *f = known ? &rn_mpi_protos[l->site->function] : NULL;

	if (l->site->kind == RN_ORDER_THREAD)
		number(l, "birth", l->ret);
	else if (!f && l->site->comm)
		comm_name(l, "comm");
	for (uint32_t i = 0; f && i < f->nparams; i++)
		put_param(l, f, i);
}

static void put_match(struct line *l, const struct rn_order_done *d)
{
	if (!(d->flags & (RN_ORDER_MATCHED | RN_ORDER_CANCELLED))) {
		rn_put(l->out, "null");
		return;
	}
	rn_buf_byte(l->out, '{');
	l->any = false;
	if (d->flags & RN_ORDER_CANCELLED) {
		number(l, "cancelled", 1);
	} else {
		number(l, "source", d->source);
		number(l, "tag", d->tag);
	}
	if (d->late != RN_ORDER_NOT && d->late)
		number(l, "late", d->late);
	rn_buf_byte(l->out, '}');
}

static void put_matched(struct line *l)
{
	bool list = l->n > 1 || l->site->kind == RN_ORDER_SOME, any = false;

	for (uint32_t i = 0; i < l->n; i++)
		any |= (l->done[i].flags & (RN_ORDER_MATCHED | RN_ORDER_CANCELLED)) != 0;
	if (!any || l->site->kind == RN_ORDER_PROBE)
		return;
	rn_put(l->out, l->form->matched);
	if (list)
		rn_buf_byte(l->out, '[');
	for (uint32_t i = 0; i < l->n; i++) {
		if (i)
			rn_put(l->out, l->form->separator);
		put_match(l, &l->done[i]);
	}
	if (list)
		rn_buf_byte(l->out, ']');
}

static void put_result(struct line *l)
{
	int64_t v = l->site->kind == RN_ORDER_THREAD ? 0 : l->ret;
	char text[RN_DOUBLE_TEXT];
	double seconds;

	memcpy(&seconds, &v, sizeof(seconds));
	if (is_time(l) && isfinite(seconds))
		rn_put(l->out, rn_double_text(text, seconds));
	else
		l->form->number(l->out, v);
}

void rn_order_put_function(const struct rn_trace *t, const struct rn_order_site *s, uint32_t place,
			   struct rn_buf *out)
{
	const struct rn_func *f = rn_vocab_func(&rn_mpi_vocab, s->function);
	struct rn_order_place p = { .function = "?", .function_len = 1 };

	if (!f && t->order)
		p = rn_order_list_site(t->events, place);
	if (rn_order_kinds[s->kind].name)
		rn_put(out, rn_order_kinds[s->kind].name);
	else if (f)
		rn_put(out, f->name);
	else
		rn_buf_add(out, p.function, p.function_len);
}

static void put_line(struct line *l)
{
	const struct rn_order_text *x = l->x;

	if (!x->bare)
		l->form->head(l->out, x->rank, x->thread, x->seq);
	rn_order_put_function(x->t, l->site, l->place, l->out);
	rn_put(l->out, l->form->args);
	put_params(l);
	rn_put(l->out, l->form->args_end);
	rn_put(l->out, l->form->ret);
	put_result(l);
	if (l->times) {
		rn_put(l->out, x->json ? ",\"times\":" : " times=");
		rn_put_u64(l->out, l->times);
	}
	put_matched(l);
	if (l->site->place)
		rn_decode_stack(x->decoder, l->form, l->site->place, l->out);
	rn_put(l->out, l->form->end);
}

bool rn_order_text_next(struct rn_order_text *x, uint64_t from, uint64_t to, struct rn_buf *out)
{
	const struct rn_order *o = x->order;
	const struct rn_order_row *r = x->row < o->rows ? &o->row[x->row] : NULL;
	struct line l = { .x = x, .out = out, .form = x->json ? &rn_form_json : &rn_form_text };
	bool value;

	if (!r || x->seq >= to)
		return false;
	l.place = r->site;
	l.site = &o->site[r->site];
	value = rn_order_has_numbers(l.site);
	if (!x->half && r->fails) {
		l.times = r->fails;
	} else {
		l.n = value ? 0 : r->done;
		l.done = o->done + x->done;
		l.ret = value ? o->value[x->value] : 0;
	}
	if (x->seq + (l.times ? l.times : 1) > from)
		put_line(&l);
	x->seq += l.times ? l.times : 1;
	x->half = l.times && r->done;
	if (!l.times) {
		x->done += value ? 0 : r->done;
		x->value += value ? r->done : 0;
	}
	x->row += !x->half;
	return true;
}
