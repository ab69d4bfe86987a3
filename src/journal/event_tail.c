/* event_tail.c - see event_tail.h. */
#include "journal/event_tail.h"

#include "base/arena.h"
#include "order/event_chunk.h"

static void get_done(struct rn_reader *in, struct rn_order_done *d)
{
	uint64_t flags;

	d->index = (uint32_t)rn_get_max(in, UINT32_MAX);
	flags = rn_get_max(in, UINT32_MAX);
	d->flags = (uint32_t)(flags >> 1);
	d->late = flags & 1 ? (uint32_t)rn_get_max(in, UINT32_MAX - 1) : RN_ORDER_NOT;
	d->source = d->flags & RN_ORDER_MATCHED ? rn_get_i32(in) : 0;
	d->tag = d->flags & RN_ORDER_MATCHED ? rn_get_i32(in) : 0;
}

static uint32_t get_fails(struct rn_reader *in, const unsigned char *begin)
{
	const unsigned char *pad = rn_get_bytes(in, (size_t)(begin - in->p) & 3), *p;
	uint32_t n = 0;

	p = pad ? rn_get_bytes(in, sizeof(n)) : NULL;
	if (p)
		memcpy(&n, p, sizeof(n));
	return n ? n : (uint32_t)rn_fail(in);
}

static void get_row(struct rn_reader *in, const unsigned char *begin, struct rn_order *o)
{
	uint64_t tag = rn_get_u64(in);
	struct rn_order_row r = { .site = (uint32_t)(tag >> 2) };
	size_t dones = o->dones;
	struct rn_order_send *s = &o->send[o->sends];

	if (in->bad || tag >> 2 >= o->sites) {
		rn_fail(in);
		return;
	}
	switch ((enum rn_tail_what)(tag & 3)) {
	case RN_TAIL_FAILS:
		r.fails = get_fails(in, begin);
		break;
	case RN_TAIL_DONE:
		r.done = (uint32_t)rn_get_count(in, 2);
		for (uint32_t i = 0; i < r.done && !in->bad; i++)
			get_done(in, &o->done[dones++]);
		if (r.done == 0 || rn_order_has_numbers(&o->site[r.site]))
			rn_fail(in);
		break;
	case RN_TAIL_VALUE:
		r.done = 1;
		o->value[o->values] = rn_get_i64(in);
		if (!rn_order_has_numbers(&o->site[r.site]))
			rn_fail(in);
		break;
	case RN_TAIL_SEND:
		*s = (struct rn_order_send){ .at = o->dones, .comm = r.site };
		s->me = rn_get_i32(in);
		s->dest = rn_get_i32(in);
		s->tag = rn_get_i32(in);
		o->sends += !in->bad;
		return;
	}
	if (in->bad)
		return;
	rn_order_add_row(o, r);
	o->dones = dones;
	o->values += (tag & 3) == RN_TAIL_VALUE;
}

bool rn_order_tail_read(struct rn_arena *mem, const void *bytes, size_t len, struct rn_order *out,
			bool *failed)
{
	struct rn_reader in = rn_reader(bytes, len);
	const unsigned char *begin = in.p;

	*failed = !rn_order_room(out, mem, len / 2 + 1, len / 2 + 1, len / 2 + 1, len / 4 + 1);
	if (*failed)
		return false;
	while (rn_left(&in) && !in.bad)
		get_row(&in, begin, out);
	return !in.bad;
}
