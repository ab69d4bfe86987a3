/*
 * fuzz_timing.c - libFuzzer target: decoding both forms of time statistics from hostile bytes.
 *
 * The first byte selects the form and the number of signatures, and seeds their counts. Decoded
 * statistics must be sound. Encoded again, they must decode to the same values, exactly or within
 * the rounding of the form.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "encode/time_stats.h"

#define LIMIT ((size_t)16 << 20)
#define SIGS  32u

static void must(int condition)
{
	if (!condition)
		abort();
}

static void same_counts(const struct rn_times *a, const struct rn_times *b, uint32_t sigs)
{
	for (uint32_t i = 0; i < sigs; i++) {
		const struct rn_time *x = rn_times_get(a, i), *y = rn_times_get(b, i);

		must(rn_timing_count(&x->dur) == rn_timing_count(&y->dur));
		must(rn_timing_count(&x->gap) == rn_timing_count(&y->gap));
		must(x->dur.min == y->dur.min && x->dur.max == y->dur.max);
	}
}

static void section(struct rn_arena *mem, const uint8_t *data, size_t size, uint32_t sigs,
		    uint64_t seed)
{
	struct rn_times ts, again;
	struct rn_time_clock clock;
	struct rn_err err = { 0 };
	struct rn_buf out = { 0 };
	uint64_t count[SIGS];
	int rc;

	for (uint32_t i = 0; i < sigs; i++) {
		seed = seed * 0x9e3779b97f4a7c15u + 1;
		count[i] = seed >> (i % 4 * 20);
	}
	rc = rn_times_decode(mem, data, size, count, sigs, &ts, &err);
	must(rc == RN_OK || (rc == RN_E_DATA && err.text[0] && !strchr(err.text, '\n')));
	if (rc == RN_OK) {
		must(rn_times_check(&ts));
		must(rn_times_clock_of(&ts, seed, &clock) == RN_OK);
		must(rn_times_encode(&ts, count, sigs, &out) == RN_OK);
		must(rn_times_decode(mem, out.data, out.len, count, sigs, &again, NULL) == RN_OK);
		must(rn_times_check(&again));
		same_counts(&ts, &again, sigs);
	}
	rn_buf_free(&out);
}

static void exact(struct rn_arena *mem, const uint8_t *data, size_t size)
{
	struct rn_times ts, again;
	struct rn_err err = { 0 };
	struct rn_buf out = { 0 };
	int rc = rn_times_load(mem, data, size, RN_TIME_SCALE_ONE, &ts, &err);

	must(rc == RN_OK || (rc == RN_E_DATA && err.text[0] && !strchr(err.text, '\n')));
	if (rc == RN_OK) {
		rn_times_init(&again, mem, RN_TIME_SCALE_ONE);
		must(rn_times_merge(&again, &ts, NULL) == RN_OK && rn_times_check(&again));
		must(rn_times_save(&again, &out) == RN_OK);
		must(out.len == size && memcmp(out.data, data, size) == 0);
	}
	rn_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rn_arena mem;

	if (size == 0)
		return 0;
	rn_arena_init(&mem, LIMIT);
	if (data[0] & 1)
		exact(&mem, data + 1, size - 1);
	else
		section(&mem, data + 1, size - 1, (data[0] >> 1) % (SIGS + 1), data[0] >> 4);
	rn_arena_free(&mem);
	return 0;
}
