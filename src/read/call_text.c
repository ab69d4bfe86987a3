/* call_text.c - see call_text.h. */
#include "read/call_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/number_text.h"
#include "identity/comm_table.h"
#include "model/site_table.h"
#include "read/calls.h"
#include "read/output_form.h"

/* State of printing one call. */
struct view {
	const struct rn_decoder *d;
	const struct rn_call *c;
	const struct rn_form *form;
	struct rn_buf *out;
	bool statuses; /* the printed parameters include a status */
};

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

/* Prints a relative rank that cannot be resolved. */
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

static void put_number(struct view *v, const struct rn_value *value)
{
	char name[RN_VARIES_NAME_MAX + 1];

	if (value->kind == RN_V_INT) {
		v->form->number(v->out, value->num);
	} else if (value->kind == RN_V_VARIES) {
		name[rn_varies_name(name, value->num)] = 0;
		put_plain_name(v, name);
	} else {
		put_relative(v, value);
	}
}

/*
 * Names
 */

static void put_request(struct view *v, int64_t number)
{
	put_mark(v);
	rn_put(v->out, RN_REQUEST_LIVE ":");
	if (number == RN_REQUEST_UNKNOWN)
		rn_buf_byte(v->out, '?');
	else
		rn_put_u64(v->out, (uint64_t)number);
	put_mark(v);
}

/* Whether the value is a request of a call that is not part of a stream. */
static bool is_request(const struct rn_keywords *k, const struct rn_value *value)
{
	if (value->kind == RN_V_CONST)
		return value->word == k->made;
	return value->kind == RN_V_PLACE && (value->word == k->live || value->word == k->gone);
}

static void put_name(struct view *v, const struct rn_value *value)
{
	if (is_request(&v->d->keywords, value)) {
		put_request(v, RN_REQUEST_UNKNOWN);
		return;
	}
	put_mark(v);
	if (value->kind == RN_V_NAME)
		rn_buf_add(v->out, value->text, value->len);
	else
		rn_put(v->out, rn_vocab_word(v->d->keywords.vocab, value->word));
	if (value->kind == RN_V_OBJECT || value->kind == RN_V_PLACE) {
		rn_buf_byte(v->out, ':');
		rn_put_u64(v->out, value->id);
	}
	if (value->kind == RN_V_PLACE)
		put_displacement(v->out, value->num);
	put_mark(v);
}

/*
 * Compound values
 */

static void put_value(struct view *v, const struct rn_value *value);

/* Whether a field of a status is undefined: the call did not define it, or it has no meaning. */
static bool is_undefined(const struct view *v, const struct rn_value *value)
{
	const struct rn_keywords *k = &v->d->keywords;

	return value->kind == RN_V_CONST && (value->word == k->unset || value->word == k->nothing);
}

/* Prints the first n fields of a status as an object, without those that MPI did not define. */
static void put_fields(struct view *v, const struct rn_value *status, unsigned n)
{
	static const char *const field[] = { "source", "tag", "error", "count", "cancelled" };
	const char *between = "";

	rn_buf_byte(v->out, '{');
	for (unsigned i = 0; i < n; i++) {
		if (is_undefined(v, &status[1 + i]))
			continue;
		rn_put(v->out, between);
		between = v->form->separator;
		v->form->key(v->out, field[i]);
		put_value(v, &status[1 + i]);
	}
	rn_buf_byte(v->out, '}');
}

static void put_status(struct view *v, const struct rn_value *value)
{
	v->statuses = true;
	if (value->num == RN_STATUS_FULL)
		put_fields(v, value, 5);
	else
		put_plain_name(v, "MPI_STATUS_IGNORE");
}

static bool is_matched(const struct rn_value *v)
{
	return v->kind == RN_V_STATUS && v->num == RN_STATUS_MATCHED;
}

/* Whether a list consists of statuses that the program ignored. */
static bool all_ignored(const struct rn_value *list)
{
	const struct rn_value *v = list + 1;

	for (int64_t i = 0; i < list->num; i++, v += v->span)
		if (v->kind != RN_V_STATUS || v->num == RN_STATUS_FULL)
			return false;
	return list->num > 0;
}

