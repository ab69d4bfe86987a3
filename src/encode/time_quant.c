/* time_quant.c - see time_quant.h. */
#include "encode/time_quant.h"

#include <assert.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/bisect.h"
#include "base/buf.h"
#include "base/varint.h"
#include "encode/signature.h"

#define ONE      1000u
#define OWNS_MAX 4096u

/* ---- levels ---- */

/* Computes the next level. Returns false if `at` is the last one. */
static bool next_level(uint32_t base, uint64_t at, uint64_t *next)
{
	unsigned __int128 v = (unsigned __int128)at * ONE / (ONE - base) + 1;

	*next = (uint64_t)v;
	return v <= UINT64_MAX;
}

static void index_levels(struct rn_levels *l)
{
	uint32_t k = 0;

	assert(l->n > 0 && l->at[0] == 0);
	for (unsigned d = 0; d <= 64; d++) {
		uint64_t least = d ? (uint64_t)1 << (d - 1) : 0;

		while (k + 1 < l->n && l->at[k + 1] <= least)
			k++;
		l->first[d] = k;
	}
	l->first[65] = l->n;
}

static struct rn_levels *make_levels(struct rn_arena *mem, uint32_t base)
{
	struct rn_levels *l = rn_new(mem, struct rn_levels, 1);
	uint64_t at = 0;

	assert(base > 0 && base <= RN_GRAIN_BASE_MAX);
	if (!l)
		return NULL;
	l->base = base;
	do
		l->n++;
	while (next_level(base, at, &at));
	l->at = rn_new(mem, uint64_t, l->n);
	if (!l->at)
		return NULL;
	for (uint32_t k = 1; k < l->n; k++) {
		next_level(base, l->at[k - 1], &l->at[k]);
		assert(l->at[k] > l->at[k - 1]);
	}
	index_levels(l);
	return l;
}

/* Equal bases share their levels. */
static int find_levels(struct rn_arena *mem, const struct rn_grain *g, uint32_t upto, uint32_t base,
		       const struct rn_levels **out)
{
	assert(upto <= g->owns);
	*out = NULL;
	if (base == 0)
		return RN_OK;
	if (g->levels && g->levels->base == base)
		*out = g->levels;
	for (uint32_t i = 0; i < upto && !*out; i++)
		if (g->own[i].base == base)
			*out = g->own[i].levels;
	if (!*out)
		*out = make_levels(mem, base);
	return *out ? RN_OK : RN_E_NOMEM;
}

static int add_levels(struct rn_arena *mem, struct rn_grain *g)
{
	const struct rn_levels *levels;
	int rc = find_levels(mem, g, 0, g->base, &levels);

	g->levels = levels;
	for (uint32_t i = 0; i < g->owns && rc == RN_OK; i++)
		rc = find_levels(mem, g, i, g->own[i].base, &g->own[i].levels);
	return rc;
}

const struct rn_levels *rn_grain_find(const struct rn_grain *g, uint32_t func)
{
	struct rn_bisect b = { 0, g->owns, 0 };

	while (rn_bisect_next(&b))
		rn_bisect_go(&b, g->own[b.mid].func < func);
	return b.lo < g->owns && g->own[b.lo].func == func ? g->own[b.lo].levels : g->levels;
}

/* ---- text ---- */

/* Parses a base in decimal: 1, 1.2, 1.05, 1.125. */
static bool read_base(const char *s, size_t len, uint32_t *base)
{
	uint32_t unit = ONE / 10;

	*base = 0;
	if (len == 0 || s[0] != '1' || len > 5 || len == 2 || (len > 1 && s[1] != '.'))
		return false;
	for (size_t i = 2; i < len; i++, unit /= 10) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		*base += (uint32_t)(s[i] - '0') * unit;
	}
	return *base <= RN_GRAIN_BASE_MAX;
}

static int bad_base(struct rn_err *err, const char *s, size_t len)
{
	return rn_err_set(err, RN_E_ARG, "%.*s: not a base such as 1.2 (1 to 1.9, 3 decimals)",
			  (int)len, s);
}

