/*
 * comm_table_impl.h - declarations shared by the comm_table*.c files.
 *
 * A row set is a node of one of three kinds. A leaf is one row. A join is two nodes; all ranks of
 * the left one precede those of the right one. A sealed node is a decoded row set in columns; its
 * bytes are retained so that another set can merge it without expansion. Leaves and joins are
 * hash-consed. Nodes refer only to nodes with lower indices.
 */
#ifndef RN_IDENTITY_COMM_TABLE_IMPL_H
#define RN_IDENTITY_COMM_TABLE_IMPL_H

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"
#include "identity/comm_table.h"
#include "series/units.h"

struct rn_reader;

enum { RANK, MY_RANK, SIZE, REMOTE, KEY, REMOTE_KEY, COLS };

struct row {
	uint64_t v[COLS];
};

struct column {                       /* a decoded column */
	const struct rn_units *units; /* NULL: element i is first + i * step */
	int64_t first, step;
};

struct sealed {
	const unsigned char *bytes;
	size_t len;
	struct column col[COLS];
};

enum kind { LEAF, JOIN, SEALED };

struct node {
	enum kind kind;
	uint32_t depth; /* number of nested joins */
	uint64_t rows;
	uint64_t first, last; /* the lowest and the highest world rank */
	union {
		struct row row;
		struct {
			uint32_t left, right;
		};
		const struct sealed *sealed;
	};
};

struct name {
	const char *text;
	uint32_t len, node;
};

struct rn_comms {
	struct rn_arena *mem;
	struct rn_seg node, name;
	struct rn_map node_of, name_of; /* the tags are the low halves of hashes */
	uint64_t first, last; /* range of ranks over all names; first > last if the set is empty */
};

static inline struct node *node_at(const struct rn_comms *c, uint32_t i)
{
	return RN_SEG_AT(&c->node, struct node, i);
}

static inline struct name *name_at(const struct rn_comms *c, uint32_t i)
{
	return RN_SEG_AT(&c->name, struct name, i);
}

/* Returns whether the name is that of a communicator, and not of a per-rank table or of the nodes,
 * whose keys have another meaning. */
static inline bool is_comm(const struct name *n)
{
	return n->len > 5 && memcmp(n->text, "comm:", 5) == 0;
}

static inline int64_t column_at(const struct column *col, uint64_t i)
{
	if (col->units)
		return rn_units_at(col->units, i);
	return col->first +
	       (int64_t)i * col->step; /* cannot overflow: read_even checks the range */
}

/* Returns whether the fields of a row are in range. */
bool rn_comms_row_valid(const struct row *r);

/* Append a node or a name without a search for an equal one. Return RN_OK or RN_E_NOMEM. */
int rn_comms_push_node(struct rn_comms *c, const struct node *n, uint32_t *id);
int rn_comms_push_name(struct rn_comms *c, const char *text, size_t len, uint32_t node);

/* Creates a node of n rows, n > 0, sorted by rank. Returns RN_OK or RN_E_NOMEM. */
int rn_comms_make_node(struct rn_comms *c, const struct row *rows, uint64_t n, uint32_t *id);

/* Returns the index of a name, or RN_MAP_NONE. */
uint32_t rn_comms_find_name(const struct rn_comms *c, const char *text, size_t len);

/* Extends the set's range of ranks by [first, last]. */
void rn_comms_widen(struct rn_comms *c, uint64_t first, uint64_t last);

/* Creates a sealed node from bytes that must outlive the set. */
int rn_comms_read_shape(struct rn_comms *c, struct rn_reader *in, uint32_t *id, struct rn_err *err);

struct rn_rows {
	struct row *row;
	uint64_t n, cap;
};

/* Reads all rows of a node, in order. Returns as rn_comms_find. Memory is from the arena of the
 * set. */
int rn_rows_of(const struct rn_comms *c, uint32_t node, struct rn_rows *out);

/* Reads all rows with unique keys, sorted by key and remote key. */
int rn_rows_apart(const struct rn_comms *c, struct rn_rows *out);

/* Returns the index of the first row with this key and remote key, or the index at which it would
 * be inserted. */
uint64_t rn_rows_find(const struct rn_rows *rows, uint64_t key, uint64_t remote_key);

/* An iterator over all rows of a node, in order. */
#define RN_SCAN_BLOCK 64u

struct rn_scan {
	const struct rn_comms *c;
	uint32_t *later; /* stack of nodes that follow; the top is the next one */
	size_t n;
	const struct node *sealed; /* the node being read, or NULL */
	uint64_t at;               /* index of its next row */
	uint64_t next;             /* every following rank must be at least this */
	int64_t block[COLS][RN_SCAN_BLOCK];
};

/* Initializes the iterator. Returns RN_OK or RN_E_NOMEM. Allocates from the set's arena. */
int rn_scan_init(struct rn_scan *s, const struct rn_comms *c, uint32_t node);

/* Reads the next row. Returns 1 with a row, 0 at the end, or RN_E_DATA if the row is invalid. */
int rn_scan_next(struct rn_scan *s, struct row *r);

#endif
