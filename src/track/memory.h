/*
 * memory.h - converts an address to a memory location (class, block, displacement) that is the
 * same in every run.
 *
 * The tracer reports heap blocks (rn_mem_alloc, _free, _realloc_*), mappings (rn_mem_map, _unmap),
 * regions whose class the caller knows (MPI_Alloc_mem, windows, GPUs), the stacks and thread-local
 * storage of its threads, and the modules of the program. A block receives its id when rn_mem_place
 * first finds it: the lowest free id of its class. The block retains the id until it is released.
 * The address directly after a block belongs to the block, unless another block begins there.
 *
 * A process has one memory, so the state is global. It needs no initialization: blocks allocated
 * before the tracer starts are recorded.
 *
 * Cost: rn_mem_place takes about 3 ns if the address is in the thread's cache. Otherwise it takes a
 * lock and a search, O(1) for heap blocks and O(log n) for other memory. rn_mem_alloc and
 * rn_mem_free are a few loads and stores without a lock; only the release of a block with an id
 * takes the lock.
 *
 * Thread-safe, fork-safe, and callable from malloc: memory comes from an arena of its own, and
 * errno does not change. When memory is short, addresses are RN_MEM_OTHER.
 */
#ifndef RN_TRACK_MEMORY_H
#define RN_TRACK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "track/memory_shadow.h"

enum rn_mem_class {
	RN_MEM_OTHER,   /* unknown memory: block 0, displacement 0 */
	RN_MEM_STACK,   /* block 0: the stack of the thread itself; t + 1: that of thread t */
	RN_MEM_TLS,     /* thread-local variables; blocks as for the stack */
	RN_MEM_STATIC,  /* the block is the id of a module */
	RN_MEM_HEAP,    /* malloc etc.; from this class on, ids are the lowest free ones */
	RN_MEM_MMAP,    /* mmap */
	RN_MEM_ALLOC,   /* MPI_Alloc_mem */
	RN_MEM_WIN,     /* memory allocated with a window */
	RN_MEM_PINNED,  /* host memory allocated by CUDA */
	RN_MEM_MANAGED, /* memory managed for host and GPUs */
	RN_MEM_GPU,     /* memory of device d: RN_MEM_GPU + d */
};

enum { RN_MEM_GPUS = 32, RN_MEM_CLASSES = RN_MEM_GPU + RN_MEM_GPUS };

struct rn_place {
	uint32_t cls, id;
	int64_t disp;
};

/* A block of memory. Cached locations in it are valid while its serial is unchanged. The struct is
 * recycled, but its memory is never released. */
struct rn_mem_block {
	uint64_t serial;  /* atomic */
	uintptr_t origin; /* displacements are relative to this address */
	uint32_t cls, id; /* UINT32_MAX: no id yet */
	uintptr_t lo, hi; /* this field and those below are read under the lock only */
	struct rn_mem_block *left, *right;
	uint32_t index, prio;
};

struct rn_mem_entry {
	uintptr_t addr; /* the address, or a page number */
	const struct rn_mem_block *block;
	uint64_t serial;
};

/* Cache of one thread. It belongs to the caller and must exist as long as the thread. It assumes
 * that memory is freed before it is reused for something else. */
struct rn_mem_cache {
	uintptr_t stack_lo, stack_size, stack_base;
	struct rn_mem_block tls;
	/* The latest unmapped range that the kernel reported to this thread; empty: none. It may
	 * have been mapped since. */
	uintptr_t gap_lo, gap_hi;
	struct rn_mem_entry entry[256]; /* by address: at its index or the adjacent one */
	struct rn_mem_entry near[64];   /* heap blocks and regions, by page number */
};

/* Registers the calling thread and finds its stack. Stack displacements are relative to `base`, an
 * address at the same stack depth in every run (the frame of MPI_Init's caller). NULL: relative to
 * the top of the stack. That is correct for all threads except the first, whose top depends on the
 * environment. Call rn_mem_thread_stop before the thread ends, because the memory of its stack may
 * be reused afterwards. */
void rn_mem_thread_start(struct rn_mem_cache *c, uint32_t thread, const void *base);
void rn_mem_thread_stop(struct rn_mem_cache *c);

static inline struct rn_mem_entry *rn_mem_entry(struct rn_mem_cache *c, uintptr_t p)
{
	return &c->entry[p * 0x9e3779b97f4a7c15u >> 56];
}

struct rn_place rn_mem_place_slow(struct rn_mem_cache *c, uintptr_t p);

