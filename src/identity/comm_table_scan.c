/*
 * comm_table_scan.c - see comm_table.h: iteration over the rows of a communicator, and validation.
 */
#include <inttypes.h>

#include "identity/comm_table_impl.h"

static void read_column(const struct column *col, uint64_t from, int64_t *out, size_t n)
{
	if (col->units)
		rn_units_read(col->units, from, out, n);
	else
		for (size_t i = 0; i < n; i++)
			out[i] = col->first + (int64_t)(from + i) * col->step;
}

int rn_scan_init(struct rn_scan *s, const struct rn_comms *c, uint32_t node)
{
	s->c = c;
	s->sealed = NULL;
	s->next = 0;
	s->later = rn_new(c->mem, uint32_t, (size_t)node_at(c, node)->depth + 1);
	if (!s->later)
		return RN_E_NOMEM;
	s->later[0] = node;
	s->n = 1;
	return RN_OK;
}

static void scan_sealed(struct rn_scan *s, struct row *r)
{
	uint64_t left = s->sealed->rows - s->at;

	if (s->at % RN_SCAN_BLOCK == 0)
		for (int k = 0; k < COLS; k++)
			read_column(&s->sealed->sealed->col[k], s->at, s->block[k],
				    left < RN_SCAN_BLOCK ? left : RN_SCAN_BLOCK);
	for (int k = 0; k < COLS; k++)
		r->v[k] = (uint64_t)s->block[k][s->at % RN_SCAN_BLOCK];
	if (++s->at == s->sealed->rows)
		s->sealed = NULL;
}

static void scan_any(struct rn_scan *s, struct row *r)
{
	const struct node *n;

	while (!s->sealed) {
		n = node_at(s->c, s->later[--s->n]);
		if (n->kind == LEAF) {
			*r = n->row;
			return;
		}
		if (n->kind == SEALED) {
			s->sealed = n;
			s->at = 0;
			break;
		}
		s->later[s->n++] = n->right;
		s->later[s->n++] = n->left;
	}
	scan_sealed(s, r);
}

int rn_scan_next(struct rn_scan *s, struct row *r)
{
	if (!s->sealed && s->n == 0)
		return 0;
	scan_any(s, r);
	if (!rn_comms_row_valid(r) || r->v[RANK] < s->next)
		return RN_E_DATA;
	s->next = r->v[RANK] + 1;
	return 1;
}

/* Validation */

/* Validates two adjacent rows, in the order of keys, that may belong to one communicator. */
static int check_pair(const struct row *a, const struct row *b, struct rn_err *err)
{
	if (a->v[KEY] != b->v[KEY] || a->v[REMOTE_KEY] != b->v[REMOTE_KEY])
		return RN_OK;
	if (a->v[SIZE] != b->v[SIZE] || a->v[REMOTE] != b->v[REMOTE])
		return rn_err_set(err, RN_E_DATA,
				  "ranks %" PRIu64 " and %" PRIu64 " differ about its size",
				  a->v[RANK], b->v[RANK]);
	if (a->v[MY_RANK] == b->v[MY_RANK])
		return rn_err_set(err, RN_E_DATA,
				  "ranks %" PRIu64 " and %" PRIu64 " are both rank %" PRIu64
				  " of it",
				  a->v[RANK], b->v[RANK], a->v[MY_RANK]);
	return RN_OK;
}

static int check_pairs(const struct row *rows, uint64_t n, struct rn_err *err)
{
	int rc = RN_OK;

	for (; n > 1 && rc == RN_OK; n--)
		rc = check_pair(&rows[n - 2], &rows[n - 1], err);
	return rc;
}

static int rows_failed(int rc, struct rn_err *err)
{
	return rc == RN_E_DATA ? rn_err_set(err, rc, "an entry is out of range")
			       : rn_err_nomem(err);
}

static int check_shape(const struct rn_comms *c, uint32_t node, struct rn_err *err)
{
	struct rn_arena_mark mark = rn_arena_mark(c->mem);
	struct rn_rows rows;
	int rc = rn_rows_of(c, node, &rows);

	if (rc < 0)
		rc = rows_failed(rc, err);
	else if (rows.n != node_at(c, node)->rows)
		rc = rn_err_set(err, RN_E_DATA, "its rows are miscounted");
	else
		rc = check_pairs(rows.row, rows.n, err);
	rn_arena_rewind(c->mem, mark);
	return rc;
}

static int check_names(const struct rn_comms *c, bool *seen, struct rn_err *err)
{
	for (uint32_t i = 0; i < c->name.n; i++) {
		const struct name *n = name_at(c, i);
		int rc = seen[n->node] ? RN_OK : check_shape(c, n->node, err);

		seen[n->node] = true;
		if (rc == RN_OK && rn_comms_find_name(c, n->text, n->len) != i)
			rc = rn_err_set(err, RN_E_DATA, "it is not found");
		if (rc < 0) {
			rn_err_prefix(err, "%.*s", (int)n->len, n->text);
			return rc;
		}
	}
	return RN_OK;
}

/* Validates the communicators with unique keys, whose entries must agree over all their names. */
static int check_apart(const struct rn_comms *c, struct rn_err *err)
{
	struct rn_rows apart;
	int rc = rn_rows_apart(c, &apart);

	return rc < 0 ? rows_failed(rc, err) : check_pairs(apart.row, apart.n, err);
}

int rn_comms_check(const struct rn_comms *c, struct rn_err *err)
{
	struct rn_arena_mark mark = rn_arena_mark(c->mem);
	bool *seen = rn_new(c->mem, bool, c->node.n);
	int rc;

	if (!seen)
		return rn_err_nomem(err);
	if (rn_map_check(&c->name_of) && rn_map_check(&c->node_of) && c->name_of.used == c->name.n)
		rc = check_names(c, seen, err);
	else
		rc = rn_err_set(err, RN_E_DATA, "the table of communicators is inconsistent");
	if (rc == RN_OK)
		rc = check_apart(c, err);
	rn_arena_rewind(c->mem, mark);
	return rc;
}
