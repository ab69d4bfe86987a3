/*
 * memory.c - see memory.h: ids of blocks, and changes of memory.
 */
#include "track/memory_impl.h"

#include <unistd.h>
#include <stdlib.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

#include "base/err.h"
#include "base/errno_guard.h"
#include "base/map.h"
#include "track/id_pool.h"

struct rn_mem_state rn_mem = { .mem = { .limit = SIZE_MAX } };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool inside __attribute__((tls_model("initial-exec")));

/* Protected by the lock. */
static struct rn_map named; /* heap blocks with an id, by address */
static struct rn_idpool pools[] = { [0 ... RN_MEM_CLASSES - 1] = { .free = UINT64_MAX } };

bool rn_mem_enter(void)
{
	if (inside)
		return false;
	inside = true;
	pthread_mutex_lock(&lock);
	return true;
}

void rn_mem_leave(void)
{
	pthread_mutex_unlock(&lock);
	inside = false;
}

/* The forking thread acquired the lock, so that no other thread holds it in the child. */
static _Thread_local bool forking __attribute__((tls_model("initial-exec")));

static void before_fork(void)
{
	forking = rn_mem_enter();
}

static void after_fork(void)
{
	if (forking)
		rn_mem_leave();
	forking = false;
}

void rn_mem_start(void)
{
	static bool started;

	if (!__atomic_exchange_n(&started, true, __ATOMIC_RELAXED))
		pthread_atfork(before_fork, after_fork, after_fork);
}

void rn_mem_fail_at(uint64_t n)
{
	rn_mem.mem.fail_at = n;
}

/* ---- ids of blocks ---- */

/* Represents an existing block that has no id for lack of memory. */
static struct rn_mem_block nameless = { .cls = RN_MEM_OTHER };

static bool number(struct rn_mem_block *b)
{
	if (b->id != RN_MEM_NO_ID)
		return true;
	if (rn_idpool_take(&pools[b->cls], &rn_mem.mem, &b->id) == RN_OK)
		return true;
	b->id = RN_MEM_NO_ID;
	return false;
}

void rn_mem_block_gone(struct rn_mem_block *b)
{
	if (b->id != RN_MEM_NO_ID && b->cls >= RN_MEM_HEAP)
		rn_idpool_give(&pools[b->cls], b->id);
	b->id = RN_MEM_NO_ID;
	rn_mem_block_recycle(b);
}

static uint32_t tag_of(uintptr_t start)
{
	return (uint32_t)(start / RN_SHADOW_GRANULE * 0x9e3779b97f4a7c15u >> 32);
}

static struct rn_mem_block *named_find(uintptr_t start)
{
	if (!named.dir)
		return NULL;
	RN_MAP_EACH (&named, tag_of(start), i)
		if (rn_mem_block_at(i)->lo == start)
			return rn_mem_block_at(i);
	return NULL;
}

static bool named_reserve(uintptr_t start)
{
	if (!named.dir && rn_map_init(&named, &rn_mem.mem) < 0) {
		named.dir = NULL;
		return false;
	}
	return rn_map_reserve(&named, tag_of(start)) == RN_OK;
}

static struct rn_mem_block *name_heap_block(const struct rn_shadow_hit *hit)
{
	struct rn_mem_block *b = NULL;

	if (RN_SHADOW_GET(*hit->mark) & RN_SHADOW_NAMED)
		return named_find(hit->start);
	if (named_reserve(hit->start))
		b = rn_mem_block_new(hit->start, hit->start + hit->size, RN_MEM_HEAP);
	if (!b)
		return &nameless;
	if (!number(b)) {
		rn_mem_block_recycle(b);
		return &nameless;
	}
	rn_map_insert(&named, tag_of(b->lo), b->index);
	RN_SHADOW_PUT(*hit->mark, *hit->mark | RN_SHADOW_NAMED);
	return b;
}

/* ---- memory locations ---- */

static bool holds(const struct rn_mem_block *b, uintptr_t p)
{
	return p - b->lo < b->hi - b->lo;
}

/* Finds the block of an address. A region takes precedence over the heap block or mapping that
 * contains it; a heap block takes precedence over the mapping that contains it. The address
 * directly after an inner block belongs to that block rather than to the middle of the outer one. A
 * block that begins there takes precedence. */
static struct rn_mem_block *find(uintptr_t p)
{
	struct rn_mem_block *b = rn_mem_set_find(rn_mem.regions, p), *map = NULL;
	struct rn_shadow_hit hit;
	bool heap, begins;

