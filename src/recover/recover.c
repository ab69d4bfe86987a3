/* recover.c - see recover.h. */
#include "recover/recover.h"

#include "base/varint.h"
#include "encode/call_words.h"
#include "encode/rank_expr.h"
#include "file/trace_writer.h"
#include "merge/partial_trace.h"
#include "merge/process_trace.h"
#include "model/metadata.h"
#include "model/section_kinds.h"
#include "recover/journal_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct recovery {
	struct rn_arena mem;          /* memory of the result */
	struct rn_arena one, scratch; /* memory of the process that is being added */
	const struct rn_node_file *file;
	enum rn_recover_sealed use_sealed;
	struct rn_salvage *sealed;    /* by file: read with RN_SALVAGE_SEALED when first needed */
	struct rn_salvaged **process; /* by rank */
	uint32_t n;
	uint64_t ranks, threads;
	uint64_t tallies; /* number of processes with a known tally */
	struct rn_choices *choices;
	struct rn_bundle bundle;
	struct rn_rank_text *stopped; /* by function */
	struct rn_rank_text outside;  /* killed ranks without a call in flight */
	struct rn_recovered *out;
	struct rn_err *err;
};

/* ---- processes ---- */

static int by_rank(const void *a, const void *b)
{
	const struct rn_recorded *x = &(*(struct rn_salvaged *const *)a)->recorded;
	const struct rn_recorded *y = &(*(struct rn_salvaged *const *)b)->recorded;

	return (x->process.rank > y->process.rank) - (x->process.rank < y->process.rank);
}

static int salvage_files(struct recovery *r, size_t n)
{
	struct rn_salvage *s = rn_new(&r->mem, struct rn_salvage, n + 1);
	size_t total = 0;
	int rc = s ? RN_OK : rn_err_nomem(r->err);

	for (size_t i = 0; i < n && rc == RN_OK; i++) {
		rc = rn_salvage(&r->mem, r->file[i].bytes, r->file[i].len, RN_SALVAGE_ALL, &s[i],
				r->err);
		total += s[i].n;
		for (uint32_t k = 0; k < s[i].n; k++)
			s[i].process[k].file = (uint32_t)i;
	}
	if (rc < 0)
		return rc;
	r->process = rn_new(&r->mem, struct rn_salvaged *, total + 1);
	if (!r->process)
		return rn_err_nomem(r->err);
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < s[i].n; k++)
			r->process[r->n++] = &s[i].process[k];
	qsort(r->process, r->n, sizeof(*r->process), by_rank);
	return RN_OK;
}

/* The size of MPI_COMM_WORLD that the majority of the processes recorded (Boyer-Moore vote). */
static uint64_t common_size(const struct recovery *r)
{
	uint64_t size = 0;
	int64_t votes = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		uint64_t its = (uint64_t)r->process[i]->recorded.process.size;

		if (votes == 0)
			size = its;
		votes += its == size ? 1 : -1;
	}
	return size;
}

/* Selects one process for each rank. A process that recorded another size, or a rank that is
 * already assigned, is omitted and counted as damaged. */
static void agree(struct recovery *r)
{
	uint32_t n = 0;

	r->ranks = common_size(r);
	for (uint32_t i = 0; i < r->n; i++) {
		const struct rn_recorded *it = &r->process[i]->recorded;

		if ((uint64_t)it->process.size != r->ranks ||
		    (n && r->process[n - 1]->recorded.process.rank == it->process.rank))
			r->out->damaged++;
		else
			r->process[n++] = r->process[i];
	}
	r->n = n;
	r->threads = 1;
	for (uint32_t i = 0; i < n; i++)
		if (r->process[i]->recorded.streams > r->threads)
			r->threads = r->process[i]->recorded.streams;
}

static int find_processes(struct recovery *r, size_t n)
{
	int rc = salvage_files(r, n);

	if (rc < 0)
		return rc;
	agree(r);
	if (r->n == 0)
		return rn_err_set(r->err, RN_E_DATA, "there is nothing of any rank");
	if (r->ranks > RN_RECOVER_STREAMS / r->threads)
		return rn_err_set(r->err, RN_E_DATA,
				  "%" PRIu64 " ranks with %" PRIu64 " threads cannot be", r->ranks,
				  r->threads);
	return RN_OK;
}

