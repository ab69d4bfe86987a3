/* calls.c - see calls.h. */
#include "read/calls.h"

#include <string.h>

#include "base/arena.h"
#include "identity/comm_table.h"
#include "read/call_nesting.h"
#include "read/call_times_reader.h"
#include "read/elastic_reader.h"
#include "read/trace.h"

/* Nesting of the streams of one stream group. */
struct group {
	bool known;
	struct rn_nested nested;
};

struct rn_calls {
	struct rn_arena *tables;
	const struct rn_trace *t;
	const struct rn_calls *other;  /* shares its nesting tables and time origin; NULL: none */
	struct rn_templates templates; /* `owner`: the stream for whose rank it is resolved */
	struct rn_nesting *nesting;
	struct group *group;
	struct rn_numbering *requests;
	struct rn_value_view *values;
	struct rn_moment_view *times; /* NULL: times are disabled */
	struct rn_err *times_err;
	/* Current stream. */
	struct rn_arena mem; /* stacks of the walkers */
	struct rn_walk at, ahead;
	uint32_t stream; /* sequence number of the stream; never 0 */
	uint64_t rank, thread;
	uint64_t next, to;    /* call numbers */
	bool flat;            /* the markers do not match: there is no nesting */
	bool leaving;         /* the next call is the innermost one in flight */
	bool moved;           /* requests and values are at another position */
	uint32_t ahead_depth; /* if moved: `ahead` is after the call in flight at that depth */
	uint32_t depth;       /* calls in flight */
	uint64_t open[RN_NESTING_MAX]; /* numbers of the calls in flight */
};

/* ---- ranks ---- */

static bool is_name(const char *comm, size_t len, const char *name)
{
	return len == strlen(name) && memcmp(comm, name, len) == 0;
}

bool rn_comm_rank(const struct rn_comms *comms, uint64_t ranks, uint64_t of, const char *comm,
		  size_t len, uint64_t *rank, uint64_t *size)
{
	struct rn_comm_entry e = { .my_rank = of, .size = ranks };

	if (is_name(comm, len, "MPI_COMM_SELF"))
		e = (struct rn_comm_entry){ .size = 1 };
	else if (!is_name(comm, len, "MPI_COMM_WORLD") &&
		 (!comms || rn_comms_find(comms, comm, len, of, &e) < 0))
		return false;
	*rank = e.my_rank;
	*size = e.remote ? e.remote : e.size;
	return true;
}

/* Finds the value of a rank in a per-rank table. */
static bool find_varying(const struct rn_comms *comms, uint64_t rank, int64_t table, int64_t *value)
{
	char name[RN_VARIES_NAME_MAX];
	size_t len = rn_varies_name(name, table);
	struct rn_comm_entry e;

	if (!comms || rn_comms_find(comms, name, len, rank, &e) != RN_OK)
		return false;
	*value = rn_unzigzag(e.key);
	return true;
}

static void locate_value(const struct rn_template *t, const struct rn_template_rank *r,
			 const struct rn_comms *comms, uint64_t rank)
{
	const struct rn_template_comm *c = &t->comm_of[r->comm];
	struct rn_value *v = &t->value[r->value];
	bool known = c->known;

	v->kind = r->kind;
	v->num = r->num;
	if (r->kind == RN_V_VARIES)
		known = find_varying(comms, rank, r->num, &v->num);
	else if (known)
		v->num = rn_value_resolve(v, c->rank, c->size);
	if (known)
		v->kind = RN_V_INT;
}

void rn_template_locate(struct rn_template *t, const struct rn_comms *comms, uint64_t ranks,
			uint64_t rank)
{
	for (uint32_t i = 0; i < t->comms; i++) {
		struct rn_template_comm *c = &t->comm_of[i];

		c->known = rn_comm_rank(comms, ranks, rank, c->name, c->len, &c->rank, &c->size);
	}
	for (uint32_t i = 0; i < t->ranks; i++)
		locate_value(t, &t->rank[i], comms, rank);
}

/* ---- templates ---- */

/* Converts elastic values that are request names to request numbers. */
static void number_slots(const struct rn_calls *c, struct rn_template *t)
{
	for (uint32_t i = 0; i < t->slots; i++) {
		struct rn_value *v = &t->value[t->slot[i].value];
		uint64_t number;

		if (v->kind != RN_V_PLACE || (v->word != c->templates.keywords.live &&
					      v->word != c->templates.keywords.gone))
			continue;
		v->kind = RN_V_REQUEST;
		v->num = rn_numbering_find(c->requests, v->id, v->num, &number)
				 ? (int64_t)number
				 : RN_REQUEST_UNKNOWN;
		v->id = v->word == c->templates.keywords.gone ? RN_REQUEST_ENDED : RN_REQUEST_USED;
	}
}

