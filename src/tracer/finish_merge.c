/* finish_merge.c - see finish_merge.h. */
#include "tracer/finish_merge.h"

#include "base/intern.h"
#include "base/tracer_env.h"
#include "base/varint.h"
#include "encode/process_table.h"
#include "encode/rank_expr.h"
#include "file/trace_writer.h"
#include "identity/comm_table.h"
#include "merge/merge_tree_mpi.h"
#include "merge/stream_set.h"
#include "model/metadata.h"
#include "model/programs.h"
#include "model/section_kinds.h"
#include "preload/next_mpi.h"
#include "record/event_log.h"
#include "runtime/process_log.h"
#include "runtime/status_line.h"
#include "runtime/tracer_config.h"
#include "runtime/tracer_state.h"
#include "trace/callstack.h"
#include "trace/comm_registry.h"
#include "trace/handles.h"
#include "trace/run_env.h"
#include "trace/stream.h"
#include "tracer/finish_impl.h"
#include "tracer/run_summary.h"
#include "tracer/trace_output.h"
#include "track/memory.h"

#include <string.h>

/* ---- clocks ---- */

/* Messages at the start of the program, over rn_finish.start_comm. They cannot be confused with
 * messages of the program, even over MPI_COMM_WORLD: every receiver is still in MPI_Init, and
 * messages between two ranks arrive in order. */
static int start_send(void *arg, const void *bytes, size_t n, uint32_t to)
{
	const struct rn_finish *f = arg;

	return rn_real.MPI_Send(bytes, (int)n, MPI_BYTE, (int)to, 0, f->start_comm);
}

static int start_recv(void *arg, void *bytes, size_t n, uint32_t from)
{
	const struct rn_finish *f = arg;

	return rn_real.MPI_Recv(bytes, (int)n, MPI_BYTE, (int)from, 0, f->start_comm,
				MPI_STATUS_IGNORE);
}

static int start_min(void *arg, uint64_t *v, size_t n)
{
	const struct rn_finish *f = arg;

	return rn_real.MPI_Allreduce(MPI_IN_PLACE, v, (int)n, MPI_UINT64_T, MPI_MIN, f->start_comm);
}

/* Messages at the end of the program, over the link. */
static int end_send(void *arg, const void *bytes, size_t n, uint32_t to)
{
	return rn_link_send(arg, (int)to, bytes, n);
}

static int end_recv(void *arg, void *bytes, size_t n, uint32_t from)
{
	return rn_link_recv(arg, (int)from, bytes, n);
}

void rn_finish_compare_clocks(struct rn_finish *f, struct rn_mpi_link *link)
{
	struct rn_clock_calls calls = {
		link ? (void *)link : f,        (uint32_t)rn_tracer.world_rank,
		(uint32_t)rn_tracer.world_size, link ? end_send : start_send,
		link ? end_recv : start_recv,   start_min
	};
	int64_t offset, drift;

	if (!rn_config.times || rn_clock_compare(&f->clocks, &calls) < 0)
		return;
	rn_clock_difference(&f->clocks, &offset, &drift);
	rn_process_log_clock(offset, drift);
}

/* ---- rank expressions ---- */

static int pack_slots(void *arg, struct rn_buf *out)
{
	struct rn_finish *f = arg;

	if (f->status < 0)
		return f->status;
	rn_buf_u64(out, f->threads);
	return rn_peers_encode(f->peers, out);
}

static int absorb_slots(void *arg, uint64_t first, uint64_t n, const void *bytes, size_t len)
{
	struct rn_finish *f = arg;
	struct rn_reader in = rn_reader(bytes, len);
	uint64_t threads = rn_get_max(&in, UINT32_MAX);

	(void)first;
	(void)n;
	if (f->status < 0 || in.bad)
		return f->status < 0 ? f->status : RN_E_DATA;
	if (threads > f->threads)
		f->threads = (uint32_t)threads;
	return rn_peers_absorb(f->peers, in.p, rn_left(&in), &f->err);
}

static int list_modules(struct rn_arena *mem, struct rn_objects *out)
{
	const char *name;
	int rc = RN_OK;

	for (uint32_t i = 0; rc == RN_OK && (name = rn_mem_module(i).label); i++)
		rc = rn_objects_add(out, mem, (struct rn_object){ .number = i, .bytes = name });
	return rc;
}

/* The objects that the calls of this process refer to. */
static int fill_table(struct rn_process_table *p, struct rn_arena *mem)
{
	*p = *rn_constants();
	p->rank = rn_tracer.world_rank;
	p->size = rn_tracer.world_size;
	if (rn_comm_list(mem, &p->comms) < 0 || list_modules(mem, &p->modules) < 0 ||
	    rn_callstack_list(mem, &p->sites) < 0)
		return RN_E_NOMEM;
	return RN_OK;
}