/* ---- rank expressions ---- */

/* Adds the rank arguments of all processes. Those of each process are encoded and absorbed, as in
 * the merge tree, because a set of several ranks must be distinguished from a single rank. */
static int add_slots(struct recovery *r, struct rn_peers *all, struct rn_buf *b)
{
	int rc = RN_OK;

	for (uint32_t i = 0; i < r->n && rc == RN_OK; i++) {
		struct rn_peers *its = rn_peers_new(&r->one);

		rc = its ? rn_recorded_slots(&r->process[i]->recorded, its) : RN_E_NOMEM;
		rn_buf_clear(b);
		if (rc == RN_OK)
			rc = rn_peers_encode(its, b);
		if (rc == RN_OK)
			rc = rn_peers_absorb(all, b->data, b->len, r->err);
		rn_arena_rewind(&r->one, (struct rn_arena_mark){ 0 });
	}
	return rc;
}

static int choose(struct recovery *r)
{
	struct rn_peers *all = rn_peers_new(&r->scratch);
	struct rn_buf b = { 0 };
	int rc = all ? add_slots(r, all, &b) : RN_E_NOMEM;

	rn_buf_clear(&b);
	if (rc == RN_OK)
		rc = rn_choices_encode(all, &b);
	if (rc == RN_OK)
		rc = rn_choices_decode(&r->mem, b.data, b.len, &r->choices, r->err);
	rn_buf_free(&b);
	rn_arena_rewind(&r->scratch, (struct rn_arena_mark){ 0 });
	return rc;
}

/* ---- partial traces ---- */

/* Merges a partial trace in its encoded form, because decoding validates it: a process with invalid
 * calls is rejected. */
static int absorb(struct recovery *r, const struct rn_bundle *b, struct rn_err *err)
{
	struct rn_buf bytes = { 0 };
	int rc = rn_bundle_encode(b, &bytes);

	if (rc == RN_OK)
		rc = rn_bundle_absorb(&r->bundle, bytes.data, bytes.len, &r->scratch, err);
	rn_buf_free(&bytes);
	return rc;
}

static int add_process(struct recovery *r, const struct rn_salvaged *p)
{
	struct rn_err why = { 0 };
	const char *program = rn_meta_value(&p->meta, RN_META_PROGRAM);
	uint64_t rank = (uint64_t)p->recorded.process.rank;
	struct rn_bundle b;
	int rc = rn_recorded_bundle(&p->recorded, r->choices, (uint32_t)r->threads, &r->one,
				    &r->scratch, &b);

	b.tally.wall_ns = p->end.wall_ns;
	b.tally.tracer_ns = p->end.tracer_ns;
	b.tally.memory = p->end.memory;
	if (rc == RN_OK && program)
		rc = rn_programs_add(&b.programs, program, rank, rank);
	return rc == RN_OK ? absorb(r, &b, &why) : rc;
}

static uint64_t next_rank(const struct recovery *r)
{
	return r->bundle.part.ranks / r->threads;
}

/* Adds ranks without calls up to `end`, if they are missing. */
static int pad(struct recovery *r, uint64_t end)
{
	uint64_t next = next_rank(r);
	struct rn_bundle b;
	int rc;

	if (next == end)
		return RN_OK;
	rn_rank_text_add(&r->out->missing, next, end - 1);
	rn_rank_text_add(&r->out->incomplete, next, end - 1);
	rc = rn_bundle_silent(&b, &r->one, 0, (end - next) * r->threads);
	return rc == RN_OK ? absorb(r, &b, r->err) : rc;
}

static void note(struct recovery *r, const struct rn_salvaged *p)
{
	uint64_t rank = (uint64_t)p->recorded.process.rank;
	bool in_call = false;

	r->out->damaged += p->damaged;
	r->tallies += p->ended != NULL;
	if (!p->complete)
		rn_rank_text_add(&r->out->incomplete, rank, rank);
	for (uint32_t i = 0; i < p->recorded.streams; i++)
		if (p->stopped[i] < rn_mpi_vocab.funcs) {
			rn_rank_text_add(&r->stopped[p->stopped[i]], rank, rank);
			in_call = true;
		}
	if (!in_call && !p->ended)
		rn_rank_text_add(&r->outside, rank, rank);
}

