/*
 * fuzz_trace.c - libFuzzer target: a whole trace whose container is right and whose sections are
 * hostile.
 *
 * The first byte picks one of two. Even: the sections are cut out of the input, each behind its
 * length. Odd: they are those of a good trace, of the pattern that the second byte names (one of
 * virtual.h, of the two of rich_trace.h, or one with loops), and the rest of the input is edits:
 * section, offset, what to do, byte. Either way the container is built around them, so that hashes
 * are right, and the trace is opened, checked, and read here and there.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/outline.h"
#include "analyse/volume.h"
#include "base/arena.h"
#include "base/buf.h"
#include "bench/virtual.h"
#include "encode/sigs.h"
#include "file/payload.h"
#include "file/section.h"
#include "file/writer.h"
#include "grammar/grammar.h"
#include "merge/link_mem.h"
#include "merge/markers.h"
#include "read/check.h"
#include "read/decode.h"
#include "read/printer.h"
#include "read/trace.h"
#include "t/unit/rich_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SECTIONS 11
#define ROOM     4096

static const enum rn_section_type types[SECTIONS] = {
	RN_SECTION_META,  RN_SECTION_FUNCTIONS, RN_SECTION_STRINGS, RN_SECTION_SIGNATURES,
	RN_SECTION_RULES, RN_SECTION_LOOPS,     RN_SECTION_RANKS,   RN_SECTION_TIME,
	RN_SECTION_COMMS, RN_SECTION_TIMES,     RN_SECTION_SITES,
};

/* The others may be missing, and are when they are empty. */
static bool is_needed(unsigned i)
{
	return types[i] <= RN_SECTION_RANKS && types[i] != RN_SECTION_LOOPS;
}

struct payload {
	unsigned char bytes[ROOM];
	size_t len;
};

static void must(int condition)
{
	if (!condition)
		abort();
}

/* Instead of its own calls: loops in loops, whose counts change, and a call that comes now and
 * then.
 */
static void feed_loops(uint64_t rank, struct rn_grammar *g)
{
	for (uint32_t step = 0; step < 60; step++) {
		for (uint32_t i = 0; i < 2 + (step * 7 + rank) % 5; i++) {
			for (uint32_t j = 0; j < 1 + (step * 11 + i * 3) % 13; j++)
				must(rn_grammar_append(g, 0) == RN_OK);
			must(rn_grammar_append(g, 1) == RN_OK);
		}
		must(rn_grammar_append(g, 2) == RN_OK);
		if (step * 5 % 7 < 3)
			must(rn_grammar_append(g, 3) == RN_OK);
	}
}

static void virtual_file(unsigned pattern, bool loops, struct rn_container_writer *w,
			 const void **bytes, size_t *len)
{
	static struct rn_link link;
	const struct rn_meta meta = { &(struct rn_meta_entry){ "program", "fuzz" }, 1 };
	struct virtual_run v;
	struct rn_arena mem;
	struct rn_streams s;
	uint64_t calls = 0;

	rn_arena_init(&mem, SIZE_MAX);
	rn_link_init(&link, SIZE_MAX);
	must(virtual_init(&v, virtual_patterns[pattern].name, 12, 4) == RN_OK);
	for (uint64_t r = 0; r < v.ranks; r++) {
		struct rn_sigs *sigs = rn_sigs_new(&mem);
		struct rn_grammar *g = rn_grammar_new(&mem, NULL);

		must(virtual_feed(&v, r, sigs, g, &calls) == RN_OK);
		if (loops) {
			rn_grammar_reset(g);
			feed_loops(r % 2, g);
		}
		must(rn_link_push(&link, sigs, g) == RN_OK);
	}
	must(rn_link_finish(&link, &mem, &s) == RN_OK);
	must(rn_trace_sections(w, &s, &virtual_vocab, &meta, NULL) == RN_OK);
	must(rn_container_finish(w, bytes, len, NULL) == RN_OK);
	rn_link_free(&link);
	rn_arena_free(&mem);
}

static void rich_bytes(bool nested, struct rn_container_writer *w, const void **bytes, size_t *len)
{
	const struct rich_run r = { .ranks = 4,
				    .row = 2,
				    .threads = 2,
				    .seed = 9,
				    .phases = 3,
				    .ops = 8,
				    .times = 5,
				    .nested = nested,
				    .sites = nested };

	must(rich_file(&r, w, bytes, len, NULL) == RN_OK);
}

/* The sections of a small trace, taken from the file that the writer makes. */
static void good_sections(unsigned pattern, struct payload *p)
{
	struct rn_container_writer w = { 0 };
	struct rn_arena mem;
	struct rn_container *c;
	const void *bytes;
	size_t len;

	rn_arena_init(&mem, SIZE_MAX);
	if (pattern < virtual_patterns_count)
		virtual_file(pattern, false, &w, &bytes, &len);
	else if (pattern < virtual_patterns_count + 2)
		rich_bytes(pattern > virtual_patterns_count, &w, &bytes, &len);
	else
		virtual_file(0, true, &w, &bytes, &len);
	must(rn_container_open(&mem, bytes, len, &c, NULL) == RN_OK);
	must(pattern < virtual_patterns_count + 2 || rn_container_has(c, RN_SECTION_LOOPS));
	for (unsigned i = 0; i < SECTIONS; i++) {
		if (!is_needed(i) && !rn_container_has(c, types[i]))
			continue;
		must(rn_container_get(c, types[i], &bytes, &p[i].len, NULL) == RN_OK);
		must(p[i].len <= ROOM);
		memcpy(p[i].bytes, bytes, p[i].len);
	}
	rn_container_writer_free(&w);
	rn_arena_free(&mem);
}

