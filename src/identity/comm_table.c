/*
 * comm_table.c - see comm_table.h: nodes and names, lookup, merge.
 */
#include "identity/comm_table.h"

#include <stdio.h>
#include <inttypes.h>
#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/varint.h"
#include "identity/comm_table_impl.h"

struct rn_comms *rn_comms_new(struct rn_arena *mem)
{
	struct rn_comms *c = rn_new(mem, struct rn_comms, 1);

	if (!c || rn_map_init(&c->node_of, mem) < 0 || rn_map_init(&c->name_of, mem) < 0)
		return NULL;
	c->mem = mem;
	c->first = UINT64_MAX;
	rn_seg_init(&c->node, sizeof(struct node));
	rn_seg_init(&c->name, sizeof(struct name));
	return c;
}

uint32_t rn_comms_count(const struct rn_comms *c)
{
	return c->name.n;
}

const char *rn_comms_name(const struct rn_comms *c, uint32_t i, size_t *len)
{
	*len = name_at(c, i)->len;
	return name_at(c, i)->text;
}

uint64_t rn_comms_ranks(const struct rn_comms *c)
{
	return c->name.n ? c->last + 1 : 0;
}

bool rn_comms_row_valid(const struct row *r)
{
	return r->v[RANK] < RN_COMM_RANKS_MAX && r->v[MY_RANK] < r->v[SIZE] &&
	       r->v[SIZE] <= RN_COMM_RANKS_MAX && r->v[REMOTE] <= RN_COMM_RANKS_MAX;
}

static struct row row_of(uint64_t rank, const struct rn_comm_entry *e)
{
	return (struct row){ { rank, e->my_rank, e->size, e->remote, e->key, e->remote_key } };
}

static struct rn_comm_entry entry_of(const struct row *r)
{
	return (struct rn_comm_entry){ r->v[MY_RANK], r->v[SIZE], r->v[REMOTE], r->v[KEY],
				       r->v[REMOTE_KEY] };
}

/* Nodes */

static bool same_node(const struct node *a, const struct node *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == LEAF)
		return memcmp(&a->row, &b->row, sizeof(a->row)) == 0;
	return a->kind == JOIN && a->left == b->left && a->right == b->right;
}

static uint32_t node_tag(const struct node *n)
{
	if (n->kind == LEAF)
		return (uint32_t)rn_hash(&n->row, sizeof(n->row));
	return (uint32_t)rn_hash_u64((uint64_t)n->left << 32 | n->right);
}

/* Appends a node. Sealed nodes are not hash-consed, because no two in a set are equal. */
int rn_comms_push_node(struct rn_comms *c, const struct node *n, uint32_t *id)
{
	*id = c->node.n;
	return RN_SEG_PUSH(&c->node, c->mem, struct node, *n) ? RN_OK : RN_E_NOMEM;
}

static int intern_node(struct rn_comms *c, const struct node *n, uint32_t *id)
{
	uint32_t tag = node_tag(n);

	RN_MAP_EACH (&c->node_of, tag, i)
		if (same_node(node_at(c, i), n)) {
			*id = i;
			return RN_OK;
		}
	if (rn_map_reserve(&c->node_of, tag) < 0 || rn_comms_push_node(c, n, id) < 0)
		return RN_E_NOMEM;
	rn_map_insert(&c->node_of, tag, *id);
	return RN_OK;
}

static int make_leaf(struct rn_comms *c, const struct row *r, uint32_t *id)
{
	struct node n = {
		.kind = LEAF, .rows = 1, .first = r->v[RANK], .last = r->v[RANK], .row = *r
	};

	return intern_node(c, &n, id);
}

static int make_join(struct rn_comms *c, uint32_t left, uint32_t right, uint32_t *id)
{
	const struct node *a = node_at(c, left), *b = node_at(c, right);
	struct node n = { .kind = JOIN,
			  .depth = 1 + (a->depth > b->depth ? a->depth : b->depth),
			  .rows = a->rows + b->rows,
			  .first = a->first,
			  .last = b->last };

	assert(a->last < b->first);
	n.left = left;
	n.right = right;
	return intern_node(c, &n, id);
}

int rn_comms_make_node(struct rn_comms *c, const struct row *rows, uint64_t n, uint32_t *id)
{
	uint32_t left, right;

	if (n == 1)
		return make_leaf(c, rows, id);
	if (rn_comms_make_node(c, rows, n / 2, &left) < 0 ||
	    rn_comms_make_node(c, rows + n / 2, n - n / 2, &right) < 0)
		return RN_E_NOMEM;
	return make_join(c, left, right, id);
}

