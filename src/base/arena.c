/* arena.c - see arena.h. */
#include "base/arena.h"
#include "base/budget.h"

#include <string.h>
#include <sys/mman.h>

/* Under AddressSanitizer, memory that is not allocated is poisoned, and a gap follows each object.
 * Overruns and uses after a rewind are then detected as with malloc. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(ASAN)
#include <sanitizer/asan_interface.h>
#define GAP        16
#define HIDE(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define SHOW(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define GAP        0
#define HIDE(p, n) ((void)0)
#define SHOW(p, n) ((void)0)
#endif

/* Blocks start small, because a rank's stream often needs only a few kilobytes, and double up to
 * MAX_BLOCK. They are mapped with their pages. A bump allocator will touch all pages, and on data
 * without patterns one fault per page would cost a tenth of the total time. Mapping 64 pages at
 * once takes far less than a millisecond. */
#define MIN_BLOCK ((size_t)16 << 10)
#define MAX_BLOCK ((size_t)256 << 10)

struct rn_arena_block {
	struct rn_arena_block *older;
	size_t size;
	/* End of the memory that has been allocated before and may therefore not be zero. A rewind
	 * lowers `beg`, but not `dirty`. Only memory below `dirty` is cleared when it is allocated
	 * again. */
	unsigned char *dirty;
};

void rn_arena_init(struct rn_arena *a, size_t limit)
{
	*a = (struct rn_arena){ .limit = limit };
}

static void use_block(struct rn_arena *a, struct rn_arena_block *b, size_t size)
{
	b->older = a->block;
	b->size = size;
	b->dirty = (unsigned char *)(b + 1);
	a->block = b;
	a->beg = (unsigned char *)(b + 1);
	a->end = (unsigned char *)b + size;
	HIDE(a->beg, (size_t)(a->end - a->beg));
}

void rn_arena_init_over(struct rn_arena *a, size_t limit, void *block, size_t size)
{
	rn_arena_init(a, limit);
	use_block(a, block, size);
}

static size_t block_size_for(const struct rn_arena *a, size_t need)
{
	size_t size = a->block ? a->block->size * 2 : MIN_BLOCK;

	if (size > MAX_BLOCK)
		size = MAX_BLOCK;
	need = (need + sizeof(struct rn_arena_block) + 4095) & ~(size_t)4095;
	return size < need ? need : size;
}

static int add_block(struct rn_arena *a, size_t need)
{
	size_t size = block_size_for(a, need);
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	struct rn_arena_block *b;

	if (size > a->limit - a->mapped || !rn_budget_charge(size))
		return -1;
	if (size <= MAX_BLOCK) /* a larger block is a single object, which may stay partly unused */
		flags |= MAP_POPULATE;
	b = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (b == MAP_FAILED) {
		rn_budget_release(size);
		return -1;
	}
	use_block(a, b, size);
	a->mapped += size;
	return 0;
}

void rn_arena_reserve(struct rn_arena *a, size_t bytes)
{
	if (!a->block)
		add_block(a, bytes - sizeof(struct rn_arena_block));
}

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void *take(struct rn_arena *a, size_t bytes, size_t align)
{
	size_t pad = (size_t)(-(uintptr_t)a->beg) & (align - 1);
	size_t left = (size_t)(a->end - a->beg);
	unsigned char *p;

	if (!a->block || left < pad || left - pad < bytes + GAP)
		return NULL;
	p = a->beg + pad;
	a->beg = p + bytes + GAP;
	SHOW(p, bytes);
	if (p < a->block->dirty)
		memset(p, 0, min(bytes, (size_t)(a->block->dirty - p)));
	if (a->beg > a->block->dirty)
		a->block->dirty = a->beg;
	return p;
}

void *rn_alloc(struct rn_arena *a, size_t size, size_t align, size_t n)
{
	size_t bytes;
	void *p;

	if (a->fail_at && --a->fail_at == 0)
		return NULL;
	if (__builtin_mul_overflow(size, n, &bytes) || bytes > SIZE_MAX / 4 || align > 4096)
		return NULL;
	p = take(a, bytes, align);
	if (!p && add_block(a, bytes + align + GAP) == 0)
		p = take(a, bytes, align);
	return p;
}

uint32_t *rn_new_map(struct rn_arena *a, size_t n)
{
	uint32_t *map = rn_new(a, uint32_t, n + 1);

	if (map)
		memset(map, 0xff, (n + 1) * sizeof(*map));
	return map;
}

/* `array` may be a pointer to any type, hence memcpy. */
bool rn_arena_grow(struct rn_arena *a, void *array, size_t size, uint64_t need, uint32_t *cap)
{
	uint64_t want = *cap ? *cap : 1;
	void *old, *p;

	if (need > (uint64_t)1 << 31)
		return false;
	while (want < need)
		want *= 2;
	p = rn_alloc(a, size, 16, want);
	if (!p)
		return false;
	memcpy(&old, array, sizeof(old));
	if (*cap)
		memcpy(p, old, *cap * size);
	memcpy(array, &p, sizeof(p));
	*cap = (uint32_t)want;
	return true;
}

struct rn_arena_mark rn_arena_mark(const struct rn_arena *a)
{
	return (struct rn_arena_mark){ a->beg, a->block };
}

static void drop_block(struct rn_arena *a)
{
	struct rn_arena_block *b = a->block;

	a->block = b->older;
	a->mapped -= b->size;
	SHOW(b, b->size); /* another mapping may receive these addresses */
	rn_budget_release(b->size);
	munmap(b, b->size);
}

void rn_arena_rewind(struct rn_arena *a, struct rn_arena_mark mark)
{
	/* The oldest block is retained even if the mark is older. Rewinding to an empty arena
	 * repeatedly (one rank at a time) must not cost a system call each time. */
	while (a->block != mark.block && a->block->older)
		drop_block(a);
	if (!a->block)
		return;
	a->beg = mark.block ? mark.beg : (unsigned char *)(a->block + 1);
	a->end = (unsigned char *)a->block + a->block->size;
	HIDE(a->beg, (size_t)(a->end - a->beg));
}

void rn_arena_free(struct rn_arena *a)
{
	while (a->block)
		drop_block(a);
	a->beg = a->end = NULL;
}
