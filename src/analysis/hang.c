/* hang.c - see hang.h. */
#include "analysis/hang.h"

#include "base/arena.h"
#include "base/bisect.h"
#include "encode/call_words.h"
#include "identity/comm_table.h"
#include "recover/journal_read.h"

#include <stdlib.h>
#include <string.h>

#define WORLD  "MPI_COMM_WORLD"
#define SELF   "MPI_COMM_SELF"
#define NOBODY UINT64_MAX
#define AGAIN  3u /* equal tests without a completion after which a thread counts as polling */

/* World ranks of the members of a communicator (or of its remote group), by rank in it. */
struct group {
	struct group *next;
	const char *name;
	uint64_t key;
	bool remote;
	const uint64_t *member; /* NOBODY: unknown member */
	uint64_t n;
};

struct job {
	struct rn_standstill *out;
	struct rn_arena *mem;
	struct rn_comms *comms;
	struct group *groups;
	bool failed; /* an allocation failed */
};

static void *make(struct job *j, size_t size, size_t n)
{
	void *p = rn_alloc(j->mem, size, _Alignof(max_align_t), n + 1);

	if (!p)
		j->failed = true;
	return p;
}

#define MAKE(j, type, n) ((type *)make(j, sizeof(type), n))

/* ---- communicators ---- */

/* Stores the samples by rank. If two processes claim one rank (a damaged file), the first is
 * used. */
static int place_sights(struct job *j, const struct rn_sight *sight, size_t n, struct rn_err *err)
{
	struct rn_standstill *out = j->out;

	for (size_t i = 0; i < n; i++)
		if ((uint64_t)sight[i].process->world.size > out->ranks)
			out->ranks = (uint64_t)sight[i].process->world.size;
	if (out->ranks > RN_STANDSTILL_RANKS)
		return rn_err_set(err, RN_E_DATA, "has more ranks than there can be");
	out->sight = MAKE(j, const struct rn_sight *, out->ranks);
	out->waiter = MAKE(j, struct rn_waiter, out->ranks);
	if (j->failed)
		return RN_E_NOMEM;
	for (size_t i = 0; i < n; i++)
		if (!out->sight[sight[i].process->world.rank])
			out->sight[sight[i].process->world.rank] = &sight[i];
	return RN_OK;
}

static void read_comms(struct job *j)
{
	j->comms = rn_comms_new(j->mem);
	j->failed |= !j->comms;
	for (uint64_t r = 0; r < j->out->ranks && !j->failed; r++) {
		const struct rn_sight *s = j->out->sight[r];

		if (s && rn_process_add_comms(&s->process->recorded.process, j->comms) < 0)
			j->failed = true;
	}
}

static int take_member(void *arg, uint64_t rank, uint64_t world_rank)
{
	struct group *g = arg;

	if (rank < g->n)
		((uint64_t *)g->member)[rank] = world_rank;
	return 0;
}

static struct group *new_group(struct job *j, const char *name, uint64_t key, bool remote,
			       uint64_t n)
{
	struct group *g = MAKE(j, struct group, 1);
	uint64_t *member = n <= j->out->ranks ? MAKE(j, uint64_t, n) : NULL;

	if (!g || !member)
		return NULL;
	for (uint64_t i = 0; i < n; i++)
		member[i] = NOBODY;
	*g = (struct group){ j->groups, name, key, remote, member, n };
	j->groups = g;
	return g;
}

static const struct group *known_group(const struct job *j, const char *name, uint64_t key,
				       bool remote)
{
	for (const struct group *g = j->groups; g; g = g->next)
		if (g->key == key && g->remote == remote && strcmp(g->name, name) == 0)
			return g;
	return NULL;
}

static const struct group *world_group(struct job *j)
{
	const struct group *old = known_group(j, WORLD, 0, false);
	struct group *g = old ? NULL : new_group(j, WORLD, 0, false, j->out->ranks);

	for (uint64_t i = 0; g && i < g->n; i++)
		take_member(g, i, i);
	return old ? old : g;
}

/* The communicator that `rank` knows by this name, identified by name and key. NULL if it is
 * unknown or has no other member. */
