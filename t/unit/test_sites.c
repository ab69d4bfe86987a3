/* test_sites.c - call sites as bytes and as the section `sites`: round trips and hostile bytes. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "encode/callsite.h"
#include "encode/signature.h"
#include "encode/template.h"
#include "take_sites.h"
#include "tap.h"
#include "call_writer.h"
#include "whole.h"

#include <stdio.h>
#include <string.h>

static const char *const params[] = { "a" };
static const struct rn_func funcs[] = { { 0, "f", params, 1, NULL } };
static const struct rn_vocab vocab = { funcs, NULL, 1, 0 };

#define STACKS 500

static struct rn_callsite made[STACKS];
static char names[8][8];
static unsigned char ids[8][20];

static struct rn_code_module module(unsigned i)
{
	snprintf(names[i], sizeof(names[i]), "m%u", i);
	memset(ids[i], (int)i + 1, sizeof(ids[i]));
	return (struct rn_code_module){ names[i], strlen(names[i]), ids[i], i % 3 ? 20u : 0u };
}

/* Makes stacks with common prefixes. The first one is unknown. */
static void make_stacks(void)
{
	for (unsigned i = 1; i < STACKS; i++) {
		unsigned n = 1 + (unsigned)(tap_rand() % 12);

		for (unsigned k = n; k > 0; k--) {
			uint64_t x = tap_rand() % 3;

			rn_callsite_add(&made[i], module((unsigned)x), k * 100 + x);
		}
	}
}

static bool same(const struct rn_callsite *a, const struct rn_callsite *b)
{
	if (a->frames != b->frames)
		return false;
	for (uint32_t i = 0; i < a->frames; i++) {
		const struct rn_code_module *x = &a->module[a->frame[i].module],
					    *y = &b->module[b->frame[i].module];

		if (a->frame[i].offset != b->frame[i].offset || x->name_len != y->name_len ||
		    memcmp(x->name, y->name, x->name_len) != 0 || x->id_len != y->id_len ||
		    (x->id_len && memcmp(x->id, y->id, x->id_len) != 0))
			return false;
	}
	return true;
}

static void test_bytes(void)
{
	static unsigned char bytes[RN_CALLSITE_BYTES];
	struct rn_callsite back;

	for (unsigned i = 0; i < STACKS; i++) {
		size_t n = rn_callsite_write(&made[i], bytes);

		CHECK(n <= sizeof(bytes) && rn_callsite_read(bytes, n, &back));
		CHECK(same(&made[i], &back));
		CHECK(!rn_callsite_read(bytes, n - 1, &back) || back.frames < made[i].frames);
	}
}

/* Bytes that rn_callsite_write never writes. Two such encodings could represent the same stack. */
static void test_not_canonical(void)
{
	static const struct {
		size_t len;
		unsigned char bytes[12];
	} bad[] = {
		{ 6, { 1, 1, 'm', 2, 0, 16 } },                  /* a module without a frame */
		{ 9, { 2, 1, 'm', 0, 1, 'n', 0, 0, 16 } },       /* one of two modules */
		{ 11, { 2, 1, 'm', 0, 1, 'm', 0, 0, 1, 1, 2 } }, /* a module twice */
		{ 11, { 2, 1, 'm', 0, 1, 'n', 0, 1, 1, 0, 2 } }, /* not in the order of use */
	};
	struct rn_callsite back;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(!rn_callsite_read(bad[i].bytes, bad[i].len, &back));
}

static size_t signature(unsigned char *buf, size_t cap, int64_t arg, const void *site, size_t n)
{
	struct rn_buf w;
	size_t len;

	call_begin(&w, buf, cap, 0);
	rn_call_num(&w, RN_V_INT, arg);
	rn_call_num(&w, RN_V_INT, 0);
	if (site)
		rn_call_text(&w, RN_V_STRING, site, n);
	CHECK(call_done(&w, &len) == RN_OK && rn_call_valid(buf, len, &vocab));
	return len;
}

/* Decodes the stack with an id from the section. */
static void unfold(const struct rn_sites *s, uint32_t number, struct rn_callsite *out)
{
	out->modules = out->frames = 0;
	for (; number; number = s->node[number - 1].caller)
		rn_callsite_add(out, s->module[s->node[number - 1].module],
				s->node[number - 1].offset);
}

