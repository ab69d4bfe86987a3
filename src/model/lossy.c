/* lossy.c - see lossy.h. */
#include "model/lossy.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/varint.h"
#include "model/folded_streams.h"
#include "series/series.h"
#include "series/units.h"

#include <stdlib.h>
#include <string.h>

#define PLACES RN_BLUR_PLACES

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Returns PLACES times the sum of the smallest counts that fill `place` slices. A slice may end
 * inside a count. */
static rn_i128 sum_below(const int64_t *sorted, const rn_i128 *sum, uint64_t n, uint64_t place)
{
	rn_i128 at = (rn_i128)place * n;
	uint64_t whole = (uint64_t)(at / PLACES), part = (uint64_t)(at % PLACES);

	return sum[whole] * PLACES + (part ? (rn_i128)part * sorted[whole] : 0);
}

/* Computes the counts of the pattern. Their sum is PLACES times the mean, rounded down. Each is
 * between the lowest and the highest count. */
static void find_places(const int64_t *sorted, const rn_i128 *sum, uint64_t n, int64_t *place)
{
	for (uint64_t i = 0; i < PLACES; i++)
		place[i] = (int64_t)(sum_below(sorted, sum, n, i + 1) / n -
				     sum_below(sorted, sum, n, i) / n);
}

/* Returns the index of the last count of the pattern that can be incremented; 0 if all counts are
 * equal. */
static unsigned place_with_room(const int64_t *place, int64_t highest)
{
	unsigned i = PLACES - 1;

	while (i && place[i] >= highest)
		i--;
	return i;
}

/* Appends the pattern several times. */
static int repeat(struct rn_series *to, const int64_t *place, uint64_t times)
{
	int rc = RN_OK;

	for (uint64_t i = 0; i < times * PLACES && rc == RN_OK; i++)
		rc = rn_series_append(to, place[i % PLACES]);
	return rc;
}

/* Appends n counts as close to their mean as possible. Used for the rest, which is shorter than a
 * pattern. */
static int fill(struct rn_series *to, uint64_t n, uint64_t sum)
{
	int rc = RN_OK;

	for (uint64_t i = 0; i < n && rc == RN_OK; i++)
		rc = rn_series_append(to, (int64_t)(sum / n + (i >= n - sum % n)));
	return rc;
}

/* Appends the patterns and the rest. In the last `more` patterns one count is incremented, so that
 * the sum is exact. */
static int spread(const int64_t *sorted, const rn_i128 *sum, uint64_t n, struct rn_series *to)
{
	uint64_t times = n / PLACES, rest = n % PLACES;
	uint64_t fills = (uint64_t)(sum[n] * rest / n);
	uint64_t more = (uint64_t)(sum[n] - fills - sum[n] * PLACES / n * times);
	int64_t place[PLACES];
	int rc;

	find_places(sorted, sum, n, place);
	rc = repeat(to, place, times - more);
	place[place_with_room(place, sorted[n - 1])]++;
	if (rc == RN_OK)
		rc = repeat(to, place, more);
	return rc == RN_OK ? fill(to, rest, fills) : rc;
}

/* Returns the values of a series, sorted; NULL without memory. */
static int64_t *sorted_numbers(const struct rn_units *u, struct rn_arena *scratch)
{
	uint64_t n = rn_units_length(u);
	int64_t *all = rn_new(scratch, int64_t, n);

	if (all) {
		rn_units_read(u, 0, all, n);
		qsort(all, n, sizeof(*all), by_value);
	}
	return all;
}

/* Appends the approximation of the sorted values to a series. */
typedef int blur_fn(const int64_t *sorted, uint64_t n, struct rn_arena *scratch,
		    struct rn_series *to);

static int blur_counts(const int64_t *sorted, uint64_t n, struct rn_arena *scratch,
		       struct rn_series *to)
{
	rn_i128 *sum = rn_new(scratch, rn_i128, n + 1);

	if (!sum)
		return RN_E_NOMEM;
	for (uint64_t i = 0; i < n; i++)
		sum[i + 1] = sum[i] + sorted[i];
	return spread(sorted, sum, n, to);
}

static int blur_units(const struct rn_units *u, blur_fn *fn, struct rn_arena *scratch,
		      struct rn_buf *out)
{
	const int64_t *sorted = sorted_numbers(u, scratch);
	struct rn_series *series = rn_series_new(scratch);
	struct rn_units *blurred;
	int rc = sorted && series ? fn(sorted, rn_units_length(u), scratch, series) : RN_E_NOMEM;

