/*
 * column.c - see column.h; doc/format.md, chapter 5, describes the format.
 *
 *   values --(as they are | differences)--> residuals --zigzag--> (varints | planes) --> [zstd]
 *
 * Short columns are coded in all eight ways. For long ones the first two choices are made on a
 * sample and the column is coded once, so the cost is close to that of one compression.
 */
#include "column/column.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/compress.h"
#include "base/varint.h"

/* The bits of the codec byte. */
enum { DELTA = 1, PLANES = 2, ZSTD = 4, CODECS = 8, MODEL_END = 16 };

/* A frame has at least 9 bytes of overhead, so shorter payloads are not compressed. */
#define ZSTD_MIN 24

/* Compression levels: QUICK to choose the form, STRONG to write it. A trace may have thousands of
 * columns, and higher levels cost twice as much for almost no gain. */
#define QUICK  6
#define STRONG 15

/* The form of a column with more than SAMPLE values is chosen on SAMPLE of them, taken in STRETCHES
 * spans. */
#define SAMPLE    8192
#define STRETCHES 4

/* Whether a column may have n values with this payload. A few bytes of a frame, or no bytes of
 * planes, can represent any number of equal values. The limit bounds the memory of a reader in
 * proportion to its input. */
static bool believable(uint64_t n, uint64_t payload)
{
	return n <= 4096 || (n - 4096) / 256 <= payload;
}

struct work {
	struct rn_buf payload, packed, cand, best, sample;
	struct rn_packer packer;
};

static void work_free(struct work *w)
{
	rn_buf_free(&w->payload);
	rn_buf_free(&w->packed);
	rn_buf_free(&w->cand);
	rn_buf_free(&w->best);
	rn_buf_free(&w->sample);
	rn_packer_free(&w->packer);
}

/* Residual of value i. Unsigned arithmetic: differences wrap, and their sums wrap back. */
static uint64_t residual(const int64_t *v, size_t i, unsigned codec)
{
	assert(!(codec & DELTA) || i > 0);
	if (codec & DELTA)
		return rn_zigzag((int64_t)((uint64_t)v[i] - (uint64_t)v[i - 1]));
	return rn_zigzag(v[i]);
}

static unsigned planes_needed(const int64_t *v, size_t n, unsigned codec)
{
	uint64_t all = 0;

	for (size_t i = codec & DELTA; i < n; i++)
		all |= residual(v, i, codec);
	return all ? (unsigned)(71 - __builtin_clzll(all)) / 8 : 0;
}

static void put_planes(const int64_t *v, size_t n, unsigned codec, unsigned planes,
		       struct rn_buf *out)
{
	size_t first = codec & DELTA, m = n - first;
	unsigned char *p = m && planes ? rn_buf_reserve(out, m * planes) : NULL;

	if (!p)
		return;
	for (size_t i = 0; i < m; i++) {
		uint64_t z = residual(v, first + i, codec);

		for (unsigned k = 0; k < planes; k++)
			p[k * m + i] = (unsigned char)(z >> 8 * k);
	}
	out->len += m * planes;
}

static void put_varints(const int64_t *v, size_t n, unsigned codec, struct rn_buf *out)
{
	for (size_t i = codec & DELTA; i < n; i++)
		rn_buf_u64(out, residual(v, i, codec));
}

/* Builds a whole column. Stores it as the best one if it is the smallest believable one so far. */
static int offer(struct work *w, const int64_t *v, size_t n, unsigned codec, unsigned planes)
{
	const struct rn_buf *body = codec & ZSTD ? &w->packed : &w->payload;
	struct rn_buf *c = &w->cand, swap;

	assert(n > 0 && codec < CODECS && planes <= 8);
	if (!believable(n, body->len))
		return RN_OK;
	rn_buf_clear(c);
	rn_buf_byte(c, (unsigned char)codec);
	rn_buf_u64(c, n);
	if (codec & DELTA)
		rn_buf_i64(c, v[0]);
	if (codec & PLANES)
		rn_buf_byte(c, (unsigned char)planes);
	if (codec & ZSTD)
		rn_buf_u64(c, body->len);
	rn_buf_add(c, body->data, body->len);
	if (rn_buf_status(c))
		return RN_E_NOMEM;
	if (w->best.len == 0 || c->len < w->best.len) {
		swap = w->best;
		w->best = *c;
		*c = swap;
	}
	return RN_OK;
}

/* Tries one transform and layout, plain and compressed. */
static int try_form(struct work *w, const int64_t *v, size_t n, unsigned form)
{
	unsigned planes = form & PLANES ? planes_needed(v, n, form) : 0;
	int rc;

	rn_buf_clear(&w->payload);
	if (form & PLANES)
		put_planes(v, n, form, planes, &w->payload);
	else
		put_varints(v, n, form, &w->payload);
	rc = rn_buf_status(&w->payload);
	if (!rc)
		rc = offer(w, v, n, form, planes);
	if (rc || w->payload.len < ZSTD_MIN)
		return rc;
	rc = rn_pack(&w->packer, (struct rn_pack_dict){ 0 }, w->payload.data, w->payload.len,
		     &w->packed);
	return rc ? rc : offer(w, v, n, form | ZSTD, planes);
}