/* Signature i has stack i, except the last one, which has none. */
static struct rn_sigs *all_sigs(struct rn_arena *mem)
{
	static unsigned char site[RN_CALLSITE_BYTES], buf[RN_CALLSITE_BYTES + 64];
	struct rn_sigs *sigs = rn_sigs_new(mem);
	uint32_t id;

	for (unsigned i = 0; i <= STACKS; i++) {
		size_t n = i < STACKS ? rn_callsite_write(&made[i], site) : 0;
		size_t len = signature(buf, sizeof(buf), i, i < STACKS ? site : NULL, n);

		CHECK(rn_sigs_intern(sigs, buf, len, &id) == RN_OK && id == i);
	}
	return sigs;
}

static void check_sigs(const struct rn_sites *s, const struct rn_sigs *sigs)
{
	for (unsigned i = 0; i <= STACKS; i++) {
		struct rn_callsite back;
		struct rn_sig_contents has;
		size_t len;
		const void *sig = rn_sigs_get(sigs, i, &len);

		CHECK(rn_sig_scan(sig, len, &vocab, &has));
		if (!CHECK((has.stacks > 0) == (i < STACKS)) || i == STACKS)
			continue;
		unfold(s, (uint32_t)has.max_site, &back);
		CHECK(same(&made[i], &back));
	}
}

static struct rn_buf section;

static void test_section(void)
{
	struct rn_arena mem;
	const struct rn_sigs *out;
	struct rn_sites s, none = { 0 };
	struct rn_err err;

	rn_arena_init(&mem, SIZE_MAX);
	CHECK(take_sites(&mem, all_sigs(&mem), &vocab, &out, &section) == RN_OK);
	if (CHECK(WHOLE(section.data, section.len, &err, rn_sites_decode(&mem, &whole, &s, &err)) ==
		  RN_OK)) {
		CHECK(rn_sites_fit(&s, out, &vocab, &err) == RN_OK);
		CHECK(rn_sites_fit(&none, out, &vocab, &err) == RN_E_DATA);
		check_sigs(&s, out);
	}
	rn_arena_free(&mem);
}

/* Each node refers to a lower node and to an existing module, and its depth is limited. */
static void check_sound(const struct rn_sites *s)
{
	for (uint32_t i = 0; i < s->nodes; i++) {
		unsigned depth = 1;

		CHECK(s->node[i].caller <= i && s->node[i].module < s->modules);
		for (uint32_t k = s->node[i].caller; k; k = s->node[k - 1].caller)
			depth++;
		CHECK(depth <= RN_CALLSITE_FRAMES);
	}
}

static void test_hostile(void)
{
	for (unsigned i = 0; i < 20000; i++) {
		struct rn_arena mem;
		struct rn_sites s;
		struct rn_err err;
		size_t at = tap_rand() % section.len;
		unsigned char was = section.data[at];
		size_t len = tap_rand() % 4 ? section.len : tap_rand() % section.len;

		rn_arena_init(&mem, SIZE_MAX);
		section.data[at] = (unsigned char)tap_rand();
		if (WHOLE(section.data, len, &err, rn_sites_decode(&mem, &whole, &s, &err)) ==
		    RN_OK)
			check_sound(&s);
		section.data[at] = was;
		rn_arena_free(&mem);
	}
}

static void test_deep(void)
{
	struct rn_buf b = { 0 };
	struct rn_arena mem;
	struct rn_sites s;
	struct rn_err err;

	rn_arena_init(&mem, SIZE_MAX);
	rn_buf_u64(&b, 1);
	rn_buf_u64(&b, 0);
	rn_buf_u64(&b, 0);
	rn_buf_u64(&b, RN_CALLSITE_FRAMES + 1);
	for (uint64_t i = 0; i <= RN_CALLSITE_FRAMES; i++) {
		rn_buf_u64(&b, i);
		rn_buf_u64(&b, 0);
		rn_buf_u64(&b, 5);
	}
	CHECK(WHOLE(b.data, b.len, &err, rn_sites_decode(&mem, &whole, &s, &err)) == RN_E_DATA);
	rn_buf_free(&b);
	rn_arena_free(&mem);
}

int main(void)
{
	make_stacks();
	test_bytes();
	ok("stacks are what their bytes say");
	test_not_canonical();
	ok("bytes that are not written for a stack are refused");
	test_section();
	ok("signatures have their stacks by number");
	test_deep();
	test_hostile();
	ok("hostile bytes are refused, or are stacks");
	rn_buf_free(&section);
	return tap_done();
}
