/*
 * request_table.c - see request_table.h: new handles, handles of several requests, and growth.
 */
#include "base/arena.h"
#include "track/request_table.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define MIN_LOG2  8  /* log2 of the initial number of slots */
#define GROW_LOG2 2  /* log2 of the growth factor: growing touches every entry */
#define MAX_LOG2  30 /* log2 of the maximum number of slots and of entries */

static struct rn_request_entry *at(const struct rn_requests *t, uint32_t i)
{
	return rn_requests_entry(t, i);
}

/* ---- entries ---- */

static void free_entry(struct rn_requests *t, uint32_t i)
{
	at(t, i)->next = t->free;
	t->free = i;
	t->nfree++;
}

/* Allocates a free entry; make_room() must have ensured that one exists. */
static uint32_t new_entry(struct rn_requests *t, uint64_t key, uint32_t group)
{
	uint32_t i = t->free;
	struct rn_request_entry *e = at(t, i);

	assert(i && !rn_requests_alive(e));
	t->free = e->next;
	t->nfree--;
	e->key = key;
	e->group = group;
	e->next = 0;
	return i;
}

static int add_chunk(struct rn_requests *t)
{
	uint32_t first = t->chunks * RN_REQUEST_CHUNK;
	struct rn_request_entry *chunk;

	if (!RN_GROW(t->mem, t->chunk, t->chunks + 1, t->chunks_cap))
		return RN_E_NOMEM;
	chunk = rn_alloc(t->mem, sizeof(*chunk), sizeof(*chunk), RN_REQUEST_CHUNK);
	if (!chunk)
		return RN_E_NOMEM;
	t->chunk[t->chunks++] = chunk;
	for (uint32_t i = first + RN_REQUEST_CHUNK; i-- > first;)
		if (i)
			free_entry(t, i);
	return RN_OK;
}

/* ---- the index ---- */

/* Adds an entry that is not in the index; the index must have a free slot. */
static void index_add(struct rn_requests *t, uint32_t i)
{
	struct rn_request_entry *e = at(t, i);
	uint64_t hash = rn_requests_hash(e->key, e->group & ~RN_REQUEST_HEAD);
	uint32_t s = (uint32_t)(hash >> t->shift);

	assert(i <= t->number && t->used < t->mask / 2);
	while (t->slot[s])
		s = (s + 1) & t->mask;
	t->slot[s] = i | rn_requests_tag(t, hash);
	e->next = RN_REQUEST_INDEXED;
	t->used++;
}

/* Replaces `was` in the index by `now`, which has the same key. */
static void index_replace(struct rn_requests *t, uint32_t was, uint32_t now)
{
	struct rn_request_entry *e = at(t, was);
	uint64_t hash = rn_requests_hash(e->key, e->group & ~RN_REQUEST_HEAD);
	uint32_t s = (uint32_t)(hash >> t->shift), tag = rn_requests_tag(t, hash);

	while (t->slot[s] != (was | tag))
		s = (s + 1) & t->mask;
	t->slot[s] = now | tag;
	at(t, now)->next = RN_REQUEST_INDEXED;
	e->next = 0;
}

/* Returns whether an entry is live, or a head has live entries. */
static bool needed(const struct rn_request_entry *e)
{
	return e->group == RN_REQUEST_HEAD ? e->first != 0 : rn_requests_alive(e);
}

static uint32_t count_needed(const struct rn_requests *t)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < t->chunks * RN_REQUEST_CHUNK; i++)
		n += at(t, i)->next == RN_REQUEST_INDEXED && needed(at(t, i));
	return n;
}

/* Rebuilds the empty index without the unneeded entries. Iterates from the last entry to the first,
 * so that free entries are allocated in ascending order. */
static void index_all(struct rn_requests *t)
{
	t->used = 0;
	for (uint32_t i = t->chunks * RN_REQUEST_CHUNK; --i;) {
		struct rn_request_entry *e = at(t, i);

		if (e->next != RN_REQUEST_INDEXED)
			continue;
		if (needed(e))
			index_add(t, i);
		else
			free_entry(t, i);
	}
}

static void index_again(struct rn_requests *t)
{
	memset(t->slot, 0, ((size_t)t->mask + 1) * sizeof(*t->slot));
	index_all(t);
}

static int use_slots(struct rn_requests *t, uint32_t log2)
{
	uint32_t *slot;

	if (log2 > MAX_LOG2)
		return RN_E_NOMEM;
	slot = rn_new(t->mem, uint32_t, (size_t)1 << log2);
	if (!slot)
		return RN_E_NOMEM;
	/* All pages will be written. Reading a page first would cost two page faults. */
	for (size_t i = 0; i >> log2 == 0; i += 4096 / sizeof(*slot))
		((volatile uint32_t *)slot)[i] = 0;
	t->slot = slot;
	t->mask = (1u << log2) - 1;
	t->shift = 64 - log2;
	t->number |= t->mask;
	return RN_OK;
}

