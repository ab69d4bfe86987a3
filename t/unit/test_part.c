/*
 * test_part.c - partial traces survive encoding and decoding, and can then be merged and finished.
 */
#include "tap.h"

#include "merge/stream_set_codec.h"
#include "part_check.h"
#include "virtual_trace.h"
#include "whole.h"

/* Merges streams first .. first + n - 1 of a run. */
static int make_part(const struct virtual_run *v, struct rn_arena *mem, uint64_t first, uint64_t n,
		     struct rn_stream_set *out)
{
	struct rn_arena scratch, one;
	struct feeder f = new_feeder(mem);
	uint64_t calls = 0;
	int rc = RN_OK;

	rn_arena_init(&scratch, SIZE_MAX);
	rn_arena_init(&one, SIZE_MAX);
	for (uint64_t r = first; r < first + n && rc == RN_OK; r++) {
		struct rn_stream_set p;

		rc = virtual_feed(v, r, f.sigs, f.g, &calls);
		if (rc == RN_OK)
			rc = rank_merge_leaf(r == first ? out : &p, r == first ? mem : &one, r,
					     f.sigs, f.g);
		if (rc == RN_OK && r > first)
			rc = rn_part_merge(out, &p, &scratch);
	}
	rn_arena_free(&scratch);
	rn_arena_free(&one);
	return rc;
}

static int finish_bytes(const struct virtual_run *v, const struct rn_stream_set *p,
			struct rn_buf *out)
{
	struct rn_arena mem, scratch;
	struct rn_streams s;
	int rc;

	rn_arena_init(&mem, SIZE_MAX);
	rn_arena_init(&scratch, SIZE_MAX);
	rc = rn_part_finish(p, &mem, &scratch, &s);
	if (rc == RN_OK)
		rc = file_bytes(v, &s, out);
	rn_arena_free(&mem);
	rn_arena_free(&scratch);
	return rc;
}

