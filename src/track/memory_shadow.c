/* memory_shadow.c - see memory_shadow.h. */
#include "track/memory_shadow.h"

#include <string.h>
#include <sys/mman.h>

#define ODD_BYTES 0x0101010101010101u

/* The number of digits in the mark of a large block. */
#define LARGE 7u

#define LEAVES ((uintptr_t)1 << (RN_SHADOW_BRANCH - RN_SHADOW_LEAF)) /* per branch */
#define PAGES  ((uintptr_t)1 << (RN_SHADOW_LEAF - 12))               /* per leaf */
#define MEGAS  ((uintptr_t)1 << (RN_SHADOW_LEAF - 20))

typedef uint64_t word __attribute__((may_alias));
typedef void *pointer __attribute__((may_alias));

struct rn_shadow_branch *rn_shadow_branches[1 << (RN_SHADOW_BITS - RN_SHADOW_BRANCH)];

/* Size of the largest block so far; it limits how far a search goes back. */
static size_t longest;
static bool no_leaves;

static void remember_longest(size_t n)
{
	size_t l = __atomic_load_n(&longest, __ATOMIC_RELAXED);

	while (n > l && !__atomic_compare_exchange_n(&longest, &l, n, true, __ATOMIC_RELAXED,
						     __ATOMIC_RELAXED))
		;
}

/* Maps without huge pages: a leaf is touched sparsely, and no touch may cost 2 MiB. */
static void *map(size_t n)
{
	void *p = MAP_FAILED;

	if (!__atomic_load_n(&no_leaves, __ATOMIC_RELAXED))
		p = mmap(NULL, n, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED) {
		/* A retry would cost a system call in each later malloc. */
		rn_shadow_fail(true);
		return NULL;
	}
	madvise(p, n, MADV_NOHUGEPAGE);
	return p;
}

