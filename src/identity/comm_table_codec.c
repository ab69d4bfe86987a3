/*
 * comm_table_codec.c - see comm_table.h; the bytes are specified in doc/format.md.
 *
 * Rows are streamed from the tree into six columns. A column needs a series builder only from the
 * first element that is not evenly spaced, so thousands of small row sets cost almost nothing.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/intern.h"
#include "base/varint.h"
#include "identity/comm_table_impl.h"
#include "series/series.h"

/* The form of a column: two bits each in the head of a row set. */
enum form { ZERO, SAME, EVEN, SERIES };

/* Encoding */

struct column_out {
	struct rn_series *series; /* NULL while the values are evenly spaced */
	int64_t first, step, last;
};

struct shape_out {
	uint64_t n;
	struct column_out col[COLS];
};

static int go_irregular(struct column_out *col, struct rn_arena *mem, uint64_t n, bool sorted)
{
	int rc = RN_OK;

	col->series = sorted ? rn_series_new_sorted(mem) : rn_series_new(mem);
	if (!col->series)
		return RN_E_NOMEM;
	for (uint64_t i = 0; i < n && rc == RN_OK; i++)
		rc = rn_series_append(col->series, col->first + (int64_t)i * col->step);
	return rc;
}

/* Appends element n to the column. */
static int column_put(struct column_out *col, struct rn_arena *mem, uint64_t n, int64_t x,
		      bool sorted)
{
	int64_t step;
	int rc;

	if (n == 0) {
		col->first = col->last = x;
		return RN_OK;
	}
	if (!col->series) {
		bool fits = !__builtin_sub_overflow(x, col->last, &step);

		if (fits && (n == 1 || step == col->step)) {
			col->step = step;
			col->last = x;
			return RN_OK;
		}
		rc = go_irregular(col, mem, n, sorted);
		if (rc < 0)
			return rc;
	}
	return rn_series_append(col->series, x);
}

static int shape_rows(const struct rn_comms *c, uint32_t node, struct shape_out *out)
{
	struct rn_scan s;
	struct row r;
	int rc = rn_scan_init(&s, c, node);

	while (rc == RN_OK && (rc = rn_scan_next(&s, &r)) > 0) {
		rc = RN_OK;
		for (int k = 0; k < COLS && rc == RN_OK; k++)
			rc = column_put(&out->col[k], c->mem, out->n, (int64_t)r.v[k], k == RANK);
		out->n++;
	}
	return rc;
}

static enum form form_of(const struct column_out *col)
{
	if (col->series)
		return SERIES;
	if (col->step)
		return EVEN;
	return col->first ? SAME : ZERO;
}

static int put_column(const struct column_out *col, struct rn_arena *mem, struct rn_buf *out)
{
	struct rn_units *u;
	int rc;

	switch (form_of(col)) {
	case ZERO:
		return RN_OK;
	case SAME:
		rn_buf_i64(out, col->first);
		return RN_OK;
	case EVEN:
		rn_buf_i64(out, col->first);
		rn_buf_i64(out, col->step);
		return RN_OK;
	case SERIES:
		break;
	}
	rc = rn_units_seal(mem, col->series, &u);
	return rc ? rc : rn_units_encode(u, out);
}

static int put_shape(const struct rn_comms *c, uint32_t node, struct rn_buf *out)
{
	struct rn_arena_mark mark = rn_arena_mark(c->mem);
	struct shape_out shape = { 0 };
	unsigned forms = 0;
	int rc = shape_rows(c, node, &shape);

	for (int k = 0; k < COLS; k++)
		forms |= (unsigned)form_of(&shape.col[k]) << 2 * k;
	rn_buf_u64(out, shape.n);
	rn_buf_u64(out, forms);
	for (int k = 0; k < COLS && rc == RN_OK; k++)
		rc = put_column(&shape.col[k], c->mem, out);
	rn_arena_rewind(c->mem, mark);
	return rc ? rc : rn_buf_status(out);
}

struct encoder {
	const struct rn_comms *c;
	uint32_t *order;    /* names sorted by their bytes */
	uint32_t *shape_of; /* by node: index of its row set + 1, or 0 */
	struct rn_sigs *shapes;
	struct rn_buf shape, names; /* shape: the row set being written */
};

static int compare_names(const void *a, const void *b, void *arg)
{
	const struct rn_comms *c = arg;
	const struct name *x = name_at(c, *(const uint32_t *)a);
	const struct name *y = name_at(c, *(const uint32_t *)b);
	int d = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);

	return d ? d : (x->len > y->len) - (x->len < y->len);
}

/* Returns the index of a node's row set. Different trees can have equal rows; their bytes are
 * equal, so they share an index. */
