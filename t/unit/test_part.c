/*
 * test_part.c - a part survives being bytes, whatever becomes of it then; files of parts become the
 * whole trace, and what is missing is named.
 *
 * Called as `test_part FOLDER PATTERN RANKS THREADS STEPS`, it writes part files of virtual ranks
 * instead, for the tests of `rondo recover`.
 */
#include "tap.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "encode/timing.h"
#include "file/part.h"
#include "file/recover.h"
#include "identity/comms.h"
#include "read/check.h"
#include "read/trace.h"
#include "virtual_trace.h"

/* Streams first .. first + n - 1 of a run, merged. */
static int make_part(const struct virtual_run *v, struct rn_arena *mem, uint64_t first, uint64_t n,
		     struct rn_part *out)
{
	struct rn_arena scratch, one;
	struct feeder f = new_feeder(mem);
	uint64_t calls = 0;
	int rc = RN_OK;

	rn_arena_init(&scratch, SIZE_MAX);
	rn_arena_init(&one, SIZE_MAX);
	for (uint64_t r = first; r < first + n && rc == RN_OK; r++) {
		struct rn_part p;

		rc = virtual_feed(v, r, f.sigs, f.g, &calls);
		if (rc == RN_OK)
			rc = rn_part_leaf(r == first ? out : &p, r == first ? mem : &one, r, f.sigs,
					  f.g);
		if (rc == RN_OK && r > first)
			rc = rn_part_merge(out, &p, &scratch);
	}
	rn_arena_free(&scratch);
	rn_arena_free(&one);
	return rc;
}

static int finish_bytes(const struct virtual_run *v, const struct rn_part *p, struct rn_buf *out)
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

/* Cuts a run into parts, sends each through bytes, and merges what comes out. */
static void through_bytes(const struct virtual_run *v, bool with_vocab)
{
	struct rn_buf bytes = { 0 }, want = { 0 }, got = { 0 };
	struct rn_arena mem, scratch;
	struct rn_part all, one, back;
	uint64_t at = 0;

	rn_arena_init(&mem, SIZE_MAX);
	rn_arena_init(&scratch, SIZE_MAX);
	CHECK(make_part(v, &mem, 0, v->ranks, &all) == RN_OK);
	CHECK(finish_bytes(v, &all, &want) == RN_OK);
	while (at < v->ranks) {
		uint64_t n = 1 + tap_below(v->ranks - at);
		struct rn_vocab vocab = with_vocab ? (struct rn_vocab){ 0 } : virtual_vocab;
		struct rn_part_place place = { at, n };

		CHECK(make_part(v, &mem, at, n, &one) == RN_OK);
		rn_buf_clear(&bytes);
		CHECK(rn_part_encode(&one, with_vocab ? &virtual_vocab : NULL, &bytes) == RN_OK);
		CHECK(rn_part_decode(&mem, bytes.data, bytes.len, place, &vocab, &back, NULL) ==
		      RN_OK);
		CHECK(rn_part_check(&back) && back.ranks == n && back.first == at &&
		      back.last == at + n - 1);
		if (at == 0)
			all = back;
		else
			CHECK(rn_part_merge(&all, &back, &scratch) == RN_OK);
		place.most--;
		CHECK(rn_part_decode(&mem, bytes.data, bytes.len, place, &vocab, &back, NULL) ==
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
			through_bytes(&v, k % 2);
		}
	}
}

/* Parts of our own making: no signatures, one rule without items, and groups as given. */
static void put_part(struct rn_buf *b, const unsigned char *groups, size_t len)
{
	static const unsigned char head[] = { 0, 1, 0, 3, 0, 1, 0 };

	rn_buf_add(b, head, sizeof(head));
	rn_buf_add(b, groups, len);
}

static int decode_groups(const unsigned char *groups, size_t len, uint64_t most)
{
	struct rn_vocab vocab = { 0 };
	struct rn_buf b = { 0 };
	struct rn_arena mem;
	struct rn_part p;
	int rc;

	rn_arena_init(&mem, SIZE_MAX);
	put_part(&b, groups, len);
	rc = rn_part_decode(&mem, b.data, b.len, (struct rn_part_place){ 100, most }, &vocab, &p,
			    NULL);
	CHECK(rc < 0 || (rn_part_check(&p) && p.first == 100));
	rn_buf_free(&b);
	rn_arena_free(&mem);
	return rc;
}

