/*
 * request_table.h - table of the live requests of a process, indexed by handle and variable.
 *
 * A handle does not identify a request: both MPIs return the same handle for several outstanding
 * requests (small sends that complete immediately, MPI_PROC_NULL, Ibarrier on one process). The
 * address of the variable in which the program stored the handle tells them apart. If the program
 * copied the handle into another variable, the oldest request with the handle is used. There are
 * therefore two lookups: _find_at by handle and variable (the oldest of several), and _find_moved
 * by handle alone.
 *
 *   index   handle 1 -> entry                  the only one with its handle
 *           handle 2 -> head                   several requests have it, or had it:
 *                        first -> entry <-> entry <-> entry <-> entry <- last    by age
 *           (head, variable A) -> entry        the oldest with this variable too
 *           (head, variable B) -> entry = entry = entry     (a ring, by age)
 *
 * Programs reuse handles and variables. A removed request therefore remains in the index until the
 * index is full. Adding a request whose handle and variable are in the index is one search and a
 * few stores; removing does not change the index.
 *
 * A wrapper looks up a request before the real call and removes it afterwards. In between, another
 * thread may receive the same handle. A lookup therefore returns a token, and a removal removes the
 * request of that token or nothing. The generation of an entry is odd while the entry is live, and
 * increases by 1 at every addition and removal.
 *
 *   an array of requests (Waitall, Testsome, ...)              one request
 *     rn_requests_begin(t);                                      k = rn_requests_find(t, h, var);
 *     for each: k[i] = rn_requests_find_at(t, h, &q[i]);
 *     for those without a token that are not MPI_REQUEST_NULL:
 *               k[i] = rn_requests_find_moved(t, h);
 *
 * Between two calls of rn_requests_begin, no entry is returned for two elements: _find_moved skips
 * the entries that were returned before. If two threads wait for copies of equal handles at the
 * same time, both may receive the same token; the second removal then fails.
 *
 * Cost: O(1) expected and amortized (the index is resized as a whole; _find_moved is amortized over
 * an array). Memory is from the arena and reused for later requests: 64 bytes per request, 8 to 40
 * for its index entries. A handle is any 64-bit value, a variable any address. Not locked: under
 * MPI_THREAD_MULTIPLE, the caller holds one lock during an add, a remove, and all lookups of a
 * call. Does not change errno.
 */
#ifndef RN_TRACK_REQUEST_TABLE_H
#define RN_TRACK_REQUEST_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rn_arena;

enum rn_request_kind {
	RN_REQUEST_OTHER,       /* its status has no fields */
	RN_REQUEST_SEND,        /* only the cancelled field of its status is defined */
	RN_REQUEST_RECEIVE,     /* its status has source and tag */
	RN_REQUEST_WILDCARD,    /* RN_REQUEST_RECEIVE with MPI_ANY_SOURCE or MPI_ANY_TAG */
	RN_REQUEST_FILE,        /* its status has a count only */
	RN_REQUEST_GENERALIZED, /* the program completes it */
};

/* Data of a request; the table does not read it. */
struct rn_request {
	uint32_t stream;      /* the stream that created it */
	uint32_t shape, slot; /* request name: creator, index; the pool is the caller's */
	uint32_t comm;        /* id of the communicator that ranks in statuses refer to */
	uint32_t aux;         /* index of its state in record or replay, plus 1; 0: no state */
	uint8_t kind;         /* enum rn_request_kind */
};

/* A reference to a request. entry 0: no request. */
struct rn_request_token {
	uint32_t entry, generation;
};

/* A request, or the head of the requests with one handle (group is then RN_REQUEST_HEAD). */
struct rn_request_entry {
	uint64_t key;   /* the handle; for a request in a group, its variable */
	uint32_t group; /* head of the requests with this handle; 0: the only one with its handle */
	uint32_t generation; /* odd: live (requests only) */
	union {
		const void *var;
		struct {
			uint32_t older, newer; /* neighbors in the group by age */
		};
		struct {
			uint32_t first, last; /* head: oldest and youngest request */
		};
	};
	union {
		struct {
			uint32_t before, behind; /* neighbors in the ring of its variable */
		};
		struct {
			uint32_t round, upto; /* head: returned in this round, up to `upto` */
		};
	};
	uint32_t seen; /* the last round in which the entry was returned */
	uint32_t next; /* RN_REQUEST_INDEXED, or the next entry of the free list */
	struct rn_request request;
};

