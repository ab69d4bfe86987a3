/* outline_merge.c - see outline_merge.h. */
#include "analysis/outline_merge.h"

#include <stdbool.h>
#include <stdlib.h>

#include "analysis/outline_weight.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/intern.h"

#define PARTS_MOST    512u                /* maximum nodes of a tree that is compared */
#define TREES_MOST    16u                 /* number of trees that one tree is compared with */
#define STEPS_MOST    ((uint64_t)1 << 28) /* limit for all comparisons, in cells of grids */
#define VARIANTS_SEEN 64u /* number of variants among which a signature is searched */
#define SAME          4u  /* score of a common node; 1 more if the manner is the same */

struct join {
	struct rn_arena *mem, *scratch;
	uint64_t steps; /* number of cells computed so far */
};

/* ---- sizes ---- */

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t list_size(const struct rn_piece *list)
{
	uint32_t n = 0;

	for (; list; list = list->next)
		n += list->size;
	return n;
}

static void count_parts(struct rn_piece *list)
{
	for (struct rn_piece *p = list; p; p = p->next) {
		count_parts(p->child);
		p->size = 1 + list_size(p->child);
	}
}

/* ---- merging two nodes ---- */

static void join_members(struct rn_members **last, struct rn_members *more,
			 struct rn_members *more_last)
{
	(*last)->next = more;
	*last = more_last;
}

static void add_variant(struct rn_piece *p, struct rn_variant *v)
{
	struct rn_variant *at = p->variant;

	for (unsigned i = 0; at && i < VARIANTS_SEEN; i++, at = at->next)
		if (at->sig == v->sig) {
			at->calls += v->calls;
			return;
		}
	v->next = p->variant->next;
	p->variant->next = v;
}

static void join_one(struct rn_piece *a, struct rn_piece *b)
{
	struct rn_variant *next;

	a->total.min = a->total.visits == 0 || (b->total.visits && b->total.min < a->total.min)
			       ? b->total.min
			       : a->total.min;
	a->total.max = b->total.max > a->total.max ? b->total.max : a->total.max;
	a->total.visits += b->total.visits;
	a->total.rounds += b->total.rounds;
	a->streams += b->streams;
	rn_weight_add(&a->weight, &b->weight, 1);
	join_members(&a->last_member, b->members, b->last_member);
	for (struct rn_variant *v = b->variant; v; v = next) {
		next = v->next;
		add_variant(a, v);
	}
}

/* ---- common nodes of two lists ---- */

static uint32_t length(const struct rn_piece *list)
{
	uint32_t n = 0;

	for (; list; list = list->next)
		n++;
	return n;
}

/* Nodes of two lists. best[i * (m + 1) + j] is the maximum score of the lists from i and from j
 * on. */
struct grid {
	struct rn_piece **a, **b;
	uint32_t n, m, *best, *pair; /* pair: score of nodes i and j */
};

static int common(struct join *j, struct rn_piece *a, struct rn_piece *b, uint32_t *score);

static bool has_manner(const struct rn_piece *p, uint64_t manner)
{
	const struct rn_variant *v = p->variant;

	for (unsigned i = 0; v && i < VARIANTS_SEEN; i++, v = v->next)
		if (v->manner == manner)
			return true;
	return false;
}

/* Whether the node is a repeated call, which is equivalent to a loop of one call. */
static bool is_loop_of_one(const struct rn_piece *p)
{
	return p->kind == RN_PIECE_CALL && !p->child && p->total.max > 1;
}

/* Compares a loop with a repeated call. They match if the loop contains a call of the same function
 * and their ranges of iterations overlap. */
static uint32_t compare_with_call(const struct rn_piece *loop, const struct rn_piece *call)
{
	uint32_t best = 0;

	for (const struct rn_piece *p = loop->child; p; p = p->next)
		if (p->kind == RN_PIECE_CALL && p->function == call->function)
			best = larger(best, SAME + has_manner(p, call->variant->manner));
	if (loop->total.min > call->total.max || call->total.min > loop->total.max)
		return 0;
	return best ? SAME + best : 0;
}

static struct rn_members *copy_members(struct join *j, const struct rn_members *m,
				       struct rn_members **last)
{
	struct rn_members *first = NULL, **at = &first;

	for (; m; m = m->next, at = &(*last)->next) {
		*at = *last = rn_new(j->mem, struct rn_members, 1);
		if (!*last)
			return NULL;
		(*last)->family = m->family;
	}
	return first;
}

