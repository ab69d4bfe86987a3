/* comm_table_scan.c - see comm_table.h: all rows of a communicator, its members, and checking. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

/* Members */

struct member {
	uint64_t rank, world_rank;
};

static int by_rank(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

struct group {
	uint64_t key, remote_key, remote; /* what its rows have */
	struct member *member;
	uint64_t n;
	uint32_t cap;
	bool sorted;
};

static int group_add(struct group *g, struct rn_arena *mem, const struct row *r)
{
	if (!RN_GROW(mem, g->member, g->n + 1, g->cap))
		return RN_E_NOMEM;
	if (g->n && g->member[g->n - 1].rank >= r->v[MY_RANK])
		g->sorted = false;
	g->member[g->n++] = (struct member){ r->v[MY_RANK], r->v[RANK] };
	return RN_OK;
}

/* Its key, and the same of the other side or none at all. */
static bool in_group(const struct group *g, const struct row *r)
{
	return r->v[KEY] == g->key && r->v[REMOTE_KEY] == g->remote_key &&
	       !r->v[REMOTE] == !g->remote;
}

static int collect(const struct rn_comms *c, uint32_t node, struct group *g)
{
	struct rn_scan s;
	struct row r;
	int rc = rn_scan_init(&s, c, node);

	while (rc == RN_OK && (rc = rn_scan_next(&s, &r)) > 0)
		rc = in_group(g, &r) ? group_add(g, c->mem, &r) : RN_OK;
	return rc;
}

/* From all names. */
static int collect_apart(const struct rn_comms *c, struct group *g)
{
	bool *seen = rn_new(c->mem, bool, c->node.n);
	int rc = seen ? RN_OK : RN_E_NOMEM;

	for (uint32_t i = 0; i < c->name.n && rc == RN_OK; i++) {
		uint32_t node = name_at(c, i)->node;

		if (!is_comm(name_at(c, i)) || seen[node])
			continue;
		rc = collect(c, node, g);
		seen[node] = true;
	}
	return rc;
}

static int put_in_order(struct group *g)
{
	if (!g->sorted)
		qsort(g->member, g->n, sizeof(*g->member), by_rank);
	for (uint64_t i = 1; i < g->n; i++)
		if (g->member[i - 1].rank == g->member[i].rank)
			return RN_E_DATA;
	return RN_OK;
}

static int walk(const struct rn_comms *c, uint32_t node, struct group *g, rn_comms_fn *fn,
		void *arg)
{
	struct rn_arena_mark mark = rn_arena_mark(c->mem);
	int rc;

	g->sorted = true;
	rc = g->key < RN_COMM_KEY_APART ? collect(c, node, g) : collect_apart(c, g);
	if (rc == RN_OK)
		rc = put_in_order(g);
	for (uint64_t i = 0; rc == RN_OK && i < g->n; i++)
		rc = fn(arg, g->member[i].rank, g->member[i].world_rank);
	rn_arena_rewind(c->mem, mark);
	return rc;
}

int rn_comms_members(const struct rn_comms *c, const char *name, size_t len, uint64_t world_rank,
		     rn_comms_fn *fn, void *arg)
{
	struct rn_comm_entry e;
	struct group g = { 0 };
	int rc = rn_comms_find(c, name, len, world_rank, &e);

	if (rc < 0)
		return rc;
	g.key = e.key;
	g.remote_key = e.remote_key;
	g.remote = e.remote;
	return walk(c, name_at(c, rn_comms_find_name(c, name, len))->node, &g, fn, arg);
}

int rn_comms_remote_members(const struct rn_comms *c, const char *name, size_t len,
			    uint64_t world_rank, rn_comms_fn *fn, void *arg)
{
	struct rn_comm_entry e;
	struct group g = { 0 };
	int rc = rn_comms_find(c, name, len, world_rank, &e);

	if (rc < 0 || e.remote == 0)
		return rc;
	g.key = e.remote_key;
	g.remote_key = e.key;
	g.remote = e.size;
	return walk(c, name_at(c, rn_comms_find_name(c, name, len))->node, &g, fn, arg);
}

/* Checking */

/* Neighbours in the order of keys that are in one communicator. */
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

static int check_rows(const struct rn_comms *c, uint32_t node, struct row *rows, struct rn_err *err)
{
	uint64_t n = 0;
	struct rn_scan s;
	int rc = rn_scan_init(&s, c, node);

	if (rc < 0)
		return rn_err_nomem(err);
	while (n < node_at(c, node)->rows && (rc = rn_scan_next(&s, &rows[n])) > 0)
		n++;
	if (rc < 0)
		return rn_err_set(err, RN_E_DATA, "an entry is out of range");
	if (n != node_at(c, node)->rows || s.sealed || s.n)
		return rn_err_set(err, RN_E_DATA, "its rows are miscounted");
	qsort(rows, n, sizeof(*rows), rn_rows_order);
	return check_pairs(rows, n, err);
}

static int check_shape(const struct rn_comms *c, uint32_t node, struct rn_err *err)
{
	struct rn_arena_mark mark = rn_arena_mark(c->mem);
	struct row *rows = rn_new(c->mem, struct row, node_at(c, node)->rows);
	int rc = rows ? check_rows(c, node, rows, err) : rn_err_nomem(err);

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

/* What has several names agrees over all of them, too. */
static int check_apart(const struct rn_comms *c, struct rn_err *err)
{
	struct rn_rows apart;
	int rc = rn_rows_apart(c, &apart);

	if (rc == RN_E_DATA)
		return rn_err_set(err, rc, "an entry is out of range");
	return rc < 0 ? rn_err_nomem(err) : check_pairs(apart.row, apart.n, err);
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
