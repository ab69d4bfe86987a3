/*
 * id_pool.c - see id_pool.h. Ids in this file are ids in the tree: 64 less than those of the pool.
 */
#include "base/arena.h"
#include "track/id_pool.h"

#include <assert.h>
#include <errno.h>

struct rn_idpool_node {
	uint64_t free;
	union {
		uint64_t word[64]; /* height 0; bit set: free */
		struct rn_idpool_node *child[64];
	};
};

#define MAX_HEIGHT 3 /* 64^5 = 2^30 ids */

/* Returns the index of the child, or word, that contains n in a node of this height. */
static uint32_t digit(uint32_t n, uint32_t height)
{
	return n >> (6 * (height + 1)) & 63;
}

static struct rn_idpool_node *new_node(struct rn_arena *mem, uint32_t height)
{
	struct rn_idpool_node *node = rn_new(mem, struct rn_idpool_node, 1);

	if (!node)
		return NULL;
	node->free = UINT64_MAX;
	for (int i = 0; height == 0 && i < 64; i++)
		node->word[i] = UINT64_MAX;
	return node;
}

/* Ensures that the tree has a free id. A new root is empty or has the old root as its first child,
 * so the set of free ids is unchanged. */
static int make_room(struct rn_idpool *p, struct rn_arena *mem)
{
	struct rn_idpool_node *root;

	if (p->more && p->more->free)
		return RN_OK;
	if (p->more && p->height == MAX_HEIGHT)
		return RN_E_NOMEM;
	root = new_node(mem, p->more ? p->height + 1 : 0);
	if (!root)
		return RN_E_NOMEM;
	if (p->more) {
		root->child[0] = p->more;
		root->free &= ~(uint64_t)1;
		p->height++;
	}
	p->more = root;
	return RN_OK;
}

static uint32_t take_bit(uint64_t *bits)
{
	uint32_t i = (uint32_t)__builtin_ctzll(*bits);

	*bits &= *bits - 1;
	return i;
}

/* Allocates the lowest free id below `node`, which must have one. Clears the bits of full children
 * on return. */
static int take_below(struct rn_idpool_node *node, uint32_t height, struct rn_arena *mem,
		      uint32_t *n)
{
	uint32_t i = (uint32_t)__builtin_ctzll(node->free);
	uint64_t left;

	assert(node->free);
	if (height == 0) {
		*n = 64 * i + take_bit(&node->word[i]);
		left = node->word[i];
	} else {
		if (!node->child[i] && !(node->child[i] = new_node(mem, height - 1)))
			return RN_E_NOMEM;
		if (take_below(node->child[i], height - 1, mem, n) < 0)
			return RN_E_NOMEM;
		*n += i << (6 * (height + 1));
		left = node->child[i]->free;
	}
	if (!left)
		node->free &= ~((uint64_t)1 << i);
	return RN_OK;
}

int rn_idpool_take_more(struct rn_idpool *p, struct rn_arena *mem, uint32_t *n)
{
	int saved = errno, rc = make_room(p, mem);
	uint32_t m;

	if (rc == RN_OK)
		rc = take_below(p->more, p->height, mem, &m);
	if (rc == RN_OK)
		*n = 64 + m;
	errno = saved;
	return rc;
}

void rn_idpool_give_more(struct rn_idpool *p, uint32_t n)
{
	struct rn_idpool_node *node = p->more;
	uint32_t height = p->height;

	n -= 64;
	for (; height; height--) {
		uint32_t i = digit(n, height);

		node->free |= (uint64_t)1 << i;
		node = node->child[i];
	}
	assert(!(node->word[digit(n, 0)] >> (n & 63) & 1));
	node->free |= (uint64_t)1 << digit(n, 0);
	node->word[digit(n, 0)] |= (uint64_t)1 << (n & 63);
}

static bool node_any(const struct rn_idpool_node *node, uint32_t height)
{
	for (uint32_t i = 0; i < 64; i++)
		if (height == 0 ? node->word[i] != UINT64_MAX
				: node->child[i] && node_any(node->child[i], height - 1))
			return true;
	return false;
}

bool rn_idpool_any(const struct rn_idpool *p)
{
	return p->free != UINT64_MAX || (p->more && node_any(p->more, p->height));
}

static struct rn_idpool_node *copy_node(const struct rn_idpool_node *from, uint32_t height,
					struct rn_arena *mem)
{
	struct rn_idpool_node *to = rn_new(mem, struct rn_idpool_node, 1);

	if (!to)
		return NULL;
	*to = *from;
	for (uint32_t i = 0; height && i < 64; i++)
		if (from->child[i] && !(to->child[i] = copy_node(from->child[i], height - 1, mem)))
			return NULL;
	return to;
}

int rn_idpool_copy(struct rn_idpool *to, const struct rn_idpool *from, struct rn_arena *mem)
{
	struct rn_idpool_node *more = NULL;

	if (from->more && !(more = copy_node(from->more, from->height, mem)))
		return RN_E_NOMEM;
	*to = *from;
	to->more = more;
	return RN_OK;
}

static bool node_check(const struct rn_idpool_node *node, uint32_t height)
{
	for (uint32_t i = 0; i < 64; i++) {
		uint64_t below = height == 0       ? node->word[i]
				 : !node->child[i] ? UINT64_MAX
						   : node->child[i]->free;

		if ((node->free >> i & 1) != (below != 0))
			return false;
		if (height && node->child[i] && !node_check(node->child[i], height - 1))
			return false;
	}
	return true;
}

bool rn_idpool_check(const struct rn_idpool *p)
{
	return !p->more || node_check(p->more, p->height);
}
