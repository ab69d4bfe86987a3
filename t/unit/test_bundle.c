/*
 * test_bundle.c - partial traces that are encoded and decoded give the same file as a merge in
 * memory, including tables and statistics. Hostile bytes are refused.
 */
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "encode/call_times.h"
#include "encode/time_stats.h"
#include "file/trace_writer.h"
#include "identity/comm_table.h"
#include "merge/partial_trace.h"
#include "part_check.h"
#include "read/call_times_reader.h"
#include "read/trace.h"
#include "read/trace_check.h"
#include "virtual_trace.h"

/* The data of one rank: times that depend on the bytes of the signature and on the rank, one
 * communicator, and table values near the limits of int64_t. */

static void observe(struct rn_times *ts, const struct rn_sigs *sigs, uint64_t rank)
{
	for (uint32_t i = 0; i < rn_sigs_count(sigs); i++) {
		size_t len;
		const unsigned char *sig = rn_sigs_get(sigs, i, &len);

		for (uint64_t k = 0; k <= rank % 3; k++)
			rn_times_add(ts, i, 100 * len + sig[len - 1] + k, 10 * rank);
	}
}

static int64_t table_value(uint64_t rank)
{
	return rank % 3 == 0   ? INT64_MIN + (int64_t)rank
	       : rank % 3 == 1 ? INT64_MAX
			       : (int64_t)(rank * rank) - 7;
}

static void identify(struct rn_comms *c, uint64_t rank, uint64_t ranks)
{
	struct rn_comm_entry e = { rank, ranks, 0, 0, 0 };

	CHECK(rn_comms_add(c, "comm:world.0", 12, rank, &e) == RN_OK);
	CHECK(rn_varies_add(c, 5, rank, ranks, table_value(rank)) == RN_OK);
}

/* Every second rank has call times. */

static bool has_moments(uint64_t rank)
{
	return rank % 2 == 0;
}

static uint64_t moment(uint64_t rank, uint64_t call)
{
	return 1000 * call + rank * call % 7;
}

static uint32_t function_of(const struct rn_sigs *sigs, uint32_t sig)
{
	size_t len;
	const void *bytes = rn_sigs_get(sigs, sig, &len);
	struct rn_reader in = rn_reader(bytes, len);

	return (uint32_t)rn_get_u64(&in);
}

static void add_moments(struct rn_bundle *b, uint64_t rank)
{
	static struct rn_moment_writer w;
	static struct rn_moment m[RN_MOMENTS_BATCH];
	static const struct rn_grain exactly;
	struct rn_chunk chunk;
	uint64_t head[2];
	struct rn_buf bytes = { 0 };
	struct rn_walk walk;
	uint32_t n = 0, sig;

	memset(&w, 0, sizeof(w));
	rn_moments_begin(&w, &exactly, moment(rank, 0));
	CHECK(rn_walk_init(&walk, b->part.rules, b->part.group[0].root, b->mem) == RN_OK);
	for (; n < RN_MOMENTS_BATCH && rn_walk_next(&walk, &sig); n++)
		m[n] = (struct rn_moment){ moment(rank, n), moment(rank, n) + 9,
					   function_of(b->part.sigs, sig), RN_MOMENT_CALL };
	if (n == 0)
		return;
	rn_moments_add(&w, m, n);
	rn_moments_close(&w, &bytes);
	chunk = (struct rn_chunk){ bytes.data, bytes.len };
	head[0] = RN_TIME_SCALE_ONE;
	head[1] = 5000 + rank;
	CHECK(rn_chunk_list_copy(&b->moments,
				 &(struct rn_chunk_stream){ rank, head, &chunk, 2, 1 }) == RN_OK);
	rn_buf_free(&bytes);
}

