/*
 * fuzz_part.c - libFuzzer target: decoding a partial trace from hostile bytes.
 *
 * If bit 0 of the first byte is 0, the rest of the input is the partial trace. If it is 1, a good
 * partial trace of the pattern that the second byte selects is edited; the rest of the input is
 * the edits: offset, operation, byte. A decoded partial trace must satisfy all invariants. It is
 * merged after another one and finished.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "bench/rank_merge.h"
#include "bench/virtual.h"
#include "grammar/grammar.h"
#include "merge/stream_set.h"
#include "merge/stream_set_codec.h"
#include "model/merged_streams.h"
#include "t/unit/part_check.h"
#include "t/unit/whole.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RANKS 12
#define ROOM  4096

struct bytes {
	unsigned char data[ROOM];
	size_t len;
};

static void must(int condition)
{
	if (!condition)
		abort();
}

/* Makes the partial trace of ranks first .. first + n - 1 of a small run. */
static void good_part(unsigned pattern, struct rn_arena *mem, uint64_t first, uint64_t n,
		      struct rn_stream_set *out)
{
	struct virtual_run v;
	struct rn_arena scratch;
	uint64_t calls = 0;

	rn_arena_init(&scratch, SIZE_MAX);
	must(virtual_init(&v, virtual_patterns[pattern].name, 2 * RANKS, 4) == RN_OK);
	for (uint64_t r = first; r < first + n; r++) {
		struct rn_sigs *sigs = rn_sigs_new(mem);
		struct rn_grammar *g = rn_grammar_new(mem, NULL);
		struct rn_stream_set p;

		must(virtual_feed(&v, r, sigs, g, &calls) == RN_OK);
		must(rank_merge_leaf(r == first ? out : &p, mem, r, sigs, g) == RN_OK);
		must(r == first || rn_part_merge(out, &p, &scratch) == RN_OK);
	}
	rn_arena_free(&scratch);
}

static void good_bytes(unsigned pattern, uint64_t first, struct bytes *out)
{
	struct rn_buf b = { 0 };
	struct rn_arena mem;
	struct rn_stream_set p;

	rn_arena_init(&mem, SIZE_MAX);
	good_part(pattern, &mem, first, RANKS, &p);
	must(rn_part_encode(&p, &b) == RN_OK && b.len <= ROOM);
	memcpy(out->data, b.data, b.len);
	out->len = b.len;
	rn_buf_free(&b);
	rn_arena_free(&mem);
}

static void edit(struct bytes *p, unsigned at, unsigned what, unsigned char byte)
{
	at %= (unsigned)p->len + 1;
	switch (what % 4) {
	case 0:
		if (at < p->len)
			p->data[at] = byte;
		break;
	case 1:
		if (p->len < ROOM) {
			memmove(p->data + at + 1, p->data + at, p->len - at);
			p->data[at] = byte;
			p->len++;
		}
		break;
	case 2:
		if (at < p->len) {
			memmove(p->data + at, p->data + at + 1, p->len - at - 1);
			p->len--;
		}
		break;
	case 3:
		p->len = at;
	}
}

static void edited(const uint8_t *data, size_t size, struct bytes *p)
{
	static struct bytes good[16];
	unsigned pattern = size ? data[0] % virtual_patterns_count : 0;

	if (good[pattern].len == 0)
		good_bytes(pattern, RANKS, &good[pattern]);
	*p = good[pattern];
	for (size_t i = 1; i + 4 <= size && i < 100; i += 4)
		edit(p, data[i] | (unsigned)data[i + 1] << 8, data[i + 2], data[i + 3]);
}

/* Decodes the partial trace of the preceding ranks. It is encoded once, because encoding takes
 * longer than decoding. */
static void part_before(struct rn_arena *mem, struct rn_stream_set *out)
{
	static struct bytes before;

	if (before.len == 0)
		good_bytes(0, 0, &before);
	must(WHOLE(before.data, before.len, NULL,
		   rn_part_decode(mem, &whole, (struct rn_part_place){ 0, RANKS }, &virtual_vocab,
				  out, NULL)) == RN_OK);
}

/* Merges the partial trace after another one, as a rank of the merge does. */
static void use(const struct rn_stream_set *p, struct rn_arena *mem)
{
	struct rn_err err = { 0 };
	struct rn_arena scratch;
	struct rn_streams s;
	struct rn_stream_set all;

	must(is_part_sound(p) && p->first == RANKS && p->last < 2 * RANKS);
	rn_arena_init(&scratch, SIZE_MAX);
	part_before(mem, &all);
	must(rn_part_merge(&all, p, &scratch) == RN_OK && is_part_sound(&all));
	if (all.ranks == all.last + 1) {
		must(rn_part_finish(&all, mem, &scratch, &s) == RN_OK);
		must(rn_streams_check(&s, &scratch, &err) == RN_OK);
	}
	rn_arena_free(&scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bytes p;
	struct rn_err err = { 0 };
	unsigned char *copy;
	struct rn_arena mem;
	struct rn_stream_set part;

	if (size == 0 || size > ROOM)
		return 0;
	if (data[0] & 1) {
		edited(data + 1, size - 1, &p);
	} else {
		memcpy(p.data, data + 1, size - 1);
		p.len = size - 1;
	}
	/* A copy of the exact size: AddressSanitizer finds reads beyond its end. */
	copy = malloc(p.len + !p.len);
	must(copy != NULL);
	memcpy(copy, p.data, p.len);
	rn_arena_init(&mem, SIZE_MAX);
	if (WHOLE(copy, p.len, &err,
		  rn_part_decode(&mem, &whole, (struct rn_part_place){ RANKS, RANKS },
				 &virtual_vocab, &part, &err)) == RN_OK)
		use(&part, &mem);
	else
		must(err.text[0] && !strchr(err.text, '\n'));
	rn_arena_free(&mem);
	free(copy);
	return 0;
}
