/*
 * fuzz_salvage.c - libFuzzer target: a part file as hostile bytes.
 *
 * Bits 0 and 1 of the first byte select a good file (t/unit/good_parts.h). The other bytes are
 * edits: the word (2 bytes), the operation, a byte. Words that are 0 are edited only after one that
 * is not.
 *
 * If bit 6 is 0, the file is recovered, as `rondo recover` does it. The trace must be one that can
 * be opened and passes `rondo check`. If bit 6 is 1, the calls of the processes and their waits are
 * determined, as `rondo recover --live` does it.
 *
 * The bytes of one input of REPAIR_EVERY are corrected before (recover/journal_repair.h). This
 * takes the time of many other inputs. A hash selects them, so the fuzzer cannot prefer them.
 *
 * If bit 7 is 0, the checksums are forged after the edits (t/unit/forge_part.h). The trace must
 * then be one that can be opened. It need not pass `rondo check`, because nothing else verifies
 * what the checksums cover. The same holds for a file with requests: the numbers in rings and the
 * calls in flight have no checksum, and may refer to a request that does not exist.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/hang.h"
#include "base/arena.h"
#include "base/budget.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/io.h"
#include "read/trace.h"
#include "read/trace_check.h"
#include "recover/journal_read.h"
#include "recover/journal_repair.h"
#include "recover/recover.h"
#include "t/unit/forge_part.h"
#include "t/unit/good_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define EDIT          4u
#define EDITS_MAX     20u
#define REPAIR_EVERY  64u
#define RANKS_CHECKED 10000u
/* The commands allow 224 MiB (src/cmd/options.c). Inputs that need so much would take most of the
 * time. */
#define MEMORY ((size_t)8 << 20)

/* A good file, and the words of it that are edited. */
struct good {
	struct rn_buf file;
	size_t *word, words;
	unsigned char *copy;
};

static const char *temporary(const char *what)
{
	return private_path("/dev/shm", what);
}

static bool is_zero(const unsigned char *word)
{
	static const unsigned char zero[8];

	return memcmp(word, zero, sizeof(zero)) == 0;
}

static void find_words(struct good *g)
{
	const struct rn_buf *f = &g->file;

	g->word = calloc(f->len / 8, sizeof(*g->word));
	must(g->word != NULL);
	for (size_t at = 0; at + 8 <= f->len; at += 8)
		if (!is_zero(f->data + at) || (at && !is_zero(f->data + at - 8)))
			g->word[g->words++] = at;
}

static struct good *good_file(enum good_part kind)
{
	static struct good all[GOOD_PARTS];
	struct good *g = &all[kind];

	if (g->words)
		return g;
	unlink(temporary("part"));
	write_good_part(temporary("part"), kind);
	must(rn_io_read(temporary("part"), &g->file, NULL) == RN_OK);
	unlink(temporary("part"));
	find_words(g);
	return g;
}

static void edit(unsigned char *b, size_t *len, size_t at, const uint8_t *how, size_t other)
{
	unsigned what = how[2], byte = how[3];
	uint64_t word;

	if (at + 8 > *len)
		return;
	memcpy(&word, b + at, 8);
	if (what % 5 == 0)
		b[at + what / 5 % 8] = (unsigned char)byte;
	else if (what % 5 == 1)
		word += (uint64_t)(int64_t)(signed char)byte << 32 * (what / 5 % 2);
	else if (what % 5 == 2)
		word = (uint64_t)byte << what / 5 % 57;
	else if (what % 5 == 3 && other + 8 <= *len)
		memcpy(&word, b + other, 8);
	else if (what % 5 == 4 && byte == 0)
		*len = at + 1;
	if (what % 5)
		memcpy(b + at, &word, *len - at < 8 ? *len - at : 8);
}

/* A copy that is exactly as long as the file: AddressSanitizer finds reads beyond its end. The
 * memory of whole files is reused. */
static unsigned char *edited(struct good *g, const uint8_t *data, size_t size, size_t *len)
{
	unsigned char *b = g->copy ? g->copy : malloc(g->file.len), *exact;

	must(b != NULL);
	g->copy = b;
	memcpy(b, g->file.data, g->file.len);
	*len = g->file.len;
	for (size_t i = 0; i + EDIT <= size && i < EDITS_MAX * EDIT; i += EDIT) {
		size_t n = data[i] | (size_t)data[i + 1] << 8;

		edit(b, len, g->word[n % g->words], data + i,
		     g->word[(n + data[i + 3]) % g->words]);
	}
	if (*len == g->file.len)
		return b;
	exact = malloc(*len);
	must(exact != NULL);
	return memcpy(exact, b, *len);
}

/* Whether the memory limit was exceeded. */
static bool is_over(int rc)
{
	return rc == RN_E_NOMEM && rn_budget_exceeded();
}

static bool is_line(const struct rn_err *err)
{
	return err->text[0] && !strchr(err->text, '\n');
}

static void put_together(const unsigned char *b, size_t len, bool sound)
{
	struct rn_node_file file = { .bytes = b, .len = len };
	struct rn_recovered r;
	struct rn_err err = { 0 };
	struct rn_trace t;
	int rc = rn_recover(&file, 1, RN_RECOVER_INVALID, temporary("trace"), &r, &err);

	rn_recovered_free(&r);
	must(rc == RN_OK || ((rc == RN_E_DATA || is_over(rc)) && is_line(&err)));
	if (rc < 0)
		return;
	must(rn_trace_open(&t, temporary("trace"), &err) == RN_OK);
	/* Ranks are checked one by one, and a few bytes can claim millions. */
	if (t.streams.ranks <= RANKS_CHECKED)
		must(rn_trace_check(&t, &err) == RN_OK || !sound);
	rn_trace_close(&t);
	unlink(temporary("trace")); /* otherwise it would be stored as an old trace */
}

static void look_at(const unsigned char *b, size_t len)
{
	struct rn_arena mem;
	struct rn_salvage s;
	struct rn_standstill all;
	struct rn_err err = { 0 };
	struct rn_sight *sight;

	rn_arena_init(&mem, SIZE_MAX);
	if (rn_salvage(&mem, b, len, RN_SALVAGE_NOW, &s, &err) == RN_OK) {
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
	bool forged = size && !(data[0] & 128);
	struct good *g;
	unsigned char *b;
	size_t len;

	if (!size)
		return 0;
	g = good_file(data[0] % GOOD_PARTS);
	b = edited(g, data + 1, size - 1, &len);
	if (forged)
		forge_part(b, len);
	if (rn_hash(data, size) % REPAIR_EVERY == 0)
		rn_journal_repair(b, len, RUN);
	rn_budget_set(MEMORY);
	if (data[0] & 64)
		look_at(b, len);
	else
		put_together(b, len, !forged && g != good_file(GOOD_SEGMENTS));
	rn_budget_set(SIZE_MAX);
	if (b != g->copy)
		free(b);
	return 0;
}
