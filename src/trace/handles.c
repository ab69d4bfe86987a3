/* handles.c - see handles.h. The tables are a map from (kind, value) to call words, and pools of
 * ids. */
#include "trace/handles.h"

#include "base/errno_guard.h"
#include "base/map.h"
#include "base/vec.h"
#include "encode/process_table.h"
#include "preload/next_mpi.h"
#include "trace/comm_registry.h"
#include "track/owned_ids.h"

struct entry {
	uint64_t key, word; /* key 0: the entry is free, and word is the next free one */
	uint64_t more;      /* number of times MPI returned it again; each must be freed */
};

static struct rn_map map;
static struct rn_seg entries;
static uint32_t free_entry;
static struct rn_owned_ids numbers[RN_K_COUNT];
static struct rn_process_table constants; /* only its constants are used */

/* ---- constants ---- */

static bool is_handle(enum rn_param_kind k)
{
	return k >= RN_K_comm && k < RN_K_class;
}

static int set_constants(struct rn_arena *mem)
{
	const struct rn_const_value all[] = {
#define CONST(n, kind, name) { RN_K_##kind, n, (int64_t)(uintptr_t)(name) },
#include "constants.h"
#undef CONST
	};

	return rn_process_set_constants(&constants, mem, all, sizeof(all) / sizeof(all[0]));
}

int64_t rn_constant(enum rn_param_kind kind, int64_t value)
{
	return rn_process_constant(&constants, kind, value);
}

const struct rn_process_table *rn_constants(void)
{
	return &constants;
}

/* ---- the table ---- */

static uint64_t key_of(enum rn_param_kind kind, uint64_t handle)
{
	return (handle ^ (uint64_t)kind << 56) + 1;
}

static uint32_t tag_of(uint64_t key)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 29);
}

static struct entry *entry_at(uint32_t i)
{
	return RN_SEG_AT(&entries, struct entry, i);
}

static uint32_t find(uint64_t key)
{
	RN_MAP_EACH (&map, tag_of(key), i)
		if (entry_at(i)->key == key)
			return i;
	return RN_MAP_NONE;
}

static uint32_t take_entry(void)
{
	uint32_t i = free_entry;

	if (i) {
		free_entry = (uint32_t)entry_at(i)->word;
		return i;
	}
	if (!rn_seg_reserve(&entries, &rn_tracer.mem, 1))
		return 0;
	return entries.n++;
}

/* The caller holds the lock; the value is read without it. */
static void next_generation(void)
{
	__atomic_store_n(&rn_tracer.generation, rn_tracer.generation + 1, __ATOMIC_RELAXED);
}

static void set(uint64_t key, uint64_t word)
{
	uint32_t tag = tag_of(key), i = find(key);

	if (i == RN_MAP_NONE) {
		if (rn_map_reserve(&map, tag) < 0 || !(i = take_entry()))
			return; /* out of memory: it gets another id with each use */
		*entry_at(i) = (struct entry){ .key = key };
		rn_map_insert(&map, tag, i);
	}
	entry_at(i)->word = word;
	next_generation();
}

static void drop(uint64_t key)
{
	uint32_t i = find(key);

	if (i == RN_MAP_NONE)
		return;
	rn_map_remove(&map, tag_of(key), i);
	*entry_at(i) = (struct entry){ 0, free_entry, 0 };
	free_entry = i;
	next_generation();
}

int rn_handles_init(struct rn_arena *mem)
{
	rn_seg_init(&entries, sizeof(struct entry));
	if (rn_map_init(&map, mem) < 0 || !rn_seg_reserve(&entries, mem, 1))
		return RN_E_NOMEM;
	entries.n = 1;
	for (uint32_t k = 0; k < RN_K_COUNT; k++)
		if (is_handle(k) && rn_owned_ids_init(&numbers[k], mem) < 0)
			return RN_E_NOMEM;
	rn_tracer.generation = 1;
	if (set_constants(mem) < 0)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < constants.kind_at[RN_K_COUNT]; i++) {
		const struct rn_const_value *c = &constants.constant[i];
		uint64_t key = key_of(c->kind, (uint64_t)c->value);

		if (is_handle(c->kind) && find(key) == RN_MAP_NONE)
			set(key, (uint64_t)c->word << 1 | 1);
	}
	return RN_OK;
}

static void give_number(enum rn_param_kind kind, uint64_t word)
{
	rn_owned_ids_give(&numbers[kind], (uint32_t)word >> 1);
}

/* Words of windows and messages contain the communicator of their ranks, but the bytes of
 * a call do not always name it: MPI_Imrecv, MPI_Rput to MPI_PROC_NULL. The communicator therefore
 * owns the id, so that equal bytes imply equal words (rn_raw_write). Other ids have owner 0. */
