/*
 * fuzz_trace.c - libFuzzer target: a trace whose container is valid and whose sections are hostile.
 *
 * If bit 0 of the first byte is 0, the sections are cut out of the input, each after its length. If
 * it is 1, they are those of a good trace, which the second byte selects, and the rest of the input
 * is edits: section, offset, operation, byte. The good traces are the patterns of virtual.h, those
 * of rich_trace.h, one with loops, and those that are recovered from the files of good_parts.h.
 * Together they have every section.
 *
 * A container with valid hashes is built around the sections. The trace is opened, and one of the
 * functions of use_trace.h, which the other bits select, is applied to it.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/budget.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/io.h"
#include "bench/rank_merge.h"
#include "bench/virtual.h"
#include "file/container.h"
#include "file/trace_writer.h"
#include "grammar/grammar.h"
#include "model/payload.h"
#include "read/trace.h"
#include "recover/recover.h"
#include "t/fuzz/use_trace.h"
#include "t/unit/forge_trace.h"
#include "t/unit/good_parts.h"
#include "t/unit/rich_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROOM      4096u
#define EDITS_MAX 20u
#define RICH      2u /* traces of rich_trace.h */
/* The commands allow 224 MiB (src/cmd/options.c). Inputs that need so much would take most of the
 * time. */
#define MEMORY ((size_t)8 << 20)

struct payload {
	unsigned char bytes[ROOM];
	size_t len;
};

/* ---- valid traces ---- */

/* Instead of the calls of the pattern: nested loops whose counts change, and a call that occurs in
 * some iterations. */
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

static void add_container(struct rn_container_writer *w, struct rn_buf *out)
{
	const void *bytes;
	size_t len;

	must(rn_container_finish(w, &bytes, &len, NULL) == RN_OK);
	rn_buf_add(out, bytes, len);
	must(rn_buf_status(out) == RN_OK);
	rn_container_writer_free(w);
}

static void virtual_file(unsigned pattern, bool loops, struct rn_buf *out)
{
	static struct rank_merge link;
	const struct rn_meta meta = { &(struct rn_meta_entry){ "program", "fuzz" }, 1 };
	struct rn_container_writer w = { 0 };
	struct virtual_run v;
	struct rn_arena mem;
	struct rn_streams s;
	uint64_t calls = 0;

	rn_arena_init(&mem, SIZE_MAX);
	rank_merge_init(&link);
	must(virtual_init(&v, virtual_patterns[pattern].name, 12, 4) == RN_OK);
	for (uint64_t r = 0; r < v.ranks; r++) {
		struct rn_sigs *sigs = rn_sigs_new(&mem);
		struct rn_grammar *g = rn_grammar_new(&mem, NULL);

		must(virtual_feed(&v, r, sigs, g, &calls) == RN_OK);
		if (loops) {
			rn_grammar_reset(g);
			feed_loops(r % 2, g);
		}
		must(rank_merge_add(&link, sigs, g) == RN_OK);
	}
	must(rank_merge_finish(&link, &mem, &s) == RN_OK);
	must(rank_merge_sections(&w, &s, &virtual_vocab, &meta, NULL) == RN_OK);
	add_container(&w, out);
	rank_merge_free(&link);
	rn_arena_free(&mem);
}

static void rich_bytes(bool nested, struct rn_buf *out)
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
	struct rn_container_writer w = { 0 };
	const void *bytes;
	size_t len;

	must(rich_file(&r, &w, &bytes, &len, NULL) == RN_OK);
	add_container(&w, out);
}

static void recovered_file(enum good_part kind, struct rn_buf *out)
{
	char part[300], trace[300];
	struct rn_buf bytes = { 0 };
	struct rn_node_file file;
	struct rn_recovered r;

	snprintf(part, sizeof(part), "%s", private_path("/dev/shm", "part"));
	snprintf(trace, sizeof(trace), "%s", private_path("/dev/shm", "trace"));
	unlink(part);
	write_good_part(part, kind);
	must(rn_io_read(part, &bytes, NULL) == RN_OK);
	file = (struct rn_node_file){ .bytes = bytes.data, .len = bytes.len };
	must(rn_recover(&file, 1, RN_RECOVER_INVALID, trace, &r, NULL) == RN_OK && !r.damaged);
	must(rn_io_read(trace, out, NULL) == RN_OK);
	unlink(part);
	unlink(trace);
	rn_recovered_free(&r);
	rn_buf_free(&bytes);
}

