/*
 * fuzz_comms.c - libFuzzer target: decoding a set of communicators from hostile bytes.
 *
 * A decoded set is searched, merged into an empty set and into one with a lower rank, and encoded
 * again. The bytes must then decode to the same entries. A set that represents very many ranks is
 * only searched, because iterating over them takes long without being a finding.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "identity/comm_table.h"

#define LIMIT     ((size_t)256 << 20)
#define FEW_RANKS 2000

static void must(int condition)
{
	if (!condition)
		abort();
}

static int see_member(void *arg, uint64_t rank, uint64_t world_rank)
{
	uint64_t *next = arg;

	must(rank >= *next && world_rank < RN_COMM_RANKS_MAX);
	*next = rank + 1;
	return 0;
}

static void ask(const struct rn_comms *c, const char *name, size_t len, uint64_t rank)
{
	struct rn_comm_entry e;
	uint64_t next = 0;
	int rc = rn_comms_find(c, name, len, rank, &e);

	must(rc == RN_OK || rc == RN_E_RANGE || rc == RN_E_DATA);
	must(rc != RN_OK || e.my_rank < e.size);
	if (rn_comms_ranks(c) > FEW_RANKS)
		return;
	rc = rn_comms_members(c, name, len, rank, see_member, &next);
	must(rc == RN_OK || rc == RN_E_RANGE || rc == RN_E_DATA);
	next = 0;
	rc = rn_comms_remote_members(c, name, len, rank, see_member, &next);
	must(rc == RN_OK || rc == RN_E_RANGE || rc == RN_E_DATA);
}

static void same_entries(const struct rn_comms *a, const struct rn_comms *b)
{
	must(rn_comms_count(a) == rn_comms_count(b) && rn_comms_ranks(a) == rn_comms_ranks(b));
	for (uint32_t i = 0; i < rn_comms_count(a); i++) {
		size_t len;
		const char *name = rn_comms_name(a, i, &len);

		for (uint64_t r = 0; r < rn_comms_ranks(a) && r < 64; r++) {
			struct rn_comm_entry x, y;
			int rc = rn_comms_find(a, name, len, r, &x);

			must(rc == rn_comms_find(b, name, len, r, &y));
			must(rc != RN_OK || memcmp(&x, &y, sizeof(x)) == 0);
		}
	}
}

static void code_again(struct rn_arena *mem, const struct rn_comms *c)
{
	struct rn_comms *merged = rn_comms_new(mem), *again;
	struct rn_buf out = { 0 }, second = { 0 };
	int rc = rn_comms_encode(c, &out);

	must(merged && rn_comms_merge(merged, c) == RN_OK);
	same_entries(c, merged);
	must(rc == RN_OK || rc == RN_E_DATA);
	must(rn_comms_encode(merged, &second) == rc);
	if (rc == RN_OK) {
		must(out.len == second.len && memcmp(out.data, second.data, out.len) == 0);
		must(rn_comms_decode(mem, out.data, out.len, &again, NULL) == RN_OK);
		same_entries(c, again);
	}
	rn_buf_free(&out);
	rn_buf_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rn_arena mem;
	struct rn_comms *c;
	struct rn_err err = { 0 };
	int rc;

	rn_arena_init(&mem, LIMIT);
	rc = rn_comms_decode(&mem, data, size, &c, &err);
	must(rc == RN_OK || (rc == RN_E_DATA && err.text[0] && !strchr(err.text, '\n')));
	if (rc == RN_OK) {
		for (uint32_t i = 0; i < rn_comms_count(c) && i < 100; i++) {
			size_t len;
			const char *name = rn_comms_name(c, i, &len);

			for (uint64_t r = 0; r < 9; r++)
				ask(c, name, len, r);
			ask(c, name, len, rn_comms_ranks(c) - 1);
		}
		if (rn_comms_ranks(c) <= FEW_RANKS) {
			rc = rn_comms_check(c, &err);
			must(rc == RN_OK || rc == RN_E_DATA);
			code_again(&mem, c);
		}
	}
	rn_arena_free(&mem);
	return 0;
}