static const struct group *group_of(struct job *j, const char *name, uint64_t rank, bool remote)
{
	struct rn_comm_entry e;
	const struct group *old;
	struct group *g;
	size_t len = strlen(name);
	int rc;

	if (strcmp(name, WORLD) == 0)
		return remote ? NULL : world_group(j);
	if (strcmp(name, SELF) == 0 || rn_comms_find(j->comms, name, len, rank, &e) < 0 ||
	    (remote && !e.remote))
		return NULL;
	old = known_group(j, name, e.key, remote);
	if (old)
		return old;
	g = new_group(j, name, e.key, remote, remote ? e.remote : e.size);
	if (!g)
		return NULL;
	rc = remote ? rn_comms_remote_members(j->comms, name, len, rank, take_member, g)
		    : rn_comms_members(j->comms, name, len, rank, take_member, g);
	j->failed |= rc == RN_E_NOMEM;
	return g;
}

/* The group that messages on the communicator are sent to. */
static const struct group *peers_of(struct job *j, const char *name, uint64_t rank)
{
	const struct group *g = group_of(j, name, rank, true);

	return g ? g : group_of(j, name, rank, false);
}

/* ---- sets ---- */

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sorts the ranks and removes duplicates. Returns NULL if n is 0. */
static struct rn_wait_set *new_set(struct job *j, uint64_t *rank, uint64_t n, bool all)
{
	struct rn_wait_set *s = n ? MAKE(j, struct rn_wait_set, 1) : NULL;
	uint64_t m = 0;

	if (!s)
		return NULL;
	qsort(rank, n, sizeof(*rank), by_number);
	for (uint64_t i = 0; i < n; i++)
		if (i == 0 || rank[i] != rank[i - 1])
			rank[m++] = rank[i];
	*s = (struct rn_wait_set){ rank, m, all || m == 1 };
	return s;
}

/* ---- ranks of peers ---- */

struct ranks {
	uint64_t *rank;
	uint32_t n, cap;
};

/* Adds the world ranks of a peer. Returns false if some are unknown. */
static bool add_peer(struct job *j, const struct rn_stand *s, const struct rn_need_peer *p,
		     struct ranks *to)
{
	const struct group *g = peers_of(j, p->comm, s->rank);
	uint64_t from = p->rank == RN_NEED_ANYBODY ? 0 : (uint64_t)p->rank;
	uint64_t end = p->rank == RN_NEED_ANYBODY && g ? g->n : from + 1;

	if (!g || end > g->n)
		return false;
	for (uint64_t i = from; i < end; i++) {
		if (!RN_GROW(j->mem, to->rank, to->n + 1, to->cap))
			j->failed = true;
		if (j->failed || g->member[i] == NOBODY)
			return false;
		if (g->member[i] != s->rank || p->rank != RN_NEED_ANYBODY)
			to->rank[to->n++] = g->member[i];
	}
	return true;
}

static void set_of_peers(struct job *j, struct rn_stand *s)
{
	struct ranks all = { 0 };

	for (uint32_t i = 0; i < s->need.peers; i++)
		if (!add_peer(j, s, &s->need.peer[i], &all))
			return;
	s->set = new_set(j, all.rank, all.n, s->need.all);
}

/* ---- collective calls ---- */

/* A thread in a collective call. */
struct caller {
	struct rn_stand *stand;
	const struct group *local; /* group of its communicator */
};

/* Threads in the same collective call of one communicator, sorted by rank. */
struct meeting {
	const struct caller *caller;
	size_t n;
	const struct group *local, *remote;
	uint64_t *missing, missing_n; /* world ranks of the members that are not in the call */
};

static int by_call(const void *a, const void *b)
{
	const struct caller *x = a, *y = b;
	int d = strcmp(x->stand->need.collective, y->stand->need.collective);

	if (d == 0)
		d = strcmp(x->local->name, y->local->name);
	if (d == 0)
		d = (x->local->key > y->local->key) - (x->local->key < y->local->key);
	return d ? d : (x->stand->rank > y->stand->rank) - (x->stand->rank < y->stand->rank);
}

