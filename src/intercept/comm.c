/*
 * comm.c - see comm.h. Symbol 0 is none, 1 the world, 2 self, 3 the parent of spawned processes.
 */
#include "intercept/comm.h"

#include "base/hash.h"
#include "base/seg.h"
#include "encode/raw.h"
#include "identity/comms.h"
#include "intercept/handle.h"
#include "intercept/tracer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NONE, WORLD, SELF, PARENT };

static struct rn_seg comms; /* struct rn_comm */
static MPI_Group world_group;
static uint32_t lone; /* of no parent, counted */

static struct rn_comm *at(uint32_t symbol)
{
	return RN_SEG_AT(&comms, struct rn_comm, symbol);
}

static uint32_t add(const char *name)
{
	size_t n = strlen(name) + 1;
	char *copy;

	if (!rn_seg_reserve(&comms, &rn_tracer.mem, 1) || !(copy = rn_new(&rn_tracer.mem, char, n)))
		return NONE;
	memcpy(copy, name, n);
	*at(comms.n) =
		(struct rn_comm){ .name = copy, .size = 1, .leader = -1, .remote_leader = -1 };
	return comms.n++;
}

int rn_comms_start(void)
{
	rn_seg_init(&comms, sizeof(struct rn_comm));
	add("comm:?");
	add("MPI_COMM_WORLD");
	add("MPI_COMM_SELF");
	add("comm:parent");
	return comms.n == PARENT + 1 ? RN_OK : RN_E_NOMEM;
}

void rn_comm_world(void)
{
	at(WORLD)->rank = rn_tracer.world_rank;
	at(WORLD)->size = rn_tracer.world_size;
	at(WORLD)->leader = 0;
	at(SELF)->leader = rn_tracer.world_rank;
	at(WORLD)->key = 1;
	at(SELF)->key = (uint64_t)rn_tracer.world_rank + 1;
	at(WORLD)->complete = at(SELF)->complete = true;
	rn_real.MPI_Comm_group(MPI_COMM_WORLD, &world_group);
}

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

struct rn_comm_birth rn_comm_birth(struct rn_stream *t, uint32_t function, MPI_Comm parent)
{
	struct rn_comm_birth b = { NONE, 0, '.' };
	const char *name = rn_mpi_protos[function].name;

	if (parent != MPI_COMM_NULL)
		b.parent = symbol_of(rn_handle_word(t, RN_K_comm, (uint64_t)(uintptr_t)parent));
	rn_tracer_lock();
	if (parent == MPI_COMM_NULL) {
		b.n = lone++;
	} else if (strcmp(name, "MPI_Comm_create_group") == 0) {
		b.how = 'g';
		b.n = at(b.parent)->groups++;
	} else {
		b.n = at(b.parent)->calls++;
	}
	rn_tracer_unlock();
	return b;
}

static int64_t world_rank_of(MPI_Group group, int rank)
{
	int world = -1;

	if (rn_tracer.init_done)
		rn_real.MPI_Group_translate_ranks(group, 1, &rank, world_group, &world);
	return world == MPI_UNDEFINED ? -1 : world;
}

/* Processes do not count MPI_Comm_create_group alike, so that a name and a first member are not
 * enough: {0,1} and {0,2} have both. */
static uint64_t members_key(MPI_Comm comm, int size)
{
	int rank[256], world[256];
	uint64_t key = 0;
	MPI_Group group;

	if (!rn_tracer.init_done)
		return 0;
	rn_real.MPI_Comm_group(comm, &group);
	for (int at = 0, n; at < size; at += n) {
		n = size - at < 256 ? size - at : 256;
		for (int i = 0; i < n; i++)
			rank[i] = at + i;
		rn_real.MPI_Group_translate_ranks(group, n, rank, world_group, world);
		key = rn_hash_u64(key ^ rn_hash(world, (size_t)n * sizeof(*world)));
	}
	rn_real.MPI_Group_free(&group);
	return key;
}