#define GROUPS(most, ...)                                     \
	decode_groups((const unsigned char[]){ __VA_ARGS__ }, \
		      sizeof((const unsigned char[]){ __VA_ARGS__ }), most)

/* One rule, so one group: root 0, number of runs, runs. */
static void test_groups(void)
{
	CHECK(GROUPS(1, 1, 0, 1, 0, 0) == RN_OK);
	CHECK(GROUPS(10, 1, 0, 1, 0, 9, 0) == RN_OK);              /* 0..9 */
	CHECK(GROUPS(10, 1, 0, 2, 0, 4, 1, 0, 0) == RN_OK);        /* 0,2..8 and 9 */
	CHECK(GROUPS(9, 1, 0, 2, 0, 4, 1, 0, 0) == RN_E_DATA);     /* 9 is one too many */
	CHECK(GROUPS(10, 1, 0, 1, 0, 10, 0) == RN_E_DATA);         /* eleven */
	CHECK(GROUPS(10, 1, 0, 1, 1, 0) == RN_E_DATA);             /* begins with 1 */
	CHECK(GROUPS(10, 1, 1, 1, 0, 0) == RN_E_DATA);             /* no rule 1 */
	CHECK(GROUPS(10, 1, 0, 0) == RN_E_DATA);                   /* no streams */
	CHECK(GROUPS(10, 0) == RN_E_DATA);                         /* no groups */
	CHECK(GROUPS(10, 2, 0, 1, 0, 0, 0, 1, 1, 0) == RN_E_DATA); /* one rule for two groups */
	CHECK(GROUPS(10, 1, 0, 1, 0, 0, 0) == RN_E_DATA);          /* something behind */
	CHECK(GROUPS(10, 1, 0, 1, 0) == RN_E_DATA);                /* cut off */
}

/* The last corner of a grid, which is alone in its group, says that it is its neighbour. */
static void test_twice(void)
{
	struct rn_vocab vocab = virtual_vocab;
	struct rn_buf bytes = { 0 };
	struct rn_err err = { 0 };
	struct virtual_run v;
	struct rn_arena mem;
	struct rn_part p, back;

	rn_arena_init(&mem, SIZE_MAX);
	CHECK(virtual_init(&v, "stencil2d", 16, 3) == RN_OK);
	CHECK(make_part(&v, &mem, 0, 16, &p) == RN_OK);
	CHECK(p.group[p.groups - 1].ranks.run[0].first == 15);
	p.group[p.groups - 1].ranks.run[0].first = 14;
	CHECK(rn_part_encode(&p, NULL, &bytes) == RN_OK);
	CHECK(rn_part_decode(&mem, bytes.data, bytes.len, (struct rn_part_place){ 0, 16 }, &vocab,
			     &back, &err) == RN_E_DATA);
	CHECK(strcmp(err.text, "a stream is there twice") == 0);
	rn_buf_free(&bytes);
	rn_arena_free(&mem);
}