static bool is_there(const struct meeting *m, uint64_t rank)
{
	struct rn_bisect b = { 0, m->n, 0 };

	while (rn_bisect_next(&b))
		rn_bisect_go(&b, m->caller[b.mid].stand->rank < rank);
	return b.lo < m->n && m->caller[b.lo].stand->rank == rank;
}

static void add_missing(struct meeting *m, const struct group *g)
{
	for (uint64_t i = 0; g && i < g->n; i++)
		if (g->member[i] != NOBODY && !is_there(m, g->member[i]))
			m->missing[m->missing_n++] = g->member[i];
}

static bool is_root(const struct meeting *m, const struct rn_stand *s)
{
	return s->need.root >= 0 && (uint64_t)s->need.root < m->local->n &&
	       m->local->member[s->need.root] == s->rank;
}

/* The root, if the other members are blocked on it and it is not in the call; otherwise NULL. */
static struct rn_wait_set *set_of_root(struct job *j, const struct meeting *m,
				       const struct rn_stand *s)
{
	uint64_t at = (uint64_t)s->need.root, *rank;

	if (m->remote || s->need.root < 0 || at >= m->local->n || m->local->member[at] == NOBODY ||
	    is_there(m, m->local->member[at]))
		return NULL;
	rank = MAKE(j, uint64_t, 1);
	if (rank)
		*rank = m->local->member[at];
	return rank ? new_set(j, rank, 1, true) : NULL;
}

static void meet(struct job *j, struct meeting *m)
{
	const struct rn_stand *first = m->caller[0].stand;
	struct rn_wait_set *all, *root = NULL;

	m->local = m->caller[0].local;
	m->remote = group_of(j, first->need.comm, first->rank, true);
	m->missing = MAKE(j, uint64_t, m->local->n + (m->remote ? m->remote->n : 0));
	if (!m->missing)
		return;
	add_missing(m, m->local);
	add_missing(m, m->remote);
	all = new_set(j, m->missing, m->missing_n, first->need.whom == RN_WHOM_all);
	if (first->need.whom == RN_WHOM_root || first->need.whom == RN_WHOM_leaves)
		root = set_of_root(j, m, first);
	for (size_t i = 0; i < m->n; i++) {
		struct rn_stand *s = m->caller[i].stand;

		s->set = root && !is_root(m, s) ? root : all;
	}
}

static bool is_in_collective(const struct rn_stand *s)
{
	return s->kind == RN_STAND_CALL && s->need.kind == RN_NEED_MEMBERS && !s->sight->gone;
}

static void meet_all(struct job *j)
{
	struct caller *caller = MAKE(j, struct caller, j->out->stands);
	size_t n = 0;

	for (size_t i = 0; i < j->out->stands && caller; i++) {
		struct rn_stand *s = &j->out->stand[i];

		if (is_in_collective(s))
			caller[n].local = group_of(j, s->need.comm, s->rank, false);
		if (caller[n].local)
			caller[n++].stand = s;
	}
	if (n)
		qsort(caller, n, sizeof(*caller), by_call);
	for (size_t i = 0, k; i < n && !j->failed; i = k) {
		struct meeting m = { .caller = caller + i };

		for (k = i + 1;
		     k < n && caller[k].local == caller[i].local &&
		     caller[k].stand->need.collective == caller[i].stand->need.collective;)
			k++;
		m.n = k - i;
		meet(j, &m);
	}
}

/* ---- live positions ---- */

static bool has_moved(const struct rn_stand *s)
{
	const struct rn_now *was =
		s->thread < s->sight->before_n ? &s->sight->before[s->thread] : NULL;

	return s->now->busy ||
	       (was && (was->calls != s->now->calls || was->entered != s->now->entered ||
			!was->call != !s->now->call));
}

/* MPI_Finalize is recorded as returned shortly before the trace is written, while the program is
 * still in the call. */
static bool is_finalizing(const struct rn_now *now)
{
	return !now->call && (now->off & RN_OFF_OVER) && now->last &&
	       (rn_mpi_protos[RN_RAW_FUNCTION(now->last[0])].traits.is & RN_IS_finalizes);
}

