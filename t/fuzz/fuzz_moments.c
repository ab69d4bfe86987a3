/*
 * fuzz_moments.c - libFuzzer target: decoding call times from hostile bytes, and round trips.
 *
 * The first byte selects the input: an encoded chunk, with functions and kinds derived from it; a
 * list of streams; or call times derived from the bytes, which are encoded, and must decode within
 * the stated precision.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "encode/call_times.h"
#include "encode/call_words.h"
#include "model/chunk_list.h"
#include "t/unit/whole.h"

#define LIMIT ((size_t)64 << 20)

static struct rn_moment m[RN_MOMENTS_CHUNK], back[RN_MOMENTS_CHUNK];
static struct rn_moment_reader reader;
static struct rn_moment_writer writer;

static void must(int condition)
{
	if (!condition)
		abort();
}

static void read_chunk(struct rn_arena *mem, const uint8_t *data, size_t size, uint8_t seed)
{
	uint32_t n = rn_moments_length(data, size);
	struct rn_err err = { 0 };
	uint64_t now = 0;
	int rc;

	for (uint32_t i = 0; i < n; i++)
		m[i] = (struct rn_moment){ .func = i * seed % 7, .kind = i * seed % 41 % 4 };
	reader.grain_bytes = NULL;
	rc = n ? rn_moments_read(&reader, mem, data, size, m, n, &err) : RN_E_DATA;
	must(rc == RN_OK || rc == RN_E_DATA);
	for (uint32_t i = 0; i < n && rc == RN_OK; i++) {
		if (m[i].kind == RN_MOMENT_NONE) /* has no time */
			continue;
		must(m[i].start <= m[i].end && m[i].end >= now);
		now = m[i].end;
	}
}

static void read_list(struct rn_arena *mem, const uint8_t *data, size_t size)
{
	struct rn_chunk_list l, copy;
	struct rn_err err = { 0 };
	struct rn_buf out = { 0 };

	rn_chunk_list_init(&l, mem);
	rn_chunk_list_init(&copy, mem);
	if (WHOLE(data, size, &err, rn_chunk_list_decode(&l, &whole, 0, 1000, &err)) < 0) {
		must(err.text[0] && !strchr(err.text, '\n'));
		return;
	}
	must(rn_chunk_list_merge(&copy, &l) == RN_OK);
	must(rn_chunk_list_encode(&copy, 0, &out) == RN_OK);
	must(out.len == size && (!size || memcmp(out.data, data, size) == 0));
	for (uint64_t i = 0; i < 1000; i += 37)
		must(!rn_chunk_list_find(&l, i) == !rn_chunk_list_find(&copy, i));
	rn_buf_free(&out);
}

/* Each length has two bytes: its digits and its value. */
static uint64_t length_at(const uint8_t *p)
{
	return (uint64_t)(p[1] | 256) << (p[0] % 40) >> 8;
}

static void there_and_back(struct rn_arena *mem, const uint8_t *data, size_t size)
{
	static const char *const how[] = { "exact", "bins:1.2", "bins:1.01", "bins:1.9" };
	struct rn_buf out = { 0 };
	struct rn_grain g;
	uint64_t now = 0;
	uint32_t n = 0;

	must(rn_grain_parse(mem, how[data[0] % 4], &rn_mpi_vocab, &g, NULL) == RN_OK);
	for (size_t i = 1; i + 4 <= size && n < RN_MOMENTS_BATCH; i += 4, n++) {
		uint64_t start = now + length_at(data + i);

		now = start + length_at(data + i + 2);
		m[n] = (struct rn_moment){ start, now, data[i] % 3, RN_MOMENT_CALL };
	}
	if (n == 0)
		return;
	memset(&writer, 0, sizeof(writer));
	rn_moments_begin(&writer, &g, 0);
	rn_moments_add(&writer, m, n);
	rn_moments_close(&writer, &out);
	memcpy(back, m, n * sizeof(*m));
	reader.grain_bytes = NULL;
	must(rn_moments_read(&reader, mem, out.data, out.len, back, n, NULL) == RN_OK);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t gap = m[i].start - (i ? m[i - 1].end : 0);

		must(back[i].start <= m[i].start && (i == 0 || back[i].start >= back[i - 1].end));
		must((m[i].start - back[i].start) * 1000 <= gap * g.base);
	}
	rn_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rn_arena mem;

	if (size < 2)
		return 0;
	rn_arena_init(&mem, LIMIT);
	if (data[0] % 3 == 0)
		read_chunk(&mem, data + 1, size - 1, data[0]);
	else if (data[0] % 3 == 1)
		read_list(&mem, data + 1, size - 1);
	else
		there_and_back(&mem, data + 1, size - 1);
	rn_arena_free(&mem);
	return 0;
}