/* Replaces *p with the process that has the calls up to its latest checkpoints. RN_OK or an
 * error. */
static int find_sealed(struct recovery *r, const struct rn_salvaged **p)
{
	const struct rn_node_file *f = &r->file[(*p)->file];
	struct rn_salvage *s = &r->sealed[(*p)->file];
	int rc = s->process ? RN_OK
			    : rn_salvage(&r->mem, f->bytes, f->len, RN_SALVAGE_SEALED, s, r->err);

	for (uint32_t i = 0; i < s->n && rc == RN_OK; i++)
		if (s->process[i].process == (*p)->process) {
			*p = &s->process[i];
			return RN_OK;
		}
	return rc == RN_OK ? RN_E_DATA : rc;
}

static void rewind_both(struct recovery *r)
{
	rn_arena_rewind(&r->one, (struct rn_arena_mark){ 0 });
	rn_arena_rewind(&r->scratch, (struct rn_arena_mark){ 0 });
}

/* Whether only the calls up to the latest checkpoints of a process are used, without trying all of
 * its calls first. */
static bool is_sealed_only(const struct recovery *r, const struct rn_salvaged *p)
{
	return r->use_sealed == RN_RECOVER_SEALED ||
	       (r->use_sealed == RN_RECOVER_DAMAGED && p->damaged);
}

/* Adds the valid calls of a process. RN_OK, also if the process has none; or RN_E_NOMEM. */
static int add_valid(struct recovery *r, const struct rn_salvaged *p)
{
	int rc = is_sealed_only(r, p) ? RN_E_DATA : add_process(r, p);

	if (rc < 0 && rc != RN_E_NOMEM) {
		rewind_both(r);
		rc = find_sealed(r, &p);
		if (rc == RN_OK)
			rc = add_process(r, p);
	}
	if (rc == RN_OK)
		note(r, p);
	else if (rc != RN_E_NOMEM)
		r->out->damaged++;
	return rc == RN_E_NOMEM ? rc : RN_OK;
}

static int add_processes(struct recovery *r)
{
	int rc = RN_OK;

	for (uint32_t i = 0; i < r->n && rc == RN_OK; i++) {
		rc = pad(r, (uint64_t)r->process[i]->recorded.process.rank);
		if (rc == RN_OK)
			rc = add_valid(r, r->process[i]);
		rewind_both(r);
	}
	return rc == RN_OK ? pad(r, r->ranks) : rc;
}

/* ---- the file ---- */

#define LIST_MAX 8000 /* bytes; longer lists of ranks are truncated */

static const char *list_value(struct recovery *r, struct rn_rank_text *t)
{
	const char *list = rn_rank_text(t);
	size_t n = list ? strlen(list) : 0;
	char *s = rn_new(&r->mem, char, (n < LIST_MAX ? n : LIST_MAX) + 8);

	if (list && s)
		snprintf(s, LIST_MAX + 8, "%.*s%s", LIST_MAX, list, n > LIST_MAX ? "..." : "");
	return s;
}

static void stopped_facts(struct recovery *r, struct rn_facts *f)
{
	for (uint32_t i = 0; i < rn_mpi_vocab.funcs; i++) {
		const char *name = rn_mpi_vocab.func[i].name;
		size_t n = strlen(name) + 16;
		char *key;

		if (!r->stopped[i].n || !(key = rn_new(&r->mem, char, n)))
			continue;
		snprintf(key, n, "%s%s", rn_meta_rows[RN_META_STOPPED_IN].key, name);
		rn_fact_add(f, key, list_value(r, &r->stopped[i]));
	}
	if (r->outside.n)
		rn_fact_add(f, rn_meta_rows[RN_META_STOPPED_OUTSIDE].key,
			    list_value(r, &r->outside));
}

