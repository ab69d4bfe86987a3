/*
 * test_budget.c - the memory limit of a process that reads files.
 *
 * `test_budget DIR` instead writes traces for t1015-max-memory.t that are much larger in memory
 * than on disk: DIR/SECTION for several sections, with 300 MiB of zeros in the section, and
 * DIR/stacks with 30 million call stacks.
 */
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/budget.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "file/container.h"
#include "rich_trace.h"

#define MIB ((size_t)1 << 20)

/* ---- traces that are large in memory ---- */

#define ZEROS  (300 * MIB)
#define STACKS ((size_t)30000000)

/* Writes a trace in which the section of this type has the given contents. */
static void write_with(const char *path, enum rn_section_type type, const void *other, size_t n)
{
	const struct rich_run r = {
		.ranks = 4, .row = 2, .threads = 2, .seed = 9, .phases = 3, .ops = 8, .times = 5
	};
	struct rn_container_writer good = { 0 }, bad = { 0 };
	struct rn_container *c;
	struct rn_arena mem;
	const void *bytes;
	size_t len;

	rn_arena_init(&mem, SIZE_MAX);
	if (!CHECK(rich_file(&r, &good, &bytes, &len, NULL) == RN_OK) ||
	    !CHECK(rn_container_open(&mem, bytes, len, &c, NULL) == RN_OK))
		exit(1);
	for (enum rn_section_type i = RN_SECTION_META; i < RN_SECTION_END; i++) {
		if (i == type)
			CHECK(rn_container_add(&bad, type, other, n, NULL) == RN_OK);
		else if (rn_container_get(c, i, &bytes, &len, NULL) == RN_OK)
			CHECK(rn_container_add(&bad, i, bytes, len, NULL) == RN_OK);
	}
	CHECK(rn_container_finish(&bad, &bytes, &len, NULL) == RN_OK);
	CHECK(rn_io_replace(path, bytes, len, NULL) == RN_OK);
	rn_container_writer_free(&good);
	rn_container_writer_free(&bad);
	rn_arena_free(&mem);
}

static int write_traces(const char *folder)
{
	static const enum rn_section_type large[] = { RN_SECTION_STRINGS, RN_SECTION_RULES,
						      RN_SECTION_VALUES, RN_SECTION_ORDER };
	unsigned char *zeros = calloc(ZEROS, 1);
	struct rn_buf stacks = { 0 };
	char path[4096];

	if (!zeros)
		return 1;
	for (size_t i = 0; i < sizeof(large) / sizeof(*large); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, rn_section_name(large[i]));
		write_with(path, large[i], zeros, ZEROS);
	}
	rn_buf_u64(&stacks, 1); /* modules: a name and a build id, both empty */
	rn_buf_add(&stacks, zeros, 2);
	rn_buf_u64(&stacks, STACKS);
	rn_buf_add(&stacks, zeros, 3 * STACKS);
	snprintf(path, sizeof(path), "%s/stacks", folder);
	write_with(path, RN_SECTION_SITES, stacks.data, stacks.len);
	rn_buf_free(&stacks);
	free(zeros);
	return 0;
}

/* ---- the limit ---- */

static void test_arena(void)
{
	struct rn_arena a;

	rn_arena_init(&a, SIZE_MAX);
	rn_budget_set(4 * MIB);
	CHECK(rn_new(&a, char, 2 * MIB) != NULL);
	CHECK(rn_new(&a, char, 3 * MIB) == NULL);
	CHECK(rn_budget_exceeded() > 5 * MIB && rn_budget_exceeded() < 6 * MIB);
	CHECK(rn_new(&a, char, MIB) != NULL);
	rn_arena_free(&a);
	CHECK(rn_new(&a, char, 3 * MIB) != NULL);
	rn_arena_free(&a);
	rn_budget_set(SIZE_MAX);
}

static void test_buf(void)
{
	struct rn_buf b = { 0 };

	rn_budget_set(3 * MIB);
	CHECK(rn_buf_reserve(&b, MIB) != NULL);
	CHECK(rn_buf_reserve(&b, 4 * MIB) == NULL);
	CHECK(rn_buf_status(&b) == RN_E_NOMEM);
	rn_buf_free(&b);
	CHECK(rn_buf_reserve(&b, 2 * MIB) != NULL);
	rn_buf_free(&b);
	rn_budget_set(SIZE_MAX);
}

static void test_text(void)
{
	struct rn_err err;
	struct rn_arena a;

	rn_arena_init(&a, SIZE_MAX);
	CHECK(rn_err_nomem(&err) == RN_E_NOMEM && strcmp(err.text, "out of memory") == 0);
	rn_budget_set(192 * MIB);
	CHECK(rn_new(&a, char, 1536 * MIB) == NULL);
	CHECK(rn_err_nomem(&err) == RN_E_NOMEM);
	CHECK(strcmp(err.text, "needs at least 1.5 GiB of memory, more than the limit of 192 MiB; "
			       "if you trust this file: --max-memory 4G") == 0);
	rn_budget_set(SIZE_MAX);
	CHECK(rn_err_nomem(&err) == RN_E_NOMEM && strcmp(err.text, "out of memory") == 0);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return write_traces(argv[1]);
	test_arena();
	ok("an arena maps no more than the budget allows");
	test_buf();
	ok("a buffer grows no larger than the budget allows");
	test_text();
	ok("the error states the limit, the need and the option");
	return tap_done();
}
