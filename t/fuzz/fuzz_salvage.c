/*
 * fuzz_salvage.c - libFuzzer target: a part file as hostile bytes.
 *
 * The input is edits of a good file (which, its length says): offset (3 bytes), what to do, a byte.
 * What is found in it is put together, and must be a trace that passes `rondo check`; and who waits
 * for whom is looked for.
 *
 * Checksums find most edits. So most lengths have them made right again, as only somebody does who
 * means harm: the trace must then be one that can be opened.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse/standstill.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/io.h"
#include "file/recover.h"
#include "file/salvage.h"
#include "read/check.h"
#include "read/trace.h"
#include "t/unit/part_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *temporary(const char *what)
{
	return private_path("/dev/shm", what);
}

/* Of a process that is in a call inside a call; of one whose streams are in segments. */
static const struct rn_buf *good_file(bool segments)
{
	static struct rn_buf all[2];
	struct rn_buf *b = &all[segments];

	if (b->len)
		return b;
	unlink(temporary("part"));
	be_a_rank(temporary("part"), 0, 1, 2, 300, segments ? 70 : 0, IN_NESTED);
	must(rn_io_read(temporary("part"), b, NULL) == RN_OK);
	unlink(temporary("part"));
	return b;
}

/* In words, where most numbers are. */
static void edit(unsigned char *b, size_t *len, size_t at, unsigned what, unsigned char byte)
{
	uint64_t word;

	at %= *len;
	if (what % 4 == 3 && byte == 0)
		*len = at + 1;
	else if (what % 4 == 0)
		b[at] = byte;
	at = at / 8 * 8;
	if (at + 8 > *len)
		return;
	memcpy(&word, b + at, 8);
	if (what % 4 == 1)
		word += (uint64_t)(int64_t)(signed char)byte;
	else if (what % 4 == 2)
		word = (uint64_t)byte << what / 4 % 57;
	memcpy(b + at, &word, 8);
}

static void forge_log(unsigned char *at, const struct rn_extent *e, size_t room)
{
	unsigned char *p = at + sizeof(*e);
	struct rn_record r;
	size_t size;

	for (size_t i = 0; i < e->used && room >= sizeof(r) && i <= room - sizeof(r); i += size) {
		memcpy(&r, p + i, sizeof(r));
		size = sizeof(r) + (((size_t)r.bytes + 7) & ~(size_t)7);
		if (size > room - i)
			break;
		r.sum = rn_record_sum(e, i, &r, p + i + sizeof(r));
		memcpy(p + i, &r, sizeof(r));
	}
}

static uint64_t forge_area(const unsigned char *b, size_t len, uint64_t page, uint64_t bytes)
{
	struct rn_extent area;
	size_t at = page * RN_SPILL_PAGE + sizeof(area);

	if (page >= len / RN_SPILL_PAGE || bytes > len - at)
		return 0;
	memcpy(&area, b + at - sizeof(area), sizeof(area));
	return rn_area_sum(&area, b + at, bytes);
}

static void forge_seal(const unsigned char *b, size_t len, const struct rn_extent *of,
		       struct rn_seal *s)
{
	s->grammar_sum = forge_area(b, len, s->area, s->grammar);
	s->times_sum = forge_area(b, len, s->times_at, s->times);
	s->sum = rn_seal_sum(of, s);
}

static void forge(unsigned char *b, size_t len)
{
	for (size_t at = RN_SPILL_PAGE; at + RN_SPILL_PAGE <= len; at += RN_SPILL_PAGE) {
		struct rn_live l;

		memcpy(&l, b + at, sizeof(l));
		if (l.extent.magic != RN_EXTENT_MAGIC)
			continue;
		if (l.extent.kind == RN_EXTENT_LOG)
			forge_log(b + at, &l.extent, len - at - sizeof(l.extent));
		if (l.extent.kind != RN_EXTENT_LIVE)
			continue;
		forge_seal(b, len, &l.extent, &l.seal[0]);
		forge_seal(b, len, &l.extent, &l.seal[1]);
		memcpy(b + at, &l, sizeof(l));
	}
}

static void put_together(const unsigned char *b, size_t len, bool forged)
{
	struct rn_node_file file = { b, len };
	struct rn_recovered r;
	struct rn_err err = { 0 };
	struct rn_trace t;
	int rc = rn_recover(&file, 1, RN_RECOVER_INVALID, temporary("trace"), &r, &err);

	rn_recovered_free(&r);
	must(rc == RN_OK || (rc == RN_E_DATA && err.text[0] && !strchr(err.text, '\n')));
	if (rc < 0)
		return;
	must(rn_trace_open(&t, temporary("trace"), &err) == RN_OK);
	must(rn_trace_check(&t, &err) == RN_OK || forged);
	rn_trace_close(&t);
	unlink(temporary("trace")); /* so that none is kept as old */
}

static void look_at(const unsigned char *b, size_t len)
{
	struct rn_arena mem;
	struct rn_salvage s;
	struct rn_standstill all;
	struct rn_err err = { 0 };
	struct rn_sight *sight;

	rn_arena_init(&mem, SIZE_MAX);
	if (rn_salvage_now(&mem, b, len, &s, &err) == RN_OK) {
		sight = rn_new(&mem, struct rn_sight, (size_t)s.n + 1);
		must(sight != NULL);
		for (uint32_t i = 0; i < s.n; i++)
			sight[i].process = &s.process[i];
		must(rn_standstill(sight, s.n, &mem, &all, &err) == RN_OK || err.text[0]);
	}
	rn_arena_free(&mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct rn_buf *good = good_file(size % 5 == 1);
	size_t len = good->len;
	unsigned char *b = malloc(len), *exact;

	must(b != NULL);
	memcpy(b, good->data, len);
	for (size_t i = 0; i + 5 <= size && i < 100; i += 5)
		edit(b, &len,
		     (size_t)data[i] | (size_t)data[i + 1] << 8 | (size_t)data[i + 2] << 16,
		     data[i + 3], data[i + 4]);
	/* Of just the right size: reading behind it is seen. */
	exact = realloc(b, len);
	must(exact != NULL);
	if (size % 5)
		forge(exact, len);
	put_together(exact, len, size % 5);
	look_at(exact, len);
	free(exact);
	return 0;
}
