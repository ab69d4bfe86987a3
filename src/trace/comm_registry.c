/*
 * comm_registry.c - see comm_registry.h. Symbol 0 is an unknown communicator, 1 the world, 2 self,
 * 3 the parent of spawned processes.
 *
 * A comm class (`family` in the code) is the set of communicators that differ only in their order
 * of creation: same parent, function, tag and members. Communicators whose name is local have no
 * parent and function in their class, because the two sides of an inter-communicator may differ in
 * both. A class owns its symbols (track/owned_ids.h). Its members have indices; the lowest free one
 * is used.
 */
#include "trace/comm_registry.h"

#include "base/errno_guard.h"
#include "base/hash.h"
#include "base/vec.h"
#include "encode/call_words.h"
#include "encode/process_table.h"
#include "identity/comm_table.h"
#include "runtime/outcome.h"
#include "runtime/process_log.h"
#include "runtime/tracer_state.h"
#include "trace/handles.h"
#include "trace/run_env.h"
#include "track/owned_ids.h"

#include <stdio.h>
#include <string.h>

enum { NONE, WORLD, SELF, PARENT };

#define NO_FAMILY 0u /* owner of symbols without a class; they are not reused */

static const struct rn_comm unknown = { .local = { 1, -1, 0 } };

static struct rn_owned_ids symbols;
static struct rn_seg comms; /* struct rn_comm, by symbol */
static MPI_Group world_group;
static bool world_known;
static uint32_t lone; /* number of communicators without a parent */

static struct rn_comm *at(uint32_t symbol)
{
	return RN_SEG_AT(&comms, struct rn_comm, symbol);
}

/* Allocates the lowest free symbol of the class. A new symbol gets a copy of c and the name. NONE
 * if out of memory. */
static uint32_t take(uint64_t family, const struct rn_comm *c, const char *name)
{
	size_t n = strlen(name) + 1;
	uint32_t symbol;
	char *copy;

	if (!rn_seg_reserve(&comms, &rn_tracer.mem, 1) ||
	    rn_owned_ids_take(&symbols, family, &rn_tracer.mem, &symbol) < 0)
		return NONE;
	if (symbol < comms.n)
		return symbol;
	RN_SEG_PUT(&comms, struct rn_comm, *c);
	at(symbol)->number = rn_owned_ids_index(&symbols, symbol);
	copy = rn_new(&rn_tracer.mem, char, n);
	at(symbol)->name = copy ? memcpy(copy, name, n) : "comm:?";
	at(symbol)->complete = copy && c->complete;
	return symbol;
}

int rn_comms_start(void)
{
	static const char *const names[] = { "comm:?", "MPI_COMM_WORLD", "MPI_COMM_SELF",
					     "comm:parent" };

	rn_seg_init(&comms, sizeof(struct rn_comm));
	if (rn_owned_ids_init(&symbols, &rn_tracer.mem) < 0)
		return RN_E_NOMEM;
	for (uint32_t i = NONE; i <= PARENT; i++)
		take(NO_FAMILY, &unknown, names[i]);
	return comms.n == PARENT + 1 ? RN_OK : RN_E_NOMEM;
}

/* ---- members ---- */

#define BLOCK 16

static void more_members(struct rn_comm_members *m, const int *world, int n)
{
	for (int i = 0; i < n && m->first < 0; i++)
		m->first = world[i] == MPI_UNDEFINED ? -1 : world[i];
	m->hash = rn_hash_u64(m->hash ^ rn_hash(world, (size_t)n * sizeof(*world)));
}

/* Whether these ranks continue the arithmetic progression of the preceding block, whose world ranks
 * are in `world`; if so, their world ranks are stored there. Open MPI searches the whole other
 * group for each rank. The ranks are therefore translated to a small group, which consists of the
 * expected ranks. */
static bool go_on(MPI_Group group, int n, const int *rank, int *world)
{
	int64_t last = world[BLOCK - 1], step = last - world[BLOCK - 2], end = last + n * step;
	int range[1][3] = { { (int)(last + step), (int)end, (int)step } }, at[BLOCK], ranks;
	bool same = true;
	MPI_Group few;

	rn_real.MPI_Group_size(world_group, &ranks);
	if (last + step < 0 || last + step >= ranks || end < 0 || end >= ranks ||
	    rn_real.MPI_Group_range_incl(world_group, 1, range, &few) != MPI_SUCCESS)
		return false;
	rn_real.MPI_Group_translate_ranks(group, n, rank, few, at);
	rn_real.MPI_Group_free(&few);
	for (int i = 0; i < n; i++)
		same &= at[i] == i;
	for (int i = 0; same && i < n; i++)
		world[i] = (int)(last + (i + 1) * step);
	return same;
}