	if (b)
		return b;
	heap = rn_shadow_find(p, &hit);
	if (!heap)
		map = rn_mem_set_find(rn_mem.maps, p);
	begins = heap ? hit.start == p : map && map->lo == p;
	if (!begins && (b = rn_mem_set_find(rn_mem.regions, p - 1)))
		return b;
	if (heap || (!begins && rn_shadow_find(p - 1, &hit)))
		return name_heap_block(&hit);
	b = map ? map : rn_mem_set_find(rn_mem.modules, p);
	return b ? b : rn_mem_set_find(rn_mem.maps, p - 1);
}

/* ---- a thread's cache ---- */

static bool is_current(const struct rn_mem_entry *e)
{
	return e->serial == __atomic_load_n(&e->block->serial, __ATOMIC_RELAXED);
}

/* Adds an entry. The old entry moves to the adjacent index, so that two addresses with the same
 * index do not evict each other. */
static void remember(struct rn_mem_cache *c, uintptr_t p, const struct rn_mem_block *b,
		     uint64_t serial)
{
	struct rn_mem_entry *first = rn_mem_entry(c, p);

	c->entry[(first - c->entry) ^ 1] = *first;
	*first = (struct rn_mem_entry){ p, b, serial };
}

static struct rn_mem_entry *near(struct rn_mem_cache *c, uintptr_t p)
{
	return &c->near[(p >> 12) * 0x9e3779b97f4a7c15u >> 58];
}

/* Searches without the lock: an address that was evicted, or an address in a block that was used
 * before and contains no other block. */
static const struct rn_mem_block *recall(struct rn_mem_cache *c, uintptr_t p)
{
	struct rn_mem_entry e = c->entry[(rn_mem_entry(c, p) - c->entry) ^ 1];

	if (e.addr != p || !is_current(&e)) {
		e = *near(c, p);
		if (e.addr != p >> 12 || !is_current(&e) || !holds(e.block, p))
			return NULL;
	}
	remember(c, p, e.block, e.serial);
	return e.block;
}

static struct rn_place place_in(const struct rn_mem_block *b, uintptr_t p)
{
	return (struct rn_place){ b->cls, b->id, (int64_t)(p - b->origin) };
}

/* Returns whether the block contains no other block. */
static bool is_innermost(const struct rn_mem_block *b)
{
	return b->cls > RN_MEM_MMAP ||
	       (b->cls == RN_MEM_HEAP && !rn_mem_set_overlap(rn_mem.regions, b->lo, b->hi));
}

/* Adds p to the cache, unless it is the end of a block: another block may begin there later. */
static void keep(struct rn_mem_cache *c, uintptr_t p, const struct rn_mem_block *b)
{
	if (!holds(b, p))
		return;
	remember(c, p, b, b->serial);
	if (is_innermost(b))
		*near(c, p) = (struct rn_mem_entry){ p >> 12, b, b->serial };
}

static rn_mem_driver *driver;
static bool driver_loaded; /* atomic; result of the last query */

void rn_mem_ask_driver(rn_mem_driver *query)
{
	driver = query;
}

static void note_driver(void)
{
	__atomic_store_n(&driver_loaded, true, __ATOMIC_RELAXED);
}

/* Without a driver, each mapping is queried once, because a driver may have been loaded. */
static bool may_be_gpu(const struct rn_mem_block *b)
{
	return b->cls == RN_MEM_MMAP && driver &&
	       (b->id == RN_MEM_NO_ID || __atomic_load_n(&driver_loaded, __ATOMIC_RELAXED));
}

static void query_driver(uintptr_t p)
{
	struct rn_mem_range range;

	if (inside || !driver || !driver(p, &range))
		return;
	note_driver();
	if (range.cls != RN_MEM_OTHER)
		rn_mem_region_add((const void *)range.lo, range.hi - range.lo, range.cls);
}

/* Returns false if p is unknown, or if it may be GPU memory and no driver was `queried`. */
static bool look_up(struct rn_mem_cache *c, uintptr_t p, struct rn_place *place, bool queried)
{
	struct rn_mem_block *b;

	if (!rn_mem_enter())
		return false;
	b = holds(&c->tls, p) ? &c->tls : find(p);
	if (b && !queried && may_be_gpu(b))
		b = NULL;
	if (b && b != &nameless && number(b)) {
		*place = place_in(b, p);
		keep(c, p, b);
	}
	rn_mem_leave();
	return b != NULL;
}

static bool asking;

void rn_mem_ask_kernel(void)
{
	asking = true;
}

struct range {
	uintptr_t lo, hi;
};

/* "7f01d000-7f01f000 rw-p ..." */
static struct range read_range(const char *line)
{
	char *end;
	uintptr_t lo = strtoul(line, &end, 16);