static bool same_bytes(const struct rn_buf *a, const struct rn_buf *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

/* Cuts a run into partial traces, encodes and decodes each, and merges the decoded ones. */
static void through_bytes(const struct virtual_run *v)
{
	struct rn_buf bytes = { 0 }, want = { 0 }, got = { 0 };
	struct rn_arena mem, scratch;
	struct rn_stream_set all, one, back;
	uint64_t at = 0;

	rn_arena_init(&mem, SIZE_MAX);
	rn_arena_init(&scratch, SIZE_MAX);
	CHECK(make_part(v, &mem, 0, v->ranks, &all) == RN_OK);
	CHECK(finish_bytes(v, &all, &want) == RN_OK);
	while (at < v->ranks) {
		uint64_t n = 1 + tap_below(v->ranks - at);
		struct rn_part_place place = { at, n };

		CHECK(make_part(v, &mem, at, n, &one) == RN_OK);
		rn_buf_clear(&bytes);
		CHECK(rn_part_encode(&one, &bytes) == RN_OK);
		CHECK(WHOLE(bytes.data, bytes.len, NULL,
			    rn_part_decode(&mem, &whole, place, &virtual_vocab, &back, NULL)) ==
		      RN_OK);
		CHECK(is_part_sound(&back) && back.ranks == n && back.first == at &&
		      back.last == at + n - 1);
		if (at == 0)
			all = back;
		else
			CHECK(rn_part_merge(&all, &back, &scratch) == RN_OK);
		place.most--;
		CHECK(WHOLE(bytes.data, bytes.len, NULL,
			    rn_part_decode(&mem, &whole, place, &virtual_vocab, &back, NULL)) ==
		      RN_E_DATA);
		at += n;
	}
	CHECK(finish_bytes(v, &all, &got) == RN_OK);
	CHECK(same_bytes(&want, &got));
	rn_buf_free(&bytes);
	rn_buf_free(&want);
	rn_buf_free(&got);
	rn_arena_free(&mem);
	rn_arena_free(&scratch);
}

static void test_bytes(void)
{
	for (unsigned i = 0; i < virtual_patterns_count; i++) {
		struct virtual_run v;

		for (uint64_t k = 0; k < 12; k++) {
			CHECK(virtual_init(&v, virtual_patterns[i].name, 1 + tap_below(60), k) ==
			      RN_OK);
			through_bytes(&v);
		}
	}
}

/* Encodes a partial trace without signatures, with one rule without items, and the given stream
 * groups. */
static void put_part(struct rn_buf *b, const unsigned char *groups, size_t len)
{
	static const unsigned char head[] = { 0, 0, 1, 0 };

	rn_buf_add(b, head, sizeof(head));
	rn_buf_add(b, groups, len);
}

static int decode_groups(const unsigned char *groups, size_t len, uint64_t most)
{
	struct rn_vocab vocab = { 0 };
	struct rn_buf b = { 0 };
	struct rn_arena mem;
	struct rn_stream_set p;
	int rc;

	rn_arena_init(&mem, SIZE_MAX);
	put_part(&b, groups, len);
	rc = WHOLE(b.data, b.len, NULL,
		   rn_part_decode(&mem, &whole, (struct rn_part_place){ 100, most }, &vocab, &p,
				  NULL));
	CHECK(rc < 0 || (is_part_sound(&p) && p.first == 100));
	rn_buf_free(&b);
	rn_arena_free(&mem);
	return rc;
}

#define GROUPS(most, ...)                                     \
	decode_groups((const unsigned char[]){ __VA_ARGS__ }, \
		      sizeof((const unsigned char[]){ __VA_ARGS__ }), most)

/* One rule, so one stream group: root 0, number of runs, runs. */
static void test_groups(void)
{
	CHECK(GROUPS(1, 1, 0, 1, 0, 0) == RN_OK);
	CHECK(GROUPS(10, 1, 0, 1, 0, 9, 0) == RN_OK);              /* 0..9 */
	CHECK(GROUPS(10, 1, 0, 2, 0, 4, 1, 0, 0) == RN_OK);        /* 0,2..8 and 9 */
	CHECK(GROUPS(9, 1, 0, 2, 0, 4, 1, 0, 0) == RN_E_DATA);     /* 9 is out of range */
	CHECK(GROUPS(10, 1, 0, 1, 0, 10, 0) == RN_E_DATA);         /* eleven ranks */
	CHECK(GROUPS(10, 1, 0, 1, 1, 0) == RN_E_DATA);             /* begins with 1 */
	CHECK(GROUPS(10, 1, 1, 1, 0, 0) == RN_E_DATA);             /* no rule 1 */
	CHECK(GROUPS(10, 1, 0, 0) == RN_E_DATA);                   /* no streams */
	CHECK(GROUPS(10, 0) == RN_E_DATA);                         /* no groups */
	CHECK(GROUPS(10, 2, 0, 1, 0, 0, 0, 1, 1, 0) == RN_E_DATA); /* one rule for two groups */
	CHECK(GROUPS(10, 1, 0, 1, 0, 0, 0) == RN_E_DATA);          /* trailing bytes */
	CHECK(GROUPS(10, 1, 0, 1, 0) == RN_E_DATA);                /* cut off */
}

/* The last corner of a grid, alone in its stream group, claims the rank of its neighbor. */
static void test_twice(void)
{
	struct rn_buf bytes = { 0 };
	struct rn_err err = { 0 };
	struct virtual_run v;
	struct rn_arena mem;
	struct rn_stream_set p, back;

	rn_arena_init(&mem, SIZE_MAX);
	CHECK(virtual_init(&v, "stencil2d", 16, 3) == RN_OK);
	CHECK(make_part(&v, &mem, 0, 16, &p) == RN_OK);
	CHECK(p.group[p.groups - 1].ranks.run[0].first == 15);
	p.group[p.groups - 1].ranks.run[0].first = 14;
	CHECK(rn_part_encode(&p, &bytes) == RN_OK);
	CHECK(WHOLE(bytes.data, bytes.len, &err,
		    rn_part_decode(&mem, &whole, (struct rn_part_place){ 0, 16 }, &virtual_vocab,
				   &back, &err)) == RN_E_DATA);
	CHECK(strcmp(err.text, "a stream is there twice") == 0);
	rn_buf_free(&bytes);
	rn_arena_free(&mem);
}

static void test_hostile(void)
{
	struct rn_buf good = { 0 }, bad = { 0 };
	struct rn_arena mem;
	struct virtual_run v;
	struct rn_stream_set p;
	unsigned refused = 0;

	rn_arena_init(&mem, SIZE_MAX);
	CHECK(virtual_init(&v, "stencil2d-periodic", 12, 4) == RN_OK);
	CHECK(make_part(&v, &mem, 0, 12, &p) == RN_OK);
	CHECK(rn_part_encode(&p, &good) == RN_OK);
	for (int i = 0; i < 4000; i++) {
		struct rn_arena_mark mark = rn_arena_mark(&mem);
		struct rn_err err = { 0 };
		int rc;

		rn_buf_clear(&bad);
		rn_buf_add(&bad, good.data, tap_below(5) ? good.len : tap_below(good.len));
		for (uint64_t k = tap_below(3); k-- > 0 && bad.len;)
			bad.data[tap_below(2) ? tap_below(bad.len)
					      : bad.len - 1 - tap_below(bad.len < 60 ? 1 : 60)] ^=
				(unsigned char)tap_rand();
		rc = WHOLE(bad.data, bad.len, &err,
			   rn_part_decode(&mem, &whole, (struct rn_part_place){ 0, 12 },
					  &virtual_vocab, &p, &err));
		CHECK(rc == RN_OK ? is_part_sound(&p) : rc == RN_E_DATA && err.text[0]);
		refused += rc < 0;
		rn_arena_rewind(&mem, mark);
	}
	CHECK(refused > 1000 && refused < 4000);
	rn_buf_free(&good);
	rn_buf_free(&bad);
	rn_arena_free(&mem);
}

static void test_no_memory(void)
{
	struct rn_buf bytes = { 0 }, again = { 0 };
	struct rn_arena mem, small;
	struct virtual_run v;
	struct rn_stream_set p, back;
	int rc = RN_E_NOMEM;

	rn_arena_init(&mem, SIZE_MAX);
	CHECK(virtual_init(&v, "rowcol", 6, 3) == RN_OK);
	CHECK(make_part(&v, &mem, 0, 6, &p) == RN_OK);
	CHECK(rn_part_encode(&p, &bytes) == RN_OK);
	for (uint64_t fail_at = 1; rc != RN_OK && fail_at < 2000; fail_at++) {
		rn_arena_init(&small, SIZE_MAX);
		small.fail_at = fail_at;
		rc = WHOLE(bytes.data, bytes.len, NULL,
			   rn_part_decode(&small, &whole, (struct rn_part_place){ 0, 6 },
					  &virtual_vocab, &back, NULL));
		CHECK(rc == RN_OK || rc == RN_E_NOMEM);
		rn_arena_free(&small);
	}
	CHECK(rc == RN_OK);
	for (uint64_t fail_at = 1; fail_at < 12; fail_at++) {
		rn_buf_free(&again);
		rn_buf_fail_at(fail_at);
		rc = rn_part_encode(&p, &again);
		rn_buf_fail_at(0);
		CHECK(rc == RN_E_NOMEM || (rc == RN_OK && same_bytes(&bytes, &again)));
	}
	CHECK(rc == RN_OK);
	rn_buf_free(&bytes);
	rn_buf_free(&again);
	rn_arena_free(&mem);
}

int main(void)
{
	test_bytes();
	ok("parts through bytes merge to the same trace");
	test_groups();
	test_twice();
	ok("streams that cannot be are refused");
	test_hostile();
	ok("hostile bytes");
	test_no_memory();
	ok("without memory");
	return tap_done();
}
