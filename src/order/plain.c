/* plain.c - see plain.h. */
#include "order/plain.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/varint.h"
#include "order/codec.h"

#define SITE_BYTES 4u /* at least */
#define SEND_BYTES 5u

static void put_sends(const struct rn_order *o, struct rn_buf *out)
{
	uint64_t at = 0;

	rn_buf_u64(out, o->sends);
	for (size_t i = 0; i < o->sends; i++) {
		const struct rn_order_send *s = &o->send[i];

		rn_buf_u64(out, s->at - at);
		rn_buf_u64(out, s->comm);
		rn_buf_i64(out, s->me);
		rn_buf_i64(out, s->dest);
		rn_buf_i64(out, s->tag);
		at = s->at;
	}
}

int rn_order_plain_put(struct rn_arena *scratch, const struct rn_order *o, int32_t rank,
		       struct rn_buf *out)
{
	struct rn_buf raw = { 0 };
	int rc = rn_order_encode(scratch, RN_ORDER_RAW, o, NULL, &raw);

	if (rc)
		return rc;
	rn_buf_i64(out, rank);
	rn_buf_u64(out, o->sites);
	for (size_t i = 0; i < o->sites; i++) {
		rn_buf_u64(out, o->site[i].kind);
		rn_buf_u64(out, o->site[i].function);
		rn_buf_u64(out, o->site[i].comm);
		rn_buf_u64(out, o->site[i].place);
	}
	put_sends(o, out);
	rn_buf_u64(out, raw.len);
	rn_buf_add(out, raw.data, raw.len);
	rn_buf_free(&raw);
	return rn_buf_status(out);
}

static int get_sites(struct rn_arena *mem, struct rn_reader *in, struct rn_order *o)
{
	size_t n = rn_get_count(in, SITE_BYTES);
	struct rn_order_site *site = rn_new(mem, struct rn_order_site, n);

	if (!site)
		return RN_E_NOMEM;
	for (size_t i = 0; i < n; i++) {
		site[i].kind = (uint32_t)rn_get_max(in, RN_ORDER_KINDS - 1);
		site[i].function = (uint32_t)rn_get_max(in, UINT32_MAX);
		site[i].comm = (uint32_t)rn_get_max(in, UINT32_MAX);
		site[i].place = (uint32_t)rn_get_max(in, UINT32_MAX);
	}
	o->site = site;
	o->sites = n;
	return RN_OK;
}

static int get_sends(struct rn_arena *mem, struct rn_reader *in, struct rn_order *o)
{
	size_t n = rn_get_count(in, SEND_BYTES);
	struct rn_order_send *send = rn_new(mem, struct rn_order_send, n);
	uint64_t at = 0;

	if (!send)
		return RN_E_NOMEM;
	for (size_t i = 0; i < n; i++) {
		at += rn_get_u64(in);
		send[i].at = at;
		send[i].comm = (uint32_t)rn_get_max(in, UINT32_MAX);
		send[i].me = (int32_t)rn_get_i64(in);
		send[i].dest = (int32_t)rn_get_i64(in);
		send[i].tag = (int32_t)rn_get_i64(in);
	}
	o->send = send;
	o->sends = n;
	return RN_OK;
}

int rn_order_plain_get(struct rn_arena *mem, struct rn_reader *in, struct rn_order *o,
		       int32_t *rank, struct rn_err *err)
{
	struct rn_order with = { 0 }, rows = { 0 };
	const unsigned char *raw;
	uint64_t len;
	int rc;

	*rank = (int32_t)rn_get_i64(in);
	rc = get_sites(mem, in, &with);
	if (!rc)
		rc = get_sends(mem, in, &with);
	if (rc)
		return rn_err_nomem(err);
	len = rn_get_count(in, 1);
	raw = rn_get_bytes(in, len);
	if (in->bad || !raw)
		return rn_err_set(err, RN_E_DATA, "order events cut off");
	rc = rn_order_decode(mem, with.site, with.sites, raw, len, &rows, err);
	if (rc)
		return rc;
	*o = rows;
	o->send = with.send;
	o->sends = with.sends;
	return RN_OK;
}
