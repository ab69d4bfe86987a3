/*
 * fuzz_rules.c - libFuzzer target: decoding a pool of rules from hostile bytes.
 *
 * Decoded rules must pass their check, be encoded to the same bytes, and be iterable from both
 * ends, for any nesting depth and any claimed length of the expansion.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/varint.h"
#include "rules/rules.h"

#define TERMINALS 256
#define LIMIT     ((size_t)1 << 30)

static void must(int condition)
{
	if (!condition)
		abort();
}

static void walk(struct rn_arena *mem, const struct rn_rules *r, uint32_t root)
{
	uint64_t length = rn_rules_length(r, root);
	uint32_t t, buf[64];
	struct rn_walk w;

	must(rn_walk_init(&w, r, root, mem) == RN_OK);
	must(rn_walk_read(&w, buf, 64) == (length < 64 ? length : 64));
	must(rn_walk_seek(&w, length / 2) == RN_OK);
	must(rn_walk_next(&w, &t) == (length > 0));
	must(rn_walk_seek(&w, length) == RN_OK && rn_walk_next(&w, &t) == 0);
	for (uint64_t i = 0; i < 64 && i < length; i++)
		must(rn_walk_seek(&w, length - 1 - i) == RN_OK && rn_walk_next(&w, &t) == 1 &&
		     t < TERMINALS);
}

static void code_again(const struct rn_rules *r, const uint8_t *data, size_t used)
{
	struct rn_buf out = { 0 };

	must(rn_rules_encode(r, &out) == RN_OK);
	/* Literal runs may have been encoded by another codec than the encoder selects. */
	if (rn_rules_literals(r) == 0)
		must(out.len == used && memcmp(out.data, data, used) == 0);
	rn_buf_free(&out);
}

/* Decodes the same bytes as bodies of a builder, which may differ from the normal form. */
static void decode_bodies(struct rn_arena *mem, const uint8_t *data, size_t size)
{
	struct rn_reader in = rn_reader(data, size);
	struct rn_rules *r;
	uint32_t root;

	if (rn_rules_decode_grammar(mem, &in, TERMINALS, &r, &root, NULL) < 0)
		return;
	must(rn_rules_check(r) && root < rn_rules_count(r));
	walk(mem, r, root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rn_reader in = rn_reader(data, size);
	struct rn_rules *r = NULL;
	struct rn_err err = { 0 };
	struct rn_arena mem;
	int rc;

	rn_arena_init(&mem, LIMIT);
	rc = rn_rules_decode(&mem, &in, TERMINALS, &r, &err);
	must(rc == RN_OK || (rc == RN_E_DATA && err.text[0] && !strchr(err.text, '\n')));
	if (rc == RN_OK) {
		must(rn_rules_check(r));
		code_again(r, data, size - rn_left(&in));
		for (uint32_t i = rn_rules_count(r); i-- > 0 && i + 8 > rn_rules_count(r);)
			walk(&mem, r, i);
	}
	decode_bodies(&mem, data, size);
	rn_arena_free(&mem);
	return 0;
}