static void identify(struct rn_comm *c, MPI_Comm comm)
{
	MPI_Group group;
	int inter = 0;

	rn_real.MPI_Comm_rank(comm, &c->rank);
	rn_real.MPI_Comm_size(comm, &c->size);
	rn_real.MPI_Comm_group(comm, &group);
	c->leader = world_rank_of(group, 0);
	c->key = (uint64_t)(c->leader + 1);
	rn_real.MPI_Group_free(&group);
	rn_real.MPI_Comm_test_inter(comm, &inter);
	if (inter) {
		rn_real.MPI_Comm_remote_size(comm, &c->remote);
		rn_real.MPI_Comm_remote_group(comm, &group);
		c->remote_leader = world_rank_of(group, 0);
		rn_real.MPI_Group_free(&group);
	}
	c->complete = true;
}

/* world.0.2 of world.0; lone ones are told by their function: comm:join.0. */
static void name_it(char *text, size_t cap, struct rn_comm_birth b, uint32_t function)
{
	const char *parent = at(b.parent)->name, *f = rn_mpi_protos[function].name;

	if (b.parent == NONE)
		snprintf(text, cap, "comm:%s.%u", f + 4, b.n);
	else if (b.parent <= SELF)
		snprintf(text, cap, "comm:%s%s%.1s%u", b.parent == WORLD ? "world" : "self",
			 b.how == '.' ? "" : ".", b.how == '.' ? "." : "g", b.n);
	else
		snprintf(text, cap, "%.235s%s%.1s%u", parent, b.how == '.' ? "" : ".",
			 b.how == '.' ? "." : "g", b.n);
}

static bool is_idup(uint32_t function)
{
	return strncmp(rn_mpi_protos[function].name, "MPI_Comm_idup", 13) == 0;
}

uint64_t rn_comm_new(struct rn_comm_birth b, uint32_t function, MPI_Comm comm)
{
	struct rn_comm c = { .size = 1, .leader = -1, .remote_leader = -1 };
	int saved = errno;
	char text[256];
	uint32_t symbol;

	if (comm == MPI_COMM_NULL)
		return (uint64_t)rn_constant(RN_K_comm, (int64_t)(uintptr_t)MPI_COMM_NULL) << 1 | 1;
	if (!is_idup(function))
		identify(&c, comm);
	if (b.how == 'g')
		c.key = members_key(comm, c.size);
	rn_tracer_lock();
	name_it(text, sizeof(text), b, function);
	symbol = add(text);
	if (symbol != NONE) {
		/* Not usable before its request is complete; but it is its parent's equal. */
		if (is_idup(function)) {
			c = *at(b.parent);
			c.calls = c.groups = 0;
			c.complete = true;
		}
		c.name = at(symbol)->name;
		*at(symbol) = c; /* which may move when others are added */
	}
	rn_tracer_unlock();
	rn_handle_set(RN_K_comm, (uint64_t)(uintptr_t)comm, (uint64_t)symbol << 1);
	errno = saved;
	return (uint64_t)symbol << 1;
}

uint64_t rn_comm_unknown(uint64_t handle)
{
	char text[64];
	uint32_t symbol;
	MPI_Comm comm = (MPI_Comm)(uintptr_t)handle, parent = MPI_COMM_NULL;

	if (rn_tracer.init_done)
		rn_real.MPI_Comm_get_parent(&parent);
	if (comm == parent && parent != MPI_COMM_NULL) {
		symbol = PARENT;
	} else {
		snprintf(text, sizeof(text), "comm:found.%u", lone++);
		symbol = add(text);
	}
	if (symbol != NONE && rn_tracer.init_done)
		identify(at(symbol), comm);
	return (uint64_t)symbol << 1;
}

int rn_comm_entries(struct rn_comms *out, uint64_t world_rank)
{
	for (uint32_t i = PARENT; i < comms.n; i++) {
		const struct rn_comm *c = at(i);
		struct rn_comm_entry e = { .my_rank = (uint64_t)c->rank,
					   .size = (uint64_t)c->size,
					   .remote = (uint64_t)c->remote,
					   .key = c->key,
					   .remote_key = c->remote
								 ? (uint64_t)(c->remote_leader + 1)
								 : 0 };
		int rc = c->complete ? rn_comms_add(out, c->name, strlen(c->name), world_rank, &e)
				     : RN_OK;

		if (rc == RN_E_NOMEM)
			return rc;
	}
	return RN_OK;
}