/* The recursion depth is at most RN_CALL_DEPTH_MAX for a valid signature. */
static void put_list(struct view *v, const struct rn_value *list)
{
	const struct rn_value *value = list + 1;

	if (all_ignored(list)) {
		v->statuses = true;
		put_plain_name(v, "MPI_STATUSES_IGNORE");
		return;
	}
	rn_buf_byte(v->out, '[');
	for (int64_t i = 0; i < list->num; i++, value += value->span) {
		if (i)
			rn_put(v->out, v->form->separator);
		put_value(v, value);
	}
	rn_buf_byte(v->out, ']');
}

static void put_value(struct view *v, const struct rn_value *value)
{
	switch (value->kind) {
	case RN_V_CONST:
	case RN_V_OBJECT:
	case RN_V_PLACE:
	case RN_V_NAME:
		put_name(v, value);
		break;
	case RN_V_REQUEST:
		put_request(v, value->num);
		break;
	case RN_V_STRING:
		v->form->quote(v->out, value->text, value->len);
		break;
	case RN_V_ELASTIC: /* the template was not filled for a call */
		put_plain_name(v, "?");
		break;
	case RN_V_LIST:
		put_list(v, value);
		break;
	case RN_V_STATUS:
		put_status(v, value);
		break;
	default:
		put_number(v, value);
	}
}

void rn_decode_value(const struct rn_decoder *d, const struct rn_form *form,
		     const struct rn_value *value, struct rn_buf *out)
{
	struct view v = { .d = d, .form = form, .out = out };

	put_value(&v, value);
}

/*
 * Calls
 */

/* Iterates over the parameters and the values to print. For a parameter that the call changes, that
 * is the value after the call. */
struct params {
	const struct rn_template *t;
	uint32_t i, in, out;
};

static struct params params_of(const struct rn_template *t)
{
	struct params p = { .t = t };

	for (uint32_t i = 0; i < t->func->nparams; i++)
		p.out += rn_func_dir(t->func, i) != RN_DIR_OUT;
	return p;
}

static const struct rn_value *next_param(struct params *p)
{
	enum rn_dir dir;
	uint32_t at;

	if (p->i == p->t->func->nparams)
		return NULL;
	dir = rn_func_dir(p->t->func, p->i++);
	at = dir == RN_DIR_IN ? p->in : p->out;
	p->in += dir != RN_DIR_OUT;
	p->out += dir != RN_DIR_IN;
	return &p->t->value[p->t->top[at]];
}

