/*
 * memory.h - from an address to (class, block, displacement), equal from run to run.
 *
 * What the tracer learns of: heap blocks (rn_mem_alloc, _free, _realloc_*), mappings (rn_mem_map,
 * _unmap), regions whose class the caller knows (MPI_Alloc_mem, windows, GPUs), the stacks and
 * thread-local storage of its threads, the modules of the program. A block gets its number when
 * rn_mem_place first meets it: the lowest one that is free in its class. It keeps it until it goes.
 * An address right behind a block, where no other block begins, belongs to it.
 *
 * There is one memory in a process, so the state is global. It needs no initialisation: blocks made
 * before the tracer wakes up are known to it.
 *
 * Cost: rn_mem_place about 3 ns while the address is in the thread's cache, else a lock and a
 * search of O(1) for heap blocks, O(log n) for the others. rn_mem_alloc and rn_mem_free are a few
 * loads and stores without a lock; only freeing a block that has a name takes it.
 *
 * Safe in threads, after fork and below malloc: memory comes from an arena of its own, and errno is
 * left alone. When memory is short, addresses are RN_MEM_OTHER.
 */
#ifndef RN_TRACK_MEMORY_H
#define RN_TRACK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "track/memory_shadow.h"

enum rn_mem_class {
	RN_MEM_OTHER,   /* nothing is known: block 0, displacement 0 */
	RN_MEM_STACK,   /* block 0: the thread's own; t + 1: that of thread t */
	RN_MEM_TLS,     /* thread-local variables; blocks as for the stack */
	RN_MEM_STATIC,  /* the block is a module */
	RN_MEM_HEAP,    /* malloc and its relatives; from here on blocks have lowest free numbers */
	RN_MEM_MMAP,    /* mmap */
	RN_MEM_ALLOC,   /* MPI_Alloc_mem */
	RN_MEM_WIN,     /* memory that came with a window */
	RN_MEM_PINNED,  /* of the host, allocated by CUDA */
	RN_MEM_MANAGED, /* of host and GPUs */
	RN_MEM_GPU,     /* of device d: RN_MEM_GPU + d */
};

enum { RN_MEM_GPUS = 32, RN_MEM_CLASSES = RN_MEM_GPU + RN_MEM_GPUS };

struct rn_place {
	uint32_t cls, id;
	int64_t disp;
};

/* A block is where it is as long as its serial does not change; the struct itself never goes. */
struct rn_mem_block {
	uint64_t serial;  /* atomic */
	uintptr_t origin; /* displacements count from here */
	uint32_t cls, id; /* no number yet: UINT32_MAX */
	uintptr_t lo, hi; /* the rest is read under the lock only */
	struct rn_mem_block *left, *right;
	uint32_t index, prio;
};

struct rn_mem_entry {
	uintptr_t addr; /* or a page's number */
	const struct rn_mem_block *block;
	uint64_t serial;
};

/* One for each thread that asks; belongs to the caller, and must last as long as the thread. It
 * takes for granted that memory is freed before it becomes something else. */
struct rn_mem_cache {
	uintptr_t stack_lo, stack_size, stack_base;
	struct rn_mem_block tls;
	/* The latest range without memory that the kernel has reported to this thread; empty: none.
	 * It may have been mapped since. */
	uintptr_t gap_lo, gap_hi;
	struct rn_mem_entry entry[256]; /* by address: in its place, or in the one beside it */
	struct rn_mem_entry near[64];   /* heap blocks and regions, by page */
};

/* The calling thread will ask: finds its stack. Displacements on it count from `base`, an address
 * that is at the same depth in every run (the frame of MPI_Init's caller); NULL for the top, which
 * is right for threads but not for the first, where it depends on the environment. Stop before the
 * thread ends: the memory of its stack may be anything afterwards. */
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

/* After the allocation; p may be NULL. */
static inline void rn_mem_alloc(const void *p, size_t n)
{
	if (__builtin_expect(!rn_shadow_add_small((uintptr_t)p, n), 0))
		rn_mem_alloc_slow((uintptr_t)p, n);
}

/* Before the block is freed, so that no other thread can have it already. */
static inline void rn_mem_free(const void *p)
{
	unsigned char *mark = rn_shadow_mark((uintptr_t)p);

	if (__builtin_expect(mark && !(RN_SHADOW_GET(*mark) & RN_SHADOW_NAMED), 1))
		RN_SHADOW_PUT(*mark, 0);
	else
		rn_mem_free_slow((uintptr_t)p);
}

/* Around a realloc of `old`; the block keeps its name if it stays where it is. The end gets its new
 * address and size, NULL when realloc freed it; undo comes instead of it when realloc failed. */
struct rn_mem_moving {
	uintptr_t old;
	size_t size; /* 0: the block was not known */
	struct rn_mem_block *named;
};

struct rn_mem_moving rn_mem_realloc_begin(const void *old);
void rn_mem_realloc_end(struct rn_mem_moving m, const void *p, size_t n);
void rn_mem_realloc_undo(struct rn_mem_moving m);

/* ---- other memory ---- */

/* Replaces what was known of [p, p + n); rn_mem_unmap may also cut a piece out of it. */
void rn_mem_map(const void *p, size_t n);
void rn_mem_unmap(const void *p, size_t n);

/* A region that is known to be of a class, also when it lies in a heap block or a mapping. It takes
 * the place of regions that it overlaps. */
void rn_mem_region_add(const void *p, size_t n, uint32_t cls);
void rn_mem_region_drop(const void *p); /* the one that begins at p; before it is freed */

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

/* Module `id` of an RN_MEM_STATIC location; zeros if there is none. */
struct rn_mem_module rn_mem_module(uint32_t id);

/* After dlclose: places in modules that are gone are forgotten. New ones are found without it. */
void rn_mem_modules_changed(void);

/* ---- */

/* Makes fork safe in programs with threads. Early; a second time does nothing. */
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

/* From now on the kernel is asked about addresses of which nothing is known (/proc/self/maps). */
void rn_mem_ask_kernel(void);

/* Marks, names, numbers and sets agree. Not while other threads allocate. */
bool rn_mem_check(void);

/* For tests: the n-th allocation of this module from now fails; 0 turns it off. */
void rn_mem_fail_at(uint64_t n);

#endif