static uint64_t number(enum rn_param_kind kind, uint64_t comm)
{
	uint64_t owner = kind == RN_K_win || kind == RN_K_message ? comm : 0;
	uint32_t n;

	if (rn_owned_ids_take(&numbers[kind], owner, &rn_tracer.mem, &n) < 0)
		return RN_RAW_UNSET;
	return owner << 32 | (uint64_t)n << 1;
}

void rn_handle_set(enum rn_param_kind kind, uint64_t handle, uint64_t word)
{
	rn_tracer_lock();
	set(key_of(kind, handle), word);
	rn_tracer_unlock();
}

void rn_handle_unset(enum rn_param_kind kind, uint64_t handle, uint64_t word)
{
	uint32_t i;

	rn_tracer_lock();
	i = find(key_of(kind, handle));
	if (i != RN_MAP_NONE && entry_at(i)->word == word && !(word & 1))
		drop(key_of(kind, handle));
	rn_tracer_unlock();
}

/* Assigns a call word to a handle that MPI returned. `again`: MPI may return an existing object. */
static uint64_t given(enum rn_param_kind kind, uint64_t handle, uint64_t comm, bool again)
{
	RN_ERRNO_GUARD;
	uint64_t key = key_of(kind, handle), word;
	struct entry *old;
	uint32_t i;

	if (kind == RN_K_session) {
		/* The number of threads that will use it is unknown. */
		rn_tracer.threaded = rn_tracer.sessions = true;
		rn_comm_session(handle);
	}
	rn_tracer_lock();
	i = find(key);
	old = i == RN_MAP_NONE ? NULL : entry_at(i);
	/* A constant retains its word: MPI_Group_excl may return MPI_GROUP_EMPTY. */
	if (old && ((old->word & 1) || again)) {
		word = old->word;
		old->more++;
	} else {
		if (old) /* the end of the old object was not seen */
			give_number(kind, old->word);
		word = number(kind, comm);
		set(key, word);
	}
	rn_tracer_unlock();
	return word;
}

uint64_t rn_handle_new(enum rn_param_kind kind, uint64_t handle, uint64_t comm)
{
	/* Two queries for the group of a communicator may return the same handle, which must be
	 * freed twice. */
	return given(kind, handle, comm, kind == RN_K_group);
}

uint64_t rn_handle_again(enum rn_param_kind kind, uint64_t handle)
{
	return given(kind, handle, 0, true);
}

bool rn_handle_known(enum rn_param_kind kind, uint64_t handle)
{
	bool known;

	rn_tracer_lock();
	known = find(key_of(kind, handle)) != RN_MAP_NONE;
	rn_tracer_unlock();
	return known;
}

/* Returns the call word of a handle whose creation was not seen. The lock is held, but released
 * while MPI is queried; another thread may then add the handle first. */
static uint64_t unseen(enum rn_param_kind kind, uint64_t handle)
{
	uint64_t key = key_of(kind, handle), word;
	struct rn_comm c;
	uint32_t i;

	if (kind == RN_K_comm) {
		rn_tracer_unlock();
		rn_comm_ask(&c, handle);
		rn_tracer_lock();
		i = find(key);
		if (i != RN_MAP_NONE)
			return entry_at(i)->word;
		word = rn_comm_unknown(&c);
	} else {
		word = number(kind, 0);
	}
	set(key, word);
	return word;
}

uint64_t rn_handle_word_slow(enum rn_param_kind kind, uint64_t handle, struct rn_handle_cache *c)
{
	RN_ERRNO_GUARD;
	uint64_t word;
	uint32_t i;

	rn_tracer_lock();
	i = find(key_of(kind, handle));
	word = i != RN_MAP_NONE ? entry_at(i)->word : unseen(kind, handle);
	*c = (struct rn_handle_cache){ handle ^ (uint64_t)kind << 56, word, rn_tracer.generation };
	rn_tracer_unlock();
	return word;
}

uint64_t rn_handle_free(struct rn_stream *t, enum rn_param_kind kind, uint64_t handle)
{
	RN_ERRNO_GUARD;
	uint64_t word = rn_handle_word(t, kind, handle);
	uint32_t i;

	if (!(word & 1)) {
		rn_tracer_lock();
		i = find(key_of(kind, handle));
		if (i != RN_MAP_NONE && entry_at(i)->more) {
			entry_at(i)->more--;
		} else {
			drop(key_of(kind, handle));
			give_number(kind, word);
		}
		rn_tracer_unlock();
	}
	return word;
}
