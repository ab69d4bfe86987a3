/* trace_check.c - see trace_check.h. */
#include "read/trace_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/number_text.h"
#include "base/vec.h"
#include "identity/comm_table.h"
#include "model/chunk_list.h"
#include "read/call_nesting.h"
#include "read/call_times_reader.h"
#include "read/calls.h"
#include "read/event_reader.h"
#include "read/request_numbering.h"
#include "read/trace.h"
#include "rules/symbol_counts.h"
#include "series/units.h"

#define REQUEST_STEPS ((uint64_t)1 << 26) /* takes less than a second */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the names. Returns a name that occurs twice, or NULL. */
static const char *repeated(const char **name, uint32_t n)
{
	qsort(name, n, sizeof(*name), by_text);
	for (uint32_t i = 1; i < n; i++)
		if (strcmp(name[i - 1], name[i]) == 0)
			return name[i];
	return NULL;
}

/* Checks that names are unique. If two ids had the same name, different calls would look equal. */
static int check_names(const struct rn_vocab *v, struct rn_arena *scratch, struct rn_err *err)
{
	const char **func = rn_new(scratch, const char *, v->funcs);
	const char **word = rn_new(scratch, const char *, v->words), *twice;

	if (!func || !word)
		return rn_err_nomem(err);
	for (uint32_t i = 0; i < v->funcs; i++)
		func[i] = v->func[i].name;
	for (uint32_t i = 0; i < v->words; i++)
		word[i] = v->word[i].text;
	twice = repeated(func, v->funcs);
	if (twice)
		return rn_err_set(err, RN_E_DATA, "two functions are called %s", twice);
	twice = repeated(word, v->words);
	if (twice)
		return rn_err_set(err, RN_E_DATA, "two words are %s", twice);
	return RN_OK;
}

/* Checks that the vocabulary contains each used name once, and no unused name. */
static int check_vocab(const struct rn_trace *t, struct rn_arena *scratch, struct rn_err *err)
{
	struct rn_vocab used;
	int rc;

	rc = check_names(&t->vocab, scratch, err);
	if (rc < 0)
		return rc;
	rc = rn_vocab_used(scratch, &t->vocab, t->streams.sigs, &used);
	if (rc == RN_E_NOMEM)
		return rn_err_nomem(err);
	if (rc < 0)
		return rn_err_set(err, RN_E_DATA, "a signature is not valid");
	if (used.funcs != t->vocab.funcs)
		return rn_err_set(err, RN_E_DATA, "%u unused function%s",
				  t->vocab.funcs - used.funcs,
				  rn_plural(t->vocab.funcs - used.funcs));
	if (used.words != t->vocab.words)
		return rn_err_set(err, RN_E_DATA, "%u unused word%s", t->vocab.words - used.words,
				  rn_plural(t->vocab.words - used.words));
	return RN_OK;
}

/* Sets the error of a stream group. */
static int wrong_stream(const struct rn_trace *t, uint32_t group, const char *what,
			struct rn_err *err)
{
	uint64_t first = t->streams.group[group].first;

	return rn_err_set(err, RN_E_DATA, "rank %" PRIu64 ", thread %" PRIu64 ": %s",
			  first / t->threads, first % t->threads, what);
}

static int check_marker_params(const struct rn_vocab *v, struct rn_err *err)
{
	const struct rn_markers m = rn_markers_of(v);

	for (uint32_t i = 0; i < v->funcs; i++) {
		const struct rn_func *f = &v->func[i];

		if (f->nparams && (f->number == m.enter || f->number == m.leave))
			return rn_err_set(err, RN_E_DATA, "%s has parameters", f->name);
		if (f->number == m.thread && (f->nparams != 1 || rn_func_dir(f, 0) != RN_DIR_IN))
			return rn_err_set(err, RN_E_DATA, "%s does not have one input parameter",
					  f->name);
	}
	return RN_OK;
}

