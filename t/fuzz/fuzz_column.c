/*
 * fuzz_column.c - libFuzzer target: decoding a column from hostile bytes.
 *
 * A decoded column is encoded again; decoding that must return the same values. The first byte
 * selects the bound on the count and the form of the input. The input is either a complete column,
 * or a head and the content of its frame, because a fuzzer does not find a valid frame. The arena
 * has a limit: a decoder that accepts a forged count runs out of memory, which is a finding. No
 * column below the bound needs that much.
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/varint.h"
#include "column/column.h"

/* Room for 2^16 values, unpacked varints of ten bytes each, and rounding up to blocks. */
#define MAX_N ((uint64_t)1 << 16)
#define LIMIT ((size_t)4 << 20)

static void must(int condition)
{
	if (!condition)
		abort();
}

static void code_again(struct rn_arena *mem, const int64_t *v, size_t n)
{
	struct rn_buf out = { 0 };
	struct rn_reader in;
	int64_t *again;
	size_t m;

	must(rn_column_encode(v, n, &out) == RN_OK);
	in = rn_reader(out.data, out.len);
	must(rn_column_decode(mem, &in, n, &again, &m, NULL) == RN_OK);
	must(m == n && rn_left(&in) == 0 && (!n || memcmp(again, v, n * sizeof(*v)) == 0));
	rn_buf_free(&out);
}

/* Makes a column of five bytes of head and the content of its frame. data[4] edits the frame. */
static void frame_up(struct rn_buf *out, const uint8_t *data, size_t size)
{
	size_t room = ZSTD_compressBound(size), n;
	unsigned char *frame = malloc(room);

	must(frame != NULL);
	n = ZSTD_compress(frame, room, data + 5, size - 5, 1);
	must(!ZSTD_isError(n));
	if (data[4])
		frame[n - 1 - data[4] % n] ^= (unsigned char)(1 << (data[0] >> 5));
	rn_buf_byte(out, (data[0] & 3) | 4);
	rn_buf_u64(out, data[1] | (uint64_t)data[2] << 8);
	if (data[0] & 1)
		rn_buf_i64(out, INT64_MAX);
	if (data[0] & 2)
		rn_buf_byte(out, data[3]);
	rn_buf_u64(out, n);
	rn_buf_add(out, frame, n);
	must(rn_buf_status(out) == RN_OK);
	free(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rn_arena mem;
	struct rn_buf framed = { 0 };
	struct rn_err err = { 0 };
	struct rn_reader in;
	uint64_t max_n;
	int64_t *v;
	size_t n;
	int rc;

	if (size == 0)
		return 0;
	max_n = data[0] & 16 ? MAX_N : (uint64_t)1 << (data[0] & 15);
	rn_arena_init(&mem, LIMIT);
	in = rn_reader(data + 1, size - 1);
	if (data[0] & 32 && size > 6) {
		frame_up(&framed, data + 1, size - 1);
		in = rn_reader(framed.data, framed.len);
	}
	rc = rn_column_decode(&mem, &in, max_n, &v, &n, &err);
	must(rc == RN_OK || (rc == RN_E_DATA && err.text[0] && !strchr(err.text, '\n')));
	must(rc != RN_OK || n <= max_n);
	if (rc == RN_OK && n <= 256) /* larger columns only cost time */
		code_again(&mem, v, n);
	rn_arena_free(&mem);
	rn_buf_free(&framed);
	return 0;
}