static inline struct rn_place rn_mem_place(struct rn_mem_cache *c, const void *addr)
{
	uintptr_t p = (uintptr_t)addr;
	const struct rn_mem_entry *e = rn_mem_entry(c, p);
	const struct rn_mem_block *b = e->block;

	if (p - c->stack_lo < c->stack_size)
		return (struct rn_place){ RN_MEM_STACK, 0, (int64_t)(p - c->stack_base) };
	if (__builtin_expect(e->addr != p, 0) ||
	    __builtin_expect(e->serial != __atomic_load_n(&b->serial, __ATOMIC_RELAXED), 0))
		return rn_mem_place_slow(c, p);
	return (struct rn_place){ b->cls, b->id, (int64_t)(p - b->origin) };
}

/* ---- heap blocks ---- */

void rn_mem_alloc_slow(uintptr_t p, size_t n);
void rn_mem_free_slow(uintptr_t p);

/* Records a block after its allocation; p may be NULL. */
static inline void rn_mem_alloc(const void *p, size_t n)
{
	if (__builtin_expect(!rn_shadow_add_small((uintptr_t)p, n), 0))
		rn_mem_alloc_slow((uintptr_t)p, n);
}

/* Removes a block. Call it before the block is freed, so that no other thread can have allocated it
 * again. */
static inline void rn_mem_free(const void *p)
{
	unsigned char *mark = rn_shadow_mark((uintptr_t)p);

	if (__builtin_expect(mark && !(RN_SHADOW_GET(*mark) & RN_SHADOW_NAMED), 1))
		RN_SHADOW_PUT(*mark, 0);
	else
		rn_mem_free_slow((uintptr_t)p);
}

/* Brackets a realloc of `old`. The block keeps its id if its address is unchanged.
 * rn_mem_realloc_end receives the new address and size; NULL if realloc freed the block. If realloc
 * failed, call rn_mem_realloc_undo instead. */
struct rn_mem_moving {
	uintptr_t old;
	size_t size; /* 0: the block is unknown */
	struct rn_mem_block *named;
};

struct rn_mem_moving rn_mem_realloc_begin(const void *old);
void rn_mem_realloc_end(struct rn_mem_moving m, const void *p, size_t n);
void rn_mem_realloc_undo(struct rn_mem_moving m);

/* ---- other memory ---- */

/* rn_mem_map replaces all mappings in [p, p + n). rn_mem_unmap removes [p, p + n), which may be a
 * part of a mapping. */
void rn_mem_map(const void *p, size_t n);
void rn_mem_unmap(const void *p, size_t n);

/* Adds a region of a known class. It may be inside a heap block or a mapping. It replaces the
 * regions that it overlaps. */
void rn_mem_region_add(const void *p, size_t n, uint32_t cls);
void rn_mem_region_drop(
	const void *p); /* removes the region that begins at p; call before it is freed */

/* A module of the program. The label is the file name. If modules that were loaded earlier have the
 * same file name, it has a suffix "#2", "#3", ..., so that labels are unique. The suffix depends on
 * the load order; the displacement is that of the file. */
struct rn_mem_module {
	const char *path, *name; /* the name is the file name without directory */
	const char *label;
	const unsigned char *build_id; /* NULL: none */
	size_t build_id_len;
};

#define RN_MEM_PROGRAM 0 /* the module that is the program itself */

/* Returns module `id` of an RN_MEM_STATIC location; zeros if the id is unknown. */
struct rn_mem_module rn_mem_module(uint32_t id);

/* Discards the locations in unloaded modules; call after dlclose. New modules are detected without
 * a call. */
void rn_mem_modules_changed(void);

/* ---- */

/* Makes fork safe in multithreaded programs. Call it early; further calls have no effect. */
void rn_mem_start(void);

/* A GPU driver's reply for an address. The class is RN_MEM_OTHER if it is not GPU memory. */
struct rn_mem_range {
	uintptr_t lo, hi;
	uint32_t cls;
};

/* Queries the GPU drivers. Returns false if no driver is loaded. */
typedef bool rn_mem_driver(uintptr_t p, struct rn_mem_range *range);

/* From now on, GPU drivers are queried about unknown addresses. A driver reserves ranges by mmap
 * and allocates in them, so an address in a mapping counts as unknown if a driver is loaded. */
void rn_mem_ask_driver(rn_mem_driver *query);

/* From now on, unknown addresses are looked up in /proc/self/maps. */
void rn_mem_ask_kernel(void);

/* Returns whether marks, ids, caches and sets are consistent. No other thread may allocate
 * meanwhile. */
bool rn_mem_check(void);

/* For tests: the n-th allocation of this module from now fails; 0 turns it off. */
void rn_mem_fail_at(uint64_t n);

#endif
