/* report_format.c - see report_format.h. */
#include "report/report_format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/outline.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/plural.h"
#include "encode/template.h"
#include "read/output_form.h"
#include "read/trace.h"
#include "series/units.h"

#define RANGES  5u                  /* of a list of ranks */
#define VALUES  3u                  /* of an argument */
#define STREAMS ((uint64_t)1 << 20) /* that are listed one by one to find them */

/* ---- numbers ---- */

void text_count(struct rn_buf *out, uint64_t v)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, v);

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			rn_buf_byte(out, ',');
		rn_buf_byte(out, (unsigned char)digits[i]);
	}
}

void text_items(struct rn_buf *out, uint64_t n, const char *noun)
{
	text_count(out, n);
	rn_put(out, noun);
	rn_put(out, rn_plural(n));
}

/* Three digits, and the largest unit that leaves at least one before the point. */
static void put_scaled(struct rn_buf *out, double v, double step, const char *const *unit)
{
	char text[32];

	while (v >= 0.9995 * step && unit[1]) {
		v /= step;
		unit++;
	}
	snprintf(text, sizeof(text),
		 v < 9.995   ? "%.2f %s"
		 : v < 99.95 ? "%.1f %s"
			     : "%.0f %s",
		 v, *unit);
	rn_put(out, text);
}

void text_bytes(struct rn_buf *out, uint64_t v)
{
	static const char *const unit[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB", NULL };

	if (v < 1000) {
		rn_put_u64(out, v);
		rn_put(out, " B");
	} else {
		put_scaled(out, (double)v, 1000, unit);
	}
}

void text_time(struct rn_buf *out, double ns)
{
	static const char *const unit[] = { "ns", "us", "ms", "s", NULL };

	put_scaled(out, ns, 1000, unit);
}

void text_mean(struct rn_buf *out, double number)
{
	char text[32];

	snprintf(text, sizeof(text), number < 1e6 ? "%.1f" : "%.3g", number);
	rn_put(out, text);
}

/* ---- ranks ---- */

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Of each stream, thread * ranks + rank. */
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

/* The streams of one thread, which are the first n. */
static void put_ranges(struct rn_buf *out, const struct rn_trace *t, const uint64_t *s, uint64_t n)
{
	unsigned ranges = 0;

	rn_put(out, n > 1 ? "ranks " : "rank ");
	for (uint64_t i = 0, len; i < n; i += len) {
		for (len = 1; i + len < n && s[i + len] == s[i] + len;)
			len++;
		if (ranges++ == RANGES) {
			rn_put(out, ",... (");
			text_count(out, n);
			rn_put(out, " ranks)");
			break;
		}
		rn_put(out, i ? "," : "");
		rn_put_u64(out, s[i] % t->ranks);
		if (len > 1) {
			rn_put(out, len > 2 ? "-" : ",");
			rn_put_u64(out, s[i + len - 1] % t->ranks);
		}
	}
	if (s[0] >= t->ranks) {
		rn_put(out, " thread ");
		rn_put_u64(out, s[0] / t->ranks);
	}
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
		text_items(out, streams, " rank");
		return;
	}
	list_streams(t, m, s);
	text_streams(out, t, s, streams);
	free(s);
}

/* ---- calls ---- */

static void put_relative(struct rn_buf *out, const struct rn_value *v)
{
	rn_put(out, v->kind == RN_V_RELMOD ? "(rank" : "rank");
	if (v->kind == RN_V_XOR)
		rn_buf_byte(out, '^');
	else if (v->num >= 0)
		rn_buf_byte(out, '+');
	rn_put_i64(out, v->num);
	rn_put(out, v->kind == RN_V_RELMOD ? ")%size" : "");
}