static int fill(struct rn_calls *c, struct rn_template *t, uint32_t sig)
{
	const int64_t *number = rn_value_view_next(c->values, sig);

	if (!number || !rn_template_fill(t, number))
		return RN_E_DATA;
	number_slots(c, t);
	return RN_OK;
}

/* Decodes the call that a walker has read, and advances requests and values beyond it. */
static int decode(struct rn_calls *c, uint32_t sig, const struct rn_template **out)
{
	struct rn_template *t = rn_templates_get(&c->templates, sig);
	int rc = RN_OK;

	if (!t)
		return RN_E_NOMEM;
	*out = t;
	if (t->owner != c->stream) {
		rn_template_locate(t, c->t->comms, c->t->ranks, c->rank);
		t->owner = c->stream;
	}
	if (t->slots)
		rc = fill(c, t, sig);
	return rc < 0 ? rc : rn_numbering_call(c->requests, sig, t->value);
}

/* ---- construction ---- */

struct rn_calls *rn_calls_new(struct rn_arena *mem, const struct rn_trace *t,
			      const struct rn_calls *other)
{
	const struct rn_streams *s = &t->streams;
	struct rn_calls *c = rn_new(mem, struct rn_calls, 1);

	if (!c)
		return NULL;
	c->tables = mem;
	c->t = t;
	c->other = other;
	rn_arena_init(&c->mem, SIZE_MAX);
	c->nesting = other ? other->nesting
			   : rn_nesting_new(mem, &t->vocab, s->sigs, s->rules, rn_streams_loops(s));
	c->group = other ? other->group : rn_new(mem, struct group, (size_t)s->groups + 1);
	c->values = rn_value_view_new(mem, t);
	if (rn_templates_init(&c->templates, mem, &t->vocab, s->sigs) < 0 || !c->nesting ||
	    !c->group || !c->values)
		return NULL;
	c->requests = rn_numbering_new(mem, &t->vocab, s->sigs, s->rules, rn_streams_loops(s));
	return c->requests ? c : NULL;
}

int rn_calls_times(struct rn_calls *c, struct rn_err *err)
{
	if (!c->t->moments)
		return RN_OK;
	c->times = rn_moment_view_new(c->tables, c->t, c->other ? c->other->times : NULL);
	c->times_err = err;
	return c->times ? RN_OK : RN_E_NOMEM;
}

void rn_calls_free(struct rn_calls *c)
{
	if (!c)
		return;
	rn_moment_view_free(c->times);
	rn_numbering_free(c->requests);
	rn_templates_free(&c->templates);
	rn_arena_free(&c->mem);
}

/* ---- a stream ---- */

static int look(struct rn_calls *c, uint32_t group)
{
	struct group *g = &c->group[group];
	struct rn_flow flow = rn_streams_flow(&c->t->streams, group);
	int rc = g->known ? RN_OK : rn_nesting_look(c->nesting, &flow, &g->nested);

	g->known = rc == RN_OK;
	return rc;
}

uint64_t rn_calls_numbers(struct rn_calls *c, uint32_t group)
{
	look(c, group);
	return c->group[group].nested.numbers;
}

/* Moves requests and values to before the call that a walker reads next. */
static int stand_at(struct rn_calls *c, const struct rn_walk *w)
{
	rn_value_view_seek(c->values, w);
	return rn_numbering_seek(c->requests, w);
}

