/*
 * comm_table_normalize.c - see comm_table.h: new keys for communicators with a unique key but only
 * one name.
 *
 * The two groups of an inter-communicator are handled together, under the lower one of their keys.
 */
#include <stdlib.h>

#include "base/bisect.h"
#include "identity/comm_table_impl.h"

struct use {
	uint64_t comm;
	uint32_t name;
};

struct uses {
	struct use *use;
	uint64_t n;
};

static uint64_t comm_of(const struct row *r)
{
	if (r->v[REMOTE] && r->v[REMOTE_KEY] < r->v[KEY])
		return r->v[REMOTE_KEY];
	return r->v[KEY];
}

static int by_comm(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

/* Adds the uses of a name; if u->use is NULL, they are only counted. */
static int add_uses(const struct rn_comms *c, uint32_t name, struct uses *u)
{
	struct rn_scan s;
	struct row r;
	int rc = rn_scan_init(&s, c, name_at(c, name)->node);

	while (rc == RN_OK && (rc = rn_scan_next(&s, &r)) > 0) {
		rc = RN_OK;
		if (r.v[KEY] < RN_COMM_KEY_APART)
			continue;
		if (u->use)
			u->use[u->n] = (struct use){ comm_of(&r), name };
		u->n++;
	}
	return rc;
}

/* Collects the communicators with a unique key and their names. Many names may have the same row
 * set. A row set without such a communicator is read only once. */
static int add_all_uses(const struct rn_comms *c, bool *without, struct uses *u)
{
	int rc = RN_OK;

	u->n = 0;
	for (uint32_t i = 0; i < c->name.n && rc == RN_OK; i++) {
		const struct name *name = name_at(c, i);
		uint64_t before = u->n;

		if (!is_comm(name) || without[name->node])
			continue;
		rc = add_uses(c, i, u);
		without[name->node] = u->n == before;
	}
	return rc;
}

static int find_uses(const struct rn_comms *c, struct uses *u)
{
	bool *without = rn_new(c->mem, bool, c->node.n);
	int rc;

	*u = (struct uses){ 0 };
	rc = without ? add_all_uses(c, without, u) : RN_E_NOMEM;
	if (rc == RN_OK && !(u->use = rn_new(c->mem, struct use, u->n)))
		rc = RN_E_NOMEM;
	if (rc == RN_OK)
		rc = add_all_uses(c, without, u);
	if (rc == RN_OK && u->n)
		qsort(u->use, u->n, sizeof(*u->use), by_comm);
	return rc;
}

/* Removes communicators with several names; each of the others remains once. */
static void keep_single(struct uses *u)
{
	uint64_t kept = 0;

	for (uint64_t i = 0, next; i < u->n; i = next) {
		for (next = i + 1; next < u->n && u->use[next].comm == u->use[i].comm;)
			next++;
		if (u->use[next - 1].name == u->use[i].name)
			u->use[kept++] = u->use[i];
	}
	u->n = kept;
}

static bool is_single(const struct uses *u, uint64_t comm)
{
	struct rn_bisect b = { 0, u->n, 0 };

	while (rn_bisect_next(&b))
		rn_bisect_go(&b, u->use[b.mid].comm < comm);
	return b.lo < u->n && u->use[b.lo].comm == comm;
}

/* Computes a key in the way in which the tracer computes keys of one name. Returns 0 if no member
 * of the group is known. */
static uint64_t own_key(const struct rn_rows *rows, uint64_t key, uint64_t remote_key)
{
	uint64_t i = rn_rows_find(rows, key, remote_key);

	if (i == rows->n || rows->row[i].v[KEY] != key || rows->row[i].v[REMOTE_KEY] != remote_key)
		return 0;
	return rows->row[i].v[RANK] + 1;
}

static int by_world_rank(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return (x->v[RANK] > y->v[RANK]) - (x->v[RANK] < y->v[RANK]);
}

static int tidy_name(struct rn_comms *c, struct name *name, const struct uses *single)
{
	struct rn_rows rows;
	struct row *tidy;
	int rc = rn_rows_of(c, name->node, &rows);

	if (rc < 0)
		return rc;
	tidy = rn_new(c->mem, struct row, rows.n);
	if (!tidy)
		return RN_E_NOMEM;
	for (uint64_t i = 0; i < rows.n; i++) {
		uint64_t key = rows.row[i].v[KEY], remote_key = rows.row[i].v[REMOTE_KEY];

		tidy[i] = rows.row[i];
		if (key < RN_COMM_KEY_APART || !is_single(single, comm_of(&rows.row[i])))
			continue;
		tidy[i].v[KEY] = own_key(&rows, key, remote_key);
		if (rows.row[i].v[REMOTE])
			tidy[i].v[REMOTE_KEY] = own_key(&rows, remote_key, key);
	}
	qsort(tidy, rows.n, sizeof(*tidy), by_world_rank);
	return rn_comms_make_node(c, tidy, rows.n, &name->node);
}

int rn_comms_tidy(struct rn_comms *c)
{
	bool *touched = rn_new(c->mem, bool, c->name.n);
	struct uses uses;
	int rc = touched ? find_uses(c, &uses) : RN_E_NOMEM;

	if (rc < 0)
		return rc;
	keep_single(&uses);
	for (uint64_t i = 0; i < uses.n; i++)
		touched[uses.use[i].name] = true;
	for (uint32_t i = 0; i < c->name.n && rc == RN_OK; i++)
		if (touched[i])
			rc = tidy_name(c, name_at(c, i), &uses);
	return rc;
}
