/*
 * test_dictionary.c - dictionary 1 is unchanged, and data packed with it is unpacked correctly.
 */
#include "tap.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "encode/call_words.h"
#include "file/zstd_dictionary.h"
#include "model/payload.h"
#include "whole.h"

/* The values of doc/format.md, section 1.3. If the test finds other values, existing rows of
 * api/mpi.api or api/mpi.words have changed, and older traces cannot be read. Add new rows at the
 * end. */
#define LENGTH 45482u
#define HASH   UINT64_C(0x7762c935b082a12a)

static void test_frozen(void)
{
	struct rn_pack_dict d = rn_dictionary();
	uint64_t hash;

	if (!CHECK(d.bytes && d.len == LENGTH))
		diag("length %zu", d.len);
	hash = d.bytes ? XXH64(d.bytes, d.len, 0) : 0;
	if (!CHECK(hash == HASH))
		diag("XXH64 %016" PRIx64, hash);
	CHECK(rn_dictionary().bytes == d.bytes);
}

/* The sections of the whole vocabulary begin with the bytes of the dictionary, except for
 * counts. */
static void test_made_of(void)
{
	struct rn_pack_dict d = rn_dictionary();
	struct rn_buf words = { 0 };
	struct rn_vocab v = rn_mpi_vocab;

	v.words = 319;
	rn_words_encode(&v, &words);
	CHECK(words.len < d.len && memcmp(d.bytes, words.data, words.len) == 0);
	rn_buf_free(&words);
}

/* A reader accepts all functions and keywords of MPI, because a writer does not verify them. */
static void test_vocabulary(void)
{
	struct rn_buf words = { 0 }, funcs = { 0 };
	struct rn_vocab back = { 0 };
	struct rn_err err = { 0 };
	struct rn_arena mem;

	rn_arena_init(&mem, SIZE_MAX);
	rn_words_encode(&rn_mpi_vocab, &words);
	rn_funcs_encode(&rn_mpi_vocab, &funcs);
	CHECK(WHOLE(words.data, words.len, &err, rn_words_decode(&mem, &whole, &back, &err)) ==
	      RN_OK);
	CHECK(WHOLE(funcs.data, funcs.len, &err, rn_funcs_decode(&mem, &whole, &back, &err)) ==
	      RN_OK);
	CHECK(back.funcs == rn_mpi_vocab.funcs && back.words == rn_mpi_vocab.words);
	rn_buf_free(&words);
	rn_buf_free(&funcs);
	rn_arena_free(&mem);
}

/* Produces a mixture of noise and bytes of the dictionary. */
static size_t random_piece(unsigned char *out, size_t max)
{
	struct rn_pack_dict d = rn_dictionary();
	size_t n = tap_below(max), at = tap_below(d.len - max);

	memcpy(out, (const unsigned char *)d.bytes + at, n);
	for (uint64_t k = n ? tap_below(n) : 0; k > 0 && tap_below(3); k -= k / 4 + 1)
		out[tap_below(n)] = (unsigned char)tap_rand();
	return n;
}

static void round_trip(struct rn_packer *p, struct rn_pack_dict dict, const void *bytes, size_t len,
		       struct rn_buf *frame)
{
	static unsigned char back[4096];

	if (!CHECK(rn_pack(p, dict, bytes, len, frame) == RN_OK))
		return;
	CHECK(len == 0 || rn_packed_size(frame->data, frame->len) == len);
	CHECK(rn_unpack(dict, frame->data, frame->len, back, len) == RN_OK);
	CHECK(memcmp(back, bytes, len) == 0);
}

static void test_round_trips(void)
{
	static unsigned char bytes[4096];
	struct rn_pack_dict with = rn_dictionary(), slowly = with, none = { 0 };
	struct rn_buf frame = { 0 }, other = { 0 };
	struct rn_packer p = { 0 };
	unsigned smaller = 0;

	slowly.ready = NULL;
	for (int i = 0; i < 400; i++) {
		size_t len = random_piece(bytes, sizeof(bytes));

		round_trip(&p, with, bytes, len, &frame);
		round_trip(&p, none, bytes, len, &other);
		smaller += frame.len < other.len;
		if (i % 10 == 0)
			round_trip(&p, slowly, bytes, len, &other);
	}
	CHECK(smaller > 200);
	rn_packer_free(&p);
	rn_buf_free(&frame);
	rn_buf_free(&other);
}

/* With another dictionary, or with changed bytes, unpacking fails or returns the expected
 * length. */
static void test_hostile(void)
{
	static unsigned char bytes[1000], back[1000];
	struct rn_pack_dict with = rn_dictionary(), none = { 0 };
	struct rn_buf frame = { 0 };
	struct rn_packer p = { 0 };

	memcpy(bytes, (const unsigned char *)with.bytes + 7000, sizeof(bytes));
	CHECK(rn_pack(&p, with, bytes, sizeof(bytes), &frame) == RN_OK);
	CHECK(rn_unpack(none, frame.data, frame.len, back, sizeof(back)) == RN_E_DATA);
	for (int i = 0; i < 2000; i++) {
		size_t at = tap_below(frame.len);
		unsigned char old = frame.data[at];
		int rc;

		frame.data[at] = (unsigned char)tap_rand();
		rc = rn_unpack(with, frame.data, frame.len, back, sizeof(back));
		CHECK(rc == RN_OK || rc == RN_E_DATA);
		rc = rn_unpack(with, frame.data, at, back, sizeof(back));
		CHECK(rc == RN_E_DATA);
		frame.data[at] = old;
	}
	rn_packer_free(&p);
	rn_buf_free(&frame);
}

int main(void)
{
	test_frozen();
	test_made_of();
	test_vocabulary();
	ok("dictionary 1 is what the format says");
	test_round_trips();
	ok("what is packed comes back, with and without it");
	test_hostile();
	ok("frames that are damaged, or without their dictionary");
	return tap_done();
}