static void edit(struct payload *p, unsigned at, unsigned what, unsigned char byte)
{
	at %= (unsigned)p->len + 1;
	switch (what % 4) {
	case 0:
		if (at < p->len)
			p->bytes[at] = byte;
		break;
	case 1:
		if (p->len < ROOM) {
			memmove(p->bytes + at + 1, p->bytes + at, p->len - at);
			p->bytes[at] = byte;
			p->len++;
		}
		break;
	case 2:
		if (at < p->len) {
			memmove(p->bytes + at, p->bytes + at + 1, p->len - at - 1);
			p->len--;
		}
		break;
	case 3:
		p->len = at;
	}
}

static void edited(const uint8_t *data, size_t size, struct payload *p)
{
	static struct payload good[16][SECTIONS];
	unsigned pattern = size ? data[0] % (virtual_patterns_count + 3) : 0;

	if (good[pattern][0].len == 0)
		good_sections(pattern, good[pattern]);
	memcpy(p, good[pattern], sizeof(good[pattern]));
	for (size_t i = 1; i + 5 <= size && i < 100; i += 5)
		edit(&p[data[i] % SECTIONS], data[i + 1] | (unsigned)data[i + 2] << 8, data[i + 3],
		     data[i + 4]);
}

static void cut_out(const uint8_t *data, size_t size, struct payload *p)
{
	for (unsigned i = 0; i < SECTIONS; i++) {
		size_t n = size >= 2 ? (size_t)(data[0] | data[1] << 8) : 0,
		       skip = size >= 2 ? 2 : 0;

		n = n > size - skip ? size - skip : n;
		n = n > ROOM ? ROOM : n;
		memcpy(p[i].bytes, data + skip, n);
		p[i].len = n;
		data += skip + n;
		size -= skip + n;
	}
}

/* Requests are followed one by one, if they are forged: not for ever. */
static void print_some(const struct rn_trace *t, uint64_t stream, struct rn_printer *p,
		       struct rn_buf *out)
{
	uint32_t group;
	uint64_t from;

	if (rn_streams_find(&t->streams, stream, &group) < 0 ||
	    rn_streams_length(&t->streams, group) >= 100000)
		return;
	from = rn_printer_numbers(p, group) / 3 * (stream % 4);
	must(rn_printer_begin(p, stream, group, from, from + 5) == RN_OK);
	while (rn_printer_next(p, out) > 0)
		;
}

/* What the trees have is what the streams have. */
static void outline(const struct rn_trace *t, struct rn_arena *mem)
{
	uint32_t n = rn_sigs_count(t->streams.sigs);
	const struct rn_markers m = rn_markers_of(&t->vocab);
	struct rn_outline_sig *sig = rn_new(mem, struct rn_outline_sig, (size_t)n + 1);
	uint64_t *bytes = rn_new(mem, uint64_t, (size_t)n + 1), calls = 0, sum = 0;
	struct rn_outline o;
	struct rn_arena scratch;

	rn_arena_init(&scratch, SIZE_MAX);
	must(rn_volumes(t->streams.sigs, &t->values, &t->vocab, t->ranks, &scratch, bytes) ==
	     RN_OK);
	for (uint32_t i = 0; i < n; i++) {
		size_t len;
		const void *s = rn_sigs_get(t->streams.sigs, i, &len);

		sig[i].function = i / 2;
		sig[i].manner = bytes[i];
		sig[i].marker = (unsigned char)rn_marker_of(&m, s, len);
		sig[i].one.calls = sig[i].marker == RN_MARKER_NONE;
	}
	must(rn_outline(&t->folded, &t->streams, sig, mem, &scratch, &o) == RN_OK);
	must(rn_markers_calls(&m, &t->streams, &scratch, &calls) == RN_OK);
	for (uint32_t i = 0; i < o.trees; i++)
		if (__builtin_add_overflow(sum, o.tree[i].weight.calls, &sum))
			sum = UINT64_MAX;
	must(sum == calls);
	rn_arena_free(&scratch);
}

static void use(struct rn_trace *t)
{
	static rn_decode_fn *const form[] = { rn_decode_text, rn_decode_json };
	struct rn_err err = { 0 };
	struct rn_arena mem;
	struct rn_buf out = { 0 };

	rn_arena_init(&mem, SIZE_MAX);
	for (unsigned f = 0; f < 2; f++) {
		struct rn_printer *p = rn_printer_new(&mem, t, form[f]);

		must(p != NULL);
		for (uint64_t i = 0; i < 4; i++)
			print_some(t, (t->streams.ranks - 1) * i / 3, p, &out);
		rn_printer_free(p);
	}
	outline(t, &mem);
	/* Ranks are checked one by one: not for the billions that a few bytes can claim. */
	if (t->streams.ranks <= 10000 && rn_trace_check(t, &err) < 0)
		must(err.text[0] && !strchr(err.text, '\n'));
	rn_buf_free(&out);
	rn_arena_free(&mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct payload p[SECTIONS];
	struct rn_container_writer w = { 0 };
	struct rn_err err = { 0 };
	struct rn_trace t;
	const void *bytes;
	size_t len;

	if (size == 0)
		return 0;
	(data[0] & 1 ? edited : cut_out)(data + 1, size - 1, p);
	for (unsigned i = 0; i < SECTIONS; i++)
		if (is_needed(i) || p[i].len)
			must(rn_container_add(&w, types[i], p[i].bytes, p[i].len, NULL) == RN_OK);
	must(rn_container_finish(&w, &bytes, &len, NULL) == RN_OK);
	if (rn_trace_parse(&t, bytes, len, &err) == RN_OK) {
		use(&t);
		rn_trace_close(&t);
	} else {
		must(err.text[0] && !strchr(err.text, '\n'));
	}
	rn_container_writer_free(&w);
	return 0;
}