/* The times of the run are known if every rank ended by itself. Keys that are known only at the end
 * of the run are not copied from a journal file, because journal files are untrusted. */
static int make_meta(struct recovery *r, struct rn_meta *out)
{
	const struct rn_bundle_end end = { .threads = r->threads,
					   .incomplete = r->out->incomplete.n > 0,
					   .timed = r->tallies == r->ranks };
	const struct rn_meta *its = &r->process[0]->meta;
	struct rn_facts f;

	if (rn_facts_init(&f, &r->mem, its->n + rn_mpi_vocab.funcs + RN_META_COUNT) < 0)
		return RN_E_NOMEM;
	rn_bundle_facts(&r->bundle, &end, &f);
	if (end.incomplete)
		rn_fact_add(&f, rn_meta_rows[RN_META_INCOMPLETE].key,
			    list_value(r, &r->out->incomplete));
	stopped_facts(r, &f);
	for (uint32_t i = 0; i < its->n; i++)
		if (!rn_meta_has_flag(its->entry[i].key, RN_META_FINAL))
			rn_fact_add(&f, its->entry[i].key, its->entry[i].value);
	*out = (struct rn_meta){ f.entry, f.n };
	return f.failed ? RN_E_NOMEM : RN_OK;
}

static int write_file(struct recovery *r, const char *path)
{
	struct rn_written file;
	struct rn_meta meta;
	struct rn_trace t;
	int rc = make_meta(r, &meta);

	rn_trace_init(&t);
	if (rc == RN_OK)
		rc = rn_bundle_finish(&r->bundle, &meta, &t, r->err);
	if (rc == RN_OK)
		rc = rn_trace_write(&t, path, &file, r->err);
	rn_trace_close(&t);
	if (rc == RN_OK) {
		r->out->calls = file.calls;
		r->out->events = rn_order_list_count(&r->bundle.order).events;
		r->out->bytes = file.bytes;
		r->out->lost = r->bundle.tally.lost;
	}
	return rc;
}

static bool any_times(const struct recovery *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->process[i]->recorded.times)
			return true;
	return false;
}

static int put_together(struct recovery *r, const char *path)
{
	int rc = choose(r);

	r->stopped = rn_new(&r->mem, struct rn_rank_text, rn_mpi_vocab.funcs);
	if (rc == RN_OK && !r->stopped)
		rc = RN_E_NOMEM;
	if (rc == RN_OK)
		rc = rn_bundle_init(&r->bundle, &r->mem, any_times(r));
	if (rc == RN_OK)
		rc = add_processes(r);
	if (rc == RN_OK && r->out->missing.n == r->ranks)
		rc = rn_err_set(r->err, RN_E_DATA, "nothing of any rank makes sense");
	if (rc == RN_OK)
		rc = write_file(r, path);
	for (uint32_t i = 0; r->stopped && i < rn_mpi_vocab.funcs; i++)
		rn_buf_free(&r->stopped[i].text);
	rn_buf_free(&r->outside.text);
	return rc;
}

int rn_recover(const struct rn_node_file *file, size_t n, enum rn_recover_sealed sealed,
	       const char *path, struct rn_recovered *out, struct rn_err *err)
{
	struct recovery r = { .file = file, .use_sealed = sealed, .out = out, .err = err };
	int rc;

	*out = (struct rn_recovered){ 0 };
	rn_arena_init(&r.mem, SIZE_MAX);
	rn_arena_init(&r.one, SIZE_MAX);
	rn_arena_init(&r.scratch, SIZE_MAX);
	r.sealed = rn_new(&r.mem, struct rn_salvage, n + 1);
	rc = r.sealed ? find_processes(&r, n) : RN_E_NOMEM;
	out->ranks = r.ranks;
	if (rc == RN_OK)
		rc = put_together(&r, path);
	rn_arena_free(&r.scratch);
	rn_arena_free(&r.one);
	rn_arena_free(&r.mem);
	return rc == RN_E_NOMEM ? rn_err_nomem(err) : rc;
}

void rn_recovered_free(struct rn_recovered *r)
{
	rn_buf_free(&r->missing.text);
	rn_buf_free(&r->incomplete.text);
}