/* Tries all forms at the quick level. If the best one is compressed, it is compressed again at the
 * strong level. */
static int try_all(struct work *w, const int64_t *v, size_t n)
{
	int rc = RN_OK;

	w->packer.level = QUICK;
	for (unsigned form = 0; form < ZSTD && !rc; form++)
		rc = try_form(w, v, n, form);
	w->packer.level = STRONG;
	if (!rc && w->best.len && w->best.data[0] & ZSTD)
		rc = try_form(w, v, n, w->best.data[0] & (DELTA | PLANES));
	return rc;
}

/* Chooses the form on spans that are spread over the column, because the beginning of a column is
 * often not typical. */
static int try_sampled(struct work *w, const int64_t *v, size_t n)
{
	size_t part = SAMPLE / STRETCHES;
	unsigned form;
	int rc;

	assert(n > SAMPLE);
	for (size_t i = 0; i < STRETCHES; i++)
		rn_buf_add(&w->sample, v + (n - part) / (STRETCHES - 1) * i, part * sizeof(*v));
	rc = rn_buf_status(&w->sample);
	if (!rc)
		rc = try_all(w, (const int64_t *)(const void *)w->sample.data, SAMPLE);
	if (rc)
		return rc;
	form = w->best.len ? w->best.data[0] & (DELTA | PLANES) : 0;
	rn_buf_clear(&w->best);
	return try_form(w, v, n, form);
}

void rn_column_begin_plain(uint64_t n, struct rn_buf *out)
{
	rn_buf_byte(out, 0);
	rn_buf_u64(out, n);
}

int rn_column_encode(const int64_t *v, size_t n, struct rn_buf *out)
{
	struct work w = { 0 };
	size_t before = out->len;
	int rc = RN_OK;

	if (n > SIZE_MAX / 64)
		return RN_E_NOMEM;
	if (n == 0)
		rn_buf_add(&w.best, "\0\0", 2);
	else if (n <= SAMPLE)
		rc = try_all(&w, v, n);
	else
		rc = try_sampled(&w, v, n);
	/* No other form was believable. Varints are: they have at least one byte per value. */
	if (!rc && w.best.len == 0)
		rc = try_form(&w, v, n, 0);
	if (!rc)
		rc = rn_buf_status(&w.best);
	if (!rc) {
		rn_buf_add(out, w.best.data, w.best.len);
		rc = rn_buf_status(out);
	}
	if (rc)
		out->len = before;
	work_free(&w);
	return rc;
}

/* The head of a column, which describes the payload that follows it. */
struct head {
	unsigned codec, planes;
	uint64_t n, m;  /* values, residuals */
	int64_t first;  /* with DELTA */
	uint64_t frame; /* bytes of the frame, with ZSTD */
	uint64_t size;  /* bytes of the payload when unpacked, with ZSTD */
};

static int read_codec(struct rn_reader *in, unsigned *codec, struct rn_err *err)
{
	const unsigned char *p = rn_get_bytes(in, 1);

	if (!p)
		return rn_err_set(err, RN_E_DATA, "column cut off");
	*codec = *p;
	if (*codec < CODECS)
		return RN_OK;
	if (*codec < MODEL_END)
		return rn_err_set(err, RN_E_DATA,
				  "column codec %u (adaptive model) is not known to this program",
				  *codec);
	return rn_err_set(err, RN_E_DATA, "column codec %u does not exist", *codec);
}

static int read_count(struct rn_reader *in, uint64_t max_n, struct head *h, struct rn_err *err)
{
	if (max_n > SIZE_MAX / 64) /* so that no product below overflows */
		max_n = SIZE_MAX / 64;
	h->n = rn_get_u64(in);
	if (in->bad)
		return rn_err_set(err, RN_E_DATA, "column cut off");
	if (h->n > max_n)
		return rn_err_set(err, RN_E_DATA,
				  "column of %" PRIu64 " values where there are at most %" PRIu64,
				  h->n, max_n);
	if (h->n == 0 && h->codec)
		return rn_err_set(err, RN_E_DATA, "empty column with codec %u", h->codec);
	h->m = h->n - (h->codec & DELTA);
	return RN_OK;
}

static int read_head(struct rn_reader *in, uint64_t max_n, struct head *h, struct rn_err *err)
{
	int rc = read_codec(in, &h->codec, err);
	const unsigned char *p;

	if (!rc)
		rc = read_count(in, max_n, h, err);
	if (rc)
		return rc;
	if (h->codec & DELTA)
		h->first = rn_get_i64(in);
	if (h->codec & PLANES) {
		p = rn_get_bytes(in, 1);
		h->planes = p ? *p : 0;
		if (h->planes > 8)
			return rn_err_set(err, RN_E_DATA, "column with %u byte planes", h->planes);
	}
	if (h->codec & ZSTD)
		h->frame = rn_get_count(in, 1);
	return in->bad ? rn_err_set(err, RN_E_DATA, "column cut off") : RN_OK;
}