static void test_hostile(void)
{
	struct rn_buf good = { 0 }, bad = { 0 };
	struct rn_arena mem;
	struct virtual_run v;
	struct rn_part p;
	unsigned refused = 0;

	rn_arena_init(&mem, SIZE_MAX);
	CHECK(virtual_init(&v, "stencil2d-periodic", 12, 4) == RN_OK);
	CHECK(make_part(&v, &mem, 0, 12, &p) == RN_OK);
	CHECK(rn_part_encode(&p, &virtual_vocab, &good) == RN_OK);
	for (int i = 0; i < 4000; i++) {
		struct rn_arena_mark mark = rn_arena_mark(&mem);
		struct rn_vocab vocab = { 0 };
		struct rn_err err = { 0 };
		int rc;

		rn_buf_clear(&bad);
		rn_buf_add(&bad, good.data, tap_below(5) ? good.len : tap_below(good.len));
		for (uint64_t k = tap_below(3); k-- > 0 && bad.len;)
			bad.data[tap_below(2) ? tap_below(bad.len)
					      : bad.len - 1 - tap_below(bad.len < 60 ? 1 : 60)] ^=
				(unsigned char)tap_rand();
		rc = rn_part_decode(&mem, bad.data, bad.len, (struct rn_part_place){ 0, 12 },
				    &vocab, &p, &err);
		CHECK(rc == RN_OK ? rn_part_check(&p) : rc == RN_E_DATA && err.text[0]);
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
	struct rn_part p, back;
	int rc = RN_E_NOMEM;

	rn_arena_init(&mem, SIZE_MAX);
	CHECK(virtual_init(&v, "rowcol", 6, 3) == RN_OK);
	CHECK(make_part(&v, &mem, 0, 6, &p) == RN_OK);
	CHECK(rn_part_encode(&p, &virtual_vocab, &bytes) == RN_OK);
	for (uint64_t fail_at = 1; rc != RN_OK && fail_at < 2000; fail_at++) {
		struct rn_vocab vocab = { 0 };

		rn_arena_init(&small, SIZE_MAX);
		small.fail_at = fail_at;
		rc = rn_part_decode(&small, bytes.data, bytes.len, (struct rn_part_place){ 0, 6 },
				    &vocab, &back, NULL);
		CHECK(rc == RN_OK || (rc == RN_E_NOMEM && !vocab.func));
		rn_arena_free(&small);
	}
	CHECK(rc == RN_OK);
	for (uint64_t fail_at = 1; fail_at < 12; fail_at++) {
		rn_buf_free(&again);
		rn_buf_fail_at(fail_at);
		rc = rn_part_encode(&p, &virtual_vocab, &again);
		rn_buf_fail_at(0);
		CHECK(rc == RN_E_NOMEM || (rc == RN_OK && same_bytes(&bytes, &again)));
	}
	CHECK(rc == RN_OK);
	rn_buf_free(&bytes);
	rn_buf_free(&again);
	rn_arena_free(&mem);
}

/* Part files */

struct rank_file {
	uint64_t rank, ranks, threads;
	const char *complete, *run;
};

/* Even and odd ranks, each among themselves. */
static struct rn_comm_entry half(uint64_t rank, uint64_t ranks)
{
	return (struct rn_comm_entry){ rank / 2, (ranks + 1 - rank % 2) / 2, 0, rank % 2, 0 };
}

static int put_comms(struct rn_container_writer *w, const struct rank_file *f, struct rn_arena *mem)
{
	struct rn_comm_entry e = half(f->rank, f->ranks);
	struct rn_comms *c = rn_comms_new(mem);
	struct rn_buf b = { 0 };
	int rc = rn_comms_add(c, "comm:world.0", 12, f->rank, &e);

	if (rc == RN_OK)
		rc = rn_comms_encode(c, &b);
	if (rc == RN_OK)
		rc = rn_container_add(w, RN_SECTION_COMMS, b.data, b.len, NULL);
	rn_buf_free(&b);
	return rc;
}

/* Every signature of rank r was seen twice, for 100 and for 100 + r. */
static int put_times(struct rn_container_writer *w, const struct rank_file *f,
		     const struct rn_part *p, struct rn_arena *mem)
{
	struct rn_times times;
	struct rn_buf b = { 0 };
	int rc;

	rn_times_init(&times, mem, RN_TIME_SCALE_ONE);
	for (uint32_t i = 0; i < rn_sigs_count(p->sigs); i++) {
		rn_times_add(&times, i, 100, 7);
		rn_times_add(&times, i, 100 + f->rank, 7);
	}
	rc = rn_times_clock(&times, f->rank, (int64_t)f->rank, 0);
	if (rc == RN_OK)
		rc = rn_times_save(&times, &b);
	if (rc == RN_OK)
		rc = rn_container_add(w, RN_SECTION_TIMES, b.data, b.len, NULL);
	rn_buf_free(&b);
	return rc;
}

static int container_of(const struct virtual_run *v, const struct rank_file *f, uint64_t stream,
			struct rn_buf *out)
{
	char rank[24], ranks[24], threads[24];
	struct rn_meta_entry e[8] = { { "rank", rank },
				      { "ranks", ranks },
				      { "threads", threads } };
	struct rn_meta meta = { e, 3 };
	struct rn_container_writer w = { 0 };
	struct rn_buf b = { 0 };
	struct rn_arena mem;
	struct rn_part p;
	const void *bytes;
	size_t len;
	int rc;

	snprintf(rank, sizeof(rank), "%" PRIu64, f->rank);
	snprintf(ranks, sizeof(ranks), "%" PRIu64, f->ranks);
	snprintf(threads, sizeof(threads), "%" PRIu64, f->threads);
	e[meta.n++] = (struct rn_meta_entry){ "program", v->pattern->name };
	if (f->complete)
		e[meta.n++] = (struct rn_meta_entry){ "complete", f->complete };
	if (f->run)
		e[meta.n++] = (struct rn_meta_entry){ "run", f->run };
	rn_arena_init(&mem, SIZE_MAX);
	rc = rn_meta_encode(&meta, &b);
	if (rc == RN_OK)
		rc = rn_container_add(&w, RN_SECTION_META, b.data, b.len, NULL);
	if (rc == RN_OK)
		rc = put_comms(&w, f, &mem);
	if (rc == RN_OK)
		rc = make_part(v, &mem, stream, f->threads, &p);
	if (rc == RN_OK)
		rc = put_times(&w, f, &p, &mem);
	if (rc == RN_OK)
		rc = rn_part_put(&w, &p, &virtual_vocab, NULL);
	if (rc == RN_OK)
		rc = rn_container_finish(&w, &bytes, &len, NULL);
	rn_buf_clear(out);
	if (rc == RN_OK)
		rn_buf_add(out, bytes, len);
	rn_container_writer_free(&w);
	rn_buf_free(&b);
	rn_arena_free(&mem);
	return rc;
}

/* Adds a rank with its streams of the run, of which each rank has `most`. */
static int add_rank(struct rn_whole *w, const struct virtual_run *v, const struct rank_file *f,
		    uint64_t most, struct rn_err *err)
{
	struct rn_buf b = { 0 };
	struct rn_part_facts facts;
	int rc = container_of(v, f, f->rank * most, &b);

	CHECK(rc == RN_OK);
	CHECK(rn_part_peek(b.data, b.len, &facts, NULL) == RN_OK && facts.rank == f->rank &&
	      facts.threads == f->threads && facts.ranks == f->ranks);
	rc = rn_whole_add(w, b.data, b.len, err);
	rn_buf_free(&b);
	return rc;
}

static uint64_t calls_of(const struct rn_streams *s, uint64_t stream)
{
	uint32_t group;

	CHECK(rn_streams_find(s, stream, &group) == RN_OK);
	return rn_rules_length(s->rules, s->group[group].root);
}

/* What a folder of parts would be: which ranks are there, and how many threads each has. */
struct folder {
	const char *what;
	const char
		*threads; /* a digit per rank: 0 when it is missing, x when its part is refused */
	const char *missing;
};

static const struct folder folders[] = {
	{ "all", "1111", "" },
	{ "threads", "2132", "" },
	{ "not the first", "0111", "0" },
	{ "not the last", "1110", "3" },
	{ "gaps", "1002013", "1-2,4" },
	{ "one of many", "00001000", "0-3,5-7" },
	{ "damaged", "1x1x", "1,3" },
	{ "only the last", "0002", "0-2" },
};

/* Each signature's times are those of the ranks that have it: two each. */
static void times_are_right(const struct rn_whole *w, const struct folder *f)
{
	uint64_t last = 0, ranks = 0;
	struct rn_time_clock clock;

	for (uint64_t r = 0; r < w->ranks; r++)
		if (f->threads[r] >= '1' && f->threads[r] <= '9') {
			last = r;
			ranks++;
			CHECK(rn_times_clock_of(w->times, r, &clock) == RN_OK &&
			      clock.offset == (int64_t)r);
		}
	for (uint32_t i = 0; i < rn_sigs_count(w->part.sigs); i++) {
		const struct rn_time *t = rn_times_get(w->times, i);

		if (!t || !rn_timing_count(&t->dur))
			continue; /* of a part that was refused */
		CHECK(t->dur.min == 100 && t->dur.max <= 100 + last);
		CHECK(rn_timing_count(&t->dur) % 2 == 0 && rn_timing_count(&t->dur) <= 2 * ranks);
	}
	CHECK(rn_times_check(w->times));
}

static void whole_is_right(struct rn_whole *w, const struct virtual_run *v, const struct folder *f,
			   uint64_t most)
{
	struct rn_err err = { 0 };
	struct rn_arena mem;
	struct rn_streams s;

	rn_arena_init(&mem, SIZE_MAX);
	if (!CHECK(rn_whole_finish(w, &s, &err) == RN_OK))
		diag("%s: %s", f->what, err.text);
	CHECK(strcmp(rn_rank_text(&w->missing), f->missing) == 0);
	CHECK(strcmp(rn_rank_text(&w->missing), f->missing) == 0);
	times_are_right(w, f);
	CHECK(s.ranks == w->ranks * most && rn_streams_check(&s, &mem, &err) == RN_OK);
	for (uint64_t i = 0; i < s.ranks; i++) {
		unsigned n = (unsigned)(f->threads[i / most] - '0');

		if (n <= 9 && i % most < n)
			CHECK(rank_is_right(v, &s, i, &mem));
		else
			CHECK(calls_of(&s, i) == 0);
	}
	rn_arena_free(&mem);
}

static void add_file(struct rn_whole *w, const struct virtual_run *v, const struct folder *f,
		     uint64_t rank, uint64_t most)
{
	struct rank_file file = { rank, w->ranks, 1, NULL, "7" };
	struct rn_err err = { 0 };

	if (f->threads[rank] == 'x') {
		struct rn_buf b = { 0 };

		CHECK(container_of(v, &file, rank * most, &b) == RN_OK);
		b.data[b.len / 2] ^= 1;
		CHECK(rn_whole_add(w, b.data, b.len, &err) == RN_E_DATA);
		rn_buf_free(&b);
		file.run = "8";
		CHECK(add_rank(w, v, &file, most, &err) == (rank ? RN_E_DATA : RN_OK));
		return;
	}
	file.threads = (uint64_t)(f->threads[rank] - '0');
	if (file.threads && !CHECK(add_rank(w, v, &file, most, &err) == RN_OK))
		diag("%s: %s", f->what, err.text);
}

static void test_whole(void)
{
	for (unsigned i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		const struct folder *f = &folders[i];
		uint64_t ranks = strlen(f->threads), most = 1;
		struct virtual_run v;
		struct rn_whole w;

		for (uint64_t r = 0; r < ranks; r++)
			if (f->threads[r] <= '9' && (uint64_t)(f->threads[r] - '0') > most)
				most = (uint64_t)(f->threads[r] - '0');
		CHECK(virtual_init(&v, "wavefront", ranks * most, 3) == RN_OK);
		rn_whole_init(&w, ranks, most);
		for (uint64_t r = 0; r < ranks; r++)
			add_file(&w, &v, f, r, most);
		whole_is_right(&w, &v, f, most);
		rn_whole_free(&w);
	}
}

/* Refused, and nothing changes; then everything as it should be. */
static void test_refused(void)
{
	struct rank_file f = { 1, 4, 2, NULL, NULL };
	struct rn_err err = { 0 };
	struct rn_streams s;
	struct virtual_run v;
	struct rn_whole w;

	CHECK(virtual_init(&v, "butterfly", 8, 2) == RN_OK);
	rn_whole_init(&w, 4, 2);
	CHECK(rn_whole_finish(&w, &s, &err) == RN_E_ARG);
	CHECK(add_rank(&w, &v, &f, 2, &err) == RN_OK);
	CHECK(add_rank(&w, &v, &f, 2, &err) == RN_E_ARG);
	f = (struct rank_file){ 2, 5, 1, NULL, NULL };
	CHECK(add_rank(&w, &v, &f, 1, &err) == RN_E_DATA); /* of five */
	f = (struct rank_file){ 2, 4, 3, NULL, NULL };
	CHECK(add_rank(&w, &v, &f, 2, &err) == RN_E_DATA); /* three threads */
	f = (struct rank_file){ 2, 4, 1, NULL, "now" };
	CHECK(add_rank(&w, &v, &f, 2, &err) == RN_E_DATA); /* another run */
	f = (struct rank_file){ 3, 4, 1, "killed", NULL };
	CHECK(add_rank(&w, &v, &f, 2, &err) == RN_OK);
	CHECK(rn_whole_finish(&w, &s, &err) == RN_OK);
	CHECK(strcmp(rn_rank_text(&w.missing), "0,2") == 0);
	CHECK(strcmp(rn_rank_text(&w.incomplete), "0,2-3") == 0);
	rn_whole_free(&w);
}

static const char *temporary(void)
{
	static char path[256];
	const char *dir = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/rondo-part.%ld", dir ? dir : "/tmp", (long)getpid());
	return path;
}

static bool meta_is(const struct rn_trace *t, const char *key, const char *value)
{
	const char *got = rn_meta_get(&t->meta, key);

	return value && got ? strcmp(got, value) == 0 : got == value;
}

static void comms_are_right(const struct rn_trace *t, bool missing)
{
	for (uint64_t r = 0; r < 5; r++) {
		struct rn_comm_entry want = half(r, 5), e = { 0 };
		int rc = rn_comms_find(t->comms, "comm:world.0", 12, r, &e);

		if (missing && r == 1)
			CHECK(rc == RN_E_RANGE);
		else
			CHECK(rc == RN_OK && e.my_rank == want.my_rank && e.size == want.size &&
			      e.key == want.key);
	}
}

/* What is written can be read, and says what is missing. */
static void test_written(void)
{
	for (int missing = 0; missing < 2; missing++) {
		struct rn_err err = { 0 };
		struct rn_streams s;
		struct virtual_run v;
		struct rn_whole w;
		struct rn_trace t;

		CHECK(virtual_init(&v, "stencil3d", 10, 2) == RN_OK);
		rn_whole_init(&w, 5, 2);
		for (uint64_t r = 0; r < 5; r++) {
			struct rank_file f = { r, 5, 2, r == 4 && missing ? "killed" : "yes", "a" };

			if (!missing || r != 1)
				CHECK(add_rank(&w, &v, &f, 2, &err) == RN_OK);
		}
		CHECK(rn_whole_finish(&w, &s, &err) == RN_OK);
		CHECK(rn_whole_write(&w, &s, temporary(), &err) == RN_OK);
		rn_whole_free(&w);
		if (!CHECK(rn_trace_open(&t, temporary(), &err) == RN_OK)) {
			diag("%s", err.text);
			continue;
		}
		if (!CHECK(rn_trace_check(&t, &err) == RN_OK))
			diag("%s", err.text);
		CHECK(meta_is(&t, "program", "stencil3d") && meta_is(&t, "threads", "2"));
		CHECK(meta_is(&t, "rank", NULL) && meta_is(&t, "ranks", NULL));
		CHECK(meta_is(&t, "incomplete", missing ? "1,4" : NULL));
		CHECK(meta_is(&t, "complete",
			      missing ? "no: calls of ranks 1,4 are missing" : "yes"));
		CHECK(t.streams.ranks == 10);
		if (CHECK(t.comms != NULL))
			comms_are_right(&t, missing);
		rn_trace_close(&t);
	}
	unlink(temporary());
}

/* For the shell tests */

static int write_files(char **arg)
{
	struct virtual_run v;
	uint64_t ranks = strtoull(arg[2], NULL, 10), threads = strtoull(arg[3], NULL, 10);
	struct rn_buf b = { 0 };

	if (virtual_init(&v, arg[1], ranks * threads, strtoull(arg[4], NULL, 10)) < 0 ||
	    mkdir(arg[0], 0777) < 0)
		return 2;
	for (uint64_t r = 0; r < ranks; r++) {
		struct rank_file f = { r, ranks, threads, NULL, "1" };
		char path[4096];
		int n = snprintf(path, sizeof(path), "%s/" RN_PART_NAME, arg[0], r);

		if (n >= (int)sizeof(path) || container_of(&v, &f, r * threads, &b) < 0 ||
		    rn_io_replace(path, b.data, b.len, NULL) < 0)
			return 1;
	}
	rn_buf_free(&b);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 6)
		return write_files(argv + 1);
	test_bytes();
	ok("parts through bytes merge to the same trace");
	test_groups();
	test_twice();
	ok("streams that cannot be are refused");
	test_hostile();
	ok("hostile bytes");
	test_no_memory();
	ok("without memory");
	test_whole();
	ok("part files become the whole; what is missing is empty");
	test_refused();
	ok("parts of other runs, or out of order, are refused");
	test_written();
	ok("the trace says what is missing");
	return tap_done();
}
