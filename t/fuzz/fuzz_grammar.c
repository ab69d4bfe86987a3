/*
 * fuzz_grammar.c - libFuzzer target: the grammar builder, by operations and by its encoded bodies.
 *
 * The first byte selects one of two modes. In one, the rest is a program of appends, some of which
 * have a failing allocation; the sealed rules and the encoded bodies must expand to the appended
 * symbols. In the other, the rest is patched into encoded bodies, which must be rejected or be
 * sound.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/varint.h"
#include "grammar/grammar.h"
#include "rules/rules.h"

#define LIMIT ((size_t)1 << 28)

static void must(int condition)
{
	if (!condition)
		abort();
}

/* The decoded bodies are equal to the rules that sealing returns. */
static void verify_bodies(struct rn_arena *mem, const struct rn_grammar *g)
{
	struct rn_rules *r = rn_rules_new(mem), *back;
	struct rn_buf b = { 0 };
	struct rn_reader in;
	uint32_t root, again, *memo;

	must(r && rn_rules_seal(r, g, &root) == RN_OK);
	must(rn_rules_encode_grammar(g, mem, &b) == RN_OK);
	in = rn_reader(b.data, b.len);
	must(rn_rules_decode_grammar(mem, &in, 32, &back, &again, NULL) == RN_OK);
	must(rn_left(&in) == 0 && rn_rules_check(back));
	memo = rn_new(mem, uint32_t, rn_rules_count(back));
	memset(memo, 0xff, rn_rules_count(back) * sizeof(*memo));
	must(rn_rules_import(r, back, again, NULL, memo, &again) == RN_OK && again == root);
	rn_buf_free(&b);
}

/* Appends symbols and stores them. A zero byte makes an allocation fail, which loses no symbol. */
static void play(struct rn_arena *mem, struct rn_grammar *g, const uint8_t *p, size_t n,
		 uint32_t *log)
{
	unsigned bodies = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t t = p[i] & 31;

		if (p[i] >= 0xf8 && bodies++ < 100)
			verify_bodies(mem, g);
		mem->fail_at = p[i] == 0 ? 1 : 0;
		if (rn_grammar_append(g, t) < 0) {
			mem->fail_at = 0;
			must(rn_grammar_append(g, t) == RN_OK);
		}
		mem->fail_at = 0;
		log[i] = t;
	}
}

static void verify(struct rn_arena *mem, const struct rn_grammar *g, const uint32_t *log, size_t n)
{
	struct rn_rules *r = rn_rules_new(mem);
	uint32_t root, *back = malloc((n + 1) * sizeof(*back));
	struct rn_walk w;

	must(back && r && rn_grammar_check(g) && rn_rules_seal(r, g, &root) == RN_OK);
	must(rn_rules_check(r) && rn_walk_init(&w, r, root, mem) == RN_OK);
	must(rn_walk_read(&w, back, n + 1) == n && (!n || !memcmp(back, log, n * sizeof(*log))));
	free(back);
}

static void operations(struct rn_arena *mem, const uint8_t *data, size_t size)
{
	struct rn_grammar_opts opts = { data[0] & 2 ? 64 : 0 };
	struct rn_grammar *g = rn_grammar_new(mem, &opts);
	uint32_t *log = malloc((size + 1) * sizeof(*log));

	must(g && log);
	play(mem, g, data + 1, size - 1, log);
	verify(mem, g, log, size - 1);
	free(log);
}

/* Applies pairs of (position, change) to the bodies of a small grammar with all kinds of items. */
static void bodies(struct rn_arena *mem, const uint8_t *data, size_t size)
{
	struct rn_grammar *g =
		rn_grammar_new(mem, &(struct rn_grammar_opts){ data[0] & 2 ? 8 : 0 });
	struct rn_rules *r;
	struct rn_buf b = { 0 };
	struct rn_reader in;
	uint32_t root;

	for (uint32_t i = 0; i < 120u + data[0]; i++)
		must(rn_grammar_append(g, i % 9 == 4 ? i % 11 : i % 4) == RN_OK);
	must(rn_rules_encode_grammar(g, mem, &b) == RN_OK);
	for (size_t i = 1; i + 2 < size; i += 3)
		b.data[(data[i] | (size_t)data[i + 1] << 8) % b.len] ^= data[i + 2];
	in = rn_reader(b.data, b.len);
	if (rn_rules_decode_grammar(mem, &in, 32, &r, &root, NULL) == RN_OK)
		must(rn_rules_check(r) && root < rn_rules_count(r));
	rn_buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rn_arena mem;

	if (size < 1 || size > 20000)
		return 0;
	rn_arena_init(&mem, LIMIT);
	if (data[0] & 1)
		operations(&mem, data, size);
	else
		bodies(&mem, data, size);
	rn_arena_free(&mem);
	return 0;
}
