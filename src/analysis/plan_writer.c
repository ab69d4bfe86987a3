/*
 * plan_writer.c - see plan_writer.h.
 *
 * An event trace (`--only=order`) contains the events. A trace that has every call is read stream
 * by stream (analysis/events_from_calls.h). At the first unobserved receive, the outcomes of all
 * ranks are read once to infer the matches (analysis/infer_receives.h).
 */
#include "analysis/plan_writer.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/event_source.h"
#include "analysis/infer_receives.h"
#include "analysis/thread_events.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/command_text.h"
#include "base/err.h"
#include "base/io.h"
#include "base/mpi_detect.h"
#include "base/notes.h"
#include "base/number_text.h"
#include "encode/call_words.h"
#include "identity/comm_table.h"
#include "model/metadata.h"
#include "order/replay_control.h"
#include "order/replay_plan.h"
#include "read/trace.h"

struct plans {
	const struct rn_trace *t;
	const char *folder;
	int rank; /* -1: all */
	struct rn_arena mem;
	struct rn_orders orders;
	struct rn_outcome *seen; /* outcomes by stream, if matches were inferred; otherwise NULL */
	const char **place;
	struct rn_buf member;  /* struct rn_plan_membership, sorted by rank and name */
	size_t members_before; /* elements of lower ranks than the current one */
	const char **fact;     /* keys and values alternately, with room for one fact of the rank */
	uint32_t facts;
	struct rn_buf *notes;
};

static int contradiction(int rc, struct rn_err *err)
{
	return rc == RN_E_NOMEM ? rn_err_nomem(err)
				: rn_err_set(err, rc, "the events are contradictory");
}

static void plan_path(char path[PATH_MAX], const char *folder, uint64_t rank)
{
	snprintf(path, PATH_MAX, "%s/rank-%" PRIu64 ".plan", folder, rank);
}

/* --- names --------------------------------------------------------------------------------- */

/* Formats a text in the arena. Returns NULL if memory is exhausted. */
__attribute__((format(printf, 2, 3))) static char *print(struct plans *p, const char *format, ...)
{
	va_list args, again;
	char *text;
	int n;

	va_start(args, format);
	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, args);
	text = n < 0 ? NULL : rn_new(&p->mem, char, (size_t)n + 1);
	if (text)
		vsnprintf(text, (size_t)n + 1, format, again);
	va_end(again);
	va_end(args);
	return text;
}

/* Formats each node of the call stacks as "app+0x12ab". */
static int name_places(struct plans *p)
{
	const struct rn_sites *s = &p->t->sites;

	p->place = rn_new(&p->mem, const char *, (size_t)s->nodes + 1);
	for (uint32_t i = 0; i < s->nodes && p->place; i++) {
		const struct rn_code_module *m = &s->module[s->node[i].module];

		p->place[i] =
			print(p, "%.*s+0x%" PRIx64, (int)m->name_len, m->name, s->node[i].offset);
		if (!p->place[i])
			return RN_E_NOMEM;
	}
	return p->place ? RN_OK : RN_E_NOMEM;
}

/* --- facts --------------------------------------------------------------------------------- */

static bool add_fact(struct plans *p, const char *key, const char *value)
{
	p->fact[2 * (size_t)p->facts] = key;
	p->fact[2 * (size_t)p->facts + 1] = value;
	p->facts++;
	return key && value;
}

/* Adds a metadata entry. Unprintable characters are replaced because processes may print it. */
static bool add_text(struct plans *p, const struct rn_meta_entry *e)
{
	char *copy = print(p, "%s", e->value);

	if (copy)
		rn_words_clean(copy);
	return add_fact(p, e->key, copy);
}

/* Adds build_id.MODULE, in hexadecimal. */
static bool add_build(struct plans *p, const struct rn_code_module *m)
{
	char *id = rn_new(&p->mem, char, 2 * m->id_len + 1);

	for (size_t k = 0; k < m->id_len && id; k++)
		snprintf(id + 2 * k, 3, "%02x", m->id[k]);
	return add_fact(p, print(p, "build_id.%.*s", (int)m->name_len, m->name), id);
}

/* Lists the metadata and build ids that the processes compare at their start. */
static int list_facts(struct plans *p)
{
	const struct rn_meta *m = &p->t->meta;
	const struct rn_sites *s = &p->t->sites;

	p->fact = rn_new(&p->mem, const char *, 2 * ((size_t)m->n + s->modules + 1));
	if (!p->fact)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < m->n; i++)
		if (!add_text(p, &m->entry[i]))
			return RN_E_NOMEM;
	for (uint32_t i = 0; i < s->modules; i++)
		if (s->module[i].id_len && !add_build(p, &s->module[i]))
			return RN_E_NOMEM;
	return RN_OK;
}