/* Reading every entry is amortized over the adds since the last call, under two conditions. At
 * least a quarter of the slots is available for adds afterwards. The slots are not few compared
 * with the entries; of entries with the same handle and variable, only one needs a slot. */
static int clean_or_grow(struct rn_requests *t)
{
	if (count_needed(t) <= t->mask / 4 && t->chunks * RN_REQUEST_CHUNK / 2 <= t->mask) {
		index_again(t);
		return RN_OK;
	}
	if (use_slots(t, 64 - t->shift + GROW_LOG2) < 0)
		return RN_E_NOMEM;
	index_all(t);
	return RN_OK;
}

/* Widens the entry numbers in the slots. If many requests share a handle and a variable, there can
 * be more entries than slots. */
static int widen_numbers(struct rn_requests *t)
{
	if (t->number >> (MAX_LOG2 - GROW_LOG2))
		return RN_E_NOMEM;
	t->number = t->number << GROW_LOG2 | ((1u << GROW_LOG2) - 1);
	index_again(t);
	return RN_OK;
}

/* Returns whether the index lacks room for one add, which needs at most two entries (a head and a
 * request), both in the index. */
static bool index_full(const struct rn_requests *t)
{
	return t->used + 2 > t->mask / 2;
}

static bool short_of_room(const struct rn_requests *t)
{
	return t->nfree < 2 || index_full(t);
}

static int make_room(struct rn_requests *t)
{
	if (index_full(t) && clean_or_grow(t) < 0)
		return RN_E_NOMEM;
	if (t->nfree >= 2)
		return RN_OK;
	if (t->chunks * RN_REQUEST_CHUNK > t->number && widen_numbers(t) < 0)
		return RN_E_NOMEM;
	return add_chunk(t);
}

int rn_requests_init(struct rn_requests *t, struct rn_arena *mem)
{
	*t = (struct rn_requests){ .mem = mem, .round = 1 };
	if (use_slots(t, MIN_LOG2) < 0 || add_chunk(t) < 0)
		return RN_E_NOMEM;
	at(t, 0)->generation = 2; /* equal to no token's, which is odd or 0 */
	return RN_OK;
}

/* ---- groups ---- */

/* Appends an entry to the ring of `oldest`. */
static void join_ring(struct rn_requests *t, uint32_t i, uint32_t oldest)
{
	struct rn_request_entry *e = at(t, i), *o = at(t, oldest);

	e->before = o->before;
	e->behind = oldest;
	at(t, o->before)->behind = i;
	o->before = i;
}

/* Begins the ring of an entry whose variable is new in its group. */
static void begin_ring(struct rn_requests *t, uint32_t i)
{
	at(t, i)->before = at(t, i)->behind = i;
	index_add(t, i);
}

static void leave_ring(struct rn_requests *t, uint32_t i)
{
	struct rn_request_entry *e = at(t, i);

	if (e->next == RN_REQUEST_INDEXED)
		index_replace(t, i, e->behind);
	at(t, e->before)->behind = e->behind;
	at(t, e->behind)->before = e->before;
	free_entry(t, i);
}

static void join_ages(struct rn_requests *t, struct rn_request_entry *head, uint32_t i)
{
	struct rn_request_entry *e = at(t, i);
	uint32_t last = head->last;

	e->older = last;
	e->newer = 0;
	head->last = i;
	if (last)
		at(t, last)->newer = i;
	else
		head->first = i;
}

void rn_requests_leave(struct rn_requests *t, uint32_t i)
{
	struct rn_request_entry *e = at(t, i), *head = at(t, e->group);
	uint32_t older = e->older, newer = e->newer;

	if (head->upto == i)
		head->upto = older;
	if (older)
		at(t, older)->newer = newer;
	else
		head->first = newer;
	if (newer)
		at(t, newer)->older = older;
	else
		head->last = older;
	if (e->behind != i)
		leave_ring(t, i);
}

/* Moves the only request with its handle into a new group. The head replaces it in the index. */
static uint32_t form_group(struct rn_requests *t, uint32_t i)
{
	struct rn_request_entry *e = at(t, i);
	uint32_t number = new_entry(t, e->key, RN_REQUEST_HEAD);
	struct rn_request_entry *head = at(t, number);

	index_replace(t, i, number);
	head->first = head->last = 0;
	head->round = head->upto = 0;
	e->key = (uintptr_t)e->var;
	e->group = number;
	begin_ring(t, i);
	join_ages(t, head, i);
	return number;
}

/* ---- adding ---- */

