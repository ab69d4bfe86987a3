/* carry.c - see carry.h: a walk over the function's row, as in raw.c. */
#include "encode/carry.h"

#include "base/arena.h"
#include "encode/raw_walk.h"
#include "encode/sigs.h"

#include <string.h>

struct walk {
	struct rn_carrier *of;
	uint64_t *at, *end;
	bool bad;   /* the words do not fit */
	int status; /* RN_E_NOMEM */
};

/* The next word, to be changed; NULL when there is none. */
static uint64_t *next(struct walk *c)
{
	if (c->at < c->end && !c->bad)
		return c->at++;
	c->bad = true;
	return NULL;
}

static void skip(struct walk *c, uint32_t n)
{
	while (n-- > 0)
		next(c);
}

static void carry_text(struct walk *c, uint64_t *w)
{
	const struct rn_carrier *of = c->of;
	uint32_t id;

	if (!w || *w >= rn_sigs_count(of->from.texts))
		return;
	if (rn_sigs_copy(of->to.texts, of->from.texts, (uint32_t)*w, &id) < 0)
		c->status = RN_E_NOMEM;
	else
		*w = id;
}

static void carry_request(struct walk *c, uint64_t *w)
{
	if (w && *w >> 62 == 1 && c->of->request)
		*w = c->of->request(c->of->arg, *w);
}

static void carry_status(struct walk *c)
{
	const uint64_t *head = next(c);

	if (!head || rn_raw_is_absent(*head) || (*head & 255) == RN_STATUS_NOTHING)
		return;
	skip(c, (*head & 255) == RN_STATUS_MATCHED ? 2 : 5);
}

static void carry_list(struct walk *c, enum rn_param_kind kind);

static void carry_one(struct walk *c, enum rn_param_kind kind)
{
	if (rn_raw_is_status(kind))
		carry_status(c);
	else if (kind == RN_K_request)
		carry_request(c, next(c));
	else if (kind == RN_K_string)
		carry_text(c, next(c));
	else if (rn_raw_is_texts(kind))
		carry_list(c, rn_raw_element(kind));
	else
		skip(c, kind == RN_K_range ? 3 : rn_raw_is_place(kind) ? 2 : 1);
}

/* The array that is elsewhere: a copy, changed, gets a number there. */
static void carry_blob(struct walk *c, enum rn_param_kind kind, uint64_t n, uint64_t *number)
{
	struct rn_carrier *of = c->of;
	struct rn_arena_mark mark = rn_arena_mark(of->scratch);
	const uint64_t *words;
	struct walk in = { .of = of };
	size_t len;
	uint32_t id;

	if (!number || *number >= rn_sigs_count(of->from.blobs))
		return;
	words = rn_sigs_get(of->from.blobs, (uint32_t)*number, &len);
	in.at = rn_new(of->scratch, uint64_t, len / sizeof(*words) + 1);
	in.end = in.at + len / sizeof(*words);
	if (!in.at) {
		c->status = RN_E_NOMEM;
		return;
	}
	memcpy(in.at, words, len);
	words = in.at;
	for (uint64_t i = 0; i < n && !in.bad; i++)
		carry_one(&in, kind);
	if (in.status < 0 || rn_sigs_intern(of->to.blobs, words, len, &id) < 0)
		c->status = RN_E_NOMEM;
	else
		*number = id;
	rn_arena_rewind(of->scratch, mark);
}

static void carry_list(struct walk *c, enum rn_param_kind kind)
{
	const uint64_t *head = next(c);
	uint64_t n = head ? *head >> 2 : 0;

	if (!head || (*head & 3) == RN_RAW_NAMED)
		return;
	if ((*head & 3) != RN_RAW_HERE) {
		carry_blob(c, kind, n, next(c));
		return;
	}
	for (uint64_t i = 0; i < n && !c->bad; i++)
		carry_one(c, kind);
}

static void carry_param(struct walk *c, const struct rn_param *p)
{
	if (rn_raw_is_list(p))
		carry_list(c, p->kind);
	else
		carry_one(c, p->kind);
}

int rn_carry_words(struct rn_carrier *of, uint64_t *words, size_t n)
{
	struct walk c = { .of = of, .at = words + 1, .end = words + n };
	const struct rn_proto *f;

	if (n == 0 || RN_RAW_FUNCTION(words[0]) >= rn_mpi_vocab.funcs)
		return RN_OK;
	f = &rn_mpi_protos[RN_RAW_FUNCTION(words[0])];
	for (uint32_t i = 0; i < f->nparams && !c.bad; i++)
		if (rn_raw_early(&f->param[i]))
			carry_param(&c, &f->param[i]);
	for (uint32_t i = 0; i < f->nparams && !c.bad; i++)
		if (rn_raw_late(&f->param[i]))
			carry_param(&c, &f->param[i]);
	return c.status;
}

int rn_carry_call(struct rn_carrier *of, uint32_t i, uint32_t *id)
{
	struct rn_arena_mark mark = rn_arena_mark(of->scratch);
	size_t len;
	const void *words = rn_sigs_get(of->from.words, i, &len);
	uint64_t *copy = rn_new(of->scratch, uint64_t, len / sizeof(*copy) + 1);
	int rc = RN_E_NOMEM;

	if (copy) {
		memcpy(copy, words, len);
		rc = rn_carry_words(of, copy, len / sizeof(*copy));
	}
	if (rc == RN_OK)
		rc = rn_sigs_intern(of->to.words, copy, len, id);
	rn_arena_rewind(of->scratch, mark);
	return rc;
}
