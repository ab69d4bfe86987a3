/* event_chunk.c - see event_chunk.h. */
#include "order/event_chunk.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/varint.h"

#include <string.h>

struct rn_order_count rn_order_count(const struct rn_order *o)
{
	struct rn_order_count n = { 0 };
	size_t at = 0;

	for (size_t i = 0; i < o->rows; i++) {
		const struct rn_order_row *r = &o->row[i];
		uint32_t kind = o->site[r->site].kind;

		if (kind == RN_ORDER_LOOSE) {
			n.loose += r->fails;
			continue;
		}
		n.failed += r->fails;
		n.events += (uint64_t)r->fails + (r->done > 0);
		if (rn_order_kinds[kind].numbers)
			continue;
		for (uint32_t k = 0; k < r->done && kind != RN_ORDER_PROBE; k++)
			n.received += (o->done[at + k].flags & RN_ORDER_MATCHED) != 0;
		at += r->done;
	}
	return n;
}

/* ---- rows ---- */

bool rn_order_room(struct rn_order *o, struct rn_arena *mem, size_t rows, size_t dones,
		   size_t values, size_t sends)
{
	struct rn_order room = { .site = o->site,
				 .sites = o->sites,
				 .row = rn_new(mem, struct rn_order_row, rows),
				 .done = rn_new(mem, struct rn_order_done, dones),
				 .value = rn_new(mem, int64_t, values),
				 .send = rn_new(mem, struct rn_order_send, sends) };

	if (!room.row || !room.done || !room.value || !room.send)
		return false;
	*o = room;
	return true;
}

void rn_order_add_row(struct rn_order *o, struct rn_order_row r)
{
	struct rn_order_row *last = o->rows ? &o->row[o->rows - 1] : NULL;

	if (last && last->done == 0 && last->site == r.site &&
	    last->fails <= UINT32_MAX - r.fails) {
		last->fails += r.fails;
		last->done = r.done;
	} else {
		o->row[o->rows++] = r;
	}
}

/* ---- chunks ---- */

static void put_sends(const struct rn_order *o, struct rn_buf *out)
{
	uint64_t before = 0;

	rn_buf_u64(out, o->sends);
	for (size_t i = 0; i < o->sends; i++) {
		const struct rn_order_send *s = &o->send[i];

		rn_buf_u64(out, s->at - before);
		rn_buf_u64(out, s->comm);
		rn_buf_i64(out, s->me);
		rn_buf_i64(out, s->dest);
		rn_buf_i64(out, s->tag);
		before = s->at;
	}
}

int rn_order_chunk_write(enum rn_order_codec codec, const struct rn_order *o,
			 struct rn_arena *scratch, struct rn_buf *out)
{
	struct rn_order_count n = rn_order_count(o);

	rn_buf_u64(out, n.events);
	rn_buf_u64(out, n.failed);
	rn_buf_u64(out, n.received);
	rn_buf_u64(out, n.loose);
	put_sends(o, out);
	return rn_order_encode(scratch, codec, o, out);
}

static void get_count(struct rn_reader *in, struct rn_order_count *n)
{
	/* The limits prevent overflow of the sums over all chunks of a trace. */
	n->events = rn_get_max(in, UINT64_MAX >> 24);
	n->failed = rn_get_max(in, n->events);
	n->received = rn_get_max(in, UINT64_MAX >> 24);
	n->loose = rn_get_max(in, UINT64_MAX >> 24);
}

bool rn_order_chunk_head(struct rn_chunk chunk, struct rn_order_count *n)
{
	struct rn_reader in = rn_reader(chunk.bytes, chunk.len);

	get_count(&in, n);
	return !in.bad;
}

/* Returns NULL without memory. */
static struct rn_order_send *get_sends(struct rn_reader *in, struct rn_arena *mem, size_t sites,
				       size_t *n)
{
	struct rn_order_send *send;
	uint64_t at = 0;

	*n = rn_get_count(in, 5);
	send = rn_new(mem, struct rn_order_send, *n);
	for (size_t i = 0; i < *n && send; i++) {
		uint64_t site;

		send[i].at = at += rn_get_max(in, UINT32_MAX);
		site = rn_get_u64(in);
		send[i].comm = site < sites ? (uint32_t)site : (uint32_t)rn_fail(in);
		send[i].me = rn_get_i32(in);
		send[i].dest = rn_get_i32(in);
		send[i].tag = rn_get_i32(in);
	}
	return send;
}

/* Returns whether the decoded rows agree with the counts in the header. */
static bool fits(const struct rn_order *o, const struct rn_order_count *says)
{
	struct rn_order_count is = rn_order_count(o);

	return is.events == says->events && is.failed == says->failed &&
	       is.received == says->received && is.loose == says->loose &&
	       (o->sends == 0 || o->send[o->sends - 1].at <= o->dones);
}

int rn_order_chunk_read(struct rn_chunk chunk, struct rn_arena *mem, struct rn_order *out,
			struct rn_err *err)
{
	struct rn_reader in = rn_reader(chunk.bytes, chunk.len);
	struct rn_order_send *send;
	struct rn_order_count n;
	size_t sends;
	int rc;

	get_count(&in, &n);
	send = get_sends(&in, mem, out->sites, &sends);
	if (!send)
		return rn_err_nomem(err);
	if (in.bad)
		return rn_err_set(err, RN_E_DATA, "a chunk is malformed");
	rc = rn_order_decode(mem, out->site, out->sites, in.p, rn_left(&in), out, err);
	if (rc < 0)
		return rc;
	out->send = send;
	out->sends = sends;
	return fits(out, &n) ? RN_OK : rn_err_set(err, RN_E_DATA, "a chunk contradicts itself");
}

static void add_all(struct rn_order *all, const struct rn_order *o)
{
	for (size_t i = 0; i < o->rows; i++)
		rn_order_add_row(all, o->row[i]);
	if (o->dones)
		memcpy(all->done + all->dones, o->done, o->dones * sizeof(*o->done));
	if (o->values)
		memcpy(all->value + all->values, o->value, o->values * sizeof(*o->value));
	for (size_t i = 0; i < o->sends; i++) {
		all->send[all->sends] = o->send[i];
		all->send[all->sends++].at += all->dones;
	}
	for (size_t i = 0; i < o->dones && all->clock; i++)
		all->clock[all->dones + i] = all->dones + o->clock[i];
	all->dones += o->dones;
	all->values += o->values;
}

int rn_order_chunks_read(const struct rn_chunk *chunk, uint32_t n, struct rn_arena *mem,
			 struct rn_order *out, struct rn_err *err)
{
	struct rn_order *piece = rn_new(mem, struct rn_order, (size_t)n + 1);
	size_t rows = 0, dones = 0, values = 0, sends = 0;
	bool clocks = n > 0;
	int rc = piece ? RN_OK : rn_err_nomem(err);

	for (uint32_t i = 0; i < n && rc == RN_OK; i++) {
		piece[i] = (struct rn_order){ .site = out->site, .sites = out->sites };
		rc = rn_order_chunk_read(chunk[i], mem, &piece[i], err);
		rows += piece[i].rows;
		dones += piece[i].dones;
		values += piece[i].values;
		sends += piece[i].sends;
		clocks = clocks && piece[i].clock;
	}
	if (rc < 0)
		return rc;
	if (!rn_order_room(out, mem, rows, dones, values, sends) ||
	    (clocks && !(out->clock = rn_new(mem, uint64_t, dones))))
		return rn_err_nomem(err);
	for (uint32_t i = 0; i < n; i++)
		add_all(out, &piece[i]);
	return RN_OK;
}
