/*
 * comm_table_list.c - see comm_table.h: the members of a communicator, and the list of all
 * communicators under each of their names.
 *
 * Rows are sorted by key, so the members of a group are adjacent and sorted by rank. A group whose
 * key belongs to one name is searched in the rows of that name, any other in the rows of all names.
 */
#include <stdlib.h>

#include "base/bisect.h"
#include "identity/comm_table_impl.h"

/* Compares rows by key, remote key and rank, for qsort. */
static int by_key(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	static const int order[] = { KEY, REMOTE_KEY, MY_RANK };

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		if (x->v[order[i]] != y->v[order[i]])
			return x->v[order[i]] < y->v[order[i]] ? -1 : 1;
	return (x->v[RANK] > y->v[RANK]) - (x->v[RANK] < y->v[RANK]);
}

/* Rows with keys from `least` to `most`. */
struct range {
	uint64_t least, most;
};

static const struct range all_keys = { 0, UINT64_MAX };

/* Adds the rows in the range; if out->row is NULL, they are only counted. */
static int add_rows(const struct rn_comms *c, uint32_t node, struct range keys, struct rn_rows *out)
{
	struct rn_arena_mark mark = rn_arena_mark(c->mem);
	struct rn_scan s;
	struct row r;
	int rc = rn_scan_init(&s, c, node);

	while (rc == RN_OK && (rc = rn_scan_next(&s, &r)) > 0) {
		rc = RN_OK;
		if (r.v[KEY] < keys.least || r.v[KEY] > keys.most)
			continue;
		if (out->row && out->n == out->cap)
			rc = RN_E_DATA;
		else if (out->row)
			out->row[out->n] = r;
		out->n++;
	}
	rn_arena_rewind(c->mem, mark);
	return rc;
}

static bool is_in_order(const struct rn_rows *rows)
{
	for (uint64_t i = 1; i < rows->n; i++)
		if (by_key(&rows->row[i - 1], &rows->row[i]) > 0)
			return false;
	return true;
}

/* The rows are counted first, because there may be millions. A hostile number of rows in a node
 * fails when the array is allocated, not after a scan. */
static int collect(const struct rn_comms *c, const uint32_t *node, uint32_t nodes,
		   struct range keys, struct rn_rows *out)
{
	bool all = keys.least == all_keys.least && keys.most == all_keys.most;
	int rc = RN_OK;

	*out = (struct rn_rows){ 0 };
	for (uint32_t i = 0; i < nodes && rc == RN_OK; i++)
		if (all)
			out->n += node_at(c, node[i])->rows;
		else
			rc = add_rows(c, node[i], keys, out);
	out->cap = out->n;
	out->n = 0;
	if (rc == RN_OK && !(out->row = rn_new(c->mem, struct row, out->cap)))
		rc = RN_E_NOMEM;
	for (uint32_t i = 0; i < nodes && rc == RN_OK; i++)
		rc = add_rows(c, node[i], keys, out);
	if (rc == RN_OK && !is_in_order(out))
		qsort(out->row, out->n, sizeof(*out->row), by_key);
	return rc;
}

int rn_rows_of(const struct rn_comms *c, uint32_t node, struct rn_rows *out)
{
	return collect(c, &node, 1, all_keys, out);
}

static int collect_apart(const struct rn_comms *c, struct range keys, struct rn_rows *out)
{
	bool *seen = rn_new(c->mem, bool, c->node.n);
	uint32_t *node = rn_new(c->mem, uint32_t, c->name.n), n = 0;

	if (!seen || !node)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < c->name.n; i++) {
		uint32_t its = name_at(c, i)->node;

		if (!is_comm(name_at(c, i)) || seen[its])
			continue;
		node[n++] = its;
		seen[its] = true;
	}
	return collect(c, node, n, keys, out);
}

int rn_rows_apart(const struct rn_comms *c, struct rn_rows *out)
{
	return collect_apart(c, (struct range){ RN_COMM_KEY_APART, UINT64_MAX }, out);
}

static bool same_side(const struct row *a, const struct row *b)
{
	return a->v[KEY] == b->v[KEY] && a->v[REMOTE_KEY] == b->v[REMOTE_KEY];
}

uint64_t rn_rows_find(const struct rn_rows *rows, uint64_t key, uint64_t remote_key)
{
	struct row wanted = { { [KEY] = key, [REMOTE_KEY] = remote_key } };
	struct rn_bisect b = { 0, rows->n, 0 };

	while (rn_bisect_next(&b))
		rn_bisect_go(&b, by_key(&rows->row[b.mid], &wanted) < 0);
	return b.lo;
}

static int make_side(const struct rn_rows *rows, uint64_t key, uint64_t remote_key, uint64_t size,
		     struct rn_arena *mem, struct rn_comm_side *out)
{
	uint64_t from = rn_rows_find(rows, key, remote_key), to = from;
	struct rn_comm_member *member;