#define RN_REQUEST_HEAD    0x80000000u
#define RN_REQUEST_INDEXED UINT32_MAX
#define RN_REQUEST_CHUNK   128u

struct rn_requests {
	struct rn_arena *mem;
	struct rn_request_entry **chunk; /* of RN_REQUEST_CHUNK entries; never moved */
	uint32_t chunks, chunks_cap;
	uint32_t *slot;  /* open addressing; high bits of the hash, entry number; 0: empty */
	uint32_t mask;   /* number of slots - 1 */
	uint32_t number; /* mask of the bits of a slot that are the entry number */
	uint32_t shift;  /* 64 - log2(slots) */
	uint32_t used;   /* slots in use, at most half of them */
	uint32_t free, nfree;
	uint32_t round;
	uint64_t last; /* the handle that was added last */
};

/* Initializes an empty table. Returns RN_OK or RN_E_NOMEM. */
int rn_requests_init(struct rn_requests *t, struct rn_arena *mem);

/* ---- implementation of the inline functions ---- */

int rn_requests_add_slow(struct rn_requests *t, uint64_t handle, uint32_t known, const void *var,
			 const struct rn_request *r);
void rn_requests_leave(struct rn_requests *t, uint32_t i);

static inline struct rn_request_entry *rn_requests_entry(const struct rn_requests *t, uint32_t i)
{
	return &t->chunk[i / RN_REQUEST_CHUNK][i % RN_REQUEST_CHUNK];
}

/* The slot index is the top bits of a product. Regular keys (small numbers, or addresses from a
 * pool) are distributed more evenly than at random. */
static inline uint64_t rn_requests_hash(uint64_t key, uint32_t group)
{
	return (key + group * 0xd6e8feb86659fd93u) * 0x9e3779b97f4a7c15u;
}

/* The hash bits that a slot stores, so that a search reads few other entries: all bits that the
 * entry number does not use. */
static inline uint32_t rn_requests_tag(const struct rn_requests *t, uint64_t hash)
{
	return (uint32_t)(hash >> 8) & ~t->number;
}

/* Returns the entry or head of a handle (group 0), or the indexed entry of a variable in a group,
 * or 0. */
static inline uint32_t rn_requests_lookup(const struct rn_requests *t, uint64_t key, uint32_t group)
{
	uint64_t hash = rn_requests_hash(key, group);
	uint32_t tag = rn_requests_tag(t, hash);

	for (uint32_t at = (uint32_t)(hash >> t->shift); t->slot[at]; at = (at + 1) & t->mask) {
		uint32_t i = t->slot[at] ^ tag;
		const struct rn_request_entry *e;

		if (i > t->number)
			continue;
		e = rn_requests_entry(t, i);
		if (e->key == key && (e->group & ~RN_REQUEST_HEAD) == group)
			return i;
	}
	return 0;
}

static inline bool rn_requests_alive(const struct rn_request_entry *e)
{
	return e->generation & 1;
}

static inline struct rn_request_token rn_requests_give(struct rn_requests *t, uint32_t i)
{
	struct rn_request_entry *e = rn_requests_entry(t, i);

	e->seen = t->round;
	return (struct rn_request_token){ i, e->generation };
}

/* Returns the live request with this handle if it is the only one or was stored in this variable,
 * else NULL. */
static inline struct rn_request_entry *rn_requests_peek(const struct rn_requests *t,
							uint64_t handle, const void *var)
{
	uint32_t i = rn_requests_lookup(t, handle, 0);
	struct rn_request_entry *e = rn_requests_entry(t, i);

	if (e->group)
		e = rn_requests_entry(t, rn_requests_lookup(t, (uintptr_t)var, i));
	return rn_requests_alive(e) ? e : NULL;
}

