/* stack_clusters.c - see stack_clusters.h. */
#include "merge/stack_clusters.h"

#include "base/arena.h"
#include "base/intern.h"
#include "encode/call_words.h"
#include "encode/elastic_slots.h"
#include "encode/process_table.h"
#include "merge/canonicalize.h"
#include "series/units.h"

#include <stdlib.h>
#include <string.h>

/* Adds a stack id to the cluster. The last entry is reserved for the unknown stack. */
static void add(struct rn_stack_cluster *s, int64_t value)
{
	uint32_t number = value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0, at;

	if (rn_alike_has(s, number, &at))
		return;
	if (number && s->n >= RN_CALLSITE_ALIKE) {
		add(s, 0);
		return;
	}
	memmove(&s->number[at + 1], &s->number[at], (s->n - at) * sizeof(*s->number));
	s->number[at] = number;
	s->n++;
}

static struct rn_stack_cluster *stacks_at(const struct rn_alike *a, uint32_t i)
{
	return RN_SEG_AT(&a->stacks, struct rn_stack_cluster, i);
}

/* Returns the cluster of this first stack, and creates it if it does not exist; NULL without
 * memory. */
static struct rn_stack_cluster *need(struct rn_alike *a, uint32_t first)
{
	uint32_t id;

	if (rn_sigs_intern(a->first, &first, sizeof(first), &id) < 0)
		return NULL;
	if (id < a->stacks.n)
		return stacks_at(a, id);
	if (!rn_seg_reserve(&a->stacks, a->mem, 1))
		return NULL;
	memset(stacks_at(a, id), 0, sizeof(struct rn_stack_cluster));
	a->stacks.n++;
	add(stacks_at(a, id), first);
	return stacks_at(a, id);
}

const struct rn_stack_cluster *rn_alike_stacks(const struct rn_alike *a, uint32_t first)
{
	uint32_t id;

	return rn_sigs_find(a->first, &first, sizeof(first), &id) ? stacks_at(a, id) : NULL;
}

/* Adds all values of the last elastic slot. */
static int add_all(struct rn_stack_cluster *s, const struct rn_holes *h)
{
	struct rn_arena mem, scratch;
	struct rn_units *u;
	int64_t block[256], last = -1;
	size_t n = 0;
	int rc;

	rn_arena_init(&mem, SIZE_MAX);
	rn_arena_init(&scratch, SIZE_MAX);
	rc = rn_holes_units(h, h->n - 1, &mem, &scratch, &u);
	for (uint64_t at = 0; rc == RN_OK && (n = rn_units_read(u, at, block, 256)) > 0; at += n) {
		for (size_t i = 0; i < n; i++) {
			if (block[i] != last)
				add(s, block[i]);
			last = block[i];
		}
	}
	rn_arena_free(&mem);
	rn_arena_free(&scratch);
	return rc;
}

static int add_call(struct rn_alike *a, const struct rn_stream_calls *c, uint32_t i)
{
	size_t len;
	const uint64_t *w = rn_sigs_get(c->words, i, &len);
	const struct rn_holes *h = rn_holes_of(c->holes, i);
	struct rn_stack_cluster *s;

	if (len == 0 || !(w[0] & RN_RAW_ALIKE) || !h || h->n == 0)
		return RN_OK;
	s = need(a, RN_RAW_SITE(w[0]));
	return s ? add_all(s, h) : RN_E_NOMEM;
}

/* ---- the order ---- */

struct one {
	const unsigned char *bytes;
	size_t len;
	uint32_t at; /* index in s->number */
};

static int by_bytes(const void *x, const void *y)
{
	const struct one *a = x, *b = y;
	int d = memcmp(a->bytes, b->bytes, a->len < b->len ? a->len : b->len);

	if (d || a->len != b->len)
		return d ? d : a->len < b->len ? -1 : 1;
	return a->at < b->at ? -1 : 1;
}

static void order(struct rn_stack_cluster *s, const struct rn_process_table *process)
{
	struct one all[RN_ALIKE_MAX];

	for (uint32_t i = 0; i < s->n; i++) {
		all[i].bytes = rn_process_stack(process, s->number[i], &all[i].len);
		all[i].at = i;
	}
	qsort(all, s->n, sizeof(*all), by_bytes);
	for (uint32_t i = 0; i < s->n; i++) {
		s->stack[i] = s->number[all[i].at];
		s->place_of[all[i].at] = (uint16_t)i;
	}
}

int rn_alike_find(struct rn_alike *a, struct rn_arena *mem, const struct rn_stream_calls *c)
{
	int rc = RN_OK;

	*a = (struct rn_alike){ .mem = mem, .first = rn_sigs_new(mem) };
	rn_seg_init(&a->stacks, sizeof(struct rn_stack_cluster));
	if (!a->first)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < rn_sigs_count(c->words) && rc == RN_OK; i++)
		rc = add_call(a, c, i);
	for (uint32_t i = 0; i < a->stacks.n; i++)
		order(stacks_at(a, i), c->process);
	return rc;
}
