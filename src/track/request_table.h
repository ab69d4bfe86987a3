/*
 * request_table.h - the live requests of a process: handle and variable -> what is known of the
 * request.
 *
 * A handle does not name a request: both MPIs hand out one value for several outstanding requests
 * (small sends that are complete at once, MPI_PROC_NULL, Ibarrier on one process). What tells those
 * apart is the address of the variable that the handle was stored in, and where the program copied
 * it into another one, age: of equal handles the oldest goes first. So there are two ways to find
 * one: _find_at by handle and variable (the oldest of several), _find_moved by handle alone.
 *
 *   index   handle 1 -> entry                  the only one with its handle
 *           handle 2 -> head                   several have it, or had:
 *                        first -> entry <-> entry <-> entry <-> entry <- last    by age
 *           (head, variable A) -> entry        the oldest with this variable too
 *           (head, variable B) -> entry = entry = entry     (a ring, by age)
 *
 * Programs come back with the same handles and variables. So what is removed stays in the index and
 * waits for that; it is thrown out when the index is full. Where all is known, adding is a search
 * and some stores, and removing does not touch the index.
 *
 * A wrapper finds before the real call and removes after it. In between another thread may get the
 * same handle again, so finding gives a token, and removing takes away what the token was for or
 * nothing: an entry's generation is odd while it lives and counts up when it comes and goes.
 *
 *   an array of requests (Waitall, Testsome, ...)              one request
 *     rn_requests_begin(t);                                      k = rn_requests_find(t, h, var);
 *     for each: k[i] = rn_requests_find_at(t, h, &q[i]);
 *     for those that got none and are not MPI_REQUEST_NULL:
 *               k[i] = rn_requests_find_moved(t, h);
 *
 * Between two begins no entry is given to two elements: _find_moved passes over what was given.
 * (Two threads that wait for copies of equal handles at the same time may get the same token; the
 * second removal is then refused.)
 *
 * Cost: O(1) expected and amortised (the index grows as a whole; _find_moved over an array). Memory
 * from the arena, kept for later requests: 64 bytes for a request, 8 to 40 for its place in the
 * index. A handle is any 64-bit value, a variable any address. Not locked: under
 * MPI_THREAD_MULTIPLE the caller holds one lock around an add, a remove, and all finds of a call.
 * errno is left alone.
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
	RN_REQUEST_WILDCARD,    /* the same, of MPI_ANY_SOURCE or MPI_ANY_TAG: they are news */
	RN_REQUEST_FILE,        /* its status has a count, and nothing else */
	RN_REQUEST_GENERALIZED, /* the program completes it */
};

/* What is known of a request; the table does not look at it. */
struct rn_request {
	uint32_t stream;      /* whose it is: the thread that created it */
	uint32_t shape, slot; /* its name there; the slot's pool is the caller's */
	uint32_t comm;        /* symbol number, for the ranks in statuses */
	uint32_t aux;         /* number of its state in record or replay, plus 1; 0: none */
	uint8_t kind;         /* enum rn_request_kind */
};

/* Entry 0 is none. */
struct rn_request_token {
	uint32_t entry, generation;
};

/* An entry or a head, by `group`. */
struct rn_request_entry {
	uint64_t key;        /* the handle; in a group the variable */
	uint32_t group;      /* its head; 0: the only one with its handle */
	uint32_t generation; /* odd: alive (an entry only) */
	union {
		const void *var;
		struct {
			uint32_t older, newer; /* in its group */
		};
		struct {
			uint32_t first, last; /* of a head */
		};
	};
	union {
		struct {
			uint32_t before, behind; /* in a group: the ring of its variable */
		};
		struct {
			uint32_t round, upto; /* a head: all up to there are given in this round */
		};
	};
	uint32_t seen; /* the last round in which it was given */
	uint32_t next; /* RN_REQUEST_INDEXED, or the next free one */
	struct rn_request request;
};

#define RN_REQUEST_HEAD    0x80000000u
#define RN_REQUEST_INDEXED UINT32_MAX
#define RN_REQUEST_CHUNK   128u