	return (struct range){ lo, *end == '-' ? strtoul(end + 1, NULL, 16) : lo };
}

/* Searches the mappings in ascending order. If none contains p, `r` is the gap around p. */
static bool find_mapping(int fd, uintptr_t p, struct range *r)
{
	char buf[4096], line[64];
	struct range m, gap = { 0, UINTPTR_MAX };
	size_t have = 0;
	ssize_t n;

	*r = gap;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (have < sizeof(line) - 1)
				line[have++] = buf[i];
			if (buf[i] != '\n')
				continue;
			line[have] = '\0';
			have = 0;
			m = read_range(line);
			*r = p < m.lo ? (struct range){ gap.lo, m.lo } : m;
			if (p < m.hi)
				return p >= m.lo;
			gap.lo = m.hi;
		}
	*r = gap;
	return false;
}

/* Adds a mapping that was created without a call of the interposed mmap: UCX patches mmap itself,
 * and then the interposed function is bypassed. The kernel lists it; adjacent mappings that the
 * kernel has joined are one mapping here. */
static bool kernel_knows(struct rn_mem_cache *c, uintptr_t p)
{
	int fd = asking ? open("/proc/self/maps", O_RDONLY | O_CLOEXEC) : -1;
	struct range r;
	bool found;

	if (fd < 0)
		return false;
	found = find_mapping(fd, p, &r);
	close(fd);
	if (found) {
		rn_mem_map((void *)r.lo, r.hi - r.lo);
	} else {
		c->gap_lo = r.lo;
		c->gap_hi = r.hi;
	}
	return found;
}

struct rn_place rn_mem_place_slow(struct rn_mem_cache *c, uintptr_t p)
{
	const struct rn_mem_block *b = recall(c, p);
	struct rn_place place = { RN_MEM_OTHER, 0, 0 };

	if (b)
		return place_in(b, p);
	RN_ERRNO_GUARD;
	if (!look_up(c, p, &place, false)) {
		/* Another thread may have added the block since the last lookup. */
		rn_mem_modules_refresh();
		query_driver(p);
		if (!look_up(c, p, &place, true) && kernel_knows(c, p))
			look_up(c, p, &place, true);
	}
	return place;
}

/* ---- sets of regions and mappings ---- */

/* Invalidates the cached locations of a block; its id is unchanged. */
static void renew(struct rn_mem_block *b)
{
	if (b)
		__atomic_store_n(&b->serial, b->serial + 1, __ATOMIC_RELAXED);
}

static void add(struct rn_mem_block **set, uintptr_t lo, uintptr_t hi, uint32_t cls)
{
	struct rn_mem_block *b = rn_mem_block_new(lo, hi, cls);

	if (b)
		rn_mem_set_insert(set, b);
}

static void drop(struct rn_mem_block **set, struct rn_mem_block *b)
{
	rn_mem_set_remove(set, b);
	rn_mem_block_gone(b);
}

/* Removes [lo, hi) from the mappings. The part of a mapping before lo retains its id; the part from
 * hi on becomes a new mapping. */
static void cut(uintptr_t lo, uintptr_t hi)
{
	struct rn_mem_block *b;

	while ((b = rn_mem_set_overlap(rn_mem.maps, lo, hi))) {
		uintptr_t end = b->hi;

		if (b->lo < lo) {
			b->hi = lo;
			renew(b);
		} else {
			drop(&rn_mem.maps, b);
		}
		if (end > hi)
			add(&rn_mem.maps, hi, end, RN_MEM_MMAP);
	}
}

static uintptr_t end_of(uintptr_t p, size_t n)
{
	return n < UINTPTR_MAX - p ? p + n : UINTPTR_MAX;
}

static size_t whole_pages(size_t n)
{
	return n < SIZE_MAX - 4095 ? (n + 4095) & ~(size_t)4095 : n;
}

void rn_mem_map(const void *p, size_t n)
{
	uintptr_t lo = (uintptr_t)p, hi = end_of(lo, whole_pages(n));
	RN_ERRNO_GUARD;

	if (lo == hi || !rn_mem_enter())
		return;
	cut(lo, hi);
	add(&rn_mem.maps, lo, hi, RN_MEM_MMAP);
	rn_mem_leave();
}

void rn_mem_unmap(const void *p, size_t n)
{
	uintptr_t lo = (uintptr_t)p, hi = end_of(lo, whole_pages(n));
	RN_ERRNO_GUARD;

	if (lo == hi || !rn_mem_enter())
		return;
	cut(lo, hi);
	rn_mem_leave();
}