static int shape_number(struct encoder *e, uint32_t node, uint32_t *id)
{
	int rc = RN_OK;

	if (!e->shape_of[node]) {
		rn_buf_clear(&e->shape);
		rc = put_shape(e->c, node, &e->shape);
		if (rc == RN_OK)
			rc = rn_sigs_intern(e->shapes, e->shape.data, e->shape.len, id);
		e->shape_of[node] = *id + 1;
	}
	*id = e->shape_of[node] - 1;
	return rc;
}

static uint32_t shared_prefix(const struct name *a, const struct name *b)
{
	uint32_t n = 0;

	while (n < a->len && n < b->len && a->text[n] == b->text[n])
		n++;
	return n;
}

static int put_names(struct encoder *e)
{
	static const struct name none = { "", 0, 0 };
	const struct name *before = &none;

	for (uint32_t i = 0; i < e->c->name.n; i++) {
		const struct name *n = name_at(e->c, e->order[i]);
		uint32_t shared = shared_prefix(before, n), shape = 0;
		int rc = shape_number(e, n->node, &shape);

		if (rc < 0)
			return rc;
		rn_buf_u64(&e->names, shared);
		rn_buf_u64(&e->names, n->len - shared);
		rn_buf_add(&e->names, n->text + shared, n->len - shared);
		rn_buf_u64(&e->names, shape);
		before = n;
	}
	return RN_OK;
}

static int encoder_init(struct encoder *e, const struct rn_comms *c)
{
	e->c = c;
	e->order = rn_new(c->mem, uint32_t, c->name.n);
	e->shape_of = rn_new(c->mem, uint32_t, c->node.n);
	e->shapes = rn_sigs_new(c->mem);
	if (!e->order || !e->shape_of || !e->shapes)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < c->name.n; i++)
		e->order[i] = i;
	qsort_r(e->order, c->name.n, sizeof(*e->order), compare_names, (void *)(uintptr_t)c);
	return RN_OK;
}

static int encoder_finish(struct encoder *e, struct rn_buf *out)
{
	size_t before = out->len;

	if (rn_buf_status(&e->names) < 0)
		return RN_E_NOMEM;
	rn_buf_u64(out, rn_sigs_count(e->shapes));
	for (uint32_t i = 0; i < rn_sigs_count(e->shapes); i++) {
		size_t len;
		const void *shape = rn_sigs_get(e->shapes, i, &len);

		rn_buf_add(out, shape, len);
	}
	rn_buf_u64(out, e->c->name.n);
	rn_buf_add(out, e->names.data, e->names.len);
	if (rn_buf_status(out) == RN_OK)
		return RN_OK;
	out->len = before;
	return RN_E_NOMEM;
}

int rn_comms_encode(const struct rn_comms *c, struct rn_buf *out)
{
	struct rn_arena_mark mark = rn_arena_mark(c->mem);
	struct encoder e = { 0 };
	int rc = encoder_init(&e, c);

	if (rc == RN_OK)
		rc = put_names(&e);
	if (rc == RN_OK)
		rc = encoder_finish(&e, out);
	rn_buf_free(&e.shape);
	rn_buf_free(&e.names);
	rn_arena_rewind(c->mem, mark);
	return rc;
}

/* Decoding */

static void read_even(struct rn_reader *in, enum form form, uint64_t n, struct column *col)
{
	int64_t reach;

	col->first = form == ZERO ? 0 : rn_get_i64(in);
	col->step = form == EVEN ? rn_get_i64(in) : 0;
	/* If this does not overflow, no element below n does. n is at most 2^31. */
	if (__builtin_mul_overflow(col->step, (int64_t)n - 1, &reach) ||
	    __builtin_add_overflow(col->first, reach, &reach))
		rn_fail(in);
}

static int read_units(struct rn_arena *mem, struct rn_reader *in, uint64_t n, struct column *col,
		      struct rn_err *err)
{
	struct rn_units *u;
	int rc = rn_units_decode(mem, in, &u, err);

	if (rc < 0)
		return rc;
	if (rn_units_length(u) != n)
		return rn_err_set(err, RN_E_DATA, "%" PRIu64 " elements for %" PRIu64 " ranks",
				  rn_units_length(u), n);
	col->units = u;
	return RN_OK;
}

static int read_columns(struct rn_arena *mem, struct rn_reader *in, uint64_t n, struct column *col,
			struct rn_err *err)
{
	unsigned forms = (unsigned)rn_get_max(in, (1u << 2 * COLS) - 1);

	for (int k = 0; k < COLS; k++) {
		enum form form = forms >> 2 * k & 3;
		int rc = RN_OK;

		if (form == SERIES && !in->bad)
			rc = read_units(mem, in, n, &col[k], err);
		else
			read_even(in, form, n, &col[k]);
		if (rc < 0)
			return rc;
	}
	return in->bad ? rn_err_set(err, RN_E_DATA, "malformed") : RN_OK;
}

/* Sets the range of ranks of the node. Returns false if the ranks do not ascend or are out of
 * range. */
