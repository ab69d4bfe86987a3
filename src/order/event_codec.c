/*
 * event_codec.c - see event_codec.h: codec selection, framing and limits. On disk:
 *
 *   byte     the codec; plus 4 if the values are coded (value_codec.h)
 *   varints  numbers of rows, completions and values
 *   varint   number of bytes of the next field: rows and completions, encoded by the codec
 *   column   the values, if there are any; coded: a varint, the number of bytes, and these bytes
 *   zeros    as many as the input bound requires
 */
#include "order/event_codec.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/varint.h"
#include "column/column.h"
#include "order/adaptive_codec.h"
#include "order/cdc_codec.h"
#include "order/context_mix.h"
#include "order/value_codec.h"

#define FREE     4096u
#define PER_BYTE 1024u
#define MANY     UINT32_MAX
#define CODED    4u   /* bit of the first byte: the values are coded */
#define FEW      256u /* number of values up to which both encodings are tried */

static const char *const names[] = { "model", "clock" };

_Static_assert(sizeof(names) / sizeof(names[0]) == RN_ORDER_CODECS, "a name for each");

const char *rn_order_codec_name(enum rn_order_codec codec)
{
	return names[codec];
}

enum rn_order_codec rn_order_codec_named(const char *name)
{
	unsigned i = 0;

	while (i < RN_ORDER_CODECS && strcmp(names[i], name) != 0)
		i++;
	return (enum rn_order_codec)i;
}

/* Returns whether the rows are consistent with the completions, the values and the event sites. */
static bool sound(const struct rn_order *o)
{
	uint64_t dones = 0, values = 0;

	if (o->rows >= MANY || o->dones >= MANY || o->sites >= MANY)
		return false;
	for (size_t i = 0; i < o->rows; i++) {
		const struct rn_order_row *r = &o->row[i];

		if (r->site >= o->sites)
			return false;
		*(rn_order_has_numbers(&o->site[r->site]) ? &values : &dones) += r->done;
	}
	for (size_t i = 0; i < o->dones; i++)
		if (o->done[i].flags & ~(unsigned)(RN_ORDER_CANCELLED | RN_ORDER_MATCHED))
			return false;
	return dones == o->dones && values == o->values;
}

/* Codes rows and completions, in the direction of `g`. `g` is NULL if its creation failed without
 * memory. Rewinds the arena to `before`. */
static int code_rows(struct rn_arena *scratch, struct rn_arena_mark before, unsigned codec,
		     struct rn_guess *g, const struct rn_order *o)
{
	int rc = RN_E_NOMEM;

	if (g)
		rc = codec == RN_ORDER_CLOCK ? rn_order_clock_code(scratch, g, o)
					     : rn_order_model_code(scratch, g, o);
	if (!rc)
		rc = rn_guess_end(g);
	rn_arena_rewind(scratch, before);
	return rc;
}

/* Codes the values, in the direction of `g`, as code_rows does. */
static int code_values(struct rn_arena *scratch, struct rn_arena_mark before, struct rn_guess *g,
		       const struct rn_order *o, bool *clock)
{
	int rc = g ? rn_order_values_code(scratch, g, o, clock) : RN_E_NOMEM;

	if (!rc)
		rc = rn_guess_end(g);
	rn_arena_rewind(scratch, before);
	return rc;
}

/* Estimated numbers of decisions, which determine the size of the model. */
static uint64_t row_decisions(const struct rn_order *o)
{
	return (uint64_t)4 * (o->rows + o->dones);
}

static uint64_t value_decisions(const struct rn_order *o)
{
	return (uint64_t)8 * o->values;
}

/* Number of bytes to add, so that the input bound permits all elements. Columns have their own
 * bound. */
static size_t padding(const struct rn_order *o, bool coded, size_t len)
{
	size_t n = o->rows + o->dones + (coded ? o->values : 0);
	size_t need = n > FREE ? (n - FREE + PER_BYTE - 1) / PER_BYTE : 0;

	return need > len ? need - len : 0;
}

/* Encodes the values by value_codec.h or as a column, whichever is smaller. Many clock readings are
 * never encoded as a column. */
static int encode_values(struct rn_arena *scratch, const struct rn_order *o, struct rn_buf *values,
			 bool *coded)
{
	struct rn_arena_mark before = rn_arena_mark(scratch);
	struct rn_buf bytes = { 0 };
	bool clock = false;
	int rc = RN_OK;

	if (o->values)
		rc = code_values(scratch, before,
				 rn_guess_write(scratch, value_decisions(o), &bytes, NULL), o,
				 &clock);
	*coded = clock && o->values > FEW;
	if (!rc && o->values && !*coded) {
		rc = rn_column_encode(o->value, o->values, values);
		*coded = bytes.len + rn_varint_size(bytes.len) < values->len;
	}
	if (!rc && *coded) {
		rn_buf_clear(values);
		rn_buf_u64(values, bytes.len);
		rn_buf_add(values, bytes.data, bytes.len);
	}
	rn_buf_free(&bytes);
	return rc ? rc : rn_buf_status(values);
}

static int put(enum rn_order_codec codec, const struct rn_order *o, const struct rn_buf *body,
	       const struct rn_buf *values, bool coded, struct rn_buf *out)
{
	size_t before = out->len;
	int rc;

	rn_buf_byte(out, (unsigned char)(codec | (coded ? CODED : 0)));
	rn_buf_u64(out, o->rows);
	rn_buf_u64(out, o->dones);
	rn_buf_u64(out, o->values);
	rn_buf_u64(out, body->len);
	rn_buf_add(out, body->data, body->len);
	rn_buf_add(out, values->data, values->len);
	for (size_t n = padding(o, coded, out->len - before); n; n--)
		rn_buf_byte(out, 0);
	rc = rn_buf_status(out);
	if (rc)
		out->len = before;
	return rc;
}