/* Checks the markers of nested calls and of threads. */
static int check_markers(const struct rn_trace *t, struct rn_arena *scratch, struct rn_err *err)
{
	const struct rn_streams *s = &t->streams;
	struct rn_nesting *n =
		rn_nesting_new(scratch, &t->vocab, s->sigs, s->rules, rn_streams_loops(s));

	if (!n)
		return rn_err_nomem(err);
	for (uint32_t k = 0; k < s->groups && !rn_trace_lossy(t).counts; k++) {
		struct rn_flow flow = rn_streams_flow(s, k);
		struct rn_nested of;

		if (rn_nesting_look(n, &flow, &of) < 0)
			return rn_err_nomem(err);
		if (of.wrong)
			return wrong_stream(t, k, of.wrong, err);
	}
	return check_marker_params(&t->vocab, err);
}

static int wrong_request(const struct rn_trace *t, uint32_t group, uint32_t sig, struct rn_err *err)
{
	char what[80];

	snprintf(what, sizeof(what), "signature %u is about a request that is not there", sig);
	return wrong_stream(t, group, what, err);
}

/* Checks that each request that a stream uses is live then, if the order of the calls is exact. */
static int check_requests(const struct rn_trace *t, struct rn_arena *scratch, struct rn_err *err)
{
	const struct rn_streams *s = &t->streams;
	struct rn_numbering *n =
		rn_numbering_new(scratch, &t->vocab, s->sigs, s->rules, rn_streams_loops(s));
	uint64_t patience = REQUEST_STEPS;
	int rc = n ? RN_OK : RN_E_NOMEM;
	uint32_t sig;

	for (uint32_t k = 0; k < s->groups && rc == RN_OK && !rn_trace_lossy(t).counts; k++) {
		struct rn_flow flow = rn_streams_flow(s, k);

		rc = rn_numbering_check(n, &flow, &patience, &sig);
		if (rc == RN_E_DATA)
			wrong_request(t, k, sig, err);
		if (rc == RN_E_RANGE) /* too many steps to check completely */
			rc = RN_OK;
	}
	rn_numbering_free(n);
	return rc == RN_E_NOMEM ? rn_err_nomem(err) : rc;
}

typedef int check_fn(const struct rn_trace *t, struct rn_arena *scratch, struct rn_err *err);

static int check_streams(const struct rn_trace *t, struct rn_arena *scratch, struct rn_err *err)
{
	return rn_streams_check(&t->streams, scratch, err);
}

/* Checks that all times of a stream can be decoded. */
static int check_stream_moments(struct rn_moment_view *v, const struct rn_trace *t, uint64_t stream,
				struct rn_err *err)
{
	uint64_t start, end;
	uint32_t group;
	int rc = rn_streams_find(&t->streams, stream, &group);

	if (rc == RN_OK)
		rc = rn_moment_view_stream(v, stream, group, err);
	for (uint64_t i = 0; rc >= 0 && i < rn_moment_view_length(v); i++)
		rc = rn_moment_view_at(v, i, &start, &end, err);
	return rc < 0 ? rc : RN_OK;
}

static int check_moments(const struct rn_trace *t, struct rn_arena *scratch, struct rn_err *err)
{
	const struct rn_chunk_list *l = t->moments;
	struct rn_moment_view *v = l ? rn_moment_view_new(scratch, t, NULL) : NULL;
	int rc = RN_OK;

	if (!v)
		return l ? rn_err_nomem(err) : RN_OK;
	for (uint32_t i = 0; rc == RN_OK && i < l->stream.n; i++)
		rc = check_stream_moments(v, t, rn_chunk_list_at(l, i)->stream, err);
	if (rc == RN_E_DATA)
		rn_err_prefix(err, "section time");
	rn_moment_view_free(v);
	return rc;
}

/* Requirements of the calls in the streams of a stream group. */
struct needs {
	const struct rn_trace *t;
	struct rn_arena *scratch;
	uint64_t thread; /* id of the function that marks a thread */
	const struct rn_units *streams;
	uint32_t group;
	struct rn_templates templates;
	struct rn_sigs *names; /* names of communicators and per-rank tables */
	uint32_t *checked;     /* by name: the last stream group that it was checked for, plus 1 */
	uint32_t names_cap;
	uint64_t *calls; /* by signature */
	uint64_t *times; /* by rule */
};