/* exact, bins or bins:B */
static int read_head(const char *s, size_t len, uint32_t *base, struct rn_err *err)
{
	*base = RN_GRAIN_BASE;
	if (len == 5 && strncmp(s, "exact", 5) == 0)
		*base = 0;
	else if (len > 5 && strncmp(s, "bins:", 5) == 0) {
		if (!read_base(s + 5, len - 5, base))
			return bad_base(err, s + 5, len - 5);
	} else if (len != 4 || strncmp(s, "bins", 4) != 0)
		return rn_err_set(err, RN_E_ARG, "none of summary, none, exact and bins:B");
	return RN_OK;
}

/* Parses PATTERN=B. For each function whose name matches, base[i] becomes the base + 1. */
static int read_own(const char *s, size_t len, const struct rn_vocab *vocab, uint32_t *base,
		    struct rn_err *err)
{
	const char *eq = memchr(s, '=', len);
	char pattern[128];
	uint32_t its, fits = 0;

	if (!eq || eq == s || (size_t)(eq - s) >= sizeof(pattern))
		return rn_err_set(err, RN_E_ARG, "%.*s: not FUNCTION=B", (int)len, s);
	if (!read_base(eq + 1, len - (size_t)(eq + 1 - s), &its))
		return bad_base(err, eq + 1, len - (size_t)(eq + 1 - s));
	memcpy(pattern, s, (size_t)(eq - s));
	pattern[eq - s] = '\0';
	for (uint32_t i = 0; i < vocab->funcs; i++)
		if (fnmatch(pattern, vocab->func[i].name, 0) == 0) {
			base[i] = its + 1;
			fits++;
		}
	return fits ? RN_OK : rn_err_set(err, RN_E_ARG, "%s: no such function", pattern);
}

static int keep_owns(struct rn_arena *mem, const struct rn_vocab *vocab, const uint32_t *base,
		     struct rn_grain *g)
{
	g->own = rn_new(mem, struct rn_grain_own, vocab->funcs);
	if (!g->own)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < vocab->funcs; i++)
		if (base[i] && base[i] - 1 != g->base)
			g->own[g->owns++] =
				(struct rn_grain_own){ vocab->func[i].number, base[i] - 1, NULL };
	return add_levels(mem, g);
}

int rn_grain_parse(struct rn_arena *mem, const char *text, const struct rn_vocab *vocab,
		   struct rn_grain *out, struct rn_err *err)
{
	uint32_t *base = rn_new(mem, uint32_t, vocab->funcs);
	size_t len = strcspn(text, ",");
	int rc = base ? RN_OK : RN_E_NOMEM;

	*out = (struct rn_grain){ 0 };
	if (rc == RN_OK)
		rc = read_head(text, len, &out->base, err);
	while (rc == RN_OK && text[len]) {
		text += len + 1;
		len = strcspn(text, ",");
		rc = read_own(text, len, vocab, base, err);
	}
	return rc == RN_OK ? keep_owns(mem, vocab, base, out) : rc;
}

/* ---- bytes ---- */

void rn_grain_encode(const struct rn_grain *g, struct rn_buf *out)
{
	uint32_t next = 0;

	rn_buf_u64(out, g->base);
	rn_buf_u64(out, g->owns);
	for (uint32_t i = 0; i < g->owns; i++) {
		assert(g->own[i].func >= next);
		rn_buf_u64(out, g->own[i].func - next);
		rn_buf_u64(out, g->own[i].base);
		next = g->own[i].func + 1;
	}
}

int rn_grain_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_grain *out,
		    struct rn_err *err)
{
	uint64_t n, next = 0;

	*out = (struct rn_grain){ .base = (uint32_t)rn_get_max(in, RN_GRAIN_BASE_MAX) };
	n = rn_get_max(in, OWNS_MAX);
	out->own = rn_new(mem, struct rn_grain_own, n);
	if (!out->own)
		return rn_err_nomem(err);
	for (; out->owns < n && !in->bad; out->owns++, next++) {
		next += rn_get_max(in, UINT32_MAX / 2);
		out->own[out->owns].func = (uint32_t)next;
		out->own[out->owns].base = (uint32_t)rn_get_max(in, RN_GRAIN_BASE_MAX);
		if (next > UINT32_MAX / 2)
			rn_fail(in);
	}
	if (in->bad)
		return rn_err_set(err, RN_E_DATA, "how exact the times are cannot be read");
	return add_levels(mem, out) < 0 ? rn_err_nomem(err) : RN_OK;
}