struct rn_requests {
	struct rn_arena *mem;
	struct rn_request_entry **chunk; /* of RN_REQUEST_CHUNK entries, which never move */
	uint32_t chunks, chunks_cap;
	uint32_t *slot;  /* open addressing; an entry number below bits of the hash; 0: empty */
	uint32_t mask;   /* slots - 1 */
	uint32_t number; /* the bits of a slot that are an entry number */
	uint32_t shift;  /* 64 - log2(slots) */
	uint32_t used;   /* slots in use, at most half of them */
	uint32_t free, nfree;
	uint32_t round;
	uint64_t last; /* the handle that was added last */
};

/* RN_OK or RN_E_NOMEM. */
int rn_requests_init(struct rn_requests *t, struct rn_arena *mem);

/* ---- inside ---- */

int rn_requests_add_slow(struct rn_requests *t, uint64_t handle, uint32_t known, const void *var,
			 const struct rn_request *r);
void rn_requests_leave(struct rn_requests *t, uint32_t i);

static inline struct rn_request_entry *rn_requests_entry(const struct rn_requests *t, uint32_t i)
{
	return &t->chunk[i / RN_REQUEST_CHUNK][i % RN_REQUEST_CHUNK];
}

/* The top bits of a product: regular keys (handles are small numbers or addresses from a pool) are
 * spread evenly, better than at random. */
static inline uint64_t rn_requests_hash(uint64_t key, uint32_t group)
{
	return (key + group * 0xd6e8feb86659fd93u) * 0x9e3779b97f4a7c15u;
}

/* The bits of the hash that a slot keeps, so that a search looks at few other entries: as many as
 * the entry number leaves room for. */
static inline uint32_t rn_requests_tag(const struct rn_requests *t, uint64_t hash)
{
	return (uint32_t)(hash >> 8) & ~t->number;
}

/* The entry or head of a handle (group 0), or the indexed entry of a variable in a group; or 0. */
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

/* The live request with this handle, if it is the only one or was stored in this variable; or NULL.
 */
static inline struct rn_request_entry *rn_requests_peek(const struct rn_requests *t,
							uint64_t handle, const void *var)
{
	uint32_t i = rn_requests_lookup(t, handle, 0);
	struct rn_request_entry *e = rn_requests_entry(t, i);

	if (e->group)
		e = rn_requests_entry(t, rn_requests_lookup(t, (uintptr_t)var, i));
	return rn_requests_alive(e) ? e : NULL;
}

/* A new request takes the place of one that rn_requests_peek found. */
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

/* ---- the calls ---- */

/* Where a search for the handle will begin. */
static inline void rn_requests_prefetch(const struct rn_requests *t, uint64_t handle)
{
	__builtin_prefetch(&t->slot[rn_requests_hash(handle, 0) >> t->shift]);
}

/* RN_OK, or RN_E_NOMEM with the table as it was. */
static inline int rn_requests_add(struct rn_requests *t, uint64_t handle, const void *var,
				  const struct rn_request *r)
{
	uint32_t i = rn_requests_lookup(t, handle, 0);
	struct rn_request_entry *e = rn_requests_entry(t, i);

	/* MPI takes them from a pool: the next ones are likely to be as far from each other as this
	 * is from the last. With very many requests their slots are not in any cache, and it takes
	 * longer to get one than until the next call. */
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

/* The oldest request with this handle that was stored in this variable, or none. */
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

/* The oldest request with this handle that this round has not given to anybody, or none. */
struct rn_request_token rn_requests_find_moved(struct rn_requests *t, uint64_t handle);

/* For a call with one request: at its variable, or moved. */
static inline struct rn_request_token rn_requests_find(struct rn_requests *t, uint64_t handle,
						       const void *var)
{
	struct rn_request_token k = rn_requests_find_at(t, handle, var);

	if (k.entry)
		return k;
	rn_requests_begin(t);
	return rn_requests_find_moved(t, handle);
}

/* What is known of it, to be read or changed while it is there; NULL when it is gone, and for
 * none. */
static inline struct rn_request *rn_requests_get(const struct rn_requests *t,
						 struct rn_request_token k)
{
	struct rn_request_entry *e = rn_requests_entry(t, k.entry);

	return e->generation == k.generation ? &e->request : NULL;
}

/* Takes the request out of the table. False when it is gone already, and for none. */
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

/* Index, lists and counts agree. O(requests ever live at once). */
bool rn_requests_check(const struct rn_requests *t);

#endif