/* Whether each elastic slot of the stream has one value for each call. */
static bool has_values(const struct needs *n, uint64_t stream)
{
	const struct rn_trace *t = n->t;

	for (uint32_t i = 0; i < rn_sigs_count(t->streams.sigs); i++) {
		uint32_t holes = n->calls[i] ? rn_value_list_holes(&t->values, i) : 0;

		for (uint32_t k = 0; k < holes; k++) {
			struct rn_value_source v = rn_value_list_find(&t->values, i, k, stream);

			if (!v.series || rn_units_length(v.series) < n->calls[i])
				return false;
		}
	}
	return true;
}

static bool all_have_values(const struct needs *n)
{
	for (uint64_t i = 0; i < rn_units_length(n->streams); i++)
		if (!has_values(n, (uint64_t)rn_units_at(n->streams, i)))
			return false;
	return true;
}

static int missing(uint64_t rank, const char *name, size_t len, struct rn_err *err)
{
	if (memcmp(name, "comm:", 5) == 0)
		return rn_err_set(err, RN_E_DATA,
				  "calls of rank %" PRIu64
				  " are relative to %.*s, which it is not in",
				  rank, (int)len, name);
	return rn_err_set(err, RN_E_DATA,
			  "calls of rank %" PRIu64 " have a value in %.*s, which it is not in",
			  rank, (int)len, name);
}

/* Checks that each rank of the stream group is in the communicator or per-rank table. */
static int check_name(const struct needs *n, const char *name, size_t len, struct rn_err *err)
{
	uint64_t rank, size;
	int64_t stream[256];
	size_t got;

	for (uint64_t at = 0; (got = rn_units_read(n->streams, at, stream, 256)) > 0; at += got) {
		for (size_t i = 0; i < got; i++) {
			uint64_t of = (uint64_t)stream[i] / n->t->threads;

			if (rn_comm_rank(n->t->comms, n->t->ranks, of, name, len, &rank, &size))
				continue;
			return missing(of, name, len, err);
		}
	}
	return RN_OK;
}

/* Checks a name once for each stream group. */
static int need_name(struct needs *n, const char *name, size_t len, struct rn_err *err)
{
	uint32_t id;

	if (rn_sigs_intern(n->names, name, len, &id) < 0 ||
	    !RN_GROW(n->scratch, n->checked, id + 1, n->names_cap))
		return rn_err_nomem(err);
	if (n->checked[id] == n->group + 1)
		return RN_OK;
	n->checked[id] = n->group + 1;
	return check_name(n, name, len, err);
}

/* All processes are members of MPI_COMM_WORLD and of their own MPI_COMM_SELF. */
static int need_comm(struct needs *n, const struct rn_template_comm *c, struct rn_err *err)
{
	if (c->len < 5 || memcmp(c->name, "comm:", 5) != 0)
		return RN_OK;
	return need_name(n, c->name, c->len, err);
}

/* Checks the communicators and per-rank tables that values depend on. */
static int need_names(struct needs *n, const struct rn_template *t, struct rn_err *err)
{
	char name[RN_VARIES_NAME_MAX];
	int rc = RN_OK;

	for (uint32_t i = 0; i < t->ranks && rc == RN_OK; i++) {
		const struct rn_template_rank *r = &t->rank[i];

		rc = r->kind == RN_V_VARIES ? need_name(n, name, rn_varies_name(name, r->num), err)
					    : need_comm(n, &t->comm_of[r->comm], err);
	}
	for (uint32_t i = 0; i < t->slots && rc == RN_OK; i++)
		if (rn_value_is_relative(&t->slot[i].stored))
			rc = need_comm(n, &t->comm_of[t->slot[i].comm], err);
	return rc;
}

/* The lineage of a thread is an integer or an elastic value; a call has elastic values only in a
 * trace that contains them. */