/* Checks, before any allocation, that the payload is complete and can contain the claimed
 * values. */
static int check_claim(const struct rn_reader *in, struct head *h, struct rn_err *err)
{
	uint64_t lo = h->m * (h->codec & PLANES ? h->planes : 1);
	uint64_t hi = h->m * (h->codec & PLANES ? h->planes : RN_VARINT_MAX);

	if (!believable(h->n, h->codec & ZSTD ? h->frame : lo))
		return rn_err_set(err, RN_E_DATA,
				  "column damaged: too many values for so few bytes");
	if (!(h->codec & ZSTD))
		return lo <= rn_left(in) ? RN_OK : rn_err_set(err, RN_E_DATA, "column cut off");
	h->size = rn_packed_size(in->p, h->frame);
	if (h->size == 0 || h->size < lo || h->size > hi)
		return rn_err_set(err, RN_E_DATA, "column damaged: not a frame of the right size");
	return RN_OK;
}

static int unpack(struct rn_arena *mem, struct rn_reader *in, const struct head *h,
		  struct rn_reader *body, struct rn_err *err)
{
	unsigned char *raw = rn_new(mem, unsigned char, h->size);
	int rc;

	if (!raw)
		return rn_err_nomem(err);
	rc = rn_unpack((struct rn_pack_dict){ 0 }, rn_get_bytes(in, h->frame), h->frame, raw,
		       h->size);
	if (rc == RN_E_NOMEM)
		return rn_err_nomem(err);
	if (rc < 0)
		return rn_err_set(err, RN_E_DATA, "column damaged: does not decompress");
	*body = rn_reader(raw, h->size);
	return RN_OK;
}

static bool get_planes(struct rn_reader *body, const struct head *h, int64_t *out)
{
	const unsigned char *p = rn_get_bytes(body, h->m * h->planes);

	if (!p)
		return false;
	for (uint64_t i = 0; i < h->m; i++) {
		uint64_t z = 0;

		for (unsigned k = 0; k < h->planes; k++)
			z |= (uint64_t)p[k * h->m + i] << 8 * k;
		out[i] = rn_unzigzag(z);
	}
	return true;
}

static bool get_varints(struct rn_reader *body, const struct head *h, int64_t *out)
{
	for (uint64_t i = 0; i < h->m; i++)
		out[i] = rn_get_i64(body);
	return !body->bad;
}

static void sum_up(int64_t *v, const struct head *h)
{
	assert(h->n == h->m + 1);
	v[0] = h->first;
	for (uint64_t i = 1; i < h->n; i++)
		v[i] = (int64_t)((uint64_t)v[i - 1] + (uint64_t)v[i]);
}

/* Decodes the payload into h->n values at v. */
static int read_body(struct rn_reader *body, const struct head *h, int64_t *v, struct rn_err *err)
{
	int64_t *out = v + (h->n - h->m);
	bool good = h->codec & PLANES ? get_planes(body, h, out) : get_varints(body, h, out);

	if (!good)
		return rn_err_set(err, RN_E_DATA, "column cut off");
	if (h->codec & ZSTD && rn_left(body))
		return rn_err_set(err, RN_E_DATA, "column damaged: bytes left over");
	if (h->codec & DELTA)
		sum_up(v, h);
	return RN_OK;
}

static int read_column(struct rn_arena *mem, struct rn_reader *in, const struct head *h,
		       int64_t **v, struct rn_err *err)
{
	struct rn_arena_mark scratch;
	struct rn_reader body;
	int rc;

	*v = rn_new(mem, int64_t, h->n);
	if (!*v)
		return rn_err_nomem(err);
	if (!(h->codec & ZSTD))
		return read_body(in, h, *v, err);
	scratch = rn_arena_mark(mem);
	rc = unpack(mem, in, h, &body, err);
	if (!rc)
		rc = read_body(&body, h, *v, err);
	rn_arena_rewind(mem, scratch);
	return rc;
}

int rn_column_decode(struct rn_arena *mem, struct rn_reader *in, uint64_t max_n, int64_t **v,
		     size_t *n, struct rn_err *err)
{
	struct rn_arena_mark before = rn_arena_mark(mem);
	struct head h = { 0 };
	int64_t *values = NULL;
	int rc = read_head(in, max_n, &h, err);

	if (!rc)
		rc = check_claim(in, &h, err);
	if (!rc)
		rc = read_column(mem, in, &h, &values, err);
	if (rc) {
		rn_arena_rewind(mem, before);
		return rc;
	}
	*v = values;
	*n = h.n;
	return RN_OK;
}