/* Names */

static uint32_t name_tag(const char *name, size_t len)
{
	return (uint32_t)rn_hash(name, len);
}

uint32_t rn_comms_find_name(const struct rn_comms *c, const char *text, size_t len)
{
	RN_MAP_EACH (&c->name_of, name_tag(text, len), id)
		if (name_at(c, id)->len == len && memcmp(name_at(c, id)->text, text, len) == 0)
			return id;
	return RN_MAP_NONE;
}

int rn_comms_push_name(struct rn_comms *c, const char *text, size_t len, uint32_t node)
{
	uint32_t tag = name_tag(text, len);
	char *copy;

	if (rn_map_reserve(&c->name_of, tag) < 0 || !rn_seg_reserve(&c->name, c->mem, 1))
		return RN_E_NOMEM;
	copy = rn_new(c->mem, char, len);
	if (!copy)
		return RN_E_NOMEM;
	memcpy(copy, text, len);
	rn_map_insert(&c->name_of, tag, c->name.n);
	*name_at(c, c->name.n++) = (struct name){ copy, (uint32_t)len, node };
	return RN_OK;
}

static void drop_names(struct rn_comms *c, uint32_t from)
{
	while (c->name.n > from) {
		const struct name *n = name_at(c, --c->name.n);

		rn_map_remove(&c->name_of, name_tag(n->text, n->len), c->name.n);
	}
}

void rn_comms_widen(struct rn_comms *c, uint64_t first, uint64_t last)
{
	if (first < c->first)
		c->first = first;
	if (last > c->last)
		c->last = last;
}

int rn_comms_add(struct rn_comms *c, const char *name, size_t len, uint64_t world_rank,
		 const struct rn_comm_entry *entry)
{
	struct row row = row_of(world_rank, entry);
	uint32_t id, leaf, node;

	if (!rn_name_valid(name, len) || !rn_comms_row_valid(&row))
		return RN_E_ARG;
	id = rn_comms_find_name(c, name, len);
	if (id != RN_MAP_NONE && node_at(c, name_at(c, id)->node)->last >= world_rank)
		return RN_E_ARG;
	if (make_leaf(c, &row, &leaf) < 0)
		return RN_E_NOMEM;
	if (id == RN_MAP_NONE) {
		if (rn_comms_push_name(c, name, len, leaf) < 0)
			return RN_E_NOMEM;
	} else {
		if (make_join(c, name_at(c, id)->node, leaf, &node) < 0)
			return RN_E_NOMEM;
		name_at(c, id)->node = node;
	}
	rn_comms_widen(c, world_rank, world_rank);
	return RN_OK;
}

/* Rows of a sealed node */

/* Finds the index of the row of a rank in first..last. */
static bool sealed_find(const struct sealed *s, uint64_t rank, uint64_t *i)
{
	const struct column *col = &s->col[RANK];

	if (col->units)
		return rn_units_find(col->units, (int64_t)rank, i) == RN_OK &&
		       (uint64_t)rn_units_at(col->units, *i) == rank;
	*i = col->step ? (rank - (uint64_t)col->first) / (uint64_t)col->step : 0;
	return (uint64_t)column_at(col, *i) == rank;
}

static void sealed_row(const struct sealed *s, uint64_t i, struct row *r)
{
	for (int k = 0; k < COLS; k++)
		r->v[k] = (uint64_t)column_at(&s->col[k], i);
}

/* Returns the leaf or sealed node whose range contains the rank, or NULL. */
static const struct node *descend(const struct rn_comms *c, uint32_t id, uint64_t rank)
{
	const struct node *n = node_at(c, id);

	while (n->kind == JOIN)
		n = node_at(c, node_at(c, n->left)->last >= rank ? n->left : n->right);
	return rank >= n->first && rank <= n->last ? n : NULL;
}

static int find_row(const struct rn_comms *c, uint32_t id, uint64_t rank, struct row *r)
{
	const struct node *n = descend(c, id, rank);
	uint64_t i;

	if (!n)
		return RN_E_RANGE;
	if (n->kind == LEAF) {
		*r = n->row;
		return RN_OK;
	}
	if (!sealed_find(n->sealed, rank, &i))
		return RN_E_RANGE;
	sealed_row(n->sealed, i, r);
	return rn_comms_row_valid(r) ? RN_OK : RN_E_DATA;
}

