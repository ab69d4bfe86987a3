/* test_values.c - elastic values of signatures: in calls, in series, in streams, and in a file. */
#include "tap.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/varint.h"
#include "encode/elastic_slots.h"
#include "encode/rank_expr.h"
#include "encode/template.h"
#include "merge/trace_finish.h"
#include "model/elastic_values.h"
#include "model/lossy.h"
#include "model/merged_streams.h"
#include "model/section_kinds.h"
#include "series/series.h"
#include "series/units.h"
#include "call_writer.h"
#include "whole.h"

#include <string.h>

static const char *const params[] = { "a", "b", "c", "d", "e" };
static const struct rn_func funcs[] = { { 1, "f", params, 5, NULL } };
static const struct rn_word words[] = { { 3, "heap" }, { 4, "MPI_COMM_WORLD" } };
static const struct rn_vocab vocab = { funcs, words, 1, 2 };

/* ---- calls ---- */

/* Writes a call with elastic slots, or the equal call with the given values. */
static size_t write_call(unsigned char *buf, bool holes, uint32_t like, const int64_t v[4])
{
	struct rn_buf w;
	size_t len;
	char name[64];

	call_begin(&w, buf, 256, 1);
	if (holes) {
		rn_call_elastic(&w, RN_ELASTIC_INT, like);
		rn_call_elastic_place(&w, like, 3, 7);
		rn_call_list(&w, 2);
		rn_call_elastic_same(&w, like, 0);
		rn_call_num(&w, RN_V_INT, 5);
		rn_call_elastic(&w, RN_ELASTIC_RELMOD, like);
		rn_call_elastic_name(&w, like, "static:x", 8);
	} else {
		rn_call_num(&w, RN_V_INT, v[0]);
		rn_call_place(&w, 3, 7, v[1]);
		rn_call_list(&w, 2);
		rn_call_num(&w, RN_V_INT, v[0]);
		rn_call_num(&w, RN_V_INT, 5);
		rn_call_num(&w, RN_V_RELMOD, v[2]);
		snprintf(name, sizeof(name), "static:x%+lld", (long long)v[3]);
		rn_call_text(&w, RN_V_NAME, name, strlen(name));
	}
	CHECK(call_end(&w, 0, &len) == RN_OK);
	return len;
}

static bool same_value(const struct rn_value *a, const struct rn_value *b)
{
	if (a->kind != b->kind || a->span != b->span)
		return false;
	if (a->kind == RN_V_NAME)
		return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
	return a->num == b->num && a->word == b->word && a->id == b->id;
}

static bool same_template(const struct rn_template *a, const struct rn_template *b)
{
	if (a->func != b->func || a->n != b->n || a->ret != b->ret)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (!same_value(&a->value[i], &b->value[i]))
			return false;
	return memcmp(a->top, b->top, (a->ret + 1) * sizeof(*a->top)) == 0;
}

static void test_fill(void)
{
	static const int64_t corner[] = { 0, 1, -1, 7, -8, 8191, INT64_MAX, INT64_MIN };
	const struct rn_keywords k = rn_keywords_of(&vocab);
	unsigned char with[256], without[256];
	struct rn_template filled, plain;
	struct rn_arena mem;

	rn_arena_init(&mem, SIZE_MAX);
	for (unsigned i = 0; i < 64; i++) {
		const int64_t v[4] = { corner[i % 8], corner[i / 8], corner[(i + 3) % 8],
				       corner[(i + 5) % 8] };
		size_t n = write_call(with, true, i % 3, v), m = write_call(without, false, 0, v);

		CHECK(rn_call_valid(with, n, &vocab) && rn_call_valid(without, m, &vocab));
		CHECK(rn_call_elastics(with, n, NULL) == 4 &&
		      rn_call_elastics(without, m, NULL) == 0);
		CHECK(rn_template_parse(&mem, &k, with, n, &filled) == RN_OK && filled.slots == 5 &&
		      !filled.ranks);
		CHECK(rn_template_parse(&mem, &k, without, m, &plain) == RN_OK && !plain.slots &&
		      plain.ranks == 1);
		for (unsigned again = 0; again < 2; again++) {
			CHECK(rn_template_fill(&filled, (int64_t[]){ 1, 2, 3, 4 }));
			CHECK(rn_template_fill(&filled, v) && same_template(&filled, &plain));
		}
		/* If the communicator is known, ranks become absolute. */
		filled.comm_of[0].known = true;
		filled.comm_of[0].rank = 3;
		filled.comm_of[0].size = 10;
		CHECK(rn_template_fill(&filled, (int64_t[]){ 1, 2, 9, 4 }));
		CHECK(filled.value[5].kind == RN_V_INT && filled.value[5].num == 2);
	}
	rn_arena_free(&mem);
}

