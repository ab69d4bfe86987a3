/* raw_walk.c - see raw_walk.h: a walk over the function's row, as in raw.c. */
#include "encode/raw_walk.h"

struct walk {
	uint64_t *at, *end;
	bool bad; /* the words do not fit */
	rn_raw_fn *fn;
	void *arg;
};

/* The next word; NULL when there is none. */
static uint64_t *next(struct walk *c)
{
	if (c->at < c->end && !c->bad)
		return c->at++;
	c->bad = true;
	return NULL;
}

static void show(struct walk *c, enum rn_raw_part part, enum rn_param_kind kind)
{
	uint64_t *w = next(c);

	if (w)
		c->fn(c->arg, part, kind, w);
}

static void show_place(struct walk *c, enum rn_param_kind kind)
{
	uint64_t *w = next(c);

	if (next(c))
		c->fn(c->arg, RN_RAW_PLACE, kind, w);
}

static void show_status(struct walk *c)
{
	static const enum rn_param_kind field[] = { RN_K_rank, RN_K_tag, RN_K_errcode, RN_K_index,
						    RN_K_int };
	const uint64_t *head = next(c);
	uint32_t n;

	if (!head || rn_raw_is_absent(*head) || (*head & 255) == RN_STATUS_NOTHING)
		return;
	n = (*head & 255) == RN_STATUS_MATCHED ? 2 : 5;
	for (uint32_t i = 0; i < n; i++)
		show(c, RN_RAW_NUMBER, field[i]);
}

static void show_list(struct walk *c, enum rn_param_kind kind);

static void show_one(struct walk *c, enum rn_param_kind kind)
{
	if (rn_raw_is_place(kind)) {
		show_place(c, kind);
	} else if (rn_raw_is_status(kind)) {
		show_status(c);
	} else if (kind == RN_K_request) {
		show(c, RN_RAW_REQUESTED, kind);
	} else if (kind == RN_K_string) {
		show(c, RN_RAW_TEXT, kind);
	} else if (rn_raw_is_texts(kind)) {
		show_list(c, rn_raw_element(kind));
	} else if (kind == RN_K_range) {
		for (int i = 0; i < 3; i++)
			show(c, RN_RAW_NUMBER, RN_K_int);
	} else if (rn_raw_is_number(kind)) {
		show(c, RN_RAW_NUMBER, kind == RN_K_weight ? RN_K_int : kind);
	} else {
		next(c);
	}
}

static void show_list(struct walk *c, enum rn_param_kind kind)
{
	const uint64_t *head = next(c);
	uint64_t n = head ? *head >> 2 : 0;

	if (!head || (*head & 3) == RN_RAW_NAMED)
		return;
	if ((*head & 3) != RN_RAW_HERE) {
		show(c, RN_RAW_ARRAY, kind);
		return;
	}
	for (uint64_t i = 0; i < n && !c->bad; i++)
		show_one(c, kind);
}

static void show_param(struct walk *c, const struct rn_param *p)
{
	if (rn_raw_is_list(p))
		show_list(c, p->kind);
	else
		show_one(c, p->kind);
}

bool rn_raw_visit(uint64_t *words, size_t n, rn_raw_fn *fn, void *arg)
{
	struct walk c = { words + 1, words + n, false, fn, arg };
	const struct rn_proto *f;

	if (n == 0 || RN_RAW_FUNCTION(words[0]) >= rn_mpi_vocab.funcs)
		return false;
	f = &rn_mpi_protos[RN_RAW_FUNCTION(words[0])];
	for (uint32_t i = 0; i < f->nparams && !c.bad; i++)
		if (rn_raw_early(&f->param[i]))
			show_param(&c, &f->param[i]);
	for (uint32_t i = 0; i < f->nparams && !c.bad; i++)
		if (rn_raw_late(&f->param[i]))
			show_param(&c, &f->param[i]);
	if (words[0] & RN_RAW_ALIKE) {
		next(&c); /* what it returned */
		show(&c, RN_RAW_STACK, RN_K_int);
	}
	return !c.bad;
}

bool rn_raw_visit_blob(uint64_t *words, size_t n, enum rn_param_kind kind, uint64_t count,
		       rn_raw_fn *fn, void *arg)
{
	struct walk c = { words, words + n, false, fn, arg };

	for (uint64_t i = 0; i < count && !c.bad; i++)
		show_one(&c, kind);
	return !c.bad;
}
