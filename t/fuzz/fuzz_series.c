/*
 * fuzz_series.c - libFuzzer target: sealed series from bytes, and the builder.
 *
 * The first byte selects what the rest is. It is an encoded series, which must be rejected, or
 * support every query and be encoded to bytes that decode to the same series. Or it is a program
 * of appends with failing allocations, whose values the sealed series must return. Or it is
 * patched into a series that was encoded quickly, which must be rejected or support every query.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/varint.h"
#include "series/series.h"
#include "series/units.h"

#define LIMIT        ((size_t)1 << 28)
#define ELEMENTS_MAX 20000u

static void must(int condition)
{
	if (!condition)
		abort();
}

/* ---- decoding ---- */

static void ask(const struct rn_units *u, uint64_t i)
{
	uint64_t found = 0;
	int64_t v = rn_units_at(u, i), w[9];
	rn_i128 sum = rn_units_sum(u, i);

	must(rn_units_sum(u, i + 1) == sum + v);
	must(rn_units_read(u, i, w, 9) >= 1 && w[0] == v);
	if (rn_units_monotone(u)) {
		must(rn_units_find(u, v, &found) == RN_OK && found >= i);
		must(rn_units_at(u, found) == v);
		must(found + 1 == rn_units_length(u) || rn_units_at(u, found + 1) > v);
	}
}

static void ask_all(const struct rn_units *u)
{
	uint64_t n = rn_units_length(u), step = 1;

	for (uint64_t i = 0; i < n; step *= 3) {
		ask(u, i);
		ask(u, n - 1 - i);
		if (step > n - i)
			break;
		i += step;
	}
}

static void decoding(struct rn_arena *mem, const uint8_t *data, size_t size)
{
	struct rn_reader r = rn_reader(data, size);
	struct rn_units *u, *v;
	struct rn_buf a = { 0 }, b = { 0 };

	if (rn_units_decode(mem, &r, &u, NULL) != RN_OK)
		return;
	ask_all(u);
	must(rn_units_encode(u, &a) == RN_OK);
	r = rn_reader(a.data, a.len);
	must(rn_units_decode(mem, &r, &v, NULL) == RN_OK && rn_left(&r) == 0);
	must(rn_units_length(u) == rn_units_length(v));
	ask_all(v);
	must(rn_units_encode(v, &b) == RN_OK);
	must(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
	rn_buf_free(&a);
	rn_buf_free(&b);
}

/* ---- building ---- */

struct program {
	struct rn_arena *mem;
	struct rn_series *s;
	int64_t *log;
	size_t n;
};

static void append(struct program *p, int64_t x)
{
	if (p->n == ELEMENTS_MAX)
		return;
	if (rn_series_append(p->s, x) < 0) {
		must(p->mem->fail_at == 0); /* the failure has been consumed */
		must(rn_series_append(p->s, x) == RN_OK);
	}
	p->log[p->n++] = x;
}

/* An instruction is one byte: operation and amount. Arithmetic wraps. */
static void play(struct program *p, const uint8_t *data, size_t size)
{
	uint64_t d = 1, x = 0;

	for (size_t i = 0; i < size; i++) {
		unsigned n = data[i] & 31;

		switch (data[i] >> 5) {
		case 0: /* continue the pattern */
			for (; n; n--)
				append(p, (int64_t)(x += d));
			break;
		case 1:
			d = n - 8;
			break;
		case 2:
			d = d << 3 ^ n;
			break;
		case 3: /* earlier values with an offset */
			for (unsigned k = 0; k < 2 * n && p->n > n; k++)
				append(p, (int64_t)((uint64_t)p->log[p->n - n - 1] + d));
			break;
		case 4: /* earlier values, unchanged */
			for (unsigned k = 0; k < 4 * n && p->n > n; k++)
				append(p, p->log[p->n - n - 1]);
			break;
		case 5:
			append(p, (int64_t)(x = x * 0x9e3779b97f4a7c15u + n));
			break;
		case 6:
			p->mem->fail_at = n + 1;
			break;
		default:
			p->mem->fail_at = 0;
			append(p, n == 31 ? INT64_MIN : n == 30 ? INT64_MAX : (int64_t)n);
		}
	}
	p->mem->fail_at = 0;
}

static void building(struct rn_arena *mem, const uint8_t *data, size_t size)
{
	struct program p = { .mem = mem, .s = rn_series_new(mem) };
	int64_t *back = malloc((ELEMENTS_MAX + 1) * sizeof(*back));
	struct rn_units *u;

	p.log = malloc(ELEMENTS_MAX * sizeof(*p.log));
	must(p.s && p.log && back);
	play(&p, data, size);
	must(rn_series_check(p.s) && rn_units_seal(mem, p.s, &u) == RN_OK);
	must(rn_units_read(u, 0, back, ELEMENTS_MAX + 1) == p.n);
	must(memcmp(back, p.log, p.n * sizeof(*back)) == 0);
	ask_all(u);
	free(p.log);
	free(back);
}

/* ---- patching ---- */

/* Builds one of several series, each in another state when it is encoded. */
static void prepare(struct rn_series *s, unsigned kind)
{
	uint64_t x = kind;

	for (unsigned i = 0; i < 70 + kind % 8 * 40; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		switch (kind / 8 % 4) {
		case 0:
			rn_series_append(s, (int64_t)i / 5 * 100 + i % 5);
			break;
		case 1:
			rn_series_append(s, (int64_t)(i % 3 * 1000 + i / 3 * (i % 3 + 1)));
			break;
		case 2:
			rn_series_append(s, (int64_t)x);
			break;
		default:
			rn_series_append(s, i < 150 ? (int64_t)(x >> 50) : 5 + i);
		}
	}
}

static void patching(struct rn_arena *mem, const uint8_t *data, size_t size)
{
	struct rn_series *s = rn_series_new(mem);
	struct rn_arena scratch;
	struct rn_buf b = { 0 };
	struct rn_units *u;

	rn_arena_init(&scratch, LIMIT);
	prepare(s, data[0]);
	must(rn_units_seal_quickly(mem, &scratch, s, &u) == RN_OK);
	must(rn_units_encode_quickly(u, 0, &b) == RN_OK);
	for (size_t i = 1; i + 2 < size; i += 3)
		b.data[(data[i] | (size_t)data[i + 1] << 8) % b.len] ^= data[i + 2];
	decoding(mem, b.data, b.len);
	rn_buf_free(&b);
	rn_arena_free(&scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const part[])(struct rn_arena *, const uint8_t *,
				    size_t) = { decoding, decoding, building, patching };
	struct rn_arena mem;

	if (size < 2 || size > 4000)
		return 0;
	rn_arena_init(&mem, LIMIT);
	part[data[0] % (sizeof(part) / sizeof(part[0]))](&mem, data + 1, size - 1);
	rn_arena_free(&mem);
	return 0;
}
