/* report_format.c - see report_format.h. */
#include "report/report_format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/outline.h"
#include "base/hash.h"
#include "base/notes.h"
#include "base/number_text.h"
#include "encode/template.h"
#include "read/call_text.h"
#include "read/output_form.h"
#include "read/trace.h"
#include "series/units.h"

#define RANGES  5u                  /* maximum number of ranges in a list of ranks */
#define VALUES  3u                  /* maximum number of values shown for an argument */
#define STREAMS ((uint64_t)1 << 20) /* maximum number of streams whose ranks are listed */

/* ---- numbers ---- */

const char *text_count(char text[TEXT_MAX], uint64_t v)
{
	char *p = text + TEXT_MAX - 1;
	unsigned digits = 0;

	*p = '\0';
	do {
		if (digits && digits % 3 == 0)
			*--p = ',';
		digits++;
		*--p = (char)('0' + v % 10);
	} while (v /= 10);
	return p;
}

/* Writes three digits, in the largest unit in which the value is at least 1. */
static const char *scale(char text[TEXT_MAX], double v, const char *const *unit)
{
	while (v >= 999.5 && unit[1]) {
		v /= 1000;
		unit++;
	}
	snprintf(text, TEXT_MAX,
		 v < 9.995   ? "%.2f %s"
		 : v < 99.95 ? "%.1f %s"
			     : "%.0f %s",
		 v, *unit);
	return text;
}

const char *text_bytes(char text[TEXT_MAX], uint64_t v)
{
	static const char *const unit[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB", NULL };

	if (v >= 1000)
		return scale(text, (double)v, unit);
	snprintf(text, TEXT_MAX, "%u B", (unsigned)v);
	return text;
}

const char *text_time(char text[TEXT_MAX], double ns)
{
	static const char *const unit[] = { "ns", "us", "ms", "s", NULL };

	return scale(text, ns, unit);
}

/* ---- ranks ---- */

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Stores thread * ranks + rank of each stream. */
static void list_streams(const struct rn_trace *t, const struct rn_members *m, uint64_t *to)
{
	for (; m; m = m->next)
		for (const struct rn_count_variants *f = m->family; f; f = f->next) {
			const struct rn_units *u = t->streams.group[f->group].ranks;

			for (uint64_t i = 0; i < rn_units_length(u); i++) {
				uint64_t s = (uint64_t)rn_units_at(u, i);

				*to++ = s % t->threads * t->ranks + s / t->threads;
			}
		}
}

/* Appends the ranks of n streams that belong to one thread number. */
static void put_ranges(struct rn_buf *out, const struct rn_trace *t, const uint64_t *s, uint64_t n)
{
	unsigned ranges = 0;

	rn_put(out, n > 1 ? "ranks " : "rank ");
	for (uint64_t i = 0, len; i < n; i += len) {
		for (len = 1; i + len < n && s[i + len] == s[i] + len;)
			len++;
		if (ranges++ == RANGES) {
			rn_putf(out, ",... (%s ranks)", COUNT(n));
			break;
		}
		rn_putf(out, "%s%" PRIu64, i ? "," : "", s[i] % t->ranks);
		if (len > 1)
			rn_putf(out, "%s%" PRIu64, len > 2 ? "-" : ",", s[i + len - 1] % t->ranks);
	}
	if (s[0] >= t->ranks)
		rn_putf(out, " thread %" PRIu64, s[0] / t->ranks);
}

void text_streams(struct rn_buf *out, const struct rn_trace *t, uint64_t *s, uint64_t streams)
{
	qsort(s, (size_t)streams, sizeof(*s), by_number);
	for (uint64_t i = 0, n; i < streams; i += n) {
		for (n = 1; i + n < streams && s[i + n] / t->ranks == s[i] / t->ranks;)
			n++;
		if (i)
			rn_put(out, "; ");
		put_ranges(out, t, s + i, n);
	}
}

void text_ranks(struct rn_buf *out, const struct rn_trace *t, const struct rn_members *m,
		uint64_t streams)
{
	uint64_t *s = streams <= STREAMS ? malloc((size_t)streams * sizeof(*s)) : NULL;

	if (!s) {
		rn_putf(out, "%s rank%s", COUNT(streams), rn_plural(streams));
		return;
	}
	list_streams(t, m, s);
	text_streams(out, t, s, streams);
	free(s);
}

/* ---- calls ---- */

static void put_argument(struct rn_buf *out, const struct rn_templates *t, const struct rn_value *v)
{
	const struct rn_decoder d = { .keywords = t->keywords };
	struct rn_value inner = *v;

	switch (v->kind) {
	case RN_V_RELMOD:
		inner.kind = RN_V_REL;
		rn_buf_byte(out, '(');
		rn_decode_value(&d, &rn_form_text, &inner, out);
		rn_put(out, ")%size");
		break;
	case RN_V_INT:
	case RN_V_REL:
	case RN_V_XOR:
	case RN_V_CONST:
	case RN_V_OBJECT:
	case RN_V_NAME:
		rn_decode_value(&d, &rn_form_text, v, out);
		break;
	default: /* per-rank tables and lists, which are too long for a report */
		rn_buf_byte(out, '*');
	}
}

static bool same_argument(const struct rn_value *a, const struct rn_value *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == RN_V_NAME)
		return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
	if (a->kind == RN_V_CONST || a->kind == RN_V_OBJECT || a->kind == RN_V_PLACE)
		return a->num == b->num && a->word == b->word && a->id == b->id;
	return a->num == b->num;
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && strcmp(s + n - m, end) == 0;
}

