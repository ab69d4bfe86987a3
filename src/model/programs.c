/* programs.c - see programs.h. Encoding: the number of ranges; for each range the length of the
 * program's name, the name, the first rank and the number of ranks. */
#include "model/programs.h"

#include "base/buf.h"
#include "model/merged_streams.h"
#include "model/metadata.h"
#include "model/rank_text.h"

#include <stdio.h>
#include <string.h>

struct run {
	const char *name;
	uint64_t first, last;
};

#define NAME_BYTES 255u
#define SHOWN_MAX  64u   /* maximum number of entries; the last entry is for all other programs */
#define LIST_MAX   8000u /* bytes; a longer list of ranks is truncated */

static struct run *run_at(const struct rn_programs *p, uint32_t i)
{
	return RN_SEG_AT(&p->run, struct run, i);
}

void rn_programs_init(struct rn_programs *p, struct rn_arena *mem)
{
	p->mem = mem;
	rn_seg_init(&p->run, sizeof(struct run));
}

/* Most ranks run the program of an earlier rank, so names are shared. */
static const char *copy_name(const struct rn_programs *p, const char *name)
{
	size_t n = strnlen(name, NAME_BYTES);
	char *copy;

	for (uint32_t i = p->run.n; i > 0 && i + 16 > p->run.n; i--)
		if (strcmp(run_at(p, i - 1)->name, name) == 0)
			return run_at(p, i - 1)->name;
	copy = rn_new(p->mem, char, n + 1);
	if (copy)
		memcpy(copy, name, n);
	return copy;
}

int rn_programs_add(struct rn_programs *p, const char *name, uint64_t first, uint64_t last)
{
	struct run *end = p->run.n ? run_at(p, p->run.n - 1) : NULL;

	if (end && end->last + 1 == first && strcmp(end->name, name) == 0) {
		end->last = last;
		return RN_OK;
	}
	name = copy_name(p, name);
	return name && RN_SEG_PUSH(&p->run, p->mem, struct run, (struct run){ name, first, last })
		       ? RN_OK
		       : RN_E_NOMEM;
}

/* ---- encoding ---- */

void rn_programs_encode(const struct rn_programs *p, struct rn_buf *out)
{
	rn_buf_u64(out, p->run.n);
	for (uint32_t i = 0; i < p->run.n; i++) {
		const struct run *r = run_at(p, i);

		rn_buf_piece(out, r->name, strlen(r->name));
		rn_buf_u64(out, r->first);
		rn_buf_u64(out, r->last - r->first);
	}
}

static bool read_run(struct rn_reader *in, char name[NAME_BYTES + 1], uint64_t *first,
		     uint64_t *last)
{
	uint64_t n = rn_get_max(in, NAME_BYTES);
	const unsigned char *bytes = rn_get_bytes(in, n);

	*first = rn_get_max(in, RN_RANKS_MAX);
	*last = *first + rn_get_max(in, RN_RANKS_MAX);
	if (in->bad || memchr(bytes, 0, n))
		return false;
	memcpy(name, bytes, n);
	name[n] = '\0';
	return true;
}

int rn_programs_decode(struct rn_programs *p, struct rn_reader *in, struct rn_err *err)
{
	uint64_t n = rn_get_u64(in), next = 0, first, last;
	char name[NAME_BYTES + 1];
	int rc = RN_OK;

	for (; n > 0 && !in->bad && rc == RN_OK; n--) {
		if (!read_run(in, name, &first, &last) || first < next)
			rc = RN_E_DATA;
		else
			rc = rn_programs_add(p, name, first, last);
		next = last + 1;
	}
	return rc == RN_E_DATA ? rn_err_set(err, rc, "the list of programs is damaged") : rc;
}

int rn_programs_merge(struct rn_programs *p, const struct rn_programs *from)
{
	int rc = RN_OK;

	if (p->run.n && from->run.n && run_at(from, 0)->first <= run_at(p, p->run.n - 1)->last)
		return RN_E_ARG;
	for (uint32_t i = 0; i < from->run.n && rc == RN_OK; i++)
		rc = rn_programs_add(p, run_at(from, i)->name, run_at(from, i)->first,
				     run_at(from, i)->last);
	return rc;
}

/* ---- metadata ---- */

/* Merges the ranges of the k-th program, or at the last entry the ranges of all remaining programs,
 * into one entry. */
static char *make_value(const struct rn_programs *p, bool *shown, uint32_t k, uint32_t from)
{
	struct rn_rank_text ranks = { 0 };
	const char *name = run_at(p, from)->name, *list;
	bool all = k + 1 == SHOWN_MAX;
	char *value = NULL;

	for (uint32_t i = from; i < p->run.n; i++) {
		if (shown[i] || (!all && strcmp(run_at(p, i)->name, name) != 0))
			continue;
		rn_rank_text_add(&ranks, run_at(p, i)->first, run_at(p, i)->last);
		shown[i] = true;
	}
	list = rn_rank_text(&ranks);
	if (list)
		value = rn_new(p->mem, char, LIST_MAX + NAME_BYTES + 8);
	if (value)
		snprintf(value, LIST_MAX + NAME_BYTES + 8, "%.*s%s %s", (int)LIST_MAX, list,
			 strlen(list) > LIST_MAX ? "..." : "", all ? "other programs" : name);
	rn_buf_free(&ranks.text);
	return value;
}

static int add_entries(const struct rn_programs *p, bool *shown, struct rn_meta_entry *entry,
		       uint32_t *n)
{
	for (uint32_t i = 0, k = 0; i < p->run.n; i++) {
		char *key, *value;

		if (shown[i])
			continue;
		key = rn_new(p->mem, char, 32);
		value = make_value(p, shown, k, i);
		if (!key || !value)
			return RN_E_NOMEM;
		snprintf(key, 32, "%s%u", rn_meta_rows[RN_META_PROGRAM_K].key, k++);
		entry[(*n)++] = (struct rn_meta_entry){ key, value };
	}
	return RN_OK;
}

int rn_programs_meta(const struct rn_programs *p, const struct rn_meta *meta, struct rn_meta *out)
{
	struct rn_meta_entry *entry;
	bool *shown, several = false;
	int rc;

	*out = *meta;
	for (uint32_t i = 1; i < p->run.n && !several; i++)
		several = strcmp(run_at(p, i)->name, run_at(p, 0)->name) != 0;
	if (!several)
		return RN_OK;
	entry = rn_new(p->mem, struct rn_meta_entry, meta->n + SHOWN_MAX);
	shown = rn_new(p->mem, bool, p->run.n);
	if (!entry || !shown)
		return RN_E_NOMEM;
	if (meta->n)
		memcpy(entry, meta->entry, meta->n * sizeof(*entry));
	out->entry = entry;
	rc = add_entries(p, shown, entry, &out->n);
	return rc;
}

bool rn_program_entry(const struct rn_meta_entry *e, int *ranks, const char **name)
{
	const char *space = strchr(e->value, ' ');

	if (!rn_meta_suffix(e->key, RN_META_PROGRAM_K) || !space)
		return false;
	*ranks = (int)(space - e->value);
	*name = space + 1;
	return true;
}
