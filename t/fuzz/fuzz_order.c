/*
 * fuzz_order.c - libFuzzer target: decoding the events of a thread from hostile bytes, in every
 * codec.
 *
 * The first byte selects the number of sites and their kinds. Decoded events are encoded by all
 * codecs, and must decode to the same events. The arena has a limit: a decoder that accepts a
 * forged count runs out of memory, which is a finding.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "order/event_codec.h"

#define SITES 4u
#define MOST  1024u /* bytes of input */
/* The memory that event_codec.h allows for MOST bytes, and that of the codecs. */
#define LIMIT (((size_t)64 << 10) * (MOST + 4) + ((size_t)8 << 20))

static void must(int condition)
{
	if (!condition)
		abort();
}

static void same(const struct rn_order *a, const struct rn_order *b)
{
	must(a->rows == b->rows && a->dones == b->dones && a->values == b->values);
	must(!a->rows || memcmp(a->row, b->row, a->rows * sizeof(*a->row)) == 0);
	must(!a->values || memcmp(a->value, b->value, a->values * sizeof(*a->value)) == 0);
	for (size_t i = 0; i < a->dones; i++) {
		const struct rn_order_done *x = &a->done[i], *y = &b->done[i];

		must(x->index == y->index && x->late == y->late && x->flags == y->flags);
		must(!(x->flags & RN_ORDER_MATCHED) ||
		     (x->source == y->source && x->tag == y->tag));
	}
}

static void code_again(const struct rn_order *o)
{
	for (unsigned c = 0; c < RN_ORDER_CODECS; c++) {
		struct rn_arena mem;
		struct rn_buf out = { 0 };
		struct rn_order again;

		rn_arena_init(&mem, SIZE_MAX);
		must(rn_order_encode(&mem, c, o, &out) == RN_OK);
		must(rn_order_decode(&mem, o->site, o->sites, out.data, out.len, &again, NULL) ==
		     RN_OK);
		same(o, &again);
		rn_buf_free(&out);
		rn_arena_free(&mem);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rn_order_site site[SITES] = { { 0 } };
	struct rn_err err = { 0 };
	struct rn_arena mem;
	struct rn_order o;
	int rc;

	if (size == 0 || size > MOST)
		return 0;
	for (unsigned i = 0; i < SITES; i++)
		site[i].kind = data[0] >> (i + 2) & 1 ? RN_ORDER_VALUE : RN_ORDER_SOME;
	rn_arena_init(&mem, LIMIT);
	rc = rn_order_decode(&mem, site, 1 + (data[0] & 3), data + 1, size - 1, &o, &err);
	must(rc == RN_OK || (rc == RN_E_DATA && err.text[0] && !strchr(err.text, '\n')));
	if (rc == RN_OK)
		code_again(&o);
	rn_arena_free(&mem);
	return 0;
}