/* --- communicators ------------------------------------------------------------------------- */

static uint64_t leader(const struct rn_comm_side *s)
{
	return s->n && s->member[0].rank == 0 ? s->member[0].world_rank + 1 : 0;
}

/* Appends the members of a communicator whose plans are written. */
static int take_members(void *arg, const struct rn_comm_listed *c)
{
	struct plans *p = arg;
	const char *name = print(p, "%.*s", (int)c->len, c->name);
	struct rn_plan_membership m = { .name = name,
					.in = { .size = c->local.size,
						.leader = leader(&c->local),
						.remote = c->remote.size,
						.remote_leader = leader(&c->remote) } };

	if (!name)
		return RN_E_NOMEM;
	for (uint64_t i = 0; i < c->by.n; i++) {
		m.world_rank = c->by.member[i].world_rank;
		m.in.rank = c->by.member[i].rank;
		if (p->rank < 0 ? m.world_rank < p->t->ranks : m.world_rank == (uint64_t)p->rank)
			rn_buf_add(&p->member, &m, sizeof(m));
	}
	return rn_buf_status(&p->member);
}

static int by_rank(const void *a, const void *b)
{
	const struct rn_plan_membership *x = a, *y = b;

	if (x->world_rank != y->world_rank)
		return x->world_rank < y->world_rank ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int list_members(struct plans *p)
{
	int rc = p->t->comms ? rn_comms_list(p->t->comms, take_members, p) : RN_OK;

	if (p->member.len)
		qsort(p->member.data, RN_BUF_COUNT(&p->member, struct rn_plan_membership),
		      sizeof(struct rn_plan_membership), by_rank);
	return rc;
}

/* Finds the memberships of a rank. Must be called with ascending ranks. */
static void find_members(struct plans *p, struct rn_plan_source *s)
{
	size_t n = RN_BUF_COUNT(&p->member, struct rn_plan_membership);

	s->member = RN_BUF_AT(&p->member, const struct rn_plan_membership, p->members_before);
	while (p->members_before < n && s->member[s->members].world_rank == s->rank) {
		p->members_before++;
		s->members++;
	}
}

/* --- ranks --------------------------------------------------------------------------------- */

static int write_plan(const struct plans *p, const struct rn_plan_source *s, struct rn_err *err)
{
	struct rn_buf bytes = { 0 };
	char path[PATH_MAX];
	int rc = rn_plan_write(s, &bytes);

	plan_path(path, p->folder, s->rank);
	if (rc == RN_OK)
		rc = rn_io_replace(path, bytes.data, bytes.len, err);
	else
		rc = contradiction(rc, err);
	rn_buf_free(&bytes);
	return rc;
}

/* Reads the outcomes of all ranks and infers the matches of unobserved receives. */
static int read_all(struct plans *p, struct rn_err *err)
{
	uint64_t streams = p->orders.streams, ambiguous = 0;
	int rc = RN_OK;

	p->seen = rn_new(&p->mem, struct rn_outcome, streams);
	if (!p->seen)
		return rn_err_nomem(err);
	for (uint64_t s = 0; s < streams && rc == RN_OK; s++)
		rc = rn_orders_outcome(&p->orders, s, false, &p->mem, &p->seen[s], err);
	if (rc == RN_OK && rn_unseen_infer(&p->mem, &p->orders, p->seen, streams, &ambiguous) < 0)
		rc = rn_err_nomem(err);
	if (ambiguous)
		rn_note(p->notes,
			"%" PRIu64
			" receive%s left open when the program ended could have got other "
			"messages than are given now",
			ambiguous, rn_plural(ambiguous));
	return rc;
}

/* The plan of thread i of a stream. */
static struct rn_plan_part part_of(const struct rn_outcome *o, size_t i)
{
	const struct rn_outcome_thread all = { .row = o->order.rows,
					       .done = o->order.dones,
					       .value = o->order.values,
					       .match = o->matches,
					       .call = o->calls };
	const struct rn_outcome_thread *t = &o->thread[i];
	const struct rn_outcome_thread *end = i + 1 < o->threads ? t + 1 : &all;

	return (struct rn_plan_part){ .order = { .site = o->order.site,
						 .row = o->order.row + t->row,
						 .done = o->order.done + t->done,
						 .value = o->order.value + t->value,
						 .sites = o->order.sites,
						 .rows = end->row - t->row,
						 .dones = end->done - t->done,
						 .values = end->value - t->value },
				      .match = o->match + t->match,
				      .matches = end->match - t->match,
				      .call = o->call + t->call,
				      .calls = end->call - t->call,
				      .birth = t->lineage };
}

/* Creates a plan for each thread of a rank. If no stream of a full trace contains a lineage, the
 * trace is an older one or the rank has one thread, and a thread is identified by its stream.
 * Otherwise a thread without a lineage is the process's first thread; if it made no call, the
 * stream does not contain it. */
static int split_threads(const struct plans *p, const struct rn_outcome *o, struct rn_arena *mem,
			 struct rn_plan_source *s, struct rn_err *err)
{
	bool events = p->t->order != NULL;
	struct rn_plan_part *part, *end;
	size_t n = 0;
	int rc;

	for (uint64_t k = 0; k < p->t->threads; k++)
		n += o[k].threads;
	part = end = rn_new(mem, struct rn_plan_part, n);
	if (!part)
		return rn_err_nomem(err);
	for (uint64_t k = 0; k < p->t->threads; k++)
		for (size_t i = 0; i < o[k].threads; i++) {
			*end = part_of(&o[k], i);
			end->born = events || n > p->t->threads;
			end += events || !end->born || o[k].thread[i].named || end->calls > 0;
		}
	s->part = part;
	s->parts = (uint32_t)(end - part);
	rc = rn_turns_take(mem, part, s->parts, &s->turn, &s->turns);
	return rc < 0 ? contradiction(rc, err) : RN_OK;
}

static bool has_unseen(const struct rn_outcome *o)
{
	for (size_t i = 0; i < o->matches; i++)
		if (o->match[i].state == RN_PLAN_UNSEEN)
			return true;
	return false;
}

static int read_threads(struct plans *p, uint64_t rank, struct rn_arena *mem,
			struct rn_plan_source *s, struct rn_err *err)
{
	uint64_t threads = p->t->threads;
	struct rn_outcome *o = rn_new(mem, struct rn_outcome, threads);
	int rc = o ? RN_OK : rn_err_nomem(err);

	for (uint64_t k = 0; k < threads && rc == RN_OK; k++) {
		rc = rn_orders_outcome(&p->orders, rank * threads + k, true, mem, &o[k], err);
		if (rc == RN_OK && !p->seen && has_unseen(&o[k]))
			rc = read_all(p, err);
	}
	for (uint64_t k = 0; k < threads && rc == RN_OK && p->seen; k++)
		o[k].match = p->seen[rank * threads + k].match;
	return rc == RN_OK ? split_threads(p, o, mem, s, err) : rc;
}

/* The fact "2 of 4" of the rank's node, or NULL if it is unknown. If each rank has its own rondo,
 * the ranks cannot agree which of them reports a difference. Therefore only ranks 0 and 1 have the
 * fact. They are sufficient to compare the number of ranks per node and the distribution of the
 * ranks. */
static const char *node_of(const struct plans *p, uint64_t rank, char text[64])
{
	const char *nodes = rn_meta_value(&p->t->meta, RN_META_NODES);
	uint64_t which = rank, of = p->t->ranks;

	if (rank > 1 && rn_is_rank(environ))
		return NULL;
	if (!(nodes && strcmp(nodes, "1") == 0) &&
	    (!p->t->comms || !rn_node_find(p->t->comms, rank, &which, &of)))
		return NULL;
	snprintf(text, 64, "%" PRIu64 " of %" PRIu64, which, of);
	return text;
}

static int plan_rank(struct plans *p, uint64_t rank, struct rn_err *err)
{
	struct rn_arena mem;
	struct rn_plan_source s = { .rank = (uint32_t)rank,
				    .ranks = (uint32_t)p->t->ranks,
				    .place = p->place,
				    .places = p->t->sites.nodes,
				    .fact = p->fact,
				    .facts = p->facts };
	char node[64];
	int rc;

	find_members(p, &s);
	p->fact[2 * (size_t)p->facts] = RN_NODE_NAME; /* list_facts has reserved the space */
	p->fact[2 * (size_t)p->facts + 1] = node_of(p, rank, node);
	s.facts += p->fact[2 * (size_t)p->facts + 1] != NULL;
	rn_arena_init(&mem, SIZE_MAX);
	rc = read_threads(p, rank, &mem, &s, err);
	s.comm = rn_orders_comms(&p->orders, &s.comms);
	if (rc == RN_OK)
		rc = write_plan(p, &s, err);
	rn_arena_free(&mem);
	return rc;
}

static int write_all(struct plans *p, struct rn_err *err)
{
	int rc = name_places(p);

	if (rc == RN_OK)
		rc = list_facts(p);
	if (rc == RN_OK)
		rc = list_members(p);
	if (rc < 0)
		return rc == RN_E_NOMEM
			       ? rn_err_nomem(err)
			       : rn_err_set(err, rc, "the communicators contradict each other");
	rc = rn_orders_init(&p->orders, &p->mem, p->t, err);
	if (rc == RN_OK)
		rc = rn_job_create(p->folder, p->t->ranks, err);
	for (uint64_t r = 0; r < p->t->ranks && rc == RN_OK; r++)
		if (p->rank < 0 || r == (uint64_t)p->rank)
			rc = plan_rank(p, r, err);
	return rc;
}

int rn_plans_write(const struct rn_trace *t, int rank, const char *folder, struct rn_buf *notes,
		   struct rn_err *err)
{
	struct plans p = { .t = t, .folder = folder, .rank = rank, .notes = notes };
	int rc;

	rn_arena_init(&p.mem, SIZE_MAX);
	rc = write_all(&p, err);
	if (p.orders.reader)
		rn_orders_free(&p.orders);
	rn_buf_free(&p.member);
	rn_arena_free(&p.mem);
	return rc;
}

/* --- progress and removal -------------------------------------------------------------------- */

static void add_progress(const struct rn_plan_head *p, struct rn_plans_progress *out)
{
	const struct rn_plan_stream *s = rn_plan_at(p, p->stream.at);
	const uint64_t *unenforced = rn_plan_at(p, p->unenforced.at);
	bool done = true;

	for (uint64_t i = 0; i < p->stream.n; i++) {
		out->calls += s[i].progress.calls;
		out->messages += s[i].progress.messages - s[i].progress.cancelled;
		out->more += s[i].progress.more;
		out->fewer += s[i].progress.fewer;
		out->again += s[i].progress.again;
		done = done && rn_plan_done(&s[i]);
	}
	out->left += !done;
	for (uint64_t i = 0; i < p->unenforced.n; i++)
		out->unenforced[i] += unenforced[i];
}

struct rn_plans_maps {
	const char *folder;
	uint64_t ranks;
	struct rn_plans_file {
		void *bytes; /* NULL: not mapped */
		size_t len;
	} file[];
};

struct rn_plans_maps *rn_plans_map(const char *folder, uint64_t ranks)
{
	struct rn_plans_maps *m = calloc(1, sizeof(*m) + ranks * sizeof(m->file[0]));
	char path[PATH_MAX];

	if (!m)
		return NULL;
	m->folder = folder;
	m->ranks = ranks;
	for (uint64_t r = 0; r < ranks; r++) {
		plan_path(path, folder, r);
		m->file[r].bytes = rn_io_map(path, false, &m->file[r].len);
	}
	return m;
}

/* Adds the progress in the file, or in the mapping if the file no longer exists. A file that exists
 * may have been written on another node and is therefore opened again. */
static void read_progress(const char *path, const struct rn_plans_file *old,
			  struct rn_plans_progress *out)
{
	struct rn_plans_file f;

	f.bytes = rn_io_map(path, false, &f.len);
	if (f.bytes && rn_plan_valid(f.bytes, f.len))
		add_progress(f.bytes, out);
	else if (old->bytes && rn_plan_valid(old->bytes, old->len))
		add_progress(old->bytes, out);
	if (f.bytes)
		munmap(f.bytes, f.len);
}

bool rn_plans_progress(const struct rn_plans_maps *m, struct rn_plans_progress *out)
{
	char path[PATH_MAX];

	*out = (struct rn_plans_progress){ .unenforced =
						   calloc(rn_mpi_vocab.funcs, sizeof(uint64_t)) };
	for (uint64_t r = 0; r < m->ranks && out->unenforced; r++) {
		plan_path(path, m->folder, r);
		read_progress(path, &m->file[r], out);
	}
	return out->unenforced != NULL;
}

void rn_plans_unmap(struct rn_plans_maps *m)
{
	for (uint64_t r = 0; r < m->ranks; r++)
		if (m->file[r].bytes)
			munmap(m->file[r].bytes, m->file[r].len);
	free(m);
}

static bool is_of_replay(const char *name)
{
	size_t n = strlen(name);

	return strcmp(name, "status") == 0 || strcmp(name, "job") == 0 ||
	       (rn_begins(name, "rank-") && n > 5 && strcmp(name + n - 5, ".plan") == 0);
}

/* Removes the files that exist. A loop over the ranks would be unbounded: a hostile trace can have
 * millions of ranks and no plan. */
void rn_plans_remove(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (is_of_replay(e->d_name))
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(folder);
}