	if (rc == RN_OK)
		rc = rn_units_seal(scratch, series, &blurred);
	return rc == RN_OK ? rn_units_encode(blurred, out) : rc;
}

/* Appends the approximation of a series, or the series itself if that is not longer. */
static int blur(const struct rn_chunk *series, uint64_t least, blur_fn *fn,
		struct rn_arena *scratch, struct rn_buf *out)
{
	struct rn_arena_mark mark = rn_arena_mark(scratch);
	struct rn_reader in = rn_reader(series->bytes, series->len);
	struct rn_buf b = { 0 };
	struct rn_units *u;
	int rc = rn_units_decode(scratch, &in, &u, NULL);

	if (rc == RN_OK && rn_units_length(u) >= least && rn_units_length(u) >= 2 * PLACES)
		rc = blur_units(u, fn, scratch, &b);
	if (rc == RN_OK && b.len && b.len < series->len)
		rn_buf_add(out, b.data, b.len);
	else if (rc == RN_OK)
		rn_buf_add(out, series->bytes, series->len);
	rn_buf_free(&b);
	rn_arena_rewind(scratch, mark);
	return rc == RN_OK ? rn_buf_status(out) : rc;
}

int rn_blur(struct rn_folded *f, struct rn_arena *mem, struct rn_arena *scratch)
{
	uint32_t n = f->loops ? rn_sigs_count(f->series) : 0;
	uint32_t *now = rn_new(scratch, uint32_t, (size_t)n + 1);
	struct rn_sigs *series = rn_sigs_new(mem);
	struct rn_buf b = { 0 };
	int rc = now && series ? RN_OK : RN_E_NOMEM;

	for (uint32_t i = 0; i < n && rc == RN_OK; i++) {
		struct rn_chunk c;

		c.bytes = rn_sigs_get(f->series, i, &c.len);
		rn_buf_clear(&b);
		rc = blur(&c, 0, blur_counts, scratch, &b);
		if (rc == RN_OK)
			rc = rn_sigs_intern(series, b.data, b.len, &now[i]);
	}
	rn_buf_free(&b);
	if (rc < 0)
		return RN_E_NOMEM;
	for (size_t i = 0; i < (size_t)f->loops * f->streams.groups; i++)
		if (f->ref[i])
			f->ref[i] = now[f->ref[i] - 1] + 1;
	if (n)
		f->series = series;
	return RN_OK;
}

/* ---- elastic values ---- */

static int blur_numbers(const int64_t *sorted, uint64_t n, struct rn_arena *scratch,
			struct rn_series *to)
{
	int rc = RN_OK;

	(void)scratch;
	for (uint64_t i = 0; i < n && rc == RN_OK; i++) {
		uint64_t place = (2 * (i % PLACES) + 1) * (n / PLACES) / 2;

		rc = rn_series_append(to, sorted[place]);
	}
	return rc;
}

int rn_blur_values(const void *bytes, size_t len, uint64_t most, struct rn_arena *scratch,
		   struct rn_buf *out)
{
	return blur(&(struct rn_chunk){ bytes, len }, most < UINT64_MAX ? most + 1 : most,
		    blur_numbers, scratch, out);
}

/* ---- options ---- */

/* "params" or "params:N". */
static bool parse_params(const char *text, size_t n, uint64_t *most)
{
	const size_t word = strlen(RN_LOSSY_PARAMS);
	char *end;

	*most = RN_LOSSY_MOST;
	if (n < word || strncmp(text, RN_LOSSY_PARAMS, word) != 0)
		return false;
	if (n == word)
		return true;
	if (text[word] != ':' || text[word + 1] < '1' || text[word + 1] > '9')
		return false;
	*most = strtoull(text + word + 1, &end, 10);
	return end == text + n;
}

bool rn_lossy_parse(const char *text, struct rn_lossy *out)
{
	size_t n;

	*out = (struct rn_lossy){ 0 };
	for (;; text += n + 1) {
		n = strcspn(text, ",");
		if (n == strlen(RN_LOSSY_COUNTS) && strncmp(text, RN_LOSSY_COUNTS, n) == 0)
			out->counts = true;
		else if (!parse_params(text, n, &out->params))
			return false;
		if (!text[n])
			return true;
	}
}
