/* call_words_visit.c - see call_words_visit.h. */
#include "encode/call_words_visit.h"

#include <assert.h>

static bool is_texts(enum rn_param_kind k)
{
	return k == RN_K_strings || k == RN_K_argv || k == RN_K_argvs;
}

static bool is_status(enum rn_param_kind k)
{
	return k == RN_K_status || k == RN_K_matched;
}

/* Returns whether a parameter is written as a list. For texts the kind tells whether it is an
 * array; a text is one word. */
static bool is_list(const struct rn_param *p)
{
	return p->array && !is_texts(p->kind) && p->kind != RN_K_string;
}

static bool is_early(const struct rn_param *p)
{
	return p->how != RN_HOW_out && p->how != RN_HOW_new;
}

static bool is_late(const struct rn_param *p)
{
	return !is_early(p) || p->how == RN_HOW_inout;
}

/* ---- visiting ---- */

struct walk {
	uint64_t *at, *end;
	bool bad; /* the words are malformed */
	rn_raw_fn *fn;
	void *arg;
};

/* Returns the next word, or NULL at the end. */
static uint64_t *next(struct walk *c)
{
	assert(c->at <= c->end);
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
	uint64_t *head = next(c);
	uint32_t n;

	if (!head)
		return;
	c->fn(c->arg, RN_RAW_STATUS, RN_K_status, head);
	if (rn_raw_is_absent(*head) || (*head & 255) == RN_STATUS_NOTHING)
		return;
	n = (*head & 255) == RN_STATUS_MATCHED ? 2 : 5;
	for (uint32_t i = 0; i < n; i++)
		show(c, RN_RAW_NUMBER, field[i]);
	c->fn(c->arg, RN_RAW_STATUS_END, RN_K_status, head);
}

static void show_list(struct walk *c, enum rn_param_kind kind);

static void show_one(struct walk *c, enum rn_param_kind kind)
{
	if (rn_raw_is_place(kind)) {
		show_place(c, kind);
	} else if (is_status(kind)) {
		show_status(c);
	} else if (kind == RN_K_request) {
		show(c, RN_RAW_REQUESTED, kind);
	} else if (kind == RN_K_string) {
		show(c, RN_RAW_TEXT, kind);
	} else if (is_texts(kind)) {
		show_list(c, kind == RN_K_argvs ? RN_K_strings : RN_K_string);
	} else if (kind == RN_K_range) {
		c->fn(c->arg, RN_RAW_TRIPLE, kind, c->at);
		for (int i = 0; i < 3; i++)
			show(c, RN_RAW_NUMBER, RN_K_int);
	} else if (rn_raw_is_number(kind)) {
		show(c, RN_RAW_NUMBER, kind == RN_K_weight ? RN_K_int : kind);
	} else {
		show(c, RN_RAW_HANDLE, kind);
	}
}

static void show_list(struct walk *c, enum rn_param_kind kind)
{
	uint64_t *head = next(c);
	uint64_t n = head ? *head >> 2 : 0;

	if (!head)
		return;
	c->fn(c->arg, RN_RAW_LIST, kind, head);
	if ((*head & 3) == RN_RAW_NAMED)
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
	if (is_list(p))
		show_list(c, p->kind);
	else if (p->kind == RN_K_request && p->how == RN_HOW_new)
		show(c, RN_RAW_CREATED, p->kind);
	else
		show_one(c, p->kind);
}

bool rn_raw_visit(uint64_t *words, size_t n, rn_raw_fn *fn, void *arg, size_t *used)
{
	struct walk c = { words + 1, words + n, false, fn, arg };
	const struct rn_proto *f;

	if (n == 0 || RN_RAW_FUNCTION(words[0]) >= rn_mpi_vocab.funcs)
		return false;
	f = &rn_mpi_protos[RN_RAW_FUNCTION(words[0])];
	for (uint32_t i = 0; i < f->nparams && !c.bad; i++)
		if (is_early(&f->param[i]))
			show_param(&c, &f->param[i]);
	for (uint32_t i = 0; i < f->nparams && !c.bad; i++)
		if (is_late(&f->param[i]))
			show_param(&c, &f->param[i]);
	if (c.at < c.end && !c.bad)
		show(&c, RN_RAW_RETURN_VALUE, RN_K_errcode);
	if (words[0] & RN_RAW_ALIKE)
		show(&c, RN_RAW_STACK, RN_K_int);
	if (used)
		*used = (size_t)(c.at - words);
	return !c.bad;
}

bool rn_raw_visit_blob(uint64_t *words, size_t n, enum rn_param_kind kind, uint64_t count,
		       rn_raw_fn *fn, void *arg)
{
	struct walk c = { words, words + n, false, fn, arg };

	for (uint64_t i = 0; i < count && !c.bad; i++)
		show_one(&c, kind);
	return !c.bad && c.at == c.end;
}

/* ---- calls without results ---- */

static uint64_t *unset(const struct rn_param *p, uint64_t *w)
{
	bool list = is_list(p) || is_texts(p->kind);

	*w++ = list ? (uint64_t)RN_WORD_unset << 2 | RN_RAW_NAMED : RN_RAW_UNSET;
	if (!list && rn_raw_is_place(p->kind))
		*w++ = 0;
	return w;
}

uint64_t *rn_raw_unset(const uint64_t *words, uint64_t *end)
{
	const struct rn_proto *f = &rn_mpi_protos[RN_RAW_FUNCTION(words[0])];
	bool none = end == words + 1;

	for (uint32_t i = 0; i < f->nparams; i++)
		if (none && is_early(&f->param[i]))
			end = unset(&f->param[i], end);
	for (uint32_t i = 0; i < f->nparams; i++)
		if (is_late(&f->param[i]))
			end = unset(&f->param[i], end);
	*end++ = RN_RAW_UNSET;
	assert(!none || end - words <= RN_RAW_BARE_MAX);
	return end;
}
