/* columns.c - see columns.h. */
#include "order/columns.h"

#include <zstd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/pack.h"
#include "base/varint.h"

#define LEVEL   19
#define ROW     12u /* bytes */
#define DONE    20u
#define ROW_OF  3u /* columns */
#define DONE_OF 5u

/* --- raw --- */

int rn_order_raw_encode(const struct rn_order *o, struct rn_buf *out)
{
	for (size_t i = 0; i < o->rows; i++) {
		rn_buf_le32(out, o->row[i].site);
		rn_buf_le32(out, o->row[i].fails);
		rn_buf_le32(out, o->row[i].done);
	}
	for (size_t i = 0; i < o->dones; i++) {
		const struct rn_order_done *d = &o->done[i];
		bool there = d->flags & RN_ORDER_MATCHED;

		rn_buf_le32(out, d->index);
		rn_buf_le32(out, d->late);
		rn_buf_le32(out, there ? (uint32_t)d->source : 0);
		rn_buf_le32(out, there ? (uint32_t)d->tag : 0);
		rn_buf_le32(out, d->flags);
	}
	return rn_buf_status(out);
}

static uint32_t le32(const unsigned char **p)
{
	const unsigned char *b = *p;

	*p += 4;
	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

int rn_order_raw_decode(const void *bytes, size_t len, const struct rn_order *o,
			struct rn_order_row *row, struct rn_order_done *done)
{
	const unsigned char *p = bytes;

	if (len != o->rows * ROW + o->dones * DONE)
		return RN_E_DATA;
	for (size_t i = 0; i < o->rows; i++) {
		row[i].site = le32(&p);
		row[i].fails = le32(&p);
		row[i].done = le32(&p);
	}
	for (size_t i = 0; i < o->dones; i++) {
		done[i].index = le32(&p);
		done[i].late = le32(&p);
		done[i].source = (int32_t)le32(&p);
		done[i].tag = (int32_t)le32(&p);
		done[i].flags = le32(&p);
	}
	return RN_OK;
}

/* --- zstd --- */

/* Numbers that are small as a rule. */
static uint64_t row_column(const struct rn_order_row *r, unsigned k)
{
	return k == 0 ? r->site : k == 1 ? r->fails : r->done;
}

static void set_row_column(struct rn_order_row *r, unsigned k, uint32_t v)
{
	*(k == 0 ? &r->site : k == 1 ? &r->fails : &r->done) = v;
}

static uint64_t done_column(const struct rn_order_done *d, unsigned k)
{
	bool there = d->flags & RN_ORDER_MATCHED;

	switch (k) {
	case 0:
		return d->index;
	case 1:
		return d->late + 1u; /* RN_ORDER_NOT is 0 */
	case 2:
		return there ? (uint32_t)rn_zigzag(d->source) : 0;
	case 3:
		return there ? (uint32_t)rn_zigzag(d->tag) : 0;
	default:
		return d->flags;
	}
}

static void set_done_column(struct rn_order_done *d, unsigned k, uint32_t v)
{
	switch (k) {
	case 0:
		d->index = v;
		break;
	case 1:
		d->late = v - 1;
		break;
	case 2:
		d->source = (int32_t)rn_unzigzag(v);
		break;
	case 3:
		d->tag = (int32_t)rn_unzigzag(v);
		break;
	default:
		d->flags = v;
	}
}

/* The varints of a column as a frame, which stands behind its length. */
static void pack(struct rn_buf *raw, struct rn_buf *frame, struct rn_buf *out)
{
	size_t room = ZSTD_compressBound(raw->len), n;
	unsigned char *to;

	rn_buf_clear(frame);
	to = rn_buf_reserve(frame, room);
	if (!to || rn_buf_status(raw) < 0) {
		out->failed = true;
		return;
	}
	n = ZSTD_compress(to, room, raw->data, raw->len, LEVEL);
	if (ZSTD_isError(n)) {
		out->failed = true; /* with enough room only memory can be missing */
		return;
	}
	rn_buf_u64(out, n);
	rn_buf_add(out, to, n);
	rn_buf_clear(raw);
}

int rn_order_zstd_encode(const struct rn_order *o, struct rn_buf *out)
{
	struct rn_buf raw = { 0 }, frame = { 0 };

	for (unsigned k = 0; k < ROW_OF && o->rows; k++) {
		for (size_t i = 0; i < o->rows; i++)
			rn_buf_u64(&raw, row_column(&o->row[i], k));
		pack(&raw, &frame, out);
	}
	for (unsigned k = 0; k < DONE_OF && o->dones; k++) {
		for (size_t i = 0; i < o->dones; i++)
			rn_buf_u64(&raw, done_column(&o->done[i], k));
		pack(&raw, &frame, out);
	}
	rn_buf_free(&raw);
	rn_buf_free(&frame);
	return rn_buf_status(out);
}

/* The next frame, as varints; the caller gives the memory back. */
static int unpack(struct rn_arena *scratch, struct rn_reader *in, size_t n, struct rn_reader *body)
{
	uint64_t len = rn_get_count(in, 1), size;
	const unsigned char *frame = rn_get_bytes(in, len);
	unsigned char *raw;
	int rc;

	size = frame ? rn_packed_size(frame, len) : 0;
	if (size < n || size > (uint64_t)n * RN_VARINT_MAX)
		return RN_E_DATA;
	raw = rn_new(scratch, unsigned char, size);
	if (!raw)
		return RN_E_NOMEM;
	rc = rn_unpack((struct rn_pack_dict){ 0 }, frame, len, raw, size);
	*body = rn_reader(raw, size);
	return rc;
}

static int read_column(struct rn_arena *scratch, struct rn_reader *in, unsigned k,
		       const struct rn_order *o, struct rn_order_row *row,
		       struct rn_order_done *done)
{
	struct rn_reader body;
	size_t n = k < ROW_OF ? o->rows : o->dones;
	int rc = n ? unpack(scratch, in, n, &body) : RN_OK;

	if (rc || n == 0)
		return rc;
	for (size_t i = 0; i < n; i++) {
		uint32_t v = (uint32_t)rn_get_max(&body, UINT32_MAX);

		if (k < ROW_OF)
			set_row_column(&row[i], k, v);
		else
			set_done_column(&done[i], k - ROW_OF, v);
	}
	return body.bad || rn_left(&body) ? RN_E_DATA : RN_OK;
}

int rn_order_zstd_decode(struct rn_arena *scratch, const void *bytes, size_t len,
			 const struct rn_order *o, struct rn_order_row *row,
			 struct rn_order_done *done)
{
	struct rn_reader in = rn_reader(bytes, len);
	int rc = RN_OK;

	for (unsigned k = 0; k < ROW_OF + DONE_OF && !rc; k++) {
		struct rn_arena_mark mark = rn_arena_mark(scratch);

		rc = read_column(scratch, &in, k, o, row, done);
		rn_arena_rewind(scratch, mark);
	}
	return !rc && rn_left(&in) ? RN_E_DATA : rc;
}