static void test_malformed(void)
{
	const int64_t v[4] = { 0 };
	unsigned char buf[256], early[] = { 1, RN_V_ELASTIC | 6 << 4, 0, 0, 0, 0, 0, 0 },
				form[] = { 1, RN_V_ELASTIC | 7 << 4, 0, 0, 0, 0, 0 };
	/* After the return value: no stack, one stack, and a list of one stack. */
	unsigned char none[] = { 1, 0, 0, 0, 0, 0, 0, RN_V_ELASTIC | 7 << 4, 0 },
		      one[] = { 1, 0, 0, 0, 0, 0, 0, RN_V_ELASTIC | 7 << 4, 1, 0 },
		      list[] = { 1, 0, 0, 0, 0, 0, 0, RN_V_LIST | 1 << 4, 0 };
	size_t n = write_call(buf, true, 0, v);

	CHECK(!rn_call_valid(early, sizeof(early), &vocab)); /* refers to a later slot */
	CHECK(!rn_call_valid(form, sizeof(form), &vocab));   /* a stack as an argument */
	CHECK(!rn_call_valid(none, sizeof(none), &vocab) &&
	      rn_call_valid(one, sizeof(one), &vocab) &&
	      !rn_call_valid(list, sizeof(list), &vocab));
	for (size_t i = 0; i < n; i++)
		CHECK(!rn_call_valid(buf, i, &vocab));
}

/* ---- elastic slots ---- */

static void test_holes(void)
{
	const uint64_t shape[] = { 9, RN_RAW_HOLE, 4, RN_RAW_SAME(0), RN_RAW_HOLE };
	uint64_t call[] = { 9, 1, 4, 1, 2 };
	struct rn_arena mem, scratch;
	struct rn_holes *a, *b;
	struct rn_buf saved = { 0 };
	struct rn_reader in;
	struct rn_units *u;

	rn_arena_init(&mem, SIZE_MAX);
	rn_arena_init(&scratch, SIZE_MAX);
	a = rn_holes_new(&mem, shape, 5);
	b = rn_holes_new(&mem, shape, 5);
	CHECK(a->n == 2 && a->ties == 1 && a->at[1] == 4);
	CHECK(rn_holes_fit(a, shape, call, 5));
	call[3] = 2;
	CHECK(!rn_holes_fit(a, shape, call, 5));
	call[3] = call[1] = (uint64_t)-1;
	CHECK(!rn_holes_fit(a, shape, call, 5));
	for (uint64_t i = 0; i < 1000; i++) {
		call[1] = call[3] = i;
		call[4] = i * i;
		CHECK(rn_holes_append(a, call) == RN_OK);
	}
	for (uint32_t k = 0; k < 2; k++)
		CHECK(rn_holes_units(a, k, &mem, &scratch, &u) == RN_OK &&
		      rn_units_encode_quickly(u, 0, &saved) == RN_OK);
	in = rn_reader(saved.data, saved.len);
	CHECK(rn_holes_load(b, &mem, 0, &in) == RN_OK && rn_holes_load(b, &mem, 1, &in) == RN_OK);
	CHECK(rn_left(&in) == 0 && rn_holes_load(b, &mem, 2, &in) == RN_E_DATA);
	CHECK(rn_holes_cut(a, &mem, 0) && rn_holes_cut(a, &mem, 1));
	CHECK(rn_holes_cut(b, &mem, 1));
	CHECK(rn_holes_join(b, a, 999, &scratch) == RN_OK);
	CHECK(rn_holes_units(b, 1, &mem, &scratch, &u) == RN_OK && rn_units_length(u) == 1999);
	CHECK(rn_units_at(u, 999) == 999 * 999 && rn_units_at(u, 1003) == 9);
	for (size_t n = 0; n < saved.len; n += 1 + saved.len / 50) {
		in = rn_reader(saved.data, n);
		CHECK(rn_holes_load(a, &mem, 0, &in) < 0 || rn_holes_load(a, &mem, 1, &in) < 0);
	}
	/* A reference to a slot that does not exist. */
	CHECK(!rn_holes_new(&mem, (const uint64_t[]){ 9, RN_RAW_SAME(0) }, 2));
	rn_buf_free(&saved);
	rn_arena_free(&scratch);
	rn_arena_free(&mem);
}

/* ---- streams ---- */

#define STREAMS 40u
#define SIGS    6u
#define CALLS   50u

/* The value of stream s in slot h of signature i at its c-th call. */
static int64_t value_of(uint32_t i, uint32_t h, uint64_t s, uint64_t c)
{
	switch ((i + h) % 4) {
	case 0:
		return (int64_t)(c * 3 + s * 1000);
	case 1:
		return (int64_t)((s + 1) % STREAMS);
	case 2:
		return (int64_t)(c % 7 * (s % 2));
	default:
		return (int64_t)((c * 2654435761u + s * 40503u) % 1000);
	}
}