static struct rn_comm_members members_of(MPI_Group group)
{
	struct rn_comm_members m = { 0, -1, 0 };
	int rank[BLOCK], world[BLOCK], n;

	rn_real.MPI_Group_size(group, &m.n);
	for (int from = 0; world_known && from < m.n; from += n) {
		n = m.n - from < BLOCK ? m.n - from : BLOCK;
		for (int i = 0; i < n; i++)
			rank[i] = from + i;
		if (from == 0 || !go_on(group, n, rank, world))
			rn_real.MPI_Group_translate_ranks(group, n, rank, world_group, world);
		more_members(&m, world, n);
	}
	return m;
}

static void identify(struct rn_comm *c, MPI_Comm comm)
{
	MPI_Group group;
	int inter = 0, n = 0;

	/* MPI may answer queries about an invalid communicator, because it does not check it
	 * thoroughly. */
	if (rn_real.MPI_Comm_rank(comm, &c->rank) != MPI_SUCCESS ||
	    rn_real.MPI_Comm_size(comm, &n) != MPI_SUCCESS || c->rank < 0 || c->rank >= n)
		return;
	rn_real.MPI_Comm_group(comm, &group);
	c->local = members_of(group);
	rn_real.MPI_Group_free(&group);
	rn_real.MPI_Comm_test_inter(comm, &inter);
	if (inter) {
		rn_real.MPI_Comm_remote_group(comm, &group);
		c->remote = members_of(group);
		rn_real.MPI_Group_free(&group);
	}
	c->complete = true;
}

static struct rn_comm_members range(int first, int n)
{
	struct rn_comm_members m = { n, -1, 0 };
	int world[BLOCK], k;

	for (int from = 0; from < n; from += k) {
		for (k = 0; k < BLOCK && from + k < n; k++)
			world[k] = first + from + k;
		more_members(&m, world, k);
	}
	return m;
}

void rn_comm_world(void)
{
	at(WORLD)->rank = rn_tracer.world_rank;
	at(WORLD)->local = range(0, rn_tracer.world_size);
	at(SELF)->local = range(rn_tracer.world_rank, 1);
	at(WORLD)->complete = at(SELF)->complete = true;
	world_known = rn_real.MPI_Comm_group(MPI_COMM_WORLD, &world_group) == MPI_SUCCESS;
}

void rn_comm_session(uint64_t session)
{
#if MPI_VERSION >= 4
	if (!world_known)
		world_known = rn_real.MPI_Group_from_session_pset((MPI_Session)(uintptr_t)session,
								  "mpi://WORLD",
								  &world_group) == MPI_SUCCESS;
#else
	(void)session;
#endif
}

/* ---- symbols ---- */

static uint32_t symbol_of(uint64_t word)
{
	if (!(word & 1))
		return (uint32_t)word >> 1;
	if (word >> 1 == (uint64_t)rn_constant(RN_K_comm, (int64_t)(uintptr_t)MPI_COMM_WORLD))
		return WORLD;
	return word >> 1 == (uint64_t)rn_constant(RN_K_comm, (int64_t)(uintptr_t)MPI_COMM_SELF)
		       ? SELF
		       : NONE;
}

const struct rn_comm *rn_comm_get(uint32_t word)
{
	return at(symbol_of(word));
}

/* Entries may move, but the arena does not free the old copies, and rank and sizes do not
 * change. */
const struct rn_comm *rn_comm_look(struct rn_stream *t, MPI_Comm comm)
{
	static const struct rn_comm nobody;
	uint32_t symbol = symbol_of(rn_handle_word(t, RN_K_comm, (uint64_t)(uintptr_t)comm));
	const struct rn_comm *c;

	rn_tracer_lock();
	c = at(symbol);
	rn_tracer_unlock();
	return c->complete ? c : &nobody;
}

static bool is(uint32_t function, uint32_t traits)
{
	return rn_mpi_protos[function].traits.is & traits;
}