static void moments_are_right(const struct virtual_run *v, const struct rn_trace *t)
{
	struct rn_moment_view *view;
	struct rn_arena mem;

	rn_arena_init(&mem, SIZE_MAX);
	view = rn_moment_view_new(&mem, t, NULL);
	CHECK(view != NULL);
	for (uint64_t r = 0; r < v->ranks; r++) {
		uint64_t start, end, n;
		uint32_t group;

		CHECK(rn_streams_find(&t->streams, r, &group) == RN_OK);
		CHECK(rn_moment_view_stream(view, r, group, NULL) == RN_OK);
		n = rn_streams_length(&t->streams, group);
		n = !has_moments(r) ? 0 : n < RN_MOMENTS_BATCH ? n : RN_MOMENTS_BATCH;
		for (uint64_t i = n; i-- > 0;)
			CHECK(rn_moment_view_at(view, i, &start, &end, NULL) == 1 &&
			      start == r + moment(r, i) && end == start + 9);
		CHECK(rn_moment_view_at(view, n, &start, &end, NULL) == 0);
	}
	rn_moment_view_free(view);
	rn_arena_free(&mem);
}

static void make_leaf(struct rn_bundle *b, struct rn_arena *mem, const struct virtual_run *v,
		      uint64_t rank, struct feeder *f, bool timed)
{
	uint64_t calls = 0;

	CHECK(rn_bundle_init(b, mem, timed) == RN_OK);
	b->vocab = &virtual_vocab;
	CHECK(virtual_feed(v, rank, f->sigs, f->g, &calls) == RN_OK);
	CHECK(rank_merge_leaf(&b->part, mem, rank, f->sigs, f->g) == RN_OK);
	identify(b->comms, rank, v->ranks);
	b->tally = (struct rn_tally){ rank, 1000 - rank, rank * 3, 7 };
	if (!timed)
		return;
	if (has_moments(rank))
		add_moments(b, rank);
	observe(b->times, f->sigs, rank);
}

static void absorb(struct rn_bundle *a, const struct rn_bundle *b, struct rn_arena *scratch)
{
	struct rn_buf bytes = { 0 };
	struct rn_err err = { 0 };

	CHECK(rn_bundle_encode(b, &bytes) == RN_OK);
	if (!CHECK(rn_bundle_absorb(a, bytes.data, bytes.len, scratch, &err) == RN_OK))
		diag("%s", err.text);
	rn_buf_free(&bytes);
}

/* Builds the partial trace of the ranks from .. to - 1 with a random merge tree. */
static void bundle_range(struct rn_bundle *b, struct rn_arena *mem, const struct virtual_run *v,
			 uint64_t from, uint64_t to, struct feeder *f, bool timed)
{
	struct rn_bundle right;
	struct rn_arena scratch;
	uint64_t mid;

	if (to - from == 1) {
		make_leaf(b, mem, v, from, f, timed);
		return;
	}
	mid = from + 1 + tap_below(to - from - 1);
	bundle_range(b, mem, v, from, mid, f, timed);
	bundle_range(&right, mem, v, mid, to, f, timed);
	rn_arena_init(&scratch, SIZE_MAX);
	absorb(b, &right, &scratch);
	rn_arena_free(&scratch);
}

static const struct rn_meta_entry entries[] = { { "complete", "yes" }, { "program", "test" } };
static const struct rn_meta meta = { entries, 2 };

static char path[] = "/tmp/rondo-bundle.XXXXXX"; /* mkstemp replaces the Xs */
static char other[sizeof(path) + 6];

static void write_bundle(const struct rn_bundle *b, struct rn_buf *out)
{
	struct rn_written file;
	struct rn_err err = { 0 };

	if (!CHECK(rank_merge_bundle(b, &meta, path, &file, &err) == RN_OK))
		diag("%s", err.text);
	rn_buf_clear(out);
	CHECK(rn_io_read(path, out, &err) == RN_OK && out->len == file.bytes);
}

