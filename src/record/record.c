/* record.c - see record.h: functions shared by the hooks. */
#include "base/errno_guard.h"
#include "record/record.h"

#include "encode/call_words.h"
#include "record/event_log.h"
#include "record/tracked_request.h"
#include "runtime/tracer_state.h"
#include "trace/request_names.h"

/* The lineage of the first thread is not recorded: events belong to it until another thread is
 * recorded. */
void rn_record_thread(struct rn_stream *t, struct rn_order_thread *o)
{
	if (o->birth)
		rn_order_log_value(
			t, rn_order_log_site(t, RN_ORDER_THREAD, RN_ORDER_NO_FUNCTION, 0, 0),
			o->birth);
}

static uint32_t site_of(const struct rn_order_call *c)
{
	return rn_order_log_site(c->t, c->kind, c->function, c->comm, c->place);
}

void rn_record_failed_poll(const struct rn_order_call *c)
{
	rn_order_log_fails(c->t, site_of(c));
}

void rn_record_completions(const struct rn_order_call *c, const struct rn_order_done *d, uint32_t n)
{
	rn_order_log_done(c->t, site_of(c), d, n);
}

void rn_record_numbers(const struct rn_order_call *c, const int64_t *value, uint32_t n)
{
	uint32_t site = site_of(c);

	for (uint32_t i = 0; i < n; i++)
		rn_order_log_value(c->t, site, value[i]);
}

void rn_record_unreplayable(struct rn_stream *t, uint64_t head)
{
	rn_order_log_fails(t, rn_order_log_site(t, RN_ORDER_LOOSE, RN_RAW_FUNCTION(head), 0,
						RN_RAW_SITE(head)));
}

void rn_record_value(struct rn_stream *t, uint32_t function, int64_t *value, uint32_t n)
{
	const struct rn_order_call c = { .t = t, .function = function, .kind = RN_ORDER_VALUE };
	RN_ERRNO_GUARD;

	if (rn_order_current(t))
		rn_record_numbers(&c, value, n);
}

/* Records the completion of a receive that another thread started. A replay needs its match when it
 * starts the receive again. */
static void record_adoption(const struct rn_order_call *c, struct rn_order_thread *starter,
			    uint64_t ordinal, const struct rn_order_done *d)
{
	bool matched = d->flags & RN_ORDER_MATCHED;
	const int64_t says[] = { -1 - starter->birth, (int64_t)ordinal, matched ? d->source : -1,
				 d->tag };
	uint32_t site = rn_order_log_site(c->t, RN_ORDER_ADOPTION, RN_ORDER_NO_FUNCTION, 0, 0);

	for (size_t i = starter == c->o->other; i < sizeof(says) / sizeof(*says); i++)
		rn_order_log_value(c->t, site, says[i]);
	c->o->other = starter;
}

struct rn_order_done rn_record_match(const struct rn_order_call *c, const struct rn_tracked *f,
				     const MPI_Status *s)
{
	struct rn_order_done d = { .late = RN_ORDER_NOT, .flags = RN_ORDER_CANCELLED };
	uint64_t late;

	if (f->starter == c->o) {
		rn_tracer_lock();
		if (rn_ordinals_done(&c->o->open, &rn_tracer.mem, f->ordinal, &late))
			d.late = (uint32_t)late;
		rn_tracer_unlock();
	}
	if (!rn_status_cancelled(s)) {
		d.flags = RN_ORDER_MATCHED;
		d.source = s->MPI_SOURCE;
		d.tag = s->MPI_TAG;
	}
	if (f->starter != c->o)
		record_adoption(c, f->starter, f->ordinal, &d);
	return d;
}

/* Numbers count the operations of one thread, so only completions in the starting thread are
 * recorded. */
void rn_record_cancellation(const struct rn_order_call *c, const struct rn_tracked *f,
			    bool cancelled)
{
	if (f->starter == c->o)
		rn_order_log_value(
			c->t,
			rn_order_log_site(c->t, RN_ORDER_CANCELLATION, RN_ORDER_NO_FUNCTION, 0, 0),
			(int64_t)(f->ordinal << 1 | cancelled));
}