static void renew_around(uintptr_t p)
{
	struct rn_shadow_hit hit;

	renew(rn_mem_set_find(rn_mem.maps, p));
	if (rn_shadow_find(p, &hit))
		renew(named_find(hit.start));
}

/* Adds a region. id and origin: those of a stack or of thread-local storage, else RN_MEM_NO_ID and
 * lo. */
static void add_region(uintptr_t lo, uintptr_t hi, uint32_t cls, uint32_t id, uintptr_t origin)
{
	struct rn_mem_block *b;
	RN_ERRNO_GUARD;

	if (lo >= hi || !rn_mem_enter())
		return;
	while ((b = rn_mem_set_overlap(rn_mem.regions, lo, hi)))
		drop(&rn_mem.regions, b);
	renew_around(lo);
	add(&rn_mem.regions, lo, hi, cls);
	b = rn_mem_set_find(rn_mem.regions, lo);
	if (b) {
		b->id = id;
		b->origin = origin;
	}
	rn_mem_leave();
}

/* Removes the region that begins at p. Returns its size; 0: no such region. */
static size_t drop_region(uintptr_t p)
{
	struct rn_mem_block *b;
	size_t size = 0;

	if (!rn_mem_enter())
		return 0;
	b = rn_mem_set_find(rn_mem.regions, p);
	if (b && b->lo == p) {
		size = b->hi - b->lo;
		drop(&rn_mem.regions, b);
	}
	rn_mem_leave();
	return size;
}

void rn_mem_region_add(const void *p, size_t n, uint32_t cls)
{
	uintptr_t lo = (uintptr_t)p;

	if (cls >= RN_MEM_PINNED)
		note_driver();
	if (lo && cls >= RN_MEM_HEAP && cls < RN_MEM_CLASSES)
		add_region(lo, end_of(lo, n ? n : 1), cls, RN_MEM_NO_ID, lo);
}

void rn_mem_region_drop(const void *p)
{
	drop_region((uintptr_t)p);
}

/* ---- heap blocks ---- */

/* With some allocators two blocks of 8 bytes share a granule. The upper one is then recorded as a
 * region: slower, but correct. */
static bool between_granules(uintptr_t p)
{
	return p % RN_SHADOW_GRANULE != 0;
}

static void forget_name(uintptr_t p)
{
	struct rn_mem_block *b;

	if (!rn_mem_enter())
		return;
	b = named_find(p);
	if (b) {
		rn_map_remove(&named, tag_of(p), b->index);
		rn_mem_block_gone(b);
	}
	rn_mem_leave();
}

void rn_mem_free_slow(uintptr_t p)
{
	unsigned char *mark = rn_shadow_mark(p);

	if (between_granules(p))
		drop_region(p);
	if (!mark)
		return;
	if (RN_SHADOW_GET(*mark) & RN_SHADOW_NAMED)
		forget_name(p);
	RN_SHADOW_PUT(*mark, 0);
}

void rn_mem_alloc_slow(uintptr_t p, size_t n)
{
	bool was_inside = inside;
	RN_ERRNO_GUARD;

	if (!p)
		return;
	if (between_granules(p)) {
		rn_mem_region_add((const void *)p, n, RN_MEM_HEAP);
		return;
	}
	rn_mem_free_slow(p); /* if its release was not reported */
	inside = true;       /* the mappings of the shadow do not belong to the program */
	rn_shadow_add(p, n);
	inside = was_inside;
}

/* The named block is removed from the table during realloc: once the memory has moved, another
 * thread may allocate the old address, and that block may receive an id. */
struct rn_mem_moving rn_mem_realloc_begin(const void *old)
{
	struct rn_mem_moving m = { .old = (uintptr_t)old };
	unsigned char *mark = rn_shadow_mark(m.old);

	if (between_granules(m.old))
		m.size = drop_region(m.old);
	if (!mark)
		return m;
	m.size = rn_shadow_size(mark);
	if (RN_SHADOW_GET(*mark) & RN_SHADOW_NAMED && rn_mem_enter()) {
		m.named = named_find(m.old);
		if (m.named)
			rn_map_remove(&named, tag_of(m.old), m.named->index);
		rn_mem_leave();
	}
	RN_SHADOW_PUT(*mark, 0);
	return m;
}

static void settle_name(struct rn_mem_block *b, uintptr_t p)
{
	unsigned char *mark = rn_shadow_mark(p);

	if (!rn_mem_enter())
		return;
	if (p == b->lo && mark && named_reserve(p)) {
		b->hi = p + rn_shadow_size(mark);
		renew(b);
		rn_map_insert(&named, tag_of(p), b->index);
		RN_SHADOW_PUT(*mark, *mark | RN_SHADOW_NAMED);
	} else {
		rn_mem_block_gone(b);
	}
	rn_mem_leave();
}