/* Odd streams do not have signature 2. */
static bool has(uint32_t i, uint64_t s)
{
	return i != 2 || s % 2 == 0;
}

static void add_stream(struct rn_values *v, struct rn_arena *mem, uint64_t s)
{
	for (uint32_t i = 0; i < SIGS; i++) {
		for (uint32_t h = 0; h < 4 && has(i, s); h++) {
			struct rn_series *x = rn_series_new(mem);
			struct rn_units *u;
			const struct rn_expressed how = { (i + h) % 4 == 1 ? RN_V_RELMOD : RN_V_INT,
							  (int64_t)s, STREAMS, NULL };

			for (uint64_t c = 0; c < CALLS; c++)
				CHECK(rn_series_append(x, value_of(i, h, s, c)) == RN_OK);
			CHECK(rn_units_seal(mem, x, &u) == RN_OK);
			CHECK(rn_values_add(v, (struct rn_value_place){ i, h }, s, u, &how) ==
			      RN_OK);
		}
	}
}

static struct rn_sigs *make_sigs(struct rn_arena *mem)
{
	struct rn_sigs *s = rn_sigs_new(mem);
	const int64_t v[4] = { 0 };
	unsigned char buf[256];
	uint32_t id;

	for (uint32_t i = 0; i < SIGS; i++) {
		size_t n = write_call(buf, true, i, v);

		CHECK(rn_sigs_intern(s, buf, n, &id) == RN_OK && id == i);
	}
	return s;
}

static void check_stream(const struct rn_value_list *l, uint64_t s)
{
	for (uint32_t i = 0; i < SIGS; i++) {
		for (uint32_t h = 0; h < 4; h++) {
			struct rn_value_source from = rn_value_list_find(l, i, h, s);
			bool good = !from.series == !has(i, s);

			for (uint64_t c = 0; from.series && c < CALLS && good; c++) {
				struct rn_value v = {
					.kind = (i + h) % 4 == 1 ? RN_V_RELMOD : RN_V_INT,
					.num = rn_units_at(from.series, c) + from.begin
				};

				good = rn_value_resolve(&v, s, STREAMS) == value_of(i, h, s, c);
			}
			CHECK(good);
		}
	}
}

/* Merges the values as ranks do: each rank encodes its own, and the receiver decodes and merges
 * them. */
static void gather(struct rn_values *all, const struct rn_sigs *sigs, struct rn_arena *mem)
{
	uint32_t map[SIGS];

	for (uint32_t i = 0; i < SIGS; i++)
		map[i] = i;
	CHECK(rn_values_init(all, mem) == RN_OK);
	for (uint64_t s = 0; s < STREAMS; s++) {
		struct rn_value_list l, theirs;
		struct rn_values one;
		struct rn_buf b = { 0 };

		CHECK(rn_values_init(&one, mem) == RN_OK);
		add_stream(&one, mem, s);
		CHECK(rn_value_list_make(&one, NULL, sigs, s, mem, &l) == RN_OK);
		CHECK(rn_value_list_encode(&l, &b) == RN_OK);
		CHECK(WHOLE(b.data, b.len, NULL,
			    rn_value_list_decode(mem, &whole, sigs, 1, &theirs, NULL)) == RN_OK);
		CHECK(rn_value_list_merge(&theirs, map, SIGS, s, all) == RN_OK);
		rn_buf_free(&b);
	}
}

static void test_streams(void)
{
	struct rn_arena mem;
	struct rn_values all;
	struct rn_value_list l = { 0 };
	struct rn_buf b = { 0 };
	struct rn_trace t;
	uint32_t map[SIGS];
	struct rn_sigs *sigs;

	rn_arena_init(&mem, SIZE_MAX);
	sigs = make_sigs(&mem);
	rn_trace_init(&t);
	t.streams.sigs = sigs;
	for (uint32_t i = 0; i < SIGS; i++)
		map[i] = i;
	gather(&all, sigs, &mem);
	CHECK(rn_finish_values(&t, &all, map, &mem) == RN_OK);
	CHECK(rn_value_list_encode(&t.values, &b) == RN_OK);
	CHECK(WHOLE(b.data, b.len, NULL,
		    rn_value_list_decode(&mem, &whole, sigs, STREAMS, &l, NULL)) == RN_OK);
	CHECK(rn_value_list_open(&l, &mem, NULL) == RN_OK);
	for (uint64_t s = 0; s < STREAMS; s++)
		check_stream(&l, s);
	CHECK(rn_value_list_mean(&l, 0, 0) == 49 * 3 / 2 + 39 * 1000 / 2);
	diag("%u streams, %u holes: %zu bytes", STREAMS, SIGS * 4, b.len);
	rn_trace_close(&t);
	rn_buf_free(&b);
	rn_arena_free(&mem);
}