static unsigned good_traces(void)
{
	return virtual_patterns_count + 1 + RICH + GOOD_PARTS;
}

static void good_file(unsigned which, struct rn_buf *out)
{
	if (which < virtual_patterns_count)
		virtual_file(which, false, out);
	else if ((which -= virtual_patterns_count) == 0)
		virtual_file(0, true, out);
	else if (which <= RICH)
		rich_bytes(which == RICH, out);
	else
		recovered_file(which - 1 - RICH, out);
}

/* The sections of a good trace, as they are in the file that the writer makes. */
static void good_sections(unsigned which, struct payload *p)
{
	struct rn_buf file = { 0 };
	struct rn_arena mem;
	struct rn_container *c;
	const void *bytes;

	rn_arena_init(&mem, SIZE_MAX);
	good_file(which, &file);
	must(rn_container_open(&mem, file.data, file.len, &c, NULL) == RN_OK);
	for (unsigned i = 0; i < FORGE_SECTIONS; i++) {
		if (!rn_container_has(c, forge_types[i]))
			continue;
		must(rn_container_get(c, forge_types[i], &bytes, &p[i].len, NULL) == RN_OK);
		must(p[i].len <= ROOM);
		memcpy(p[i].bytes, bytes, p[i].len);
	}
	rn_arena_free(&mem);
	rn_buf_free(&file);
}

/* ---- hostile sections ---- */

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

/* The section of an edit is counted among those that the trace has. */
static unsigned choose_section(const struct payload *p, unsigned n)
{
	unsigned has[FORGE_SECTIONS], count = 0;

	for (unsigned i = 0; i < FORGE_SECTIONS; i++)
		if (p[i].len || n >= 240)
			has[count++] = i;
	return count ? has[n % count] : 0;
}

static void edited(const uint8_t *data, size_t size, struct payload *p)
{
	static struct payload good[32][FORGE_SECTIONS];
	unsigned which = size ? data[0] % good_traces() : 0;

	if (good[which][0].len == 0)
		good_sections(which, good[which]);
	for (unsigned i = 0; i < FORGE_SECTIONS; i++) {
		memcpy(p[i].bytes, good[which][i].bytes, good[which][i].len);
		p[i].len = good[which][i].len;
	}
	for (size_t i = 1; i + 5 <= size && i < EDITS_MAX * 5; i += 5)
		edit(&p[choose_section(p, data[i])], data[i + 1] | (unsigned)data[i + 2] << 8,
		     data[i + 3], data[i + 4]);
}

static void cut_out(const uint8_t *data, size_t size, struct payload *p)
{
	for (unsigned i = 0; i < FORGE_SECTIONS; i++) {
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

/* The container, in memory of exactly its size: AddressSanitizer finds reads beyond its end. */
static unsigned char *contain(const struct payload *p, size_t *len)
{
	static struct rn_buf file;
	struct forge_section s[FORGE_SECTIONS];
	unsigned char *exact;

	for (unsigned i = 0; i < FORGE_SECTIONS; i++)
		s[i] = (struct forge_section){ p[i].bytes, p[i].len, false };
	forge_container(s, &file);
	must(rn_buf_status(&file) == RN_OK);
	exact = malloc(file.len);
	must(exact != NULL);
	*len = file.len;
	return memcpy(exact, file.data, file.len);
}

static void use(struct rn_trace *t, unsigned how)
{
	struct rn_arena mem;

	rn_arena_init(&mem, SIZE_MAX);
	trace_uses[how % TRACE_USES](t, &mem);
	rn_arena_free(&mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct payload p[FORGE_SECTIONS];
	struct rn_err err = { 0 };
	struct rn_trace t;
	unsigned char *bytes;
	size_t len;

	if (size == 0)
		return 0;
	(data[0] & 1 ? edited : cut_out)(data + 1, size - 1, p);
	bytes = contain(p, &len);
	rn_budget_set(MEMORY);
	if (is_done(rn_trace_parse(&t, bytes, len, &err))) {
		use(&t, data[0] >> 1);
		rn_trace_close(&t);
	} else {
		must(is_line(&err));
	}
	rn_budget_set(SIZE_MAX);
	free(bytes);
	return 0;
}