static void put_argument(struct rn_buf *out, const struct rn_trace *t, const struct rn_value *v)
{
	switch (v->kind) {
	case RN_V_INT:
		rn_put_i64(out, v->num);
		break;
	case RN_V_REL:
	case RN_V_RELMOD:
	case RN_V_XOR:
		put_relative(out, v);
		break;
	case RN_V_CONST:
		rn_put(out, rn_vocab_word(&t->vocab, v->word));
		break;
	case RN_V_OBJECT:
		rn_put(out, rn_vocab_word(&t->vocab, v->word));
		rn_buf_byte(out, ':');
		rn_put_u64(out, v->id);
		break;
	case RN_V_NAME:
		rn_buf_add(out, v->text, v->len);
		break;
	default: /* each rank its own; lists, which are too long to be read here */
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

/* Nobody needs to be told that it is the world. */
static bool is_world(const struct rn_trace *t, const struct rn_value *v)
{
	return v->kind == RN_V_CONST &&
	       strcmp(rn_vocab_word(&t->vocab, v->word), "MPI_COMM_WORLD") == 0;
}

static bool is_listed(const struct rn_value *list, unsigned n, const struct rn_value *v)
{
	for (unsigned i = 0; i < n; i++)
		if (same_argument(&list[i], v))
			return true;
	return false;
}

/* Parses signatures one after the other. Their communicators are not asked for, so keywords are not
 * looked up. */
struct parser {
	const struct rn_trace *t;
	struct rn_keywords keywords;
	struct rn_arena mem;
	struct rn_arena_mark empty;
	bool failed;
};

static bool parse(struct parser *p, uint32_t sig, struct rn_template *out)
{
	size_t len;
	const void *bytes = rn_sigs_get(p->t->streams.sigs, sig, &len);

	rn_arena_rewind(&p->mem, p->empty);
	p->failed |= rn_template_parse(&p->mem, &p->keywords, bytes, len, out) < 0;
	return !p->failed;
}

/* The argument of a function in one of its calls. */
static bool argument(struct parser *p, const struct rn_func *f, uint32_t sig, uint32_t param,
		     struct rn_value *v)
{
	struct rn_template t;

	if (!parse(p, sig, &t) || t.func != f)
		return false;
	*v = *rn_template_argument(&t, param);
	return true;
}

/* The values that an argument has, most variants having one of a few. */
static void put_values(struct rn_buf *out, struct parser *p, const struct rn_func *f,
		       uint32_t param, const struct rn_variant *variant)
{
	struct rn_value value[VALUES], v;
	unsigned n = 0;

	for (; variant; variant = variant->next) {
		if (!argument(p, f, variant->sig, param, &v) || is_listed(value, n, &v))
			continue;
		if (n == VALUES) {
			rn_buf_byte(out, '*');
			return;
		}
		value[n++] = v;
	}
	for (unsigned i = 0; i < n; i++) {
		rn_put(out, i ? "|" : "");
		put_argument(out, p->t, &value[i]);
	}
}

static void put_arguments(struct rn_buf *out, struct parser *p, const struct rn_func *f,
			  const struct rn_variant *variant)
{
	const char *before = "(";

	rn_put(out, f->name);
	for (uint32_t i = 0; i < f->nparams; i++) {
		struct rn_value v;

		if (!is_shown(f, i) || !argument(p, f, variant->sig, i, &v) || is_world(p->t, &v))
			continue;
		rn_put(out, before);
		before = ", ";
		if (is_count_of_type(f, i))
			before = " ";
		else if (i == 0 || !is_count_of_type(f, i - 1)) {
			rn_put(out, f->param[i]);
			rn_buf_byte(out, '=');
		}
		put_values(out, p, f, i, variant);
	}
	rn_put(out, *before == '(' ? "" : ")");
}

void text_call(struct rn_buf *out, const struct rn_trace *t, const struct rn_variant *variant)
{
	struct parser p = { .t = t, .keywords = { .vocab = &t->vocab } };
	struct rn_template first;

	rn_arena_init(&p.mem, SIZE_MAX);
	rn_arena_reserve(&p.mem, 1 << 14);
	p.empty = rn_arena_mark(&p.mem);
	if (parse(&p, variant->sig, &first))
		put_arguments(out, &p, first.func, variant);
	out->failed |= p.failed;
	rn_arena_free(&p.mem);
}

uint64_t text_hash(struct rn_buf *scratch, const struct rn_trace *t, uint32_t sig)
{
	struct rn_variant v = { .sig = sig };

	rn_buf_clear(scratch);
	text_call(scratch, t, &v);
	return rn_hash(scratch->data, scratch->len);
}
