/*
 * comm_table_list.c - see comm_table.h: the members of a communicator, and all communicators, each
 * as its members of one name know it.
 *
 * Rows in the order of their keys: the members of a side then stand together, by rank. Sides with
 * keys of one name are looked for among the rows of that name, others among those of all names.
 */
#include <stdlib.h>

#include "base/bisect.h"
#include "identity/comm_table_impl.h"

int rn_rows_order(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	static const int order[] = { KEY, REMOTE_KEY, MY_RANK };

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		if (x->v[order[i]] != y->v[order[i]])
			return x->v[order[i]] < y->v[order[i]] ? -1 : 1;
	return (x->v[RANK] > y->v[RANK]) - (x->v[RANK] < y->v[RANK]);
}

/* Adds the rows with keys from `least` to `most`. Scratch memory stays in the arena. */
static int add_rows(const struct rn_comms *c, uint32_t node, uint64_t least, uint64_t most,
		    struct rn_rows *out)
{
	struct rn_scan s;
	struct row r;
	int rc = rn_scan_init(&s, c, node);

	while (rc == RN_OK && (rc = rn_scan_next(&s, &r)) > 0) {
		rc = RN_OK;
		if (r.v[KEY] < least || r.v[KEY] > most)
			continue;
		if (!RN_GROW(c->mem, out->row, out->n + 1, out->cap))
			return RN_E_NOMEM;
		out->row[out->n++] = r;
	}
	return rc;
}

static int in_order(int rc, struct rn_rows *rows)
{
	if (rc == RN_OK && rows->n)
		qsort(rows->row, rows->n, sizeof(*rows->row), rn_rows_order);
	return rc;
}

int rn_rows_of(const struct rn_comms *c, uint32_t node, uint64_t least, uint64_t most,
	       struct rn_rows *out)
{
	*out = (struct rn_rows){ 0 };
	return in_order(add_rows(c, node, least, most, out), out);
}

int rn_rows_apart(const struct rn_comms *c, uint64_t least, uint64_t most, struct rn_rows *out)
{
	bool *seen = rn_new(c->mem, bool, c->node.n);
	int rc = seen ? RN_OK : RN_E_NOMEM;

	*out = (struct rn_rows){ 0 };
	for (uint32_t i = 0; i < c->name.n && rc == RN_OK; i++) {
		uint32_t node = name_at(c, i)->node;

		if (!is_comm(name_at(c, i)) || seen[node])
			continue;
		rc = add_rows(c, node, least, most, out);
		seen[node] = true;
	}
	return in_order(rc, out);
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
		rn_bisect_go(&b, rn_rows_order(&rows->row[b.mid], &wanted) < 0);
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

/* One side, of those who have it by this name or, if the key is its own, by any name. */
static int walk(const struct rn_comms *c, uint32_t name, uint64_t key, uint64_t remote_key,
		uint64_t size, rn_comms_fn *fn, void *arg)
{
	struct rn_arena_mark mark = rn_arena_mark(c->mem);
	struct rn_comm_side side = { 0 };
	struct rn_rows rows;
	int rc = key < RN_COMM_KEY_APART ? rn_rows_of(c, name_at(c, name)->node, key, key, &rows)
					 : rn_rows_apart(c, key, key, &rows);

	if (rc == RN_OK)
		rc = make_side(&rows, key, remote_key, size, c->mem, &side);
	for (uint64_t i = 0; rc == RN_OK && i < side.n; i++)
		rc = fn(arg, side.member[i].rank, side.member[i].world_rank);
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
	return walk(c, rn_comms_find_name(c, name, len), e.key, e.remote_key, e.size, fn, arg);
}

int rn_comms_remote_members(const struct rn_comms *c, const char *name, size_t len,
			    uint64_t world_rank, rn_comms_fn *fn, void *arg)
{
	struct rn_comm_entry e;
	int rc = rn_comms_find(c, name, len, world_rank, &e);

	if (rc < 0 || e.remote == 0)
		return rc;
	return walk(c, rn_comms_find_name(c, name, len), e.remote_key, e.key, e.remote, fn, arg);
}

/* ---- the list ---- */

struct lister {
	const struct rn_comms *c;
	struct rn_rows apart;
	rn_comms_list_fn *fn;
	void *arg;
};

/* The communicator that this row is of. */
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
	int rc = rn_rows_of(l->c, name->node, 0, UINT64_MAX, &own);

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
	int rc = rn_rows_apart(c, RN_COMM_KEY_APART, UINT64_MAX, &l.apart);

	for (uint32_t i = 0; i < c->name.n && rc == RN_OK; i++)
		if (is_comm(name_at(c, i)))
			rc = list_name(&l, name_at(c, i));
	rn_arena_rewind(c->mem, mark);
	return rc;
}