static void look_at(struct job *j, struct rn_stand *s)
{
	const struct rn_recorded *p = &s->sight->process->recorded;
	const struct rn_now *now = s->now;
	struct rn_need last = { 0 };
	int rc = RN_OK;

	if (now->last)
		rc = rn_need_of(p, s->thread, now->last, now->last_n, true, j->mem, &last);
	if (rc == RN_OK && now->call)
		rc = rn_need_of(p, s->thread, now->call, now->call_n, false, j->mem, &s->need);
	j->failed |= rc == RN_E_NOMEM;
	s->any = now->call || now->last;
	if (last.fruitless && now->again >= AGAIN &&
	    (!now->call || strcmp(s->need.function, last.function) == 0))
		s->kind = RN_STAND_POLL;
	else if (has_moved(s))
		s->kind = RN_STAND_BUSY;
	else
		s->kind = now->call || is_finalizing(now) ? RN_STAND_CALL : RN_STAND_FREE;
	if (s->kind == RN_STAND_POLL || !now->call)
		s->need = last;
}

static void look_at_all(struct job *j)
{
	struct rn_standstill *out = j->out;
	size_t n = 0;

	for (uint64_t r = 0; r < out->ranks; r++)
		n += out->sight[r] ? out->sight[r]->process->recorded.streams : 0;
	out->stand = MAKE(j, struct rn_stand, n);
	for (uint64_t r = 0; r < out->ranks && !j->failed; r++) {
		const struct rn_sight *s = out->sight[r];

		for (uint32_t k = 0; s && k < s->process->recorded.streams; k++) {
			struct rn_stand *at = &out->stand[out->stands];
			const struct rn_now *now = &s->process->now[k];

			if (k && !now->call && !now->last)
				continue; /* a thread that made no call */
			*at = (struct rn_stand){ .rank = r, .thread = k, .sight = s, .now = now };
			look_at(j, at);
			out->stands++;
		}
	}
}

/* ---- wait-for relation ---- */

/* Combines the sets of two threads of a rank: the rank can continue as soon as one of them can. */
static const struct rn_wait_set *either(struct job *j, const struct rn_wait_set *a,
					const struct rn_wait_set *b)
{
	uint64_t *rank;

	if (!a || !b || a == b)
		return a ? a : b;
	rank = MAKE(j, uint64_t, a->n + b->n);
	if (!rank)
		return NULL;
	memcpy(rank, a->rank, a->n * sizeof(*rank));
	memcpy(rank + a->n, b->rank, b->n * sizeof(*rank));
	return new_set(j, rank, a->n + b->n, false);
}

static void find_waiters(struct job *j)
{
	struct rn_standstill *out = j->out;
	bool *busy = MAKE(j, bool, out->ranks);

	for (size_t i = 0; i < out->stands && busy; i++) {
		struct rn_stand *s = &out->stand[i];

		if (s->kind == RN_STAND_BUSY)
			busy[s->rank] = true;
		else if (s->kind != RN_STAND_FREE && s->need.kind == RN_NEED_PEERS)
			set_of_peers(j, s);
		out->waiter[s->rank].set = either(j, out->waiter[s->rank].set, s->set);
	}
	for (uint64_t r = 0; r < out->ranks && busy; r++) {
		out->waiter[r].gone = out->sight[r] && out->sight[r]->gone;
		if (busy[r] || out->waiter[r].gone)
			out->waiter[r].set = NULL;
	}
}

int rn_standstill(const struct rn_sight *sight, size_t n, struct rn_arena *mem,
		  struct rn_standstill *out, struct rn_err *err)
{
	struct job j = { .out = out, .mem = mem };
	int rc;

	*out = (struct rn_standstill){ 0 };
	rc = place_sights(&j, sight, n, err);
	if (rc == RN_E_DATA)
		return rc;
	if (!j.failed)
		read_comms(&j);
	if (!j.failed)
		look_at_all(&j);
	if (!j.failed)
		meet_all(&j);
	if (!j.failed)
		find_waiters(&j);
	if (!j.failed)
		j.failed = rn_waits_judge(out->waiter, out->ranks, mem, &out->verdict) < 0;
	return j.failed ? rn_err_nomem(err) : RN_OK;
}