/* Compares the sections that every trace has with those of streams merged in memory. */
static void same_streams(const struct virtual_run *v, const struct rn_buf *file)
{
	struct rank_merge link;
	struct rn_arena mem;
	struct rn_streams s;
	struct rn_container_writer w = { 0 };
	struct rn_container *a, *b;
	const void *bytes;
	size_t len;

	rn_arena_init(&mem, SIZE_MAX);
	rank_merge_init(&link);
	CHECK(merge_run(v, &link, &mem, &s) == RN_OK);
	CHECK(rank_merge_sections(&w, &s, &virtual_vocab, &meta, NULL) == RN_OK);
	CHECK(rn_container_finish(&w, &bytes, &len, NULL) == RN_OK);
	CHECK(rn_container_open(&mem, bytes, len, &a, NULL) == RN_OK);
	CHECK(rn_container_open(&mem, file->data, file->len, &b, NULL) == RN_OK);
	for (size_t i = 0; i < rn_container_count(a); i++) {
		enum rn_section_type type = (enum rn_section_type)rn_container_section(a, i)->type;
		const void *x, *y;
		size_t n, m;

		CHECK(rn_container_get(a, type, &x, &n, NULL) == RN_OK);
		CHECK(rn_container_get(b, type, &y, &m, NULL) == RN_OK);
		CHECK(n == m && memcmp(x, y, n) == 0);
	}
	rn_container_writer_free(&w);
	rank_merge_free(&link);
	rn_arena_free(&mem);
}

static void tables_are_right(const struct virtual_run *v, const struct rn_trace *t)
{
	for (uint64_t r = 0; r < v->ranks && CHECK(t->comms != NULL); r++) {
		struct rn_comm_entry e;

		CHECK(rn_comms_find(t->comms, "comm:world.0", 12, r, &e) == RN_OK &&
		      e.my_rank == r && e.size == v->ranks);
		CHECK(rn_comms_find(t->comms, "slot:5", 6, r, &e) == RN_OK &&
		      rn_unzigzag(e.key) == table_value(r));
	}
}

/* Compares the times of the remaining signatures with the sum over all ranks that have them. */
static void times_are_right(const struct virtual_run *v, const struct rn_streams *s,
			    const struct rn_times *ts)
{
	struct rn_arena mem;
	struct feeder f;
	uint64_t calls = 0, *seen;

	rn_arena_init(&mem, SIZE_MAX);
	f = new_feeder(&mem);
	seen = rn_new(&mem, uint64_t, rn_sigs_count(s->sigs));
	for (uint64_t r = 0; r < v->ranks; r++) {
		CHECK(virtual_feed(v, r, f.sigs, f.g, &calls) == RN_OK);
		for (uint32_t i = 0; i < rn_sigs_count(f.sigs); i++) {
			size_t len;
			const void *sig = rn_sigs_get(f.sigs, i, &len);
			uint32_t id;

			if (CHECK(rn_sigs_find(s->sigs, sig, len, &id)))
				seen[id] += 1 + r % 3;
		}
	}
	for (uint32_t i = 0; i < rn_sigs_count(s->sigs); i++)
		CHECK(rn_timing_count(&rn_times_get(ts, i)->dur) == seen[i]);
	rn_arena_free(&mem);
}

static void one_run(const struct virtual_run *v, bool timed, struct rn_buf *out)
{
	struct rn_arena mem;
	struct rn_bundle b;
	struct rn_trace t;
	struct rn_err err = { 0 };
	struct feeder f;

	rn_arena_init(&mem, SIZE_MAX);
	f = new_feeder(&mem);
	bundle_range(&b, &mem, v, 0, v->ranks, &f, timed);
	CHECK(b.tally.lost == v->ranks * (v->ranks - 1) / 2 && b.tally.wall_ns == 1000 &&
	      b.tally.tracer_ns == 3 * (v->ranks - 1) && b.tally.memory == 7);
	write_bundle(&b, out);
	same_streams(v, out);
	if (CHECK(rn_trace_parse(&t, out->data, out->len, &err) == RN_OK)) {
		CHECK(rn_trace_check(&t, &err) == RN_OK);
		tables_are_right(v, &t);
		CHECK(timed == (t.times != NULL));
		if (t.times)
			times_are_right(v, &t.streams, t.times);
		if (t.moments)
			moments_are_right(v, &t);
		rn_trace_close(&t);
	} else {
		diag("%s", err.text);
	}
	rn_arena_free(&mem);
}