/* Stores the call times of a stream; if the stream continues, those recorded so far. */
static int look_at_moments(struct rn_finish *f, struct rn_stream *t, struct rn_moments *out)
{
	struct rn_stopwatch *s = t->stopwatch;
	struct rn_chunk *chunk;

	rn_stopwatch_stop(t);
	chunk = rn_new(&f->mem, struct rn_chunk, s->chunk.n);
	if (!chunk)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < s->chunk.n; i++) {
		chunk[i] = *RN_SEG_AT(&s->chunk, struct rn_chunk, i);
		chunk[i].bytes += RN_STOPWATCH_HEAD;
		chunk[i].len -= RN_STOPWATCH_HEAD;
	}
	*out = (struct rn_moments){ { f->recorded.scale, rn_clock_ns(s->writer.zero) },
				    chunk,
				    s->chunk.n };
	return RN_OK;
}

static int look_at_events(struct rn_finish *f, struct rn_stream *t, struct rn_recorded_stream *s)
{
	rn_order_log_stop(t);
	s->lost = t->lost;
	return rn_order_log_part(t, &f->mem, &s->order);
}

/* Stores the streams of this process in f->recorded, in their present state. */
static int look_at_streams(struct rn_finish *f)
{
	struct rn_recorded *r = &f->recorded;
	struct rn_recorded_stream *s = rn_new(&f->mem, struct rn_recorded_stream,
					      rn_tracer.nstreams ? rn_tracer.nstreams : 1);

	if (!s)
		return RN_E_NOMEM;
	*r = (struct rn_recorded){ .stream = s,
				   .times = rn_config.times,
				   .scale = rn_clock_scale() };
	if (fill_table(&r->process, &f->mem) < 0)
		return RN_E_NOMEM;
	rn_clock_difference(&f->clocks, &r->offset, &r->drift);
	for (struct rn_stream *t = rn_tracer.streams; t; t = t->next) {
		int rc = RN_OK;

		*s = (struct rn_recorded_stream){
			.calls = { &r->process, t->words, t->blobs, t->texts, &t->times,
				   &t->holes },
			.grammar = t->grammar,
			.lost = t->lost,
		};
		if (t->stopwatch)
			rc = look_at_moments(f, t, &s->moments);
		if (rc == RN_OK)
			rc = look_at_events(f, t, s);
		if (rc < 0)
			return rc;
		s++;
		r->streams++;
	}
	return RN_OK;
}

static int own_slots(struct rn_finish *f)
{
	int rc = look_at_streams(f);

	f->peers = rn_peers_new(&f->mem);
	f->threads = rn_tracer.nstreams ? rn_tracer.nstreams : 1;
	if (!f->peers)
		return RN_E_NOMEM;
	return rc == RN_OK ? rn_recorded_slots(&f->recorded, f->peers) : rc;
}

static int put_choices(struct rn_finish *f, struct rn_buf *out)
{
	if (f->status < 0)
		return f->status;
	rn_buf_u64(out, f->threads);
	return rn_choices_encode(f->peers, out);
}

static int get_choices(struct rn_finish *f, const struct rn_buf *b)
{
	struct rn_reader in = rn_reader(b->data, b->len);

	f->threads = (uint32_t)rn_get_max(&in, UINT32_MAX);
	return in.bad ? RN_E_DATA
		      : rn_choices_decode(&f->mem, in.p, rn_left(&in), &f->choices, &f->err);
}

/* Chooses the rank expressions: with a link for all ranks, without one for this rank alone. */
static int choose(struct rn_finish *f, struct rn_mpi_link *link)
{
	struct rn_buf b = { 0 };
	int rc = RN_OK;

	if (link)
		rn_link_up(link, pack_slots, absorb_slots, f);
	if (!link || rn_tracer.world_rank == 0)
		rc = put_choices(f, &b);
	if (link && rn_link_down(link, &b) < 0)
		rc = link->status;
	if (rc == RN_OK)
		rc = get_choices(f, &b);
	rn_buf_free(&b);
	return rc;
}

/* ---- partial trace of this rank ---- */

uint64_t rn_finish_memory(void)
{
	uint64_t bytes = rn_tracer.mem.mapped;

	for (const struct rn_stream *t = rn_tracer.streams; t; t = t->next)
		bytes += t->mem.mapped + sizeof(*t) + rn_stopwatch_size(t->stopwatch) +
			 rn_order_log_size(t);
	return bytes;
}

/* Updates the tally. doc/format.md, section 10, defines the quantities. */
static void update_tally(struct rn_finish *f)
{
	struct rn_tally *y = &f->bundle.tally;
	uint64_t wall_ns = rn_clock_age();

	f->tracer_ns = rn_finish_elapsed_ns(f);
	y->wall_ns = y->wall_ns > wall_ns ? y->wall_ns : wall_ns;
	y->tracer_ns = y->tracer_ns > f->tracer_ns ? y->tracer_ns : f->tracer_ns;
}