struct rn_comm_birth rn_comm_birth(struct rn_stream *t, uint32_t function, MPI_Comm parent,
				   uint64_t by)
{
	struct rn_comm_birth b = { .function = function, .by = by };

	if (parent != MPI_COMM_NULL)
		b.parent = symbol_of(rn_handle_word(t, RN_K_comm, (uint64_t)(uintptr_t)parent));
	b.group = b.parent != NONE && is(function, RN_IS_group);
	rn_tracer_lock();
	if (b.parent == NONE)
		b.n = lone++;
	else
		b.n = b.group ? at(b.parent)->groups++ : at(b.parent)->calls++;
	rn_tracer_unlock();
	return b;
}

/* A name has at most 255 characters. If the parent's name is too long, it is cut and a hash of it
 * follows. */
#define LINEAGE_MAX 240
#define LINEAGE_CUT 200

/* Writes the name of a new communicator: world.0.2 is a child of world.0. Without a parent, the
 * function names it: comm:join.0. */
static void name_it(char text[256], const struct rn_comm_birth *b)
{
	const char *parent = at(b->parent)->name, *by = b->group ? ".g" : ".";
	size_t n;

	if (b->parent == WORLD)
		parent = "comm:world";
	else if (b->parent == SELF)
		parent = "comm:self";
	n = strlen(parent);
	if (b->parent == NONE)
		snprintf(text, 256, "comm:%s.%u", rn_mpi_protos[b->function].name + 4, b->n);
	else if (n <= LINEAGE_MAX)
		snprintf(text, 256, "%.*s%s%u", LINEAGE_MAX, parent, by, b->n);
	else
		snprintf(text, 256, "%.*s~%016llx%s%u", LINEAGE_CUT, parent,
			 (unsigned long long)rn_hash(parent, n), by, b->n);
}

/* Allocates a symbol for communicator c. A new symbol gets the name. The lock must be held. */
static uint32_t settle(const struct rn_comm *c, const struct rn_comm_birth *b, const char *name)
{
	uint64_t origin[5] = { c->local.hash, c->remote.hash, c->by };

	if (!c->complete) /* its members are unknown, so it has no class */
		return take(NO_FAMILY, c, name);
	if (!c->apart) {
		origin[3] = b->parent;
		origin[4] = b->function;
	}
	return take(rn_hash(origin, sizeof(origin)), c, name);
}

/* Returns the fields that follow from the parent. The others are obtained from MPI. */
static struct rn_comm child_of(const struct rn_comm_birth *b)
{
	struct rn_comm c = unknown;
	const struct rn_comm *parent = at(b->parent);

	if (is(b->function, RN_IS_duplicates)) {
		c.complete = parent->complete;
		c.rank = parent->rank;
		c.local = parent->local;
		c.remote = parent->remote;
	}
	c.apart = parent->apart || is(b->function, RN_IS_group | RN_IS_separate);
	c.by = b->by;
	return c;
}

/* ---- data for the reader ---- */

/* Returns the key, which is equal on all members. For a common name it is the first member plus 1;
 * for a local name, a hash of all that identifies the communicator. */
static uint64_t key_of(const struct rn_comm *c, const struct rn_comm_members *ours,
		       const struct rn_comm_members *theirs)
{
	uint64_t all[4] = { ours->hash, theirs->hash, c->by, c->number };

	if (!c->apart)
		return (uint64_t)(ours->first + 1);
	return RN_COMM_KEY_APART | rn_hash(all, sizeof(all)) >> 2;
}

static struct rn_comm_entry entry_of(const struct rn_comm *c)
{
	struct rn_comm_entry e = { .my_rank = (uint64_t)c->rank,
				   .size = (uint64_t)c->local.n,
				   .remote = (uint64_t)c->remote.n,
				   .key = key_of(c, &c->local, &c->remote) };

	if (c->remote.n)
		e.remote_key = key_of(c, &c->remote, &c->local);
	return e;
}

static struct rn_object object_of(uint32_t symbol)
{
	struct rn_object o = { .number = (uint64_t)symbol << 1, .bytes = at(symbol)->name };

	/* The world and self have no entry, because signatures have constants for them. */
	o.complete = symbol >= PARENT && at(symbol)->complete;
	if (o.complete)
		o.entry = entry_of(at(symbol));
	return o;
}

static void log_comm(uint32_t symbol)
{
	struct rn_object o = object_of(symbol);

	rn_process_log_comm(&o);
}

/* ---- created communicators ---- */