static bool read_ranks(const struct column *ranks, struct node *n)
{
	int64_t first = column_at(ranks, 0), last = column_at(ranks, n->rows - 1);

	if (ranks->units ? !rn_units_monotone(ranks->units) : n->rows > 1 && ranks->step <= 0)
		return false;
	if (first < 0 || (uint64_t)last >= RN_COMM_RANKS_MAX)
		return false;
	n->first = (uint64_t)first;
	n->last = (uint64_t)last;
	return n->rows - 1 <= n->last - n->first;
}

int rn_comms_read_shape(struct rn_comms *c, struct rn_reader *in, uint32_t *id, struct rn_err *err)
{
	const unsigned char *bytes = in->p;
	struct sealed *s = rn_new(c->mem, struct sealed, 1);
	struct node n = { .kind = SEALED, .rows = rn_get_max(in, RN_COMM_RANKS_MAX), .sealed = s };
	int rc;

	if (!s)
		return rn_err_nomem(err);
	if (n.rows == 0)
		return rn_err_set(err, RN_E_DATA, "malformed");
	rc = read_columns(c->mem, in, n.rows, s->col, err);
	if (rc < 0)
		return rc;
	if (!read_ranks(&s->col[RANK], &n))
		return rn_err_set(err, RN_E_DATA, "not a ranklist");
	s->len = (size_t)(in->p - bytes);
	s->bytes = bytes;
	return rn_comms_push_node(c, &n, id) < 0 ? rn_err_nomem(err) : RN_OK;
}

static int read_shapes(struct rn_comms *c, struct rn_reader *in, struct rn_err *err)
{
	uint64_t n = rn_get_count(in, 2);

	for (uint64_t i = 0; i < n; i++) {
		uint32_t id;
		int rc = rn_comms_read_shape(c, in, &id, err);

		if (rc < 0) {
			rn_err_prefix(err, "shape %" PRIu64, i);
			return rc;
		}
		assert(id == i);
	}
	return RN_OK;
}

struct name_in {
	char text[RN_NAME_MAX], before[RN_NAME_MAX];
	size_t len, before_len;
	uint64_t shape;
};

static bool read_name(struct rn_reader *in, struct name_in *n)
{
	uint64_t shared = rn_get_max(in, n->before_len);
	uint64_t rest = rn_get_max(in, RN_NAME_MAX - shared);
	const unsigned char *p = rn_get_bytes(in, rest);

	if (in->bad)
		return false;
	memcpy(n->text, n->before, shared);
	memcpy(n->text + shared, p, rest);
	n->len = shared + rest;
	n->shape = rn_get_u64(in);
	/* Names ascend: a name extends the previous one, or its first different byte is larger. */
	if (rest == 0 || (shared < n->before_len && n->text[shared] <= n->before[shared]))
		rn_fail(in);
	return !in->bad && rn_name_valid(n->text, n->len);
}

/* Row sets are numbered in the order of their first use. */
static int read_names(struct rn_comms *c, struct rn_reader *in, struct rn_err *err)
{
	uint64_t n = rn_get_count(in, 3), used = 0;
	struct name_in name = { .before_len = 0 };

	for (uint64_t i = 0; i < n; i++) {
		const struct node *node;

		if (!read_name(in, &name))
			return rn_err_set(err, RN_E_DATA, "name %" PRIu64 " is malformed", i);
		if (name.shape > used || name.shape >= c->node.n)
			return rn_err_set(err, RN_E_DATA, "name %" PRIu64 ": shape out of order",
					  i);
		used += name.shape == used;
		if (rn_comms_push_name(c, name.text, name.len, (uint32_t)name.shape) < 0)
			return rn_err_nomem(err);
		node = node_at(c, (uint32_t)name.shape);
		rn_comms_widen(c, node->first, node->last);
		memcpy(name.before, name.text, name.len);
		name.before_len = name.len;
	}
	if (used != c->node.n)
		return rn_err_set(err, RN_E_DATA, "shape %" PRIu64 " has no name", used);
	return RN_OK;
}

int rn_comms_decode(struct rn_arena *mem, const void *bytes, size_t len, struct rn_comms **out,
		    struct rn_err *err)
{
	struct rn_comms *c = rn_comms_new(mem);
	unsigned char *copy = rn_new(mem, unsigned char, len);
	struct rn_reader in;
	int rc;

	if (!c || !copy)
		return rn_err_nomem(err);
	if (len)
		memcpy(copy, bytes, len); /* sealed nodes refer to it */
	in = rn_reader(copy, len);
	rc = read_shapes(c, &in, err);
	if (rc == RN_OK)
		rc = read_names(c, &in, err);
	if (rc < 0)
		return rc;
	if (in.bad)
		return rn_err_set(err, RN_E_DATA, "cut off");
	if (rn_left(&in))
		return rn_err_set(err, RN_E_DATA, "bytes left over");
	*out = c;
	return RN_OK;
}