static int make_bundle(struct rn_finish *f)
{
	struct rn_bundle *b = &f->bundle;
	int rc = rn_recorded_bundle(&f->recorded, f->choices, f->threads, &f->mem, &f->scratch, b);

	if (rc == RN_OK)
		rc = rn_programs_add(&b->programs, rn_config.program,
				     (uint64_t)rn_tracer.world_rank,
				     (uint64_t)rn_tracer.world_rank);
	b->tally.lost += rn_tracer.lost;
	b->tally.memory = rn_finish_memory();
	update_tally(f);
	return rc;
}

static int pack_bundle(void *arg, struct rn_buf *out)
{
	struct rn_finish *f = arg;

	return f->status < 0 ? f->status : rn_bundle_encode(&f->bundle, out);
}

static int absorb_bundle(void *arg, uint64_t first, uint64_t n, const void *bytes, size_t len)
{
	struct rn_finish *f = arg;

	(void)first;
	(void)n;
	return f->status < 0 ? f->status
			     : rn_bundle_absorb(&f->bundle, bytes, len, &f->scratch, &f->err);
}

/* ---- the file ---- */

static int facts_of(struct rn_finish *f, struct rn_facts *m)
{
	const struct rn_bundle_end end = { .threads = f->threads, .timed = true };
	const char *key, *path;

	if (rn_facts_init(m, &f->scratch, RN_META_COUNT + RN_CALLSTACK_PATHS) < 0)
		return RN_E_NOMEM;
	for (unsigned i = 0; i < RN_META_COUNT; i++)
		rn_fact_add(m, rn_meta_rows[i].key, rn_setting_value((enum rn_meta_key)i));
	rn_bundle_facts(&f->bundle, &end, m);
	/* Paths of the modules, from which the symbols of call sites are read. */
	for (uint32_t i = 0; rn_callstack_path(i, &key, &path); i++)
		rn_fact_add(m, key, path);
	return m->failed ? RN_E_NOMEM : RN_OK;
}

static bool selects_no_rank(void)
{
	for (int i = 0; i < rn_tracer.world_size; i++)
		if (rn_config_wants_rank(i))
			return false;
	return true;
}

static int write_file(struct rn_finish *f, struct rn_written *file)
{
	struct rn_facts m;
	struct rn_trace t;
	int rc;

	if (facts_of(f, &m) < 0)
		return rn_err_nomem(&f->err);
	rn_trace_init(&t);
	rc = rn_bundle_finish(&f->bundle, &(struct rn_meta){ m.entry, m.n }, &t, &f->err);
	rn_output_renew();
	while (rc == RN_OK) {
		rc = rn_trace_write(&t, rn_config.output, file, &f->err);
		if (rc != RN_E_SYS || !rn_output_renew())
			break;
		rc = RN_OK;
	}
	rn_trace_close(&t);
	return rc;
}

static int write_trace(struct rn_finish *f)
{
	struct rn_written file;
	int rc;

	if (selects_no_rank()) {
		rn_summary_no_rank();
		return RN_OK;
	}
	update_tally(f);
	rc = write_file(f, &file);
	if (rc == RN_OK && file.unchanged) {
		rn_summary_unchanged();
	} else if (rc == RN_OK) {
		f->written = true;
		rn_status_post(RN_TAG_TRACED, rn_config.output);
		if (!f->another_rank_reports)
			rn_summary_trace(f, &file);
	}
	return rc;
}

/* Broadcasts the path of the trace with the result of the merge: rank 0 may have changed it since
 * MPI_Init. The path is empty if no trace was written. The watcher of each rank needs it. */
static int agree_on_output(struct rn_finish *f, struct rn_mpi_link *link)
{
	static char path[sizeof(rn_config.output)];
	struct rn_buf b = rn_buf_over(path, sizeof(path) - 1);
	int rc;

	if (f->written)
		rn_buf_add(&b, rn_config.output, strlen(rn_config.output));
	rc = rn_link_agree(link, f->status, &b);
	if (rc < 0 || rn_tracer.world_rank == 0)
		return rc;
	path[b.len] = 0;
	if (b.len)
		memcpy(rn_config.output, path, b.len + 1);
	if (rn_status_has_watcher())
		rn_status_post(b.len ? RN_TAG_TRACED : RN_TAG_FAILED, b.len ? path : "no trace");
	return rc;
}

int rn_finish_merge(struct rn_finish *f, struct rn_mpi_link *link)
{
	if (f->clocks.times)
		rn_finish_compare_clocks(f, link);
	f->status = own_slots(f);
	if (f->status == RN_OK)
		f->status = choose(f, link);
	else
		choose(f, link);
	if (f->status == RN_OK)
		f->status = make_bundle(f);
	rn_link_up(link, pack_bundle, absorb_bundle, f);
	if (f->status == RN_OK && link->status == RN_OK && rn_tracer.world_rank == 0)
		f->status = write_trace(f);
	return agree_on_output(f, link);
}