/* Converts a repeated call to a loop of one call. */
static int make_loop(struct join *j, struct rn_piece *p)
{
	struct rn_piece *call = rn_new(j->mem, struct rn_piece, 1);

	if (!call)
		return RN_E_NOMEM;
	*call = *p;
	call->next = NULL;
	call->total = (struct rn_rounds){ p->total.rounds, p->total.rounds, 1, 1 };
	call->members = copy_members(j, p->members, &call->last_member);
	p->kind = RN_PIECE_LOOP;
	p->function = 0;
	p->variant = NULL;
	p->child = call;
	p->size = 2;
	return call->members ? RN_OK : RN_E_NOMEM;
}

/* Stores the score of two nodes. Nested calls add to the score, but are not required to match. */
static int compare(struct join *j, struct rn_piece *a, struct rn_piece *b, uint32_t *score)
{
	uint32_t inner = 0, most = larger(a->size, b->size) - 1;
	int rc = RN_OK;

	*score = 0;
	if (a->kind == RN_PIECE_LOOP && is_loop_of_one(b))
		*score = compare_with_call(a, b);
	if (b->kind == RN_PIECE_LOOP && is_loop_of_one(a))
		*score = compare_with_call(b, a);
	if (a->kind != b->kind || a->function != b->function)
		return RN_OK;
	if (most)
		rc = common(j, a->child, b->child, &inner);
	if (a->kind != RN_PIECE_LOOP || 2 * inner >= SAME * most)
		*score = SAME + inner;
	if (a->kind == RN_PIECE_CALL && has_manner(a, b->variant->manner))
		*score += 1;
	return rc;
}

static struct rn_piece **list_parts(struct join *j, struct rn_piece *list, uint32_t n)
{
	struct rn_piece **p = rn_new(j->scratch, struct rn_piece *, (size_t)n + 1);

	for (uint32_t i = 0; p && i < n; i++, list = list->next)
		p[i] = list;
	return p;
}

static int fill_grid(struct join *j, struct rn_piece *a, struct rn_piece *b, struct grid *g)
{
	uint32_t n = length(a), m = length(b), w = m + 1;

	*g = (struct grid){ .n = n, .m = m };
	g->a = list_parts(j, a, n);
	g->b = list_parts(j, b, m);
	g->best = rn_new(j->scratch, uint32_t, (size_t)(n + 1) * w);
	g->pair = rn_new(j->scratch, uint32_t, (size_t)(n + 1) * w);
	if (!g->a || !g->b || !g->best || !g->pair)
		return RN_E_NOMEM;
	j->steps += (uint64_t)(n + 1) * w;
	for (uint32_t i = n; i-- > 0;)
		for (uint32_t k = m; k-- > 0;) {
			uint32_t *best = &g->best[i * w + k], *pair = &g->pair[i * w + k];

			if (compare(j, g->a[i], g->b[k], pair) < 0)
				return RN_E_NOMEM;
			*best = larger(g->best[(i + 1) * w + k], g->best[i * w + k + 1]);
			if (*pair)
				*best = larger(*best, *pair + g->best[(i + 1) * w + k + 1]);
		}
	return RN_OK;
}

static int common(struct join *j, struct rn_piece *a, struct rn_piece *b, uint32_t *score)
{
	struct rn_arena_mark mark = rn_arena_mark(j->scratch);
	struct grid g;
	int rc = fill_grid(j, a, b, &g);

	*score = rc == RN_OK ? g.best[0] : 0;
	rn_arena_rewind(j->scratch, mark);
	return rc;
}

/* ---- merging two lists ---- */

static int join_lists(struct join *j, struct rn_piece **list, struct rn_piece *b);

static int join_pieces(struct join *j, struct rn_piece *a, struct rn_piece *b)
{
	int rc = RN_OK;

	if (a->kind != b->kind)
		rc = make_loop(j, a->kind == RN_PIECE_CALL ? a : b);
	if (rc == RN_OK)
		rc = join_lists(j, &a->child, b->child);
	join_one(a, b);
	return rc;
}