int rn_comms_find(const struct rn_comms *c, const char *name, size_t len, uint64_t world_rank,
		  struct rn_comm_entry *entry)
{
	uint32_t id = rn_comms_find_name(c, name, len);
	struct row r;
	int rc = id == RN_MAP_NONE ? RN_E_RANGE : find_row(c, name_at(c, id)->node, world_rank, &r);

	if (rc == RN_OK)
		*entry = entry_of(&r);
	return rc;
}

/* Merging */

static int take_sealed(struct rn_comms *a, const struct sealed *s, uint32_t *id)
{
	unsigned char *copy = rn_new(a->mem, unsigned char, s->len);
	struct rn_reader in;
	int rc;

	if (!copy)
		return RN_E_NOMEM;
	memcpy(copy, s->bytes, s->len);
	in = rn_reader(copy, s->len);
	rc = rn_comms_read_shape(a, &in, id, NULL);
	assert(rc == RN_OK || rc == RN_E_NOMEM);
	return rc;
}

/* Copies b's nodes into a; to[i] is the new index of node i. Nodes refer to lower indices only. */
static int take_nodes(struct rn_comms *a, const struct rn_comms *b, uint32_t *to)
{
	int rc = RN_OK;

	for (uint32_t i = 0; i < b->node.n && rc == RN_OK; i++) {
		const struct node *n = node_at(b, i);

		if (n->kind == LEAF)
			rc = make_leaf(a, &n->row, &to[i]);
		else if (n->kind == JOIN)
			rc = make_join(a, to[n->left], to[n->right], &to[i]);
		else
			rc = take_sealed(a, n->sealed, &to[i]);
	}
	return rc;
}

/* Computes the new node of each of b's names. Names that a has are only looked up; the others are
 * appended. */
static int take_names(struct rn_comms *a, const struct rn_comms *b, const uint32_t *to,
		      uint32_t *becomes)
{
	uint32_t known = a->name.n;
	int rc = RN_OK;

	for (uint32_t i = 0; i < b->name.n && rc == RN_OK; i++) {
		const struct name *n = name_at(b, i);
		uint32_t id = rn_comms_find_name(a, n->text, n->len);

		if (id == RN_MAP_NONE)
			rc = rn_comms_push_name(a, n->text, n->len, to[n->node]);
		else
			rc = make_join(a, name_at(a, id)->node, to[n->node], &becomes[i]);
	}
	if (rc < 0)
		drop_names(a, known);
	return rc;
}

int rn_comms_merge(struct rn_comms *a, const struct rn_comms *b)
{
	uint32_t known = a->name.n;
	uint32_t *to, *becomes;
	int rc;

	if (b->name.n == 0)
		return RN_OK;
	if (known && b->first <= a->last)
		return RN_E_ARG;
	to = rn_new(a->mem, uint32_t, b->node.n);
	becomes = rn_new(a->mem, uint32_t, b->name.n);
	if (!to || !becomes)
		return RN_E_NOMEM;
	rc = take_nodes(a, b, to);
	if (rc == RN_OK)
		rc = take_names(a, b, to, becomes);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < b->name.n; i++) {
		const struct name *n = name_at(b, i);
		uint32_t id = rn_comms_find_name(a, n->text, n->len);

		if (id < known)
			name_at(a, id)->node = becomes[i];
	}
	rn_comms_widen(a, b->first, b->last);
	return RN_OK;
}

size_t rn_varies_name(char name[RN_VARIES_NAME_MAX], int64_t table)
{
	return (size_t)snprintf(name, RN_VARIES_NAME_MAX, "slot:%" PRId64, table);
}

int rn_varies_add(struct rn_comms *c, int64_t table, uint64_t world_rank, uint64_t ranks,
		  int64_t value)
{
	struct rn_comm_entry e = { .my_rank = world_rank, .size = ranks, .key = rn_zigzag(value) };
	char name[RN_VARIES_NAME_MAX];

	return rn_comms_add(c, name, rn_varies_name(name, table), world_rank, &e);
}

bool rn_node_find(const struct rn_comms *c, uint64_t world_rank, uint64_t *rank, uint64_t *size)
{
	struct rn_comm_entry e;

	if (rn_comms_find(c, RN_NODE_NAME, strlen(RN_NODE_NAME), world_rank, &e) != RN_OK)
		return false;
	*rank = e.key & (((uint64_t)1 << 31) - 1);
	*size = e.key >> 31;
	return *rank < *size;
}
