/*
 * comm_table_impl.h - inside a set of communicators: what the files comms*.c share.
 *
 * A shape is a node: a leaf is one row; a join is two nodes, all ranks of the left one before those
 * of the right one; a sealed node is what was decoded, rows by columns, with its bytes kept so that
 * another set can take it in without expanding it. Leaves and joins are hash-consed, and nodes
 * refer to lower numbers only.
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

struct column {                       /* decoded */
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
	uint32_t depth; /* of joins below it */
	uint64_t rows;
	uint64_t first, last; /* the lowest and the highest rank */
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
	struct rn_map node_of, name_of; /* tags: low halves of hashes */
	uint64_t first, last;           /* ranks over all names; first > last when there are none */
};

static inline struct node *node_at(const struct rn_comms *c, uint32_t i)
{
	return RN_SEG_AT(&c->node, struct node, i);
}

static inline struct name *name_at(const struct rn_comms *c, uint32_t i)
{
	return RN_SEG_AT(&c->name, struct name, i);
}

/* Not a table of numbers that vary, whose keys are other people's. */
static inline bool is_comm(const struct name *n)
{
	return n->len > 5 && memcmp(n->text, "comm:", 5) == 0;
}

static inline int64_t column_at(const struct column *col, uint64_t i)
{
	if (col->units)
		return rn_units_at(col->units, i);
	return col->first + (int64_t)i * col->step; /* no overflow: read_even saw to it */
}

/* What an entry may say. */
bool rn_comms_row_valid(const struct row *r);

/* RN_OK or RN_E_NOMEM. Neither looks whether it is there already. */
int rn_comms_push_node(struct rn_comms *c, const struct node *n, uint32_t *id);
int rn_comms_push_name(struct rn_comms *c, const char *text, size_t len, uint32_t node);

/* Of rows, at least one, that ascend by rank. RN_OK or RN_E_NOMEM. */
int rn_comms_make_node(struct rn_comms *c, const struct row *rows, uint64_t n, uint32_t *id);

/* RN_MAP_NONE when there is none. */
uint32_t rn_comms_find_name(const struct rn_comms *c, const char *text, size_t len);

/* The set has ranks from first to last. */
void rn_comms_widen(struct rn_comms *c, uint64_t first, uint64_t last);

/* A sealed node from bytes that stay where they are. */
int rn_comms_read_shape(struct rn_comms *c, struct rn_reader *in, uint32_t *id, struct rn_err *err);

struct rn_rows {
	struct row *row;
	uint64_t n, cap;
};

/* All rows of a node, in that order. Returns as rn_comms_find. Memory is from the arena of the
 * set. */
int rn_rows_of(const struct rn_comms *c, uint32_t node, struct rn_rows *out);

/* All rows that have keys of their own, in that order. */
int rn_rows_apart(const struct rn_comms *c, struct rn_rows *out);

/* Where rows of this key and remote key begin, or would. */
uint64_t rn_rows_find(const struct rn_rows *rows, uint64_t key, uint64_t remote_key);

/* All rows of a node, in order. */
#define RN_SCAN_BLOCK 64u

struct rn_scan {
	const struct rn_comms *c;
	uint32_t *later; /* nodes still to come, the next one last */
	size_t n;
	const struct node *sealed; /* being read, or NULL */
	uint64_t at;               /* its next row */
	uint64_t next;             /* ranks below it have been */
	int64_t block[COLS][RN_SCAN_BLOCK];
};

/* RN_OK or RN_E_NOMEM; the set's arena is used. */
int rn_scan_init(struct rn_scan *s, const struct rn_comms *c, uint32_t node);

/* 1 with a row; 0 at the end; RN_E_DATA at a row that makes no sense. */
int rn_scan_next(struct rn_scan *s, struct row *r);

#endif