int rn_calls_begin(struct rn_calls *c, uint64_t stream, uint32_t group, uint64_t from, uint64_t to)
{
	struct rn_flow flow = rn_streams_flow(&c->t->streams, group);
	const struct rn_nested *nested = &c->group[group].nested;
	int rc = look(c, group);

	if (rc < 0)
		return RN_E_NOMEM;
	rn_arena_rewind(&c->mem, (struct rn_arena_mark){ 0 });
	c->stream += c->stream == UINT32_MAX ? 2 : 1;
	c->rank = stream / c->t->threads;
	c->thread = stream % c->t->threads;
	c->flat = nested->wrong;
	c->next = from;
	/* If the markers do not match, any number of them may follow the last call. */
	c->to = from >= nested->numbers           ? 0
		: c->flat && to > nested->numbers ? nested->numbers
						  : to;
	c->leaving = c->moved = false;
	c->depth = 0;
	if (c->next >= c->to)
		return RN_OK;
	if (rn_walk_flow(&c->at, &flow, &c->mem) < 0 || rn_walk_flow(&c->ahead, &flow, &c->mem) < 0)
		return RN_E_NOMEM;
	rn_value_view_begin(c->values, stream);
	if (c->times)
		rc = rn_moment_view_stream(c->times, stream, group, c->times_err);
	if (rc == RN_OK && from) /* markers may come before the first call */
		rc = rn_nesting_seek(c->nesting, nested, &c->at, from, c->open, &c->depth);
	return rc == RN_OK ? stand_at(c, &c->at) : rc;
}

/* Fills in the call that a walker has just read. */
static int read_call(struct rn_calls *c, const struct rn_walk *w, uint32_t sig, struct rn_call *out)
{
	int rc = decode(c, sig, &out->args);

	if (rc < 0)
		return rc;
	out->sig = sig;
	out->marker = RN_MARKER_NONE;
	out->rank = c->rank;
	out->thread = c->thread;
	out->position = rn_walk_pos(w) - 1;
	out->parent = out->depth ? c->open[out->depth - 1] : 0;
	out->timed = false;
	if (c->times)
		rc = rn_moment_view_at(c->times, out->position, &out->start, &out->end,
				       c->times_err);
	out->timed = rc > 0;
	return rc < 0 ? rc : 1;
}

/* Reads a call in flight that returns, or a call without nested calls. */
static int next_call(struct rn_calls *c, uint32_t sig, struct rn_call *out)
{
	out->has_nested = c->leaving;
	if (c->leaving)
		c->depth--;
	out->seq = c->leaving ? c->open[c->depth] : c->next++;
	out->depth = c->depth;
	c->leaving = false;
	return read_call(c, &c->at, sig, out);
}

static int next_marker(struct rn_calls *c, uint32_t sig, enum rn_marker m, struct rn_call *out)
{
	int rc;

	out->has_nested = false;
	out->seq = c->next;
	out->depth = c->depth;
	rc = read_call(c, &c->at, sig, out);
	out->marker = m;
	return rc;
}

int rn_calls_next(struct rn_calls *c, struct rn_call *out)
{
	uint32_t sig;

	if (c->moved) {
		int rc = stand_at(c, &c->at);

		if (rc < 0)
			return rc;
		c->moved = false;
	}
	while ((c->next < c->to || c->leaving) && rn_walk_next(&c->at, &sig) > 0) {
		enum rn_marker m = rn_nesting_marker(c->nesting, sig);

		if (m == RN_MARKER_NONE)
			return next_call(c, sig, out);
		if (m == RN_MARKER_ENDED || m == RN_MARKER_THREAD)
			return next_marker(c, sig, m, out);
		if (m == RN_MARKER_ENTER && !c->flat)
			c->open[c->depth++] = c->next++;
		else if (!c->flat)
			c->leaving = true;
	}
	c->to = 0;
	return 0;
}

uint32_t rn_calls_depth(const struct rn_calls *c)
{
	return c->depth;
}

/* Moves `ahead` before the call in flight at that depth. False if it never returns. */
static bool find_outer(struct rn_calls *c, uint32_t depth)
{
	uint32_t sig, i = c->ahead_depth;

	if (!c->moved || i <= depth) {
		i = c->depth;
		if (rn_walk_seek(&c->ahead, rn_walk_pos(&c->at)) < 0)
			return false;
	}
	for (; i > depth; i--) {
		if (!rn_nesting_leave(c->nesting, &c->ahead))
			return false;
		if (i - 1 > depth)
			rn_walk_next(&c->ahead, &sig);
	}
	c->ahead_depth = depth;
	return true;
}

int rn_calls_outer(struct rn_calls *c, uint32_t depth, struct rn_call *out)
{
	uint32_t sig;
	int rc;

	if (!find_outer(c, depth))
		return 0;
	c->moved = true;
	rc = stand_at(c, &c->ahead);
	if (rc < 0 || rn_walk_next(&c->ahead, &sig) <= 0)
		return rc;
	out->has_nested = true;
	out->seq = c->open[depth];
	out->depth = depth;
	return read_call(c, &c->ahead, sig, out);
}
