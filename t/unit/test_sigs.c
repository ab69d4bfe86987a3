/* test_sigs.c - the signature table against a plain array, and with every allocation failing. */
#include "tap.h"

#include <string.h>

#include "base/arena.h"
#include "base/intern.h"

#define MODEL 3000

/* The model: the interned signatures, in order. */
static struct {
	unsigned char bytes[40];
	size_t len;
} model[MODEL];
static uint32_t models;

static uint32_t model_find(const unsigned char *bytes, size_t len)
{
	uint32_t i = 0;

	while (i < models && (model[i].len != len || memcmp(model[i].bytes, bytes, len)))
		i++;
	return i;
}

/* Few different bytes and lengths, so that equal signatures, prefixes and small differences are
 * frequent. */
static size_t random_sig(unsigned char *bytes)
{
	size_t len = tap_below(40), i;

	memset(bytes, 'a', len);
	for (i = 0; i < 2 && len; i++)
		bytes[tap_below(len)] = (unsigned char)('a' + tap_below(6));
	return len;
}

static void same_as_model(const struct rn_sigs *s)
{
	CHECK(rn_sigs_count(s) == models);
	for (uint32_t i = 0; i < models; i++) {
		size_t len;
		const void *bytes = rn_sigs_get(s, i, &len);

		CHECK(len == model[i].len && memcmp(bytes, model[i].bytes, len) == 0);
	}
	CHECK(rn_sigs_check(s));
}

static void intern_one(struct rn_sigs *s)
{
	unsigned char bytes[40];
	size_t len = random_sig(bytes);
	uint32_t want = model_find(bytes, len), id = UINT32_MAX;
	int rc;

	CHECK(rn_sigs_find(s, bytes, len, &id) == (want < models));
	CHECK(want == models || id == want);
	rc = rn_sigs_intern(s, bytes, len, &id);
	if (rc == RN_E_NOMEM) {
		CHECK(rn_sigs_count(s) == models && rn_sigs_check(s));
		rc = rn_sigs_intern(s, bytes, len, &id);
	}
	CHECK(rc == RN_OK && id == want);
	CHECK(rn_sigs_find(s, bytes, len, &id) && id == want);
	if (want == models) {
		memcpy(model[models].bytes, bytes, len);
		model[models++].len = len;
	}
}

static void test_model(void)
{
	struct rn_arena mem;
	struct rn_sigs *s;

	rn_arena_init(&mem, SIZE_MAX);
	s = rn_sigs_new(&mem);
	for (int round = 0; round < 5; round++) {
		models = 0;
		rn_sigs_reset(s);
		for (int i = 0; i < 20000 && models < MODEL; i++)
			intern_one(s);
		same_as_model(s);
	}
	rn_arena_free(&mem);
}

static void test_copy(void)
{
	struct rn_arena mem;
	struct rn_sigs *a, *b;
	uint32_t id;

	rn_arena_init(&mem, SIZE_MAX);
	a = rn_sigs_new(&mem);
	b = rn_sigs_new(&mem);
	CHECK(rn_sigs_intern(a, "x", 1, &id) == RN_OK && id == 0);
	CHECK(rn_sigs_intern(a, "", 0, &id) == RN_OK && id == 1);
	CHECK(rn_sigs_intern(b, "y", 1, &id) == RN_OK && id == 0);
	CHECK(rn_sigs_copy(b, a, 1, &id) == RN_OK && id == 1);
	CHECK(rn_sigs_copy(b, a, 0, &id) == RN_OK && id == 2);
	CHECK(rn_sigs_copy(b, a, 1, &id) == RN_OK && id == 1);
	CHECK(rn_sigs_check(b) && rn_sigs_count(b) == 3);
	rn_arena_free(&mem);
}

/* The n-th allocation fails, for every n. */
static void test_failures(void)
{
	bool failed = true;

	for (uint64_t n = 1; failed; n++) {
		struct rn_arena mem;
		struct rn_sigs *s;

		rn_arena_init(&mem, SIZE_MAX);
		mem.fail_at = n;
		s = rn_sigs_new(&mem);
		models = 0;
		for (int i = 0; i < 600 && s; i++)
			intern_one(s);
		if (s)
			same_as_model(s);
		failed = mem.fail_at == 0;
		rn_arena_free(&mem);
	}
}

int main(void)
{
	test_model();
	ok("interning and finding agree with a plain array");
	test_copy();
	ok("copies between tables");
	test_failures();
	ok("every allocation that fails leaves the table as it was");
	return tap_done();
}