static void test_runs(void)
{
	struct rn_buf first = { 0 }, again = { 0 };

	for (unsigned i = 0; i < virtual_patterns_count; i++) {
		struct virtual_run v;

		CHECK(virtual_init(&v, virtual_patterns[i].name, 1 + tap_below(30), tap_below(9)) ==
		      RN_OK);
		one_run(&v, i % 2, &first);
		one_run(&v, i % 2, &again); /* a different merge tree */
		CHECK(first.len == again.len && memcmp(first.data, again.data, first.len) == 0);
	}
	rn_buf_free(&first);
	rn_buf_free(&again);
}

/* Writes a partial trace without calls to an existing file and to a new file. */
static void test_empty(void)
{
	struct rn_written file;
	struct rn_err err = { 0 };
	struct rn_arena mem;
	struct rn_bundle b;
	struct stat before, after;

	rn_arena_init(&mem, SIZE_MAX);
	CHECK(rn_bundle_silent(&b, &mem, 0, 2) == RN_OK);
	CHECK(stat(path, &before) == 0);
	CHECK(rank_merge_bundle(&b, &meta, path, &file, &err) == RN_OK && file.unchanged);
	CHECK(stat(path, &after) == 0 && before.st_ino == after.st_ino &&
	      before.st_size == after.st_size);
	CHECK(rank_merge_bundle(&b, &meta, other, &file, &err) == RN_OK && !file.unchanged);
	CHECK(stat(other, &after) == 0);
	rn_arena_free(&mem);
}

static void survive(const struct virtual_run *v, const void *bytes, size_t len, bool cut)
{
	struct rn_arena mem, scratch;
	struct rn_bundle b;
	struct rn_err err = { 0 };
	struct feeder f;
	int rc;

	rn_arena_init(&mem, SIZE_MAX);
	rn_arena_init(&scratch, SIZE_MAX);
	f = new_feeder(&mem);
	make_leaf(&b, &mem, v, 0, &f, true);
	rc = rn_bundle_absorb(&b, bytes, len, &scratch, &err);
	CHECK(rc == RN_OK || rc == RN_E_DATA || rc == RN_E_ARG);
	CHECK(!cut || rc == RN_E_DATA);
	CHECK(is_part_sound(&b.part) && rn_times_check(b.times));
	rn_arena_free(&mem);
	rn_arena_free(&scratch);
}

static void test_hostile(void)
{
	struct rn_buf bytes = { 0 };
	struct virtual_run v;
	struct rn_arena mem;
	struct rn_bundle b;
	struct feeder f;

	rn_arena_init(&mem, SIZE_MAX);
	CHECK(virtual_init(&v, "stencil2d", 9, 3) == RN_OK);
	f = new_feeder(&mem);
	bundle_range(&b, &mem, &v, 1, 6, &f, true);
	CHECK(rn_bundle_encode(&b, &bytes) == RN_OK);
	for (size_t i = 0; i < bytes.len; i++) {
		unsigned char was = bytes.data[i];

		survive(&v, bytes.data, i, true);
		bytes.data[i] ^= (unsigned char)(1 + tap_below(255));
		survive(&v, bytes.data, bytes.len, false);
		bytes.data[i] = was;
	}
	rn_buf_byte(&bytes, 0);
	survive(&v, bytes.data, bytes.len, true);
	rn_buf_free(&bytes);
	rn_arena_free(&mem);
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	snprintf(other, sizeof(other), "%s.other", path);
	test_runs();
	ok("bundles give what the ranks give in memory, whatever the tree");
	test_empty();
	ok("a trace without a call replaces no file");
	test_hostile();
	ok("hostile bytes are refused or harmless");
	unlink(path);
	unlink(other);
	return tap_done();
}