uint64_t rn_comm_new(const struct rn_comm_birth *b, MPI_Comm comm)
{
	RN_ERRNO_GUARD;
	struct rn_comm c;
	char text[256];
	uint32_t symbol, known;
	bool added;

	rn_tracer_lock();
	c = child_of(b);
	name_it(text, b);
	rn_tracer_unlock();
	if (comm == MPI_COMM_NULL) { /* the recorded call may have created one */
		if (rn_outcome_ops)
			rn_outcome_ops->comm_created(b->function, text, NULL);
		return (uint64_t)rn_constant(RN_K_comm, (int64_t)(uintptr_t)comm) << 1 | 1;
	}
	if (!c.complete && !is(b->function, RN_IS_starts)) /* nonblocking: after MPI_Wait */
		identify(&c, comm);
	rn_tracer_lock();
	known = comms.n;
	symbol = settle(&c, b, text);
	added = comms.n > known;
	if (added)
		log_comm(symbol);
	rn_tracer_unlock();
	rn_handle_set(RN_K_comm, (uint64_t)(uintptr_t)comm, (uint64_t)symbol << 1);
	if (rn_outcome_ops)
		rn_outcome_ops->comm_created(b->function, text, added ? &c : NULL);
	return (uint64_t)symbol << 1;
}

void rn_comm_gone(uint64_t handle, uint64_t word)
{
	uint32_t symbol = symbol_of(word);

	rn_handle_unset(RN_K_comm, handle, word);
	rn_tracer_lock();
	if (symbol > PARENT && at(symbol)->complete)
		rn_owned_ids_give(&symbols, symbol);
	rn_tracer_unlock();
}

/* ---- communicators whose creation was not seen ---- */

/* The communicator with the processes that started this one, or MPI_COMM_NULL. */
static MPI_Comm parent_of_program(void)
{
	MPI_Comm parent = MPI_COMM_NULL;

	return rn_real.MPI_Comm_get_parent(&parent) == MPI_SUCCESS ? parent : MPI_COMM_NULL;
}

/* Whether the value is a communicator. Its creation was not seen, so it may be invalid. The error
 * handlers are replaced during the query, so that those of the program are not called. */
static bool is_comm(MPI_Comm comm)
{
	const MPI_Comm told[] = { MPI_COMM_WORLD, MPI_COMM_SELF };
	MPI_Errhandler was[2];
	int rank, ret;

	for (int i = 0; i < 2; i++) {
		rn_real.MPI_Comm_get_errhandler(told[i], &was[i]);
		rn_real.MPI_Comm_set_errhandler(told[i], MPI_ERRORS_RETURN);
	}
	ret = rn_real.MPI_Comm_rank(comm, &rank);
	for (int i = 0; i < 2; i++) {
		rn_real.MPI_Comm_set_errhandler(told[i], was[i]);
		rn_real.MPI_Errhandler_free(&was[i]);
	}
	return ret == MPI_SUCCESS;
}

/* Whether the error handlers may be replaced. Other threads may need or change them. */
static bool may_ask(void)
{
	return !rn_tracer.threaded || rn_tracer_nstreams() == 1;
}

void rn_comm_ask(struct rn_comm *c, uint64_t handle)
{
	MPI_Comm comm = (MPI_Comm)(uintptr_t)handle;

	*c = unknown;
	if (!rn_tracer.init_done)
		return;
	c->apart = !rn_comm_spawned() || parent_of_program() != comm;
	if (!c->apart || (may_ask() && is_comm(comm)))
		identify(c, comm);
}

uint64_t rn_comm_unknown(struct rn_comm *c)
{
	static const struct rn_comm_birth found = { 0 };
	uint32_t symbol;
	char text[64];

	if (c->complete && !c->apart) {
		c->name = at(PARENT)->name;
		*at(PARENT) = *c;
		symbol = PARENT;
	} else {
		snprintf(text, sizeof(text), "comm:found.%u", lone++);
		symbol = settle(c, &found, text);
	}
	log_comm(symbol);
	return (uint64_t)symbol << 1;
}

int rn_comm_list(struct rn_arena *mem, struct rn_objects *out)
{
	struct rn_object node = { .number = UINT64_MAX, .bytes = RN_NODE_NAME, .complete = true };
	int rc = RN_OK;

	for (uint32_t i = NONE; i < comms.n && rc == RN_OK; i++)
		rc = rn_objects_add(out, mem, object_of(i));
	if (rc == RN_OK && rn_setting_node(&node.entry))
		rc = rn_objects_add(out, mem, node);
	return rc;
}

bool rn_comm_spawned(void)
{
	return parent_of_program() != MPI_COMM_NULL;
}
