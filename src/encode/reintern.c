/* reintern.c - see reintern.h. */
#include "encode/reintern.h"

#include "base/arena.h"
#include "base/intern.h"
#include "encode/call_words_visit.h"

#include <assert.h>
#include <string.h>

struct carry {
	struct rn_carrier *of;
	int status; /* RN_OK or RN_E_NOMEM */
};

static void carry_text(struct carry *c, uint64_t *w)
{
	const struct rn_carrier *of = c->of;
	uint32_t id;

	if (*w >= rn_sigs_count(of->from.texts))
		return;
	if (rn_sigs_copy(of->to.texts, of->from.texts, (uint32_t)*w, &id) < 0)
		c->status = RN_E_NOMEM;
	else
		*w = id;
}

static void carry_request(struct carry *c, uint64_t *w)
{
	if (*w >> 62 == 1 && c->of->request)
		*w = c->of->request(c->of->arg, *w);
}

static rn_raw_fn carry_part;

/* Copies a long array, converts the copy, and replaces the array's id by the copy's id in `to`. */
static void carry_blob(struct carry *c, enum rn_param_kind kind, uint64_t n, uint64_t *number)
{
	struct rn_carrier *of = c->of;
	struct rn_arena_mark mark = rn_arena_mark(of->scratch);
	const uint64_t *words;
	uint64_t *copy;
	size_t len;
	uint32_t id;

	if (*number >= rn_sigs_count(of->from.blobs))
		return;
	words = rn_sigs_get(of->from.blobs, (uint32_t)*number, &len);
	copy = rn_new(of->scratch, uint64_t, len / sizeof(*words) + 1);
	if (!copy) {
		c->status = RN_E_NOMEM;
		return;
	}
	memcpy(copy, words, len);
	rn_raw_visit_blob(copy, len / sizeof(*words), kind, n, carry_part, c);
	if (c->status < 0 || rn_sigs_intern(of->to.blobs, copy, len, &id) < 0)
		c->status = RN_E_NOMEM;
	else
		*number = id;
	rn_arena_rewind(of->scratch, mark);
}

static void carry_part(void *arg, enum rn_raw_part part, enum rn_param_kind kind, uint64_t *w)
{
	if (part == RN_RAW_REQUESTED || part == RN_RAW_CREATED)
		carry_request(arg, w);
	else if (part == RN_RAW_TEXT)
		carry_text(arg, w);
	else if (part == RN_RAW_ARRAY)
		carry_blob(arg, kind, w[-1] >> 2, w);
}

int rn_carry_words(struct rn_carrier *of, uint64_t *words, size_t n)
{
	struct carry c = { .of = of };

	rn_raw_visit(words, n, carry_part, &c, NULL);
	return c.status;
}

int rn_carry_call(struct rn_carrier *of, uint32_t i, uint32_t *id)
{
	struct rn_arena_mark mark = rn_arena_mark(of->scratch);
	size_t len;
	const void *words = rn_sigs_get(of->from.words, i, &len);
	uint64_t *copy = rn_new(of->scratch, uint64_t, len / sizeof(*copy) + 1);
	int rc = RN_E_NOMEM;

	assert(i < rn_sigs_count(of->from.words));
	if (copy) {
		memcpy(copy, words, len);
		rc = rn_carry_words(of, copy, len / sizeof(*copy));
	}
	if (rc == RN_OK)
		rc = rn_sigs_intern(of->to.words, copy, len, id);
	rn_arena_rewind(of->scratch, mark);
	return rc;
}