/* Replaces a request that rn_requests_peek returned by a new one. */
static inline void rn_requests_renew(struct rn_request_entry *e, const void *var)
{
	e->generation += 2;
	if (!e->group)
		e->var = var;
}

static inline void rn_requests_revive(struct rn_request_entry *e, const struct rn_request *r)
{
	e->seen = 0;
	e->generation++;
	e->request = *r;
}

/* ---- public functions ---- */

/* Prefetches the slot at which a search for the handle will begin. */
static inline void rn_requests_prefetch(const struct rn_requests *t, uint64_t handle)
{
	__builtin_prefetch(&t->slot[rn_requests_hash(handle, 0) >> t->shift]);
}

/* Adds a request. Returns RN_OK, or RN_E_NOMEM with the table unchanged. */
static inline int rn_requests_add(struct rn_requests *t, uint64_t handle, const void *var,
				  const struct rn_request *r)
{
	uint32_t i = rn_requests_lookup(t, handle, 0);
	struct rn_request_entry *e = rn_requests_entry(t, i);

	/* MPI allocates handles from a pool, so the distance to the next ones is probably that
	 * between the last two. With many requests the slots are in no cache, and loading one takes
	 * longer than the time until the next call. */
	rn_requests_prefetch(t, handle + 3 * (handle - t->last));
	t->last = handle;
	if (!i || e->group || rn_requests_alive(e))
		return rn_requests_add_slow(t, handle, i, var, r);
	e->var = var;
	rn_requests_revive(e, r);
	return RN_OK;
}

/* Begins a call with an array of requests. */
static inline void rn_requests_begin(struct rn_requests *t)
{
	if (++t->round == 0)
		t->round = 1;
}

/* Returns the oldest request with this handle that was stored in this variable, or entry 0. */
static inline struct rn_request_token rn_requests_find_at(struct rn_requests *t, uint64_t handle,
							  const void *var)
{
	uint32_t i = rn_requests_lookup(t, handle, 0);
	const struct rn_request_entry *e = rn_requests_entry(t, i);

	if (e->group) {
		i = rn_requests_lookup(t, (uintptr_t)var, i);
		e = rn_requests_entry(t, i);
	} else if (e->var != var) {
		return (struct rn_request_token){ 0 };
	}
	return i && rn_requests_alive(e) ? rn_requests_give(t, i) : (struct rn_request_token){ 0 };
}

/* Returns the oldest request with this handle that was not returned in this round, or entry 0. */
struct rn_request_token rn_requests_find_moved(struct rn_requests *t, uint64_t handle);

/* The lookup for a call with one request: by variable, else by handle alone. */
static inline struct rn_request_token rn_requests_find(struct rn_requests *t, uint64_t handle,
						       const void *var)
{
	struct rn_request_token k = rn_requests_find_at(t, handle, var);

	if (k.entry)
		return k;
	rn_requests_begin(t);
	return rn_requests_find_moved(t, handle);
}

/* Returns the data of a request, valid while the request is in the table. NULL if it was removed,
 * or for entry 0. */
static inline struct rn_request *rn_requests_get(const struct rn_requests *t,
						 struct rn_request_token k)
{
	struct rn_request_entry *e = rn_requests_entry(t, k.entry);

	return e->generation == k.generation ? &e->request : NULL;
}

/* Removes the request. Returns false if it was removed before, or for entry 0. */
static inline bool rn_requests_remove(struct rn_requests *t, struct rn_request_token k)
{
	struct rn_request_entry *e = rn_requests_entry(t, k.entry);

	if (e->generation != k.generation)
		return false;
	e->generation++;
	if (e->group)
		rn_requests_leave(t, k.entry);
	return true;
}

/* Returns whether index, lists and counts are consistent. O(maximum number of requests ever live at
 * once). */
bool rn_requests_check(const struct rn_requests *t);

#endif