static int check_call(struct needs *n, uint32_t sig, struct rn_err *err)
{
	const struct rn_template *t = rn_templates_get(&n->templates, sig);

	if (!t)
		return rn_err_nomem(err);
	if (t->func->number == n->thread && t->value->kind != RN_V_INT &&
	    (t->value->kind != RN_V_ELASTIC || t->value->num != RN_ELASTIC_INT))
		return rn_err_set(err, RN_E_DATA, "signature %u has no thread lineage", sig);
	if (t->slots && !n->t->values.share)
		return rn_err_set(err, RN_E_DATA, "section values is missing");
	return need_names(n, t, err);
}

static int check_group(struct needs *n, struct rn_err *err)
{
	const struct rn_streams *s = &n->t->streams;
	uint32_t sigs = rn_sigs_count(s->sigs);
	int rc = RN_OK;

	n->streams = s->group[n->group].ranks;
	memset(n->calls, 0, sigs * sizeof(*n->calls));
	memset(n->times, 0, rn_rules_count(s->rules) * sizeof(*n->times));
	n->times[s->group[n->group].root] = 1;
	rn_rules_counts(s->rules, rn_streams_loops(s), rn_streams_rounds(s, n->group), n->times,
			n->calls);
	for (uint32_t i = 0; i < sigs && rc == RN_OK; i++)
		if (n->calls[i])
			rc = check_call(n, i, err);
	if (rc == RN_OK && n->t->values.share && !all_have_values(n))
		return wrong_stream(n->t, n->group, "fewer values than calls", err);
	return rc;
}

/* Checks that calls have their elastic values, and that the communicators of relative ranks are
 * known. */
static int check_needs(const struct rn_trace *t, struct rn_arena *scratch, struct rn_err *err)
{
	const struct rn_streams *s = &t->streams;
	struct needs n = { .t = t,
			   .scratch = scratch,
			   .thread = rn_markers_of(&t->vocab).thread,
			   .names = rn_sigs_new(scratch) };
	int rc = RN_OK;

	n.calls = rn_new(scratch, uint64_t, (size_t)rn_sigs_count(s->sigs) + 1);
	n.times = rn_new(scratch, uint64_t, (size_t)rn_rules_count(s->rules) + 1);
	if (!n.names || !n.calls || !n.times ||
	    rn_templates_init(&n.templates, scratch, &t->vocab, s->sigs) < 0)
		return rn_err_nomem(err);
	for (; n.group < s->groups && rc == RN_OK; n.group++)
		rc = check_group(&n, err);
	rn_templates_free(&n.templates);
	return rc;
}

static int check_comms(const struct rn_trace *t, struct rn_arena *scratch, struct rn_err *err)
{
	int rc = t->comms ? rn_comms_check(t->comms, err) : RN_OK;

	(void)scratch;
	if (rc < 0)
		rn_err_prefix(err, "section comms");
	return rc;
}

/* Checks that all order events can be decoded. */
static int check_order(const struct rn_trace *t, struct rn_arena *scratch, struct rn_err *err)
{
	const struct rn_seg *streams = t->events ? &t->events->chunks.stream : NULL;
	int rc = RN_OK;

	for (uint32_t i = 0; streams && i < streams->n && rc == RN_OK; i++) {
		struct rn_arena_mark mark = rn_arena_mark(scratch);
		struct rn_order o;

		rc = rn_trace_order(t, RN_SEG_AT(streams, struct rn_chunk_stream, i)->stream,
				    scratch, &o, err);
		rn_arena_rewind(scratch, mark);
	}
	if (rc == RN_E_DATA)
		rn_err_prefix(err, "section order");
	return rc;
}

/* The order matters: later checks rely on earlier ones. */
static check_fn *const checks[] = { check_vocab,    check_streams, check_markers, check_comms,
				    check_requests, check_needs,   check_moments, check_order };

int rn_trace_check(const struct rn_trace *t, struct rn_err *err)
{
	struct rn_arena scratch;
	int rc = RN_OK;

	rn_arena_init(&scratch, SIZE_MAX);
	for (unsigned i = 0; i < sizeof(checks) / sizeof(*checks) && rc == RN_OK; i++)
		rc = checks[i](t, &scratch, err);
	rn_arena_free(&scratch);
	return rc;
}