static bool is_count_of_type(const struct rn_func *f, uint32_t i)
{
	return ends_with(f->param[i], "count") && i + 1 < f->nparams &&
	       ends_with(f->param[i + 1], "type");
}

static bool is_shown(const struct rn_func *f, uint32_t i)
{
	static const char *const names[] = { "dest",    "source",      "root", "tag",   "sendtag",
					     "recvtag", "target_rank", "op",   "color", "comm" };

	if (rn_func_dir(f, i) == RN_DIR_OUT)
		return false;
	for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
		if (strcmp(f->param[i], names[k]) == 0)
			return true;
	return ends_with(f->param[i], "count") || ends_with(f->param[i], "type");
}

/* MPI_COMM_WORLD is implied and not written. */
static bool is_world(const struct rn_templates *t, const struct rn_value *v)
{
	return v->kind == RN_V_CONST && v->word == t->keywords.world;
}

static bool is_listed(const struct rn_value *list, unsigned n, const struct rn_value *v)
{
	for (unsigned i = 0; i < n; i++)
		if (same_argument(&list[i], v))
			return true;
	return false;
}

/* Stores in *v an argument of a signature. Returns false if the signature is not a call of f. */
static bool argument(struct rn_buf *out, struct rn_templates *t, const struct rn_func *f,
		     uint32_t sig, uint32_t param, struct rn_value *v)
{
	const struct rn_template *call = rn_templates_get(t, sig);

	out->failed |= !call;
	if (!call || call->func != f)
		return false;
	*v = *rn_template_argument(call, param);
	return true;
}

/* Appends the different values of an argument in all variants, or "*" if there are more than
 * VALUES. Most arguments have few values, so a linear search is sufficient. */
static void put_values(struct rn_buf *out, struct rn_templates *t, const struct rn_func *f,
		       uint32_t param, const struct rn_variant *variant)
{
	struct rn_value value[VALUES], v;
	unsigned n = 0;

	for (; variant; variant = variant->next) {
		if (!argument(out, t, f, variant->sig, param, &v) || is_listed(value, n, &v))
			continue;
		if (n == VALUES) {
			rn_buf_byte(out, '*');
			return;
		}
		value[n++] = v;
	}
	for (unsigned i = 0; i < n; i++) {
		rn_put(out, i ? "|" : "");
		put_argument(out, t, &value[i]);
	}
}

static void put_arguments(struct rn_buf *out, struct rn_templates *t, const struct rn_func *f,
			  const struct rn_variant *variant)
{
	const char *before = "(";

	rn_put(out, f->name);
	for (uint32_t i = 0; i < f->nparams; i++) {
		struct rn_value v;

		if (!is_shown(f, i) || !argument(out, t, f, variant->sig, i, &v) || is_world(t, &v))
			continue;
		rn_put(out, before);
		before = ", ";
		if (is_count_of_type(f, i))
			before = " ";
		else if (i == 0 || !is_count_of_type(f, i - 1)) {
			rn_put(out, f->param[i]);
			rn_buf_byte(out, '=');
		}
		put_values(out, t, f, i, variant);
	}
	rn_put(out, *before == '(' ? "" : ")");
}

void text_call(struct rn_buf *out, struct rn_templates *t, const struct rn_variant *variant)
{
	const struct rn_template *first = rn_templates_get(t, variant->sig);

	if (first)
		put_arguments(out, t, first->func, variant);
	else
		out->failed = true;
}

uint64_t text_hash(struct rn_buf *scratch, struct rn_templates *t, uint32_t sig)
{
	struct rn_variant v = { .sig = sig };

	rn_buf_clear(scratch);
	text_call(scratch, t, &v);
	return rn_hash(scratch->data, scratch->len);
}
