/* process_table.c - see process_table.h. */
#include "encode/process_table.h"

#include "base/arena.h"
#include "base/bisect.h"

#include <stdlib.h>
#include <string.h>

int rn_process_set_constants(struct rn_process_table *p, struct rn_arena *mem,
			     const struct rn_const_value *constant, uint32_t n)
{
	uint32_t at[RN_K_COUNT];

	p->constant = rn_new(mem, struct rn_const_value, (size_t)n + 1);
	if (!p->constant)
		return RN_E_NOMEM;
	memset(p->kind_at, 0, sizeof(p->kind_at));
	for (uint32_t i = 0; i < n; i++)
		p->kind_at[constant[i].kind + 1]++;
	for (uint32_t k = 0; k < RN_K_COUNT; k++) {
		at[k] = p->kind_at[k];
		p->kind_at[k + 1] += at[k];
	}
	for (uint32_t i = 0; i < n; i++)
		p->constant[at[constant[i].kind]++] = constant[i];
	return RN_OK;
}

int64_t rn_process_constant(const struct rn_process_table *p, enum rn_param_kind kind,
			    int64_t value)
{
	for (uint32_t i = p->kind_at[kind]; i < p->kind_at[kind + 1]; i++)
		if (p->constant[i].value == value || kind == RN_K_request)
			return p->constant[i].word;
	return -1;
}

/* ---- objects ---- */

int rn_objects_add(struct rn_objects *o, struct rn_arena *mem, struct rn_object object)
{
	if (!RN_GROW(mem, o->at, o->n + 1, o->cap))
		return RN_E_NOMEM;
	object.order = o->n;
	o->at[o->n++] = object;
	return RN_OK;
}

static int by_number(const void *a, const void *b)
{
	const struct rn_object *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

void rn_objects_sort(struct rn_objects *o)
{
	uint32_t n = 0;

	if (o->n)
		qsort(o->at, o->n, sizeof(*o->at), by_number);
	for (uint32_t i = 0; i < o->n; i++)
		if (i + 1 == o->n || o->at[i + 1].number != o->at[i].number)
			o->at[n++] = o->at[i];
	o->n = n;
}

static const struct rn_object *find(const struct rn_objects *o, uint64_t number)
{
	struct rn_bisect b = { 0, o->n, 0 };

	while (rn_bisect_next(&b))
		rn_bisect_go(&b, o->at[b.mid].number < number);
	return b.lo < o->n && o->at[b.lo].number == number ? &o->at[b.lo] : NULL;
}

static struct rn_seen_comm constant_comm(const struct rn_process_table *p, uint32_t word)
{
	const char *name = rn_vocab_word(&rn_mpi_vocab, word);

	if (name && strcmp(name, "MPI_COMM_WORLD") == 0)
		return (struct rn_seen_comm){ name, p->rank, p->size, 0 };
	if (name && strcmp(name, "MPI_COMM_SELF") == 0)
		return (struct rn_seen_comm){ name, 0, 1, 0 };
	return (struct rn_seen_comm){ NULL, 0, 1, 0 };
}

struct rn_seen_comm rn_process_comm(const struct rn_process_table *p, uint32_t word)
{
	const struct rn_object *c = word & 1 ? NULL : find(&p->comms, word);
	struct rn_seen_comm seen = { c ? c->bytes : NULL, 0, 1, 0 };

	if (word & 1)
		return constant_comm(p, word >> 1);
	if (c && c->complete) {
		seen.rank = (int64_t)c->entry.my_rank;
		seen.size = (int64_t)c->entry.size;
		seen.remote = (int64_t)c->entry.remote;
	}
	return seen;
}

int rn_process_add_comms(const struct rn_process_table *p, struct rn_comms *out)
{
	for (uint32_t i = 0; i < p->comms.n; i++) {
		const struct rn_object *c = &p->comms.at[i];

		if (c->complete && rn_comms_add(out, c->bytes, strlen(c->bytes), (uint64_t)p->rank,
						&c->entry) == RN_E_NOMEM)
			return RN_E_NOMEM;
	}
	return RN_OK;
}

const char *rn_process_module(const struct rn_process_table *p, uint32_t id)
{
	const struct rn_object *m = find(&p->modules, id);

	return m ? m->bytes : "unknown";
}

const void *rn_process_site(const struct rn_process_table *p, uint32_t id, size_t *len)
{
	const struct rn_object *s = find(&p->sites, id);

	*len = s ? s->len : 0;
	return s ? s->bytes : NULL;
}

const void *rn_process_stack(const struct rn_process_table *p, uint32_t id, size_t *len)
{
	static const unsigned char unknown[1]; /* an encoded stack without modules and frames */
	const void *bytes = rn_process_site(p, id, len);

	if (bytes)
		return bytes;
	*len = sizeof(unknown);
	return unknown;
}