static void add_to_group(struct rn_requests *t, uint32_t group, const void *var,
			 const struct rn_request *r)
{
	uint32_t known = rn_requests_lookup(t, (uintptr_t)var, group), i = known;

	if (!known || rn_requests_alive(at(t, known)))
		i = new_entry(t, (uintptr_t)var, group);
	if (!known)
		begin_ring(t, i);
	else if (i != known)
		join_ring(t, i, known);
	rn_requests_revive(at(t, i), r);
	join_ages(t, at(t, group), i);
}

static void add_alone(struct rn_requests *t, uint64_t handle, const void *var,
		      const struct rn_request *r)
{
	uint32_t i = new_entry(t, handle, 0);

	at(t, i)->var = var;
	rn_requests_revive(at(t, i), r);
	index_add(t, i);
}

int rn_requests_add_slow(struct rn_requests *t, uint64_t handle, uint32_t known, const void *var,
			 const struct rn_request *r)
{
	if (short_of_room(t)) {
		int saved = errno, rc = make_room(t);

		errno = saved;
		if (rc < 0)
			return rc;
		known = rn_requests_lookup(t, handle, 0); /* an empty group may have been removed */
	}
	if (!known)
		add_alone(t, handle, var, r);
	else
		add_to_group(t, at(t, known)->group ? known : form_group(t, known), var, r);
	return RN_OK;
}

/* ---- search by age ---- */

static uint32_t oldest_of(const struct rn_requests *t, struct rn_request_entry *head)
{
	uint32_t i;

	if (head->round != t->round) {
		head->round = t->round;
		head->upto = 0;
	}
	i = head->upto ? at(t, head->upto)->newer : head->first;
	while (i && at(t, i)->seen == t->round) {
		head->upto = i;
		i = at(t, i)->newer;
	}
	return i;
}

struct rn_request_token rn_requests_find_moved(struct rn_requests *t, uint64_t handle)
{
	uint32_t i = rn_requests_lookup(t, handle, 0);
	struct rn_request_entry *e = at(t, i);

	if (e->group)
		i = oldest_of(t, e);
	else if (!rn_requests_alive(e) || e->seen == t->round)
		i = 0;
	return i ? rn_requests_give(t, i) : (struct rn_request_token){ 0 };
}

/* ---- checking ---- */

static uint32_t count_free(const struct rn_requests *t)
{
	uint32_t n = 0;

	for (uint32_t i = t->free; i && n <= t->nfree; i = at(t, i)->next)
		n += !rn_requests_alive(at(t, i));
	return n;
}

static uint32_t count_slots(const struct rn_requests *t)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s <= t->mask; s++)
		n += t->slot[s] != 0;
	return n;
}

/* Checks the entries of a head by age, in both directions, and adds their number to *members. */
static bool head_check(const struct rn_requests *t, uint32_t group, uint32_t *members)
{
	const struct rn_request_entry *head = at(t, group);
	uint32_t older = 0;

	for (uint32_t i = head->first; i; older = i, i = at(t, i)->newer) {
		const struct rn_request_entry *e = at(t, i);

		if (!rn_requests_alive(e) || e->group != group || e->older != older)
			return false;
		++*members;
	}
	return head->last == older && !rn_requests_alive(head);
}

/* Checks that one entry with this handle and variable is in the index, and that i is in its ring.
 */
static bool member_check(const struct rn_requests *t, uint32_t i)
{
	const struct rn_request_entry *e = at(t, i), *behind = at(t, e->behind);
	uint32_t found = rn_requests_lookup(t, e->key, e->group);

	if (at(t, e->group)->group != RN_REQUEST_HEAD || !found)
		return false;
	if (behind->key != e->key || behind->group != e->group || behind->before != i)
		return false;
	return rn_requests_alive(at(t, found)) && (found == i) == (e->next == RN_REQUEST_INDEXED);
}

bool rn_requests_check(const struct rn_requests *t)
{
	uint32_t total = t->chunks * RN_REQUEST_CHUNK, indexed = 0, rest = 0;
	uint32_t grouped = 0, members = 0;

	for (uint32_t i = 1; i < total; i++) {
		const struct rn_request_entry *e = at(t, i);

		if (e->next == RN_REQUEST_INDEXED)
			indexed++;
		else if (rn_requests_alive(e))
			rest++;
		else
			continue;
		if (e->group == RN_REQUEST_HEAD ? !head_check(t, i, &members)
						: rn_requests_lookup(t, e->key, e->group) == 0)
			return false;
		if (e->group == RN_REQUEST_HEAD || !e->group || !rn_requests_alive(e))
			continue;
		if (!member_check(t, i))
			return false;
		grouped++;
	}
	return grouped == members && indexed == t->used && indexed == count_slots(t) &&
	       t->used <= t->mask / 2 && t->nfree == count_free(t) &&
	       indexed + rest + t->nfree == total - 1;
}
