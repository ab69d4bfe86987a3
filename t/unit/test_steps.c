/*
 * test_steps.c - long lists in stored signatures: they decode to the same bytes, are small, and
 * reject hostile bytes.
 */
#include "base/buf.h"
#include "encode/signature.h"
#include "call_writer.h"
#include "model/list_delta.h"
#include "tap.h"

#include <string.h>

#define CAP ((size_t)1 << 20)

static unsigned char sig[CAP];
static struct rn_buf packed, back;

static int64_t some_number(void)
{
	return (int64_t)(tap_rand() >> tap_below(64));
}

/* Writes a value that has no elements. */
static void put_simple(struct rn_buf *w)
{
	switch (tap_below(6)) {
	case 0:
		rn_call_const(w, (uint32_t)tap_below(40));
		break;
	case 1:
		rn_call_object(w, (uint32_t)tap_below(3), tap_rand() >> tap_below(64));
		break;
	case 2:
		rn_call_place(w, (uint32_t)tap_below(3), tap_below(2), some_number());
		break;
	case 3:
		rn_call_text(w, RN_V_STRING, "some text", tap_below(10));
		break;
	default:
		rn_call_num(w, (enum rn_value_kind)tap_below(4), some_number());
	}
}

static void put_status(struct rn_buf *w, uint64_t i)
{
	if (tap_below(4) == 0)
		rn_call_in(w, "comm:world.1", 12);
	rn_call_status(w, RN_STATUS_FULL);
	rn_call_num(w, RN_V_REL, (int64_t)i);
	for (uint64_t k = 0; k < 4; k++)
		rn_call_num(w, RN_V_INT, (int64_t)(k + tap_below(2)));
}

static void put_element(struct rn_buf *w, unsigned how, uint64_t i)
{
	if (how == 0) {
		rn_call_place(w, 1, 0, (int64_t)i);
	} else if (how == 1) {
		put_status(w, i);
	} else if (how == 2) {
		put_simple(w);
	} else {
		rn_call_list(w, 2);
		rn_call_num(w, RN_V_INT, (int64_t)(3 * i));
		put_simple(w);
	}
}

static size_t random_signature(uint64_t elements)
{
	struct rn_buf w;
	size_t len;

	call_begin(&w, sig, CAP, (uint32_t)tap_below(1000));
	for (uint64_t lists = tap_below(3) + 1; lists > 0; lists--) {
		unsigned how = (unsigned)tap_below(4);

		put_simple(&w);
		rn_call_list(&w, elements);
		for (uint64_t i = 0; i < elements; i++)
			put_element(&w, how, i);
	}
	return call_end(&w, 0, &len) == RN_OK ? len : 0;
}

static bool round_trip(size_t len)
{
	if (!rn_steps_needed(sig, len))
		return true;
	rn_buf_clear(&packed);
	rn_buf_clear(&back);
	rn_steps_pack(sig, len, &packed);
	return rn_buf_status(&packed) == RN_OK && rn_steps_needed(packed.data, packed.len) &&
	       rn_steps_unpack(packed.data, packed.len, &back) && back.len == len &&
	       memcmp(back.data, sig, len) == 0;
}

static void test_random(void)
{
	for (int i = 0; i < 3000; i++)
		CHECK(round_trip(random_signature(tap_below(200))));
}

static void test_which(void)
{
	struct rn_buf w;
	size_t len;

	for (uint64_t n = 60; n < 70; n++) {
		call_begin(&w, sig, CAP, 7);
		rn_call_list(&w, n);
		for (uint64_t i = 0; i < n; i++)
			rn_call_object(&w, 3, i);
		call_end(&w, 0, &len);
		CHECK(rn_steps_needed(sig, len) == (n > RN_STEPS_FEW));
	}
}

/* A step and the values close to it: one byte each. */
static void test_small(void)
{
	struct rn_buf w;
	uint64_t n = 50000;
	size_t len;

	call_begin(&w, sig, CAP, 7);
	rn_call_list(&w, n);
	for (uint64_t i = 0; i < n; i++)
		rn_call_place(&w, 3, 0, (int64_t)i);
	CHECK(call_end(&w, 0, &len) == RN_OK);
	CHECK(round_trip(len));
	CHECK(packed.len < n + 16);
	for (size_t i = 12; i < 1000; i++)
		CHECK(packed.data[i] == (2u << 4 | RN_STEPS_KIND));
}

static void test_hostile(void)
{
	uint64_t taken = 0;

	for (int i = 0; i < 3000; i++) {
		if (!round_trip(random_signature(65 + tap_below(10))))
			continue;
		for (int k = 0; k < 20; k++) {
			packed.data[tap_below(packed.len)] = (unsigned char)tap_rand();
			rn_buf_clear(&back);
			taken += rn_steps_unpack(packed.data, tap_below(packed.len + 1), &back);
			CHECK(back.len <= 32 * packed.len);
		}
	}
	diag("%llu damaged ones could be unpacked", (unsigned long long)taken);
}

int main(void)
{
	test_which();
	ok("long lists are stored as steps, others as they are");
	test_random();
	ok("signatures come back as they were");
	test_small();
	ok("a regular list takes a byte for an element");
	test_hostile();
	ok("damaged bytes do no harm");
	rn_buf_free(&packed);
	rn_buf_free(&back);
	return tap_done();
}
