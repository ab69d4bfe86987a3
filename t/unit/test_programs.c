/* test_programs.c - the programs of a run: their ranks, encoding and metadata. */
#include "tap.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "model/payload.h"
#include "model/programs.h"
#include "whole.h"

static struct rn_arena mem;

/* `programs`: a character for each rank. Merges two halves, of which the second is encoded and
 * decoded. */
static void make(struct rn_programs *p, const char *programs)
{
	size_t n = strlen(programs);
	struct rn_programs rest;
	struct rn_buf bytes = { 0 };

	rn_programs_init(p, &mem);
	rn_programs_init(&rest, &mem);
	for (size_t i = 0; i < n; i++) {
		char name[] = { programs[i], '\0' };

		CHECK(rn_programs_add(i < n / 2 ? p : &rest, name, i, i) == RN_OK);
	}
	rn_programs_encode(&rest, &bytes);
	rn_programs_init(&rest, &mem);
	CHECK(WHOLE(bytes.data, bytes.len, NULL, rn_programs_decode(&rest, &whole, NULL)) == RN_OK);
	CHECK(rn_programs_merge(p, &rest) == RN_OK);
	rn_buf_free(&bytes);
}

static void shows(const char *programs, const char *want)
{
	const struct rn_meta_entry one = { "time", "none" };
	const struct rn_meta meta = { &one, 1 };
	struct rn_programs p;
	struct rn_meta all;
	char got[256] = "";

	make(&p, programs);
	CHECK(rn_programs_meta(&p, &meta, &all) == RN_OK && rn_meta_check(&all, NULL) == RN_OK);
	CHECK(strcmp(rn_meta_get(&all, "time"), "none") == 0);
	for (uint32_t i = 1; i < all.n; i++) {
		const char *name;
		int ranks;

		CHECK(rn_program_entry(&all.entry[i], &ranks, &name));
		CHECK(all.entry[i].value[ranks] == ' ' && strlen(name) == 1);
		strcat(strcat(got, i > 1 ? "; " : ""), all.entry[i].value);
	}
	if (!CHECK(strcmp(got, want) == 0))
		diag("%s: %s", programs, got);
}

static void test_ranks(void)
{
	shows("", "");
	shows("a", "");
	shows("aaaaa", "");
	shows("abb", "0 a; 1-2 b");
	shows("aabbaab", "0-1,4-5 a; 2-3,6 b");
	shows("abcabc", "0,3 a; 1,4 b; 2,5 c");
}

/* More programs than metadata entries. */
static void test_many(void)
{
	const struct rn_meta none = { NULL, 0 };
	struct rn_programs p;
	struct rn_meta all;

	rn_programs_init(&p, &mem);
	for (uint64_t i = 0; i < 100; i++) {
		char name[16];

		snprintf(name, sizeof(name), "program%d", (int)i);
		CHECK(rn_programs_add(&p, name, i, i) == RN_OK);
	}
	CHECK(rn_programs_meta(&p, &none, &all) == RN_OK && all.n == 64);
	CHECK(strcmp(all.entry[63].value, "63-99 other programs") == 0);
}

static void test_hostile(void)
{
	struct rn_programs p;
	struct rn_buf bytes = { 0 };
	struct rn_err err;

	make(&p, "aabb");
	rn_programs_encode(&p, &bytes);
	for (size_t n = 0; n < bytes.len; n++) {
		struct rn_programs q;

		rn_programs_init(&q, &mem);
		CHECK(WHOLE(bytes.data, n, &err, rn_programs_decode(&q, &whole, &err)) ==
		      RN_E_DATA);
	}
	/* Ranks that were added before. */
	CHECK(rn_programs_merge(&p, &p) == RN_E_ARG);
	CHECK(p.run.n == 2);
	rn_buf_free(&bytes);
}

static void test_entries(void)
{
	static const struct rn_meta_entry not [] = { { "program", "0 a" },
						     { "program.0", "a" },
						     { "programs", "0 a" } };
	const char *name;
	int ranks;

	for (size_t i = 0; i < sizeof(not ) / sizeof(*not ); i++)
		CHECK(!rn_program_entry(&not [i], &ranks, &name));
}

int main(void)
{
	rn_arena_init(&mem, SIZE_MAX);
	test_ranks();
	ok("each program has an entry with its ranks, and a run of one program has no entry");
	test_many();
	ok("the last entry contains all remaining programs");
	test_hostile();
	ok("malformed bytes are rejected with the programs unchanged");
	test_entries();
	ok("metadata of another form is not an entry");
	rn_arena_free(&mem);
	return tap_done();
}