/* Maps n bytes and sets *at to them, unless another thread has set *at. Returns *at, or NULL. */
static void *map_at(pointer *at, size_t n)
{
	void *have = NULL, *p = map(n);

	if (p &&
	    !__atomic_compare_exchange_n(at, &have, p, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		munmap(p, n);
		p = have;
	}
	return p;
}

static struct rn_shadow_leaf *make_leaf(uintptr_t p)
{
	struct rn_shadow_branch **at = &rn_shadow_branches[p >> RN_SHADOW_BRANCH],
				*b = __atomic_load_n(at, __ATOMIC_ACQUIRE);
	size_t i = rn_shadow_leaf_index(p);

	if (!b)
		b = map_at((pointer *)at, sizeof(*b));
	if (!b)
		return NULL;
	RN_SHADOW_PUT(b->exists[i], 1); /* before another thread can use the leaf */
	return map_at((pointer *)&b->leaf[i], sizeof(struct rn_shadow_leaf));
}

/* Clears the flags of the pages that the block covers completely. They contain no other block, so
 * the search may skip them. */
static void clear_inside(uintptr_t p, size_t size)
{
	uintptr_t a = (p >> 12) + 1, end = (p + size) >> 12, b;

	for (; a < end; a = b) {
		struct rn_shadow_leaf *l = rn_shadow_leaf(a << 12);
		size_t mega = (a & (PAGES - 1)) >> 8;

		b = (a | (l ? 255 : PAGES - 1)) + 1;
		if (b > end)
			b = end;
		if (!l || !RN_SHADOW_GET(l->mega[mega]))
			continue;
		memset(&l->page[a & (PAGES - 1)], 0, b - a);
		if (b - a == 256)
			RN_SHADOW_PUT(l->mega[mega], 0);
	}
}

static void mark_small(struct rn_shadow_leaf *l, size_t i, size_t granules)
{
	size_t digits = 0;

	for (size_t rest = granules; granules > 1 && rest; rest >>= 7)
		RN_SHADOW_PUT(l->mark[i + ++digits], (rest & 127) << 1);
	RN_SHADOW_PUT(l->mark[i], RN_SHADOW_START | digits * RN_SHADOW_DIGIT);
}

static void mark_large(struct rn_shadow_leaf *l, size_t i, size_t granules)
{
	struct rn_shadow_large *large = &l->large[i >> 8];

	RN_SHADOW_PUT(large->at, i & 255);
	__atomic_store_n(&large->low, (uint32_t)granules, __ATOMIC_RELAXED);
	__atomic_store_n(&large->high, (uint16_t)(granules >> 32), __ATOMIC_RELAXED);
	__atomic_store_n(&large->mark, RN_SHADOW_START | LARGE * RN_SHADOW_DIGIT, __ATOMIC_RELEASE);
}

bool rn_shadow_add(uintptr_t p, size_t n)
{
	size_t granules = n / RN_SHADOW_GRANULE + (n % RN_SHADOW_GRANULE != 0), i;
	struct rn_shadow_leaf *l;
	bool large = granules >= 256;

	if (p & RN_SHADOW_ODD || n >> RN_SHADOW_BITS)
		return false;
	l = rn_shadow_leaf(p);
	if (!l && !(l = make_leaf(p)))
		return false;
	i = rn_shadow_index(p);
	RN_SHADOW_PUT(l->mega[i >> 16], 1);
	/* Atomic, because a block of another thread may begin in the same page. */
	__atomic_fetch_or(&l->page[i >> 8],
			  (unsigned char)(RN_SHADOW_ANY | (large ? 0 : RN_SHADOW_BELOW_4K)),
			  __ATOMIC_RELAXED);
	if (large) {
		mark_large(l, i, granules);
		clear_inside(p, granules * RN_SHADOW_GRANULE);
	} else {
		mark_small(l, i, granules);
	}
	remember_longest(n);
	return true;
}

static size_t large_granules(const unsigned char *mark)
{
	const struct rn_shadow_large *large = (const void *)mark;

	return (size_t)__atomic_load_n(&large->high, __ATOMIC_RELAXED) << 32 |
	       __atomic_load_n(&large->low, __ATOMIC_RELAXED);
}

size_t rn_shadow_size(const unsigned char *mark)
{
	size_t granules = 0, digits = (RN_SHADOW_GET(*mark) / RN_SHADOW_DIGIT) & 7;

	if (digits == LARGE)
		return large_granules(mark) * RN_SHADOW_GRANULE;
	for (size_t d = digits; d; d--)
		granules = granules << 7 | RN_SHADOW_GET(mark[d]) >> 1;
	return (digits ? granules : 1) * RN_SHADOW_GRANULE;
}

/* ---- searching ---- */

enum {
	BELOW = -1,
	NOWHERE = -2
}; /* BELOW: not here, but possibly at a lower address; NOWHERE: in no block */

/* The last odd byte of a[first..last], or BELOW; `first` is a multiple of 8. */
static ptrdiff_t last_odd(const unsigned char *a, size_t first, size_t last)
{
	size_t i = last + 1;

	while (i > first && i % 8)
		if (RN_SHADOW_GET(a[--i]) & 1)
			return (ptrdiff_t)i;
	while (i > first &&
	       !(__atomic_load_n((const word *)(const void *)(a + i - 8), __ATOMIC_RELAXED) &
		 ODD_BYTES))
		i -= 8;
	while (i > first)
		if (RN_SHADOW_GET(a[--i]) & 1)
			return (ptrdiff_t)i;
	return BELOW;
}

/* Returns the last block that begins in the page of granule i, at or before i, or BELOW. */
static ptrdiff_t last_here(const struct rn_shadow_leaf *l, size_t i)
{
	const struct rn_shadow_large *large = &l->large[i >> 8];
	/* `at` is written before the mark and read after it: another thread may be adding a block,
	 * and `at` could be that of a freed one. */
	bool any = __atomic_load_n(&large->mark, __ATOMIC_ACQUIRE) & RN_SHADOW_START;
	unsigned flags = RN_SHADOW_GET(l->page[i >> 8]), place = RN_SHADOW_GET(large->at);
	ptrdiff_t at = BELOW;

	if (flags & RN_SHADOW_BELOW_4K)
		at = last_odd(l->mark, i & ~(size_t)255, i);
	if (any && place <= (i & 255) && (ptrdiff_t)((i & ~(size_t)255) + place) > at)
		at = (ptrdiff_t)((i & ~(size_t)255) + place);
	return at;
}

/* Returns the last block in a page to which the flags lead, or NOWHERE. If a block contains the
 * searched address, the flags between its first page and that address are clear, so it begins in
 * this page. */
static ptrdiff_t last_in_page(const struct rn_shadow_leaf *l, size_t page)
{
	ptrdiff_t i = last_here(l, page * 256 + 255);

	return i == BELOW ? NOWHERE : i;
}

static ptrdiff_t last_in_mega(const struct rn_shadow_leaf *l, size_t mega)
{
	ptrdiff_t page = last_odd(l->page, mega * 256, mega * 256 + 255);

	return page == BELOW ? NOWHERE : last_in_page(l, (size_t)page);
}

static ptrdiff_t last_in_leaf(const struct rn_shadow_leaf *l)
{
	ptrdiff_t mega = last_odd(l->mega, 0, MEGAS - 1);

	return mega == BELOW ? BELOW : last_in_mega(l, (size_t)mega);
}

/* Returns the last mark of the leaf at or before granule i. */
static ptrdiff_t last_until(const struct rn_shadow_leaf *l, size_t i)
{
	size_t page = i >> 8, mega = i >> 16;
	ptrdiff_t at = BELOW;

	if (RN_SHADOW_GET(l->page[page]))
		at = last_here(l, i);
	if (at != BELOW)
		return at;
	if (page % 256)
		at = last_odd(l->page, mega * 256, page - 1);
	if (at != BELOW)
		return last_in_page(l, (size_t)at);
	if (mega)
		at = last_odd(l->mega, 0, mega - 1);
	return at == BELOW ? BELOW : last_in_mega(l, (size_t)at);
}

/* Returns the index of the last existing leaf in `lowest` .. `leaf` - 1, or BELOW. */
static ptrdiff_t last_leaf(uintptr_t leaf, uintptr_t lowest)
{
	while (leaf > lowest) {
		uintptr_t first = (leaf - 1) & ~(LEAVES - 1);
		const struct rn_shadow_branch *b =
			__atomic_load_n(&rn_shadow_branches[first / LEAVES], __ATOMIC_ACQUIRE);
		ptrdiff_t i = b ? last_odd(b->exists, 0, leaf - 1 - first) : BELOW;

		if (i != BELOW)
			return first + (uintptr_t)i < lowest ? BELOW : (ptrdiff_t)first + i;
		leaf = first;
	}
	return BELOW;
}

bool rn_shadow_find(uintptr_t p, struct rn_shadow_hit *hit)
{
	uintptr_t leaf = p >> RN_SHADOW_LEAF, back;
	struct rn_shadow_leaf *l;
	ptrdiff_t i, next;

	if (p >> RN_SHADOW_BITS)
		return false;
	l = rn_shadow_leaf(p);
	i = l ? last_until(l, rn_shadow_index(p)) : BELOW;
	back = (__atomic_load_n(&longest, __ATOMIC_RELAXED) >> RN_SHADOW_LEAF) + 1;
	back = leaf > back ? leaf - back : 0;
	while (i == BELOW && (next = last_leaf(leaf, back)) != BELOW) {
		leaf = (uintptr_t)next;
		l = rn_shadow_leaf(leaf << RN_SHADOW_LEAF);
		i = l ? last_in_leaf(l) : BELOW;
	}
	if (i < 0)
		return false;
	hit->start = (leaf << RN_SHADOW_LEAF) + (uintptr_t)i * RN_SHADOW_GRANULE;
	hit->mark = rn_shadow_mark(hit->start);
	hit->size = hit->mark ? rn_shadow_size(hit->mark) : 0;
	return p - hit->start < hit->size;
}

void rn_shadow_fail(bool fail)
{
	__atomic_store_n(&no_leaves, fail, __ATOMIC_RELAXED);
}