	while (to < rows->n && rows->row[to].v[KEY] == key &&
	       rows->row[to].v[REMOTE_KEY] == remote_key)
		to++;
	*out = (struct rn_comm_side){ .size = size, .n = to - from };
	out->member = member = rn_new(mem, struct rn_comm_member, out->n);
	if (!member)
		return RN_E_NOMEM;
	for (uint64_t i = 0; i < out->n; i++) {
		const struct row *r = &rows->row[from + i];

		member[i] = (struct rn_comm_member){ r->v[MY_RANK], r->v[RANK] };
		if (r->v[MY_RANK] >= size || (i && member[i - 1].rank == r->v[MY_RANK]))
			return RN_E_DATA;
	}
	return RN_OK;
}

/* ---- members ---- */

/* Iterates over one group: the ranks that have the communicator under this name or, if the key is
 * unique to the communicator, under any name. */
static int walk(const struct rn_comms *c, uint32_t name, uint64_t key, uint64_t remote_key,
		rn_comms_fn *fn, void *arg)
{
	struct rn_arena_mark mark = rn_arena_mark(c->mem);
	struct range keys = { key, key };
	struct rn_rows rows;
	int rc = key < RN_COMM_KEY_APART ? collect(c, &name_at(c, name)->node, 1, keys, &rows)
					 : collect_apart(c, keys, &rows);

	for (uint64_t i = rc == RN_OK ? rn_rows_find(&rows, key, remote_key) : 0;
	     rc == RN_OK && i < rows.n && rows.row[i].v[REMOTE_KEY] == remote_key; i++) {
		const struct row *r = &rows.row[i];

		rc = fn(arg, r->v[MY_RANK], r->v[RANK]);
		if (i + 1 < rows.n && same_side(r, r + 1) && r->v[MY_RANK] == r[1].v[MY_RANK])
			rc = RN_E_DATA;
	}
	rn_arena_rewind(c->mem, mark);
	return rc;
}

int rn_comms_members(const struct rn_comms *c, const char *name, size_t len, uint64_t world_rank,
		     rn_comms_fn *fn, void *arg)
{
	struct rn_comm_entry e;
	int rc = rn_comms_find(c, name, len, world_rank, &e);

	if (rc < 0)
		return rc;
	return walk(c, rn_comms_find_name(c, name, len), e.key, e.remote_key, fn, arg);
}

int rn_comms_remote_members(const struct rn_comms *c, const char *name, size_t len,
			    uint64_t world_rank, rn_comms_fn *fn, void *arg)
{
	struct rn_comm_entry e;
	int rc = rn_comms_find(c, name, len, world_rank, &e);

	if (rc < 0 || e.remote == 0)
		return rc;
	return walk(c, rn_comms_find_name(c, name, len), e.remote_key, e.key, fn, arg);
}

/* ---- the list ---- */

struct lister {
	const struct rn_comms *c;
	struct rn_rows apart;
	rn_comms_list_fn *fn;
	void *arg;
};

/* Lists the communicator of this row. */
static int list_one(struct lister *l, const struct name *name, const struct rn_rows *own,
		    const struct row *r)
{
	const struct rn_rows *rows = r->v[KEY] < RN_COMM_KEY_APART ? own : &l->apart;
	uint64_t key = r->v[KEY], remote_key = r->v[REMOTE_KEY];
	struct rn_comm_listed out = { .name = name->text, .len = name->len };
	int rc = make_side(own, key, remote_key, r->v[SIZE], l->c->mem, &out.by);

	if (rc == RN_OK)
		rc = make_side(rows, key, remote_key, r->v[SIZE], l->c->mem, &out.local);
	if (rc == RN_OK && r->v[REMOTE])
		rc = make_side(rows, remote_key, key, r->v[REMOTE], l->c->mem, &out.remote);
	return rc ? rc : l->fn(l->arg, &out);
}

static int list_name(struct lister *l, const struct name *name)
{
	struct rn_arena_mark mark = rn_arena_mark(l->c->mem), each;
	struct rn_rows own;
	int rc = rn_rows_of(l->c, name->node, &own);

	each = rn_arena_mark(l->c->mem);
	for (uint64_t i = 0; rc == RN_OK && i < own.n; i++) {
		if (i && same_side(&own.row[i - 1], &own.row[i]))
			continue;
		rc = list_one(l, name, &own, &own.row[i]);
		rn_arena_rewind(l->c->mem, each);
	}
	rn_arena_rewind(l->c->mem, mark);
	return rc;
}

int rn_comms_list(const struct rn_comms *c, rn_comms_list_fn *fn, void *arg)
{
	struct rn_arena_mark mark = rn_arena_mark(c->mem);
	struct lister l = { .c = c, .fn = fn, .arg = arg };
	int rc = rn_rows_apart(c, &l.apart);

	for (uint32_t i = 0; i < c->name.n && rc == RN_OK; i++)
		if (is_comm(name_at(c, i)))
			rc = list_name(&l, name_at(c, i));
	rn_arena_rewind(c->mem, mark);
	return rc;
}