static int join_lists(struct join *j, struct rn_piece **list, struct rn_piece *b)
{
	struct rn_arena_mark mark = rn_arena_mark(j->scratch);
	struct grid g;
	uint32_t i = 0, k = 0;
	int rc = fill_grid(j, *list, b, &g);

	while (rc == RN_OK && (i < g.n || k < g.m)) {
		uint32_t w = g.m + 1, here = g.best[i * w + k];
		bool both = i < g.n && k < g.m;

		if (both && g.pair[i * w + k] &&
		    here == g.pair[i * w + k] + g.best[(i + 1) * w + k + 1]) {
			rc = join_pieces(j, g.a[i], g.b[k++]);
			*list = g.a[i++];
		} else if (i < g.n && (!both || here == g.best[(i + 1) * w + k])) {
			*list = g.a[i++];
		} else {
			*list = g.b[k++];
		}
		list = &(*list)->next;
		*list = NULL;
	}
	rn_arena_rewind(j->scratch, mark);
	return rc;
}

/* ---- trees ---- */

/* Merges two lists of the same structure. */
static void zip(struct rn_piece *a, struct rn_piece *b)
{
	for (; a && b; a = a->next, b = b->next) {
		zip(a->child, b->child);
		join_one(a, b);
	}
}

/* Appends bytes that are equal for lists of the same structure. */
static void put_shape(struct rn_buf *out, const struct rn_piece *list)
{
	for (; list; list = list->next) {
		rn_buf_u64(out, list->kind);
		rn_buf_u64(out, list->function);
		put_shape(out, list->child);
	}
	rn_buf_u64(out, RN_PIECE_REST + 1);
}

/* Merges two trees if they are similar enough. Returns 1 if they were merged, 0 if not, or an error
 * code. */
static int try_similar(struct join *j, struct rn_piece *a, struct rn_piece *b)
{
	uint32_t n = a->size - 1, m = b->size - 1, both;
	int rc;

	if (n > PARTS_MOST || m > PARTS_MOST || j->steps > STEPS_MOST)
		return 0;
	rc = common(j, a->child, b->child, &both);
	if (rc < 0 || 5 * both < 3 * SAME * larger(n, m))
		return rc;
	rc = join_lists(j, &a->child, b->child);
	if (rc < 0)
		return rc;
	join_one(a, b);
	count_parts(a);
	return 1;
}

/* Merges each tree into the first one of the same structure. */
static int join_same(struct join *j, struct rn_piece *tree, uint32_t *n)
{
	struct rn_sigs *shapes = rn_sigs_new(j->scratch);
	struct rn_buf shape = { 0 };
	uint32_t kept = 0, id = 0;
	int rc = shapes ? RN_OK : RN_E_NOMEM;

	for (uint32_t i = 0; i < *n && rc == RN_OK; i++) {
		rn_buf_clear(&shape);
		put_shape(&shape, tree[i].child);
		rc = rn_buf_status(&shape);
		if (rc == RN_OK)
			rc = rn_sigs_intern(shapes, shape.data, shape.len, &id);
		if (rc == RN_OK && id < kept)
			zip(&tree[id], &tree[i]);
		else
			tree[kept++] = tree[i];
	}
	rn_buf_free(&shape);
	*n = kept;
	return rc;
}

/* Merges each tree into a similar one among the first TREES_MOST. */
static int join_similar(struct join *j, struct rn_piece *tree, uint32_t *n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < *n; i++) {
		int rc = 0;

		for (uint32_t k = 0; k < kept && k < TREES_MOST && rc == 0; k++)
			rc = try_similar(j, &tree[k], &tree[i]);
		if (rc < 0)
			return rc;
		if (rc == 0)
			tree[kept++] = tree[i];
	}
	*n = kept;
	return RN_OK;
}

/* Sorts larger trees first, because the smaller ones are then mostly parts of them. */
static int by_size(const void *a, const void *b)
{
	const struct rn_piece *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? 1 : -1;
	return x->doers->group < y->doers->group ? -1 : 1;
}

int rn_trees_join(struct rn_piece *tree, uint32_t *n, struct rn_arena *mem,
		  struct rn_arena *scratch)
{
	struct join j = { .mem = mem, .scratch = scratch };
	int rc;

	for (uint32_t i = 0; i < *n; i++)
		count_parts(&tree[i]);
	qsort(tree, *n, sizeof(*tree), by_size);
	rc = join_similar(&j, tree, n);
	/* Merges equal trees among those that exceeded the limits of a comparison by nodes. */
	return rc == RN_OK ? join_same(&j, tree, n) : rc;
}
