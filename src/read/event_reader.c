/* event_reader.c - see event_reader.h. */
#include "read/event_reader.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "encode/call_words.h"
#include "read/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int name_comms(struct rn_order_view *v, const struct rn_order_list *l, struct rn_arena *mem)
{
	struct rn_sigs *names;
	const char **comm;
	uint32_t n;

	if (rn_order_list_comms(l, mem, &names, &v->site_comm) < 0)
		return RN_E_NOMEM;
	n = rn_sigs_count(names);
	comm = rn_new(mem, const char *, n);
	for (uint32_t i = 0; i < n && comm; i++) {
		size_t len;
		const char *s = rn_sigs_get(names, i, &len);
		char *copy = rn_new(mem, char, len + 1);

		if (!copy)
			return RN_E_NOMEM;
		comm[i] = memcpy(copy, s, len);
	}
	v->comm = comm;
	v->comms = n;
	return comm ? RN_OK : RN_E_NOMEM;
}

static uint32_t number_of(const struct rn_order_place *p)
{
	char name[256]; /* longer than the name of any MPI function */

	snprintf(name, sizeof(name), "%.*s", (int)p->function_len, p->function);
	return p->function_len ? rn_mpi_find(name) : RN_ORDER_NO_FUNCTION;
}

static int name_sites(struct rn_order_view *v, const struct rn_order_list *l, struct rn_arena *mem,
		      uint32_t nodes, struct rn_err *err)
{
	struct rn_order_site *site = rn_new(mem, struct rn_order_site, v->sites);

	if (!site)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < v->sites; i++) {
		struct rn_order_place p = rn_order_list_site(l, i);

		if (p.node > nodes)
			return rn_err_set(err, RN_E_DATA, "the stack of site %u is not there", i);
		site[i] = (struct rn_order_site){ .kind = p.kind,
						  .function = number_of(&p),
						  .comm = v->site_comm[i],
						  .place = p.node };
	}
	v->site = site;
	return RN_OK;
}

int rn_order_view_new(struct rn_trace *t, struct rn_err *err)
{
	struct rn_order_view *v = rn_new(&t->mem, struct rn_order_view, 1);
	int rc;

	if (!v)
		return rn_err_nomem(err);
	t->order = v;
	v->sites = rn_order_list_sites(t->events);
	rc = name_comms(v, t->events, &t->mem);
	if (rc == RN_OK)
		rc = name_sites(v, t->events, &t->mem, t->sites.nodes, err);
	if (rc == RN_E_DATA)
		rn_err_prefix(err, "section order");
	return rc == RN_E_NOMEM ? rn_err_nomem(err) : rc;
}

/* Replaces the stream's event site numbers by those of the trace. */
static void renumber(const struct rn_chunk_stream *s, struct rn_order *o)
{
	for (size_t i = 0; i < o->rows; i++)
		o->row[i].site = (uint32_t)s->head[o->row[i].site];
}

int rn_trace_order(const struct rn_trace *t, uint64_t stream, struct rn_arena *mem,
		   struct rn_order *out, struct rn_err *err)
{
	const struct rn_order_view *v = t->order;
	const struct rn_chunk_stream *s = v ? rn_chunk_list_find(&t->events->chunks, stream) : NULL;
	int rc = RN_OK;

	*out = (struct rn_order){ 0 };
	if (s)
		rc = rn_order_list_get(t->events, s, v->site_comm, mem, out, err);
	if (rc == RN_E_DATA)
		rn_err_prefix(err, "stream %" PRIu64, stream);
	if (rc < 0 || !v)
		return rc;
	if (s)
		renumber(s, out);
	out->site = v->site;
	out->sites = v->sites;
	return RN_OK;
}