static void put_params(struct view *v)
{
	struct params p = params_of(v->c->args);
	const struct rn_value *value;

	while ((value = next_param(&p))) {
		if (p.i > 1)
			rn_put(v->out, v->form->separator);
		v->form->key(v->out, p.t->func->param[p.i - 1]);
		put_value(v, value);
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

/* Prints the return value, unless it was not recorded. For a call that never returned, because the
 * process ended in it or a jump left it, prints `unfinished` instead. A number of seconds is stored
 * as a name, and printed as a number in both forms. */
static void put_ret(struct view *v, const char *unfinished)
{
	const struct rn_template *t = v->c->args;
	const struct rn_value *ret = &t->value[t->top[t->ret]];
	bool word = ret->kind == RN_V_CONST;

	if (word && ret->word == v->d->keywords.nothing)
		return;
	rn_put(v->out, v->form->ret);
	if (word && ret->word == v->d->keywords.unset)
		rn_put(v->out, unfinished);
	else if (ret->kind == RN_V_NAME && is_seconds(ret->text, ret->len))
		rn_buf_add(v->out, ret->text, ret->len);
	else
		put_value(v, ret);
}

/* Prints the match of a status that the program ignored, or null. */
static void put_matched(struct view *v, const struct rn_value *status)
{
	if (is_matched(status))
		put_fields(v, status, 2);
	else
		rn_put(v->out, "null");
}

static void put_matched_list(struct view *v, const struct rn_value *list)
{
	const struct rn_value *status = list + 1;

	rn_buf_byte(v->out, '[');
	for (int64_t i = 0; i < list->num; i++, status += status->span) {
		if (i)
			rn_put(v->out, v->form->separator);
		put_matched(v, status);
	}
	rn_buf_byte(v->out, ']');
}

static bool any_matched(const struct rn_value *list)
{
	const struct rn_value *v = list + 1;

	for (int64_t i = 0; i < list->num; i++, v += v->span)
		if (is_matched(v))
			return true;
	return false;
}

/* Prints the match of a status, or of a list of statuses, that the program ignored. Returns false
 * if the value has no match. */
static bool try_matched(struct view *v, const struct rn_value *value)
{
	bool list = value->kind == RN_V_LIST && all_ignored(value) && any_matched(value);

	if (!list && !is_matched(value))
		return false;
	rn_put(v->out, v->form->matched);
	if (list)
		put_matched_list(v, value);
	else
		put_matched(v, value);
	return true;
}

static void put_all_matched(struct view *v)
{
	struct params p = params_of(v->c->args);
	const struct rn_value *value;

	while (v->statuses && (value = next_param(&p)))
		if (try_matched(v, value))
			return;
}

static void put_seconds(struct rn_buf *out, const char *before, uint64_t ns)
{
	char text[48];

	snprintf(text, sizeof(text), "%s%" PRIu64 ".%09u", before, ns / 1000000000,
		 (unsigned)(ns % 1000000000));
	rn_put(out, text);
}

/* Call site */

static void put_module_offset(struct rn_buf *out, const struct rn_code_module *m, uint64_t offset)
{
	char text[32];

	snprintf(text, sizeof(text), "+0x%llx", (unsigned long long)offset);
	rn_buf_add(out, m->name_len ? m->name : "?", m->name_len ? m->name_len : 1);
	rn_put(out, m->name_len ? text : "");
}

/* File names may contain any bytes. */
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
		     struct rn_buf *out)
{
	rn_put(out, form->site[0]);
	if (!node && !form->quote_names)
		rn_buf_byte(out, '?');
	for (uint32_t i = node; i; i = d->sites->node[i - 1].caller) {
		if (i != node)
			rn_put(out, form->site[1]);
		put_frame(d, form, i - 1, out);
	}
	rn_put(out, form->site[2]);
}

static void put_site(struct view *v)
{
	if (v->d->sites && v->c->args->has_site)
		rn_decode_stack(v->d, v->form, v->c->args->site, v->out);
}

/* Prints the call with its arguments and its return value. */
static void put_call(struct view *v, const char *unfinished)
{
	const struct rn_call *c = v->c;

	v->form->head(v->out, c->rank, c->thread, c->seq);
	rn_put(v->out, c->args->func->name);
	rn_put(v->out, v->form->args);
	put_params(v);
	rn_put(v->out, v->form->args_end);
	put_ret(v, unfinished);
}

void rn_decode_text(const struct rn_decoder *d, const struct rn_call *c, struct rn_buf *out)
{
	struct view v = { d, c, &rn_form_text, out, false };

	put_call(&v, "? unfinished");
	if (c->timed) {
		put_seconds(out, " [", c->start);
		put_seconds(out, " ", c->end - c->start);
		rn_buf_byte(out, ']');
	}
	if (c->depth) {
		rn_put(out, " <");
		rn_put_u64(out, c->parent);
		rn_buf_byte(out, '>');
	}
	put_all_matched(&v);
	put_site(&v);
	rn_put(out, v.form->end);
}

void rn_decode_json(const struct rn_decoder *d, const struct rn_call *c, struct rn_buf *out)
{
	struct view v = { d, c, &rn_form_json, out, false };

	put_call(&v, "null,\"unfinished\":true");
	if (c->depth) {
		rn_put(out, ",\"parent\":");
		v.form->number(out, (int64_t)c->parent);
	}
	put_all_matched(&v);
	if (c->timed) {
		put_seconds(out, ",\"start\":", c->start);
		put_seconds(out, ",\"end\":", c->end);
	}
	put_site(&v);
	rn_put(out, v.form->end);
}