int rn_order_encode(struct rn_arena *scratch, enum rn_order_codec codec, const struct rn_order *o,
		    struct rn_buf *out)
{
	struct rn_arena_mark before = rn_arena_mark(scratch);
	struct rn_buf body = { 0 }, values = { 0 };
	int rc = sound(o) && codec < RN_ORDER_CODECS ? RN_OK : RN_E_ARG;
	bool coded;

	if (!rc)
		rc = code_rows(scratch, before, codec,
			       rn_guess_write(scratch, row_decisions(o), &body, NULL), o);
	if (!rc)
		rc = encode_values(scratch, o, &values, &coded);
	if (!rc)
		rc = put(codec, o, &body, &values, coded, out);
	rn_buf_free(&body);
	rn_buf_free(&values);
	return rc;
}

/* Decodes coded values, within the input bound. */
static int get_coded(struct rn_arena *mem, struct rn_reader *in, struct rn_order *o,
		     struct rn_err *err)
{
	uint64_t len = rn_get_count(in, 1);
	const unsigned char *bytes = rn_get_bytes(in, len);
	struct rn_arena_mark before;
	bool clock;
	int rc;

	o->value = rn_new(mem, int64_t, o->values);
	if (!o->value)
		return rn_err_nomem(err);
	if (!bytes)
		return rn_err_set(err, RN_E_DATA, "order cut off");
	before = rn_arena_mark(mem);
	rc = code_values(mem, before, rn_guess_read(mem, value_decisions(o), bytes, len), o,
			 &clock);
	if (rc == RN_E_NOMEM)
		return rn_err_nomem(err);
	return rc ? rn_err_set(err, RN_E_DATA, "order damaged: its values are malformed") : RN_OK;
}

static int get_values(struct rn_arena *mem, struct rn_reader *in, struct rn_order *o,
		      struct rn_err *err)
{
	size_t n = 0;
	int rc = o->values ? rn_column_decode(mem, in, o->values, &o->value, &n, err) : RN_OK;

	if (!rc && n != o->values)
		return rn_err_set(err, RN_E_DATA, "order: values are missing");
	return rc;
}

static bool all_zero(struct rn_reader *in)
{
	while (in->p < in->end && *in->p == 0)
		in->p++;
	return rn_left(in) == 0;
}

/* Decodes rows and completions. Their counts have been checked against the input bound, so
 * allocations are limited by the size of the input. */
static int get_rows(struct rn_arena *mem, unsigned codec, struct rn_reader *in, struct rn_order *o,
		    struct rn_err *err)
{
	bool clocks = codec == RN_ORDER_CLOCK;
	uint64_t len = rn_get_count(in, 1);
	const unsigned char *bytes = rn_get_bytes(in, len);
	struct rn_arena_mark before;
	int rc;

	o->row = rn_new(mem, struct rn_order_row, o->rows);
	o->done = rn_new(mem, struct rn_order_done, o->dones);
	o->clock = clocks ? rn_new(mem, uint64_t, o->dones) : NULL;
	if (!o->row || !o->done || (clocks && !o->clock))
		return rn_err_nomem(err);
	if (!bytes)
		return rn_err_set(err, RN_E_DATA, "order cut off");
	before = rn_arena_mark(mem);
	rc = code_rows(mem, before, codec, rn_guess_read(mem, row_decisions(o), bytes, len), o);
	if (rc == RN_E_NOMEM)
		return rn_err_nomem(err);
	if (rc)
		return rn_err_set(err, RN_E_DATA, "order damaged: not what %s makes", names[codec]);
	return RN_OK;
}

static int get(struct rn_arena *mem, struct rn_reader *in, struct rn_order *o, struct rn_err *err)
{
	size_t len = rn_left(in);
	const unsigned char *first = rn_get_bytes(in, 1);
	unsigned codec = first ? *first & ~CODED : 0;
	bool coded = first && *first & CODED;
	int rc;

	o->rows = rn_get_max(in, MANY - 1);
	o->dones = rn_get_max(in, MANY - 1);
	o->values = rn_get_max(in, MANY - 1);
	if (in->bad)
		return rn_err_set(err, RN_E_DATA, "order cut off");
	if (codec >= RN_ORDER_CODECS)
		return rn_err_set(err, RN_E_DATA, "order codec %u does not exist", *first);
	if (padding(o, coded, len))
		return rn_err_set(err, RN_E_DATA, "order damaged: too many rows for so few bytes");
	rc = get_rows(mem, codec, in, o, err);
	if (!rc && !sound(o))
		rc = rn_err_set(err, RN_E_DATA, "order damaged: its parts do not fit");
	if (!rc)
		rc = (coded ? get_coded : get_values)(mem, in, o, err);
	if (!rc && !all_zero(in))
		rc = rn_err_set(err, RN_E_DATA, "order damaged: its parts do not fit");
	return rc;
}

int rn_order_decode(struct rn_arena *mem, const struct rn_order_site *site, size_t sites,
		    const void *bytes, size_t len, struct rn_order *out, struct rn_err *err)
{
	struct rn_arena_mark before = rn_arena_mark(mem);
	struct rn_order o = { .site = site, .sites = sites };
	struct rn_reader in = rn_reader(bytes, len);
	int rc = get(mem, &in, &o, err);

	if (rc)
		rn_arena_rewind(mem, before);
	else
		*out = o;
	return rc;
}