/* Changed bytes are rejected, or decode to other values; they have no other effect. */
static void test_hostile(void)
{
	struct rn_arena mem;
	struct rn_values all;
	struct rn_buf b = { 0 };
	struct rn_trace t;
	uint32_t map[SIGS];
	struct rn_sigs *sigs;

	rn_arena_init(&mem, SIZE_MAX);
	sigs = make_sigs(&mem);
	rn_trace_init(&t);
	t.streams.sigs = sigs;
	for (uint32_t i = 0; i < SIGS; i++)
		map[i] = i;
	gather(&all, sigs, &mem);
	CHECK(rn_finish_values(&t, &all, map, &mem) == RN_OK);
	CHECK(rn_value_list_encode(&t.values, &b) == RN_OK);
	for (int i = 0; i < 3000; i++) {
		struct rn_value_list l = { 0 };
		struct rn_arena own;
		size_t at = (size_t)tap_below(b.len), len = i % 2 ? b.len : at;
		unsigned char was = b.data[at];

		rn_arena_init(&own, SIZE_MAX);
		b.data[at] = (unsigned char)tap_below(256);
		if (WHOLE(b.data, len, NULL,
			  rn_value_list_decode(&own, &whole, sigs, STREAMS, &l, NULL)) == RN_OK &&
		    rn_value_list_open(&l, &own, NULL) == RN_OK)
			for (uint64_t s = 0; s < STREAMS; s++) {
				struct rn_value_source from = rn_value_list_find(&l, 1, 1, s);

				if (from.series && rn_units_length(from.series))
					rn_units_at(from.series, 0);
			}
		b.data[at] = was;
		rn_arena_free(&own);
	}
	rn_trace_close(&t);
	rn_buf_free(&b);
	rn_arena_free(&mem);
}

static void test_lossy(void)
{
	struct rn_lossy l;

	CHECK(rn_lossy_parse("counts", &l) && l.counts && l.params == 0);
	CHECK(rn_lossy_parse("params", &l) && !l.counts && l.params == RN_LOSSY_MOST);
	CHECK(rn_lossy_parse("params:7,counts", &l) && l.counts && l.params == 7);
	CHECK(!rn_lossy_parse("", &l) && !rn_lossy_parse("params:", &l) &&
	      !rn_lossy_parse("params:0", &l) && !rn_lossy_parse("counts,", &l) &&
	      !rn_lossy_parse("paramsx", &l) && !rn_lossy_parse("params:5x", &l));
}

/* A thousand numbers of 0 to 99 are reduced to 32 of them, repeatedly. */
static void test_blur(void)
{
	struct rn_arena mem;
	struct rn_series *s;
	struct rn_units *u;
	struct rn_buf exact = { 0 }, blurred = { 0 };
	struct rn_reader in;
	int64_t sum = 0;

	rn_arena_init(&mem, SIZE_MAX);
	s = rn_series_new(&mem);
	for (int i = 0; i < 1000; i++)
		CHECK(rn_series_append(s, (int64_t)tap_below(100)) == RN_OK);
	CHECK(rn_units_seal(&mem, s, &u) == RN_OK && rn_units_encode(u, &exact) == RN_OK);
	CHECK(rn_blur_values(exact.data, exact.len, 999, &mem, &blurred) == RN_OK);
	CHECK(blurred.len < exact.len / 4);
	in = rn_reader(blurred.data, blurred.len);
	CHECK(rn_units_decode(&mem, &in, &u, NULL) == RN_OK && rn_units_length(u) == 1000);
	for (uint64_t i = 0; i < 1000; i++) {
		CHECK(rn_units_at(u, i) >= 0 && rn_units_at(u, i) < 100);
		sum += rn_units_at(u, i);
	}
	CHECK(sum > 47000 && sum < 52000);
	rn_buf_clear(&blurred);
	CHECK(rn_blur_values(exact.data, exact.len, 1000, &mem, &blurred) == RN_OK);
	CHECK(blurred.len == exact.len);
	rn_buf_free(&exact);
	rn_buf_free(&blurred);
	rn_arena_free(&mem);
}

int main(void)
{
	test_fill();
	ok("calls are filled in");
	test_malformed();
	ok("signatures with holes that make no sense are refused");
	test_holes();
	ok("holes take what fits, and are saved and joined");
	test_streams();
	ok("every stream has its values in the file");
	test_hostile();
	ok("changed bytes do no harm");
	test_lossy();
	ok("what may be lossy is understood");
	test_blur();
	ok("a blurred series is as long, and distributed alike");
	return tap_done();
}
