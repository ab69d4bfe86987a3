/* event_source.c - see event_source.h. */
#include "analysis/event_source.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "encode/call_words.h"
#include "read/event_reader.h"
#include "read/trace.h"

/* Stores the stream group of every stream. */
static int find_groups(struct rn_orders *o, struct rn_arena *mem, struct rn_err *err)
{
	uint32_t *group = rn_new(mem, uint32_t, o->streams), its;
	struct rn_rank_iter it;
	uint64_t stream, n = 0;

	if (!group || rn_rank_iter_init(&it, &o->t->streams, 0, mem) < 0)
		return rn_err_nomem(err);
	while (n < o->streams && rn_rank_iter_next(&it, &stream, &its) && stream == n)
		group[n++] = its;
	o->group = group;
	return n == o->streams
		       ? RN_OK
		       : rn_err_set(err, RN_E_DATA, "the trace does not have every rank once");
}

int rn_orders_init(struct rn_orders *o, struct rn_arena *mem, const struct rn_trace *t,
		   struct rn_err *err)
{
	struct rn_lossy lossy = rn_trace_lossy(t);

	*o = (struct rn_orders){ .t = t, .streams = t->ranks * t->threads };
	if (lossy.counts || lossy.params)
		return rn_err_set(err, RN_E_DATA,
				  "a trace that was made with --lossy has no order");
	if (o->streams > RN_ORDERS_STREAMS)
		return rn_err_set(err, RN_E_DATA, "%" PRIu64 " streams are too many", o->streams);
	if (t->order)
		return RN_OK;
	o->reader = rn_outcomes_new(mem, t);
	return o->reader ? find_groups(o, mem, err) : rn_err_nomem(err);
}

void rn_orders_free(struct rn_orders *o)
{
	rn_outcomes_free(o->reader);
}

/* Finds the threads of a stream of an event trace. A row of kind THREAD is the first row of its
 * thread. */
static int find_threads(struct rn_arena *mem, struct rn_outcome *o)
{
	const struct rn_order *e = &o->order;
	struct rn_outcome_thread at = { 0 }, *thread;

	o->threads = 1;
	for (size_t i = 0; i < e->rows; i++)
		o->threads += e->site[e->row[i].site].kind == RN_ORDER_THREAD;
	o->thread = thread = rn_new(mem, struct rn_outcome_thread, o->threads);
	if (!thread)
		return RN_E_NOMEM;
	for (; at.row < e->rows; at.row++) {
		const struct rn_order_site *s = &e->site[e->row[at.row].site];
		uint32_t n = e->row[at.row].done;

		if (s->kind == RN_ORDER_THREAD) {
			at.lineage = n ? e->value[at.value] : 0;
			at.named = true;
			*++thread = at;
		}
		if (rn_order_has_numbers(s))
			at.value += n;
		else
			at.done += n;
	}
	return RN_OK;
}

int rn_orders_outcome(const struct rn_orders *o, uint64_t stream, bool calls, struct rn_arena *mem,
		      struct rn_outcome *out, struct rn_err *err)
{
	int rc;

	*out = (struct rn_outcome){ 0 };
	if (stream >= o->streams)
		return RN_OK;
	if (!o->reader) {
		rc = rn_trace_order(o->t, stream, mem, &out->order, err);
		return rc == RN_OK && find_threads(mem, out) < 0 ? rn_err_nomem(err) : rc;
	}
	rc = rn_outcomes_read(o->reader, stream, o->group[stream], calls, mem, out);
	if (rc == RN_E_RANGE)
		return rn_err_set(err, RN_E_DATA, "stream %" PRIu64 " has too many calls", stream);
	if (rc == RN_E_DATA)
		return rn_err_set(err, RN_E_DATA, "stream %" PRIu64 ": calls without their numbers",
				  stream);
	return rc < 0 ? rn_err_nomem(err) : RN_OK;
}

int rn_orders_read(const struct rn_orders *o, uint64_t stream, struct rn_arena *mem,
		   struct rn_order *out, struct rn_err *err)
{
	struct rn_outcome seen;
	int rc = rn_orders_outcome(o, stream, false, mem, &seen, err);

	*out = seen.order;
	return rc;
}

const char *const *rn_orders_comms(const struct rn_orders *o, uint32_t *n)
{
	if (o->reader)
		return rn_outcomes_comms(o->reader, n);
	*n = o->t->order->comms;
	return o->t->order->comm;
}

bool rn_orders_any(const struct rn_trace *t)
{
	const uint32_t chooses = RN_IS_probes | RN_IS_tests | RN_IS_any | RN_IS_some;

	for (uint32_t i = 0; i < t->vocab.funcs; i++)
		if (rn_func_traits(&t->vocab.func[i])->is & chooses)
			return true;
	for (uint32_t i = 0; i < t->vocab.words; i++)
		if (strcmp(t->vocab.word[i].text, "MPI_ANY_SOURCE") == 0 ||
		    strcmp(t->vocab.word[i].text, "MPI_ANY_TAG") == 0)
			return true;
	return false;
}