void rn_mem_realloc_end(struct rn_mem_moving m, const void *p, size_t n)
{
	RN_ERRNO_GUARD;

	rn_mem_alloc(p, n);
	if (m.named)
		settle_name(m.named, (uintptr_t)p);
}

void rn_mem_realloc_undo(struct rn_mem_moving m)
{
	if (m.size)
		rn_mem_realloc_end(m, (const void *)m.old, m.size);
}

/* ---- threads ---- */

static struct range find_stack(void)
{
	pthread_attr_t attr;
	void *lo = NULL;
	size_t size = 0;

	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return (struct range){ 0, 0 };
	pthread_attr_getstack(&attr, &lo, &size);
	pthread_attr_destroy(&attr);
	return (struct range){ (uintptr_t)lo, (uintptr_t)lo + size };
}

/* Thread-local storage of modules loaded later is in the heap; its class remains heap. */
static int widen_tls(struct dl_phdr_info *info, size_t size, void *arg)
{
	uintptr_t lo = (uintptr_t)info->dlpi_tls_data;
	struct range *r = arg;
	struct rn_shadow_hit hit;

	if (size < offsetof(struct dl_phdr_info, dlpi_tls_data) + sizeof(void *) || !lo ||
	    rn_shadow_find(lo, &hit))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_TLS)
			continue;
		if (lo < r->lo)
			r->lo = lo;
		if (lo + info->dlpi_phdr[i].p_memsz > r->hi)
			r->hi = lo + info->dlpi_phdr[i].p_memsz;
	}
	return 0;
}

static struct range find_tls(void)
{
	struct range r = { UINTPTR_MAX, 0 };

	dl_iterate_phdr(widen_tls, &r);
	return r.lo < r.hi ? r : (struct range){ 0, 0 };
}

void rn_mem_thread_start(struct rn_mem_cache *c, uint32_t thread, const void *base)
{
	RN_ERRNO_GUARD;
	struct range stack = find_stack(), tls = find_tls();
	const struct rn_mem_entry nothing = { .block = &c->tls, .serial = 1 }; /* never current */

	/* The top of a thread's stack contains its thread-local storage. */
	if (tls.lo - stack.lo < stack.hi - stack.lo)
		stack.hi = tls.lo;
	c->stack_lo = stack.lo;
	c->stack_size = stack.hi - stack.lo;
	c->stack_base = base ? (uintptr_t)base : stack.hi;
	c->tls = (struct rn_mem_block){ .cls = RN_MEM_TLS, .lo = tls.lo, .hi = tls.hi };
	c->tls.origin = (uintptr_t)pthread_self();
	for (size_t i = 0; i < sizeof(c->entry) / sizeof(c->entry[0]); i++)
		c->entry[i] = nothing;
	for (size_t i = 0; i < sizeof(c->near) / sizeof(c->near[0]); i++)
		c->near[i] = nothing;
	add_region(stack.lo, stack.hi, RN_MEM_STACK, thread + 1, c->stack_base);
	add_region(tls.lo, tls.hi, RN_MEM_TLS, thread + 1, c->tls.origin);
}

void rn_mem_thread_stop(struct rn_mem_cache *c)
{
	drop_region(c->stack_lo);
	drop_region(c->tls.lo);
}

/* ---- checking ---- */

/* Returns whether block i, if it is a heap block with an id, agrees with the table and the shadow.
 */
static bool name_is_right(const struct rn_mem_block *b, uint64_t *names)
{
	const unsigned char *mark = rn_shadow_mark(b->lo);

	if (b->cls != RN_MEM_HEAP || b->id == RN_MEM_NO_ID || between_granules(b->lo))
		return true;
	++*names;
	return named_find(b->lo) == b && mark && *mark & RN_SHADOW_NAMED &&
	       b->hi - b->lo == rn_shadow_size(mark);
}

bool rn_mem_check(void)
{
	bool good;
	uint64_t names = 0;

	if (!rn_mem_enter())
		return false;
	good = rn_mem_set_check(rn_mem.regions) && rn_mem_set_check(rn_mem.maps) &&
	       rn_mem_set_check(rn_mem.modules);
	for (uint32_t i = 0; good && i < rn_mem.blocks; i++)
		good = name_is_right(rn_mem_block_at(i + 16), &names);
	if (good && named.dir)
		good = rn_map_check(&named) && names == named.used;
	for (uint32_t i = 0; good && i < RN_MEM_CLASSES; i++)
		good = rn_idpool_check(&pools[i]);
	rn_mem_leave();
	return good;
}
