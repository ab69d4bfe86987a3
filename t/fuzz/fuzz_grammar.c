/*
 * fuzz_grammar.c - libFuzzer target: the builder, by operations and by snapshots.
 *
 * The first byte chooses. Either the rest is a program of appends with snapshots and failing
 * allocations in between, and the sealed rules must give back the appended symbols; or the rest
 * is patched into a valid snapshot (nobody guesses one), which must be refused or be sound.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "grammar/grammar.h"
#include "rules/rules.h"

#define LIMIT ((size_t)1 << 28)

static void must(int condition)
{
	if (!condition)
		abort();
}

static struct rn_grammar *reborn(struct rn_arena *mem, const struct rn_grammar *g)
{
	struct rn_buf b = { 0 };
	struct rn_grammar *h = NULL;

	must(rn_grammar_snapshot(g, &b) == RN_OK);
	must(rn_grammar_restore(mem, b.data, b.len, &h, NULL) == RN_OK);
	rn_buf_free(&b);
	return h;
}

/* Appends and keeps what was appended; the allocation that a zero byte makes fail loses nothing. */
static struct rn_grammar *play(struct rn_arena *mem, struct rn_grammar *g, const uint8_t *p,
			       size_t n, uint32_t *log)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t t = p[i] & 31;

		if (p[i] >= 0xf8)
			g = reborn(mem, g);
		mem->fail_at = p[i] == 0 ? 1 : 0;
		if (rn_grammar_append(g, t) < 0) {
			mem->fail_at = 0;
			must(rn_grammar_append(g, t) == RN_OK);
		}
		mem->fail_at = 0;
		log[i] = t;
	}
	return g;
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
	g = play(mem, g, data + 1, size - 1, log);
	verify(mem, g, log, size - 1);
	free(log);
}

/* Pairs of (position, change) on the snapshot of a small grammar that has a bit of everything. */
static void snapshot(struct rn_arena *mem, const uint8_t *data, size_t size)
{
	struct rn_grammar *g = rn_grammar_new(mem, NULL), *h = NULL;
	struct rn_rules *r = rn_rules_new(mem);
	struct rn_buf b = { 0 };
	uint32_t root;

	for (uint32_t i = 0; i < 120u + data[0]; i++)
		must(rn_grammar_append(g, i % 9 == 4 ? i % 11 : i % 4) == RN_OK);
	must(rn_grammar_snapshot(g, &b) == RN_OK);
	for (size_t i = 1; i + 2 < size; i += 3)
		b.data[(data[i] | (size_t)data[i + 1] << 8) % b.len] ^= data[i + 2];
	if (rn_grammar_restore(mem, b.data, b.len, &h, NULL) == RN_OK) {
		must(rn_grammar_check(h));
		for (uint32_t i = 0; i < 40; i++)
			must(rn_grammar_append(h, i % 4) == RN_OK);
		must(rn_grammar_check(h));
		must(rn_rules_seal(r, h, &root) != RN_E_NOMEM);
	}
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
		snapshot(&mem, data, size);
	rn_arena_free(&mem);
	return 0;
}
