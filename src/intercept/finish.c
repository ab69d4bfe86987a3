/*
 * finish.c - the end: all ranks' streams become one trace.
 *
 *	up     what the slots of each rank hold, and how many streams it has
 *	down   how each slot is expressed, and how many streams a rank has at most
 *	       each rank: calls to bytes, streams to a part, communicators, times: a bundle
 *	up     bundles, absorbed in ascending order
 *	       rank 0: the file
 *	down   whether it all went well, and the path of the trace; if not, part files stay
 *
 * With a rank that has not all in its memory (stream.h: segments), nothing of this is done, and the
 * part files are the result.
 *
 * Runs inside MPI_Finalize, on a communicator of our own, through the real functions.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/plural.h"
#include "base/status_file.h"
#include "base/text.h"
#include "base/varint.h"
#include "base/which_mpi.h"
#include "encode/raw.h"
#include "encode/sigs.h"
#include "file/bundle.h"
#include "file/moment_list.h"
#include "file/part.h"
#include "file/payload.h"
#include "file/recorded.h"
#include "file/recover.h"
#include "file/section.h"
#include "file/metadata.h"
#include "identity/comms.h"
#include "intercept/callstack.h"
#include "intercept/calm.h"
#include "intercept/comm.h"
#include "intercept/config.h"
#include "intercept/handle.h"
#include "intercept/order_log.h"
#include "intercept/output.h"
#include "intercept/spool.h"
#include "intercept/real.h"
#include "intercept/order.h"
#include "intercept/setting.h"
#include "intercept/site.h"
#include "intercept/stream.h"
#include "intercept/tracer.h"
#include "merge/link_mpi.h"
#include "merge/merge.h"
#include "merge/peers.h"
#include "rules/rules.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEADLINE_NS ((uint64_t)60 * 1000000000)
#define LIMIT       ((size_t)1 << 30)

struct finish {
	struct rn_arena mem, scratch;
	struct rn_peers *peers;
	struct rn_choices *choices;
	uint32_t threads; /* streams a rank has at most */
	struct rn_recorded recorded;
	struct rn_bundle bundle;
	struct rn_err err;
	int status;    /* of this rank */
	bool written;  /* rank 0: there is a trace at rn_config.output */
	uint64_t left; /* parts, of this rank and those below it in the tree */
	struct rn_calm calm;
	uint64_t began; /* ticks */
	/* The calling thread's stream, or NULL, and its `top`, which is NULL until the end. */
	struct rn_stream *me;
	uint64_t *top;
};

static MPI_Comm link_comm = MPI_COMM_NULL;
static struct rn_mpi_link world; /* over link_comm */
static struct rn_clock_relation relation;
static bool parts_left;    /* what was recorded is in the part file alone */
static bool quiet;         /* others have said it, or will */
static uint64_t tracer_ns; /* time that the tracer used at the end of the run */

/* ---- clocks ---- */

/* Messages at the start of the program, over MPI_COMM_WORLD. They cannot be confused with messages
 * of the program: every receiver is still in MPI_Init, and messages between two ranks arrive in
 * order. */
static int start_send(void *arg, const void *bytes, size_t n, uint32_t to)
{
	(void)arg;
	return rn_real.MPI_Send(bytes, (int)n, MPI_BYTE, (int)to, 0, MPI_COMM_WORLD);
}

static int start_recv(void *arg, void *bytes, size_t n, uint32_t from)
{
	(void)arg;
	return rn_real.MPI_Recv(bytes, (int)n, MPI_BYTE, (int)from, 0, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE);
}

static int start_min(void *arg, uint64_t *v, size_t n)
{
	(void)arg;
	return rn_real.MPI_Allreduce(MPI_IN_PLACE, v, (int)n, MPI_UINT64_T, MPI_MIN,
				     MPI_COMM_WORLD);
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

/* Compares the clocks of all ranks. Called by all ranks together; `link` is NULL at the start of
 * the program. If clocks cannot be compared, they are assumed to be equal. */
static void compare_clocks(struct rn_mpi_link *link)
{
	struct rn_clock_calls calls = { link,
					(uint32_t)rn_tracer.world_rank,
					(uint32_t)rn_tracer.world_size,
					link ? end_send : start_send,
					link ? end_recv : start_recv,
					start_min };
	int64_t offset, drift;

	if (!rn_config.times || rn_clock_compare(&relation, &calls) < 0)
		return;
	rn_clock_difference(&relation, &offset, &drift);
	rn_spool_clock(offset, drift);
}

/* ---- what rondo is told ---- */

static uint64_t run_number; /* id of the run, different for every run */

static bool append_line(const char *line, int n)
{
	struct rn_calm calm;
	bool done;
	int fd;

	if (!rn_config.status[0])
		return false;
	rn_calm_begin(&calm);
	fd = rn_status_open(rn_config.status);
	done = fd >= 0 && write(fd, line, (size_t)n) == n;
	if (fd >= 0)
		close(fd);
	rn_calm_end(&calm);
	return done;
}

/* Appends a line to the status file. On failure, removes the file: this tells `rondo trace` that
 * the report is on standard error. */
static bool tell_line(const char *line, int n)
{
	if (append_line(line, n))
		return true;
	if (rn_config.status[0])
		rn_status_remove(rn_config.status);
	return false;
}

bool rn_finish_append(const char *word, const char *what)
{
	char line[5000];

	return append_line(line, snprintf(line, sizeof(line), "%s %016" PRIx64 " %s\n", word,
					  run_number, what));
}

bool rn_finish_tell(const char *word, const char *what)
{
	char line[5000];

	return tell_line(line, snprintf(line, sizeof(line), "%s %016" PRIx64 " %s\n", word,
					run_number, what));
}

bool rn_finish_untraced(const char *what)
{
	char line[5000];

	return tell_line(line, snprintf(line, sizeof(line), "untraced %s\n", what));
}

/* Whether a watcher reads the reports. Each rank has its own watcher, which sees only the reports
 * of that rank. */
static bool is_watched(void)
{
	return rn_status_is_watched(rn_config.status);
}

/* ---- places ---- */

static bool spawned; /* in MPI_Init: later on it may have left its parent */

/* The launcher has started many, but MPI does not know of it (a launcher of another MPI's): each
 * finds itself in a world of its own. The first keeps the name and tells. */
static void lone_output(void)
{
	int size = rn_size_of(environ, 1), rank = rn_rank_of(environ, 0);

	if (rn_tracer.world_size > 1 || size < 2 || rn_comm_spawned())
		return;
	quiet = rank > 0;
	if (quiet)
		rn_config_number("rank", rank);
	else
		rn_say("each of %d processes is a world of its own (is this the launcher of the "
		       "program's MPI?) and has a trace of its own: *.rank-N.rondo",
		       size);
}

/* Processes that were spawned are a world of their own, and have a trace of their own, beside that
 * of their parents: NAME.spawn-PID.rondo. */
static void own_output(void)
{
	int pid = (int)getpid();

	spawned = rn_comm_spawned();
	if (!spawned)
		return;
	rn_real.MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
	rn_config_number("spawn", pid);
}

static const struct rn_link_calls *real_calls(void)
{
	static struct rn_link_calls calls;

	calls = (struct rn_link_calls){ rn_real.MPI_Isend,        rn_real.MPI_Irecv,
					rn_real.MPI_Iprobe,       rn_real.MPI_Test,
					rn_real.MPI_Get_count,    rn_real.MPI_Cancel,
					rn_real.MPI_Request_free, rn_real.MPI_Comm_rank,
					rn_real.MPI_Comm_size };
	return &calls;
}

/* Replaces the error handler of MPI_COMM_WORLD, so that errors of the tracer's own calls do not end
 * the program. Returns the previous handler. */
static MPI_Errhandler quiet_world(void)
{
	MPI_Errhandler handler = MPI_ERRHANDLER_NULL;

	rn_real.MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
	rn_real.MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	return handler;
}

static void restore_world(MPI_Errhandler handler)
{
	if (handler == MPI_ERRHANDLER_NULL)
		return;
	rn_real.MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	rn_real.MPI_Errhandler_free(&handler);
}

/* With Open MPI 4.1, one more communicator during the run can make MPI_Dist_graph_create hang. The
 * tracer's communicator is therefore created at the end. With MPICH it is created at the start: at
 * the end there may be no memory for it on some ranks, and the other ranks would wait for them. */
#ifdef OPEN_MPI
#define COMM_AT_END true
#else
#define COMM_AT_END false
#endif

/* Creates the tracer's communicator. MPI_Comm_dup would call the program's attribute functions. */
static void create_link_comm(void)
{
	MPI_Errhandler handler = quiet_world();
	MPI_Group group;

	if (rn_real.MPI_Comm_group(MPI_COMM_WORLD, &group) == MPI_SUCCESS) {
		if (rn_real.MPI_Comm_create(MPI_COMM_WORLD, group, &link_comm) != MPI_SUCCESS)
			link_comm = MPI_COMM_NULL;
		else
			rn_real.MPI_Comm_set_errhandler(link_comm, MPI_ERRORS_RETURN);
		rn_real.MPI_Group_free(&group);
	}
	restore_world(handler);
}

/* Reports where the part files of this run are. */
static void tell_spool(void)
{
	rn_finish_tell("spool", rn_spool_folder());
}

/* Starts the part file. From here on no call is lost. Rank 0 names the trace, because other ranks
 * may run other programs or run on other nodes. */
static void start_spool(void)
{
	static struct {
		uint64_t run;
		char output[sizeof(rn_config.output)];
	} common;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	common.run = rn_hash_u64((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) ^
		     (uint64_t)getpid() << 32;
	if (rn_tracer.world_rank == 0)
		rn_output_choose(common.run);
	memcpy(common.output, rn_config.output, sizeof(common.output));
	if (rn_real.MPI_Bcast(&common, (int)sizeof(common), MPI_BYTE, 0, MPI_COMM_WORLD) !=
	    MPI_SUCCESS)
		return;
	memcpy(rn_config.output, common.output, sizeof(common.output));
	run_number = common.run;
	rn_spool_start(run_number);
	if (rn_tracer.world_rank == 0 || is_watched())
		tell_spool();
}

void rn_finish_prepare(void)
{
	int saved = errno;
	MPI_Errhandler handler;

	lone_output();
	handler = quiet_world();
	own_output();
	start_spool();
	compare_clocks(NULL);
	if (!COMM_AT_END)
		create_link_comm();
	restore_world(handler);
	errno = saved;
}

/* ---- slots ---- */

static int pack_slots(void *arg, struct rn_buf *out)
{
	struct finish *f = arg;

	if (f->status < 0)
		return f->status;
	rn_buf_u64(out, f->threads);
	return rn_peers_encode(f->peers, out);
}

static int absorb_slots(void *arg, uint64_t first, uint64_t n, const void *bytes, size_t len)
{
	struct finish *f = arg;
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

static int64_t constant(void *arg, enum rn_param_kind kind, int64_t value)
{
	(void)arg;
	return rn_constant(kind, value);
}

static struct rn_seen_comm seen_comm(void *arg, uint32_t word)
{
	const struct rn_comm *c = rn_comm_get(word);

	(void)arg;
	return (struct rn_seen_comm){ c->name, c->rank, c->local.n, c->remote.n };
}

static const char *module_name(void *arg, uint32_t id)
{
	(void)arg;
	return rn_mem_module_label(id);
}

static const void *site_bytes(void *arg, uint32_t id, size_t *len)
{
	(void)arg;
	return rn_callstack_bytes(id, len);
}

static int comm_entries(void *arg, struct rn_comms *out)
{
	(void)arg;
	return rn_comm_entries(out, (uint64_t)rn_tracer.world_rank);
}

/* Times of single calls; of a stream that goes on later, those so far. */
static int look_at_moments(struct finish *f, struct rn_stream *t, struct rn_moments *out)
{
	struct rn_stopwatch *s = t->stopwatch;
	struct rn_moment_bytes *chunk;

	rn_stopwatch_stop(t);
	chunk = rn_new(&f->mem, struct rn_moment_bytes, s->chunk.n);
	if (!chunk)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < s->chunk.n; i++) {
		chunk[i] = *RN_SEG_AT(&s->chunk, struct rn_moment_bytes, i);
		chunk[i].bytes += RN_STOPWATCH_HEAD;
		chunk[i].len -= RN_STOPWATCH_HEAD;
	}
	*out = (struct rn_moments){ f->recorded.scale, rn_clock_ns(s->writer.zero), chunk,
				    s->chunk.n };
	return RN_OK;
}

static int look_at_events(struct finish *f, struct rn_stream *t, struct rn_recorded_stream *s)
{
	rn_order_log_stop(t);
	s->lost = t->lost;
	return rn_order_log_part(t, &f->mem, &s->order);
}

/* This process's streams, as they are. */
static int look_at_streams(struct finish *f)
{
	struct rn_recorded *r = &f->recorded;
	struct rn_recorded_stream *s = rn_new(&f->mem, struct rn_recorded_stream,
					      rn_tracer.nstreams ? rn_tracer.nstreams : 1);

	if (!s)
		return RN_E_NOMEM;
	*r = (struct rn_recorded){ .who = { NULL, rn_tracer.world_rank, rn_tracer.world_size,
					    constant, seen_comm, module_name, site_bytes },
				   .stream = s,
				   .times = rn_config.times,
				   .scale = rn_clock_scale(),
				   .entries = comm_entries };
	rn_clock_difference(&relation, &r->offset, &r->drift);
	for (struct rn_stream *t = rn_tracer.streams; t; t = t->next) {
		int rc = RN_OK;

		*s = (struct rn_recorded_stream){
			.calls = { &r->who, t->words, t->blobs, t->texts, &t->times, &t->holes },
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

static int own_slots(struct finish *f)
{
	int rc = look_at_streams(f);

	f->peers = rn_peers_new(&f->mem);
	f->threads = rn_tracer.nstreams ? rn_tracer.nstreams : 1;
	if (!f->peers)
		return RN_E_NOMEM;
	return rc == RN_OK ? rn_recorded_slots(&f->recorded, f->peers) : rc;
}

static int put_choices(struct finish *f, struct rn_buf *out)
{
	if (f->status < 0)
		return f->status;
	rn_buf_u64(out, f->threads);
	return rn_choices_encode(f->peers, out);
}

static int get_choices(struct finish *f, const struct rn_buf *b)
{
	struct rn_reader in = rn_reader(b->data, b->len);

	f->threads = (uint32_t)rn_get_max(&in, UINT32_MAX);
	return in.bad ? RN_E_DATA
		      : rn_choices_decode(&f->mem, in.p, rn_left(&in), &f->choices, &f->err);
}

/* With a link: all ranks'. Without: this one's alone. */
static int choose(struct finish *f, struct rn_mpi_link *link)
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

/* ---- this rank's bundle ---- */

static uint64_t since_began(const struct finish *f)
{
	return rn_time_ns(rn_clock_now() - f->began, rn_clock_scale());
}

/* Memory of the recorded data of this process, in bytes. */
static uint64_t memory_used(void)
{
	uint64_t bytes = rn_tracer.mem.mapped;

	for (const struct rn_stream *t = rn_tracer.streams; t; t = t->next)
		bytes += t->mem.mapped + sizeof(*t) + rn_stopwatch_size(t->stopwatch) +
			 rn_order_log_size(t);
	return bytes;
}

/* Updates the tally. doc/format.md, section 10, defines the quantities. */
static void update_tally(struct finish *f)
{
	struct rn_tally *y = &f->bundle.tally;
	uint64_t wall_ns = rn_clock_age();

	tracer_ns = since_began(f);
	y->wall_ns = y->wall_ns > wall_ns ? y->wall_ns : wall_ns;
	y->tracer_ns = y->tracer_ns > tracer_ns ? y->tracer_ns : tracer_ns;
}

static int make_bundle(struct finish *f)
{
	struct rn_bundle *b = &f->bundle;
	int rc = rn_recorded_bundle(&f->recorded, f->choices, f->threads, &f->mem, &f->scratch, b);

	if (rc == RN_OK)
		rc = rn_programs_add(&b->programs, rn_config.program,
				     (uint64_t)rn_tracer.world_rank,
				     (uint64_t)rn_tracer.world_rank);
	b->tally.lost += rn_tracer.lost;
	b->tally.memory = memory_used();
	update_tally(f);
	return rc;
}

static int pack_bundle(void *arg, struct rn_buf *out)
{
	struct finish *f = arg;

	return f->status < 0 ? f->status : rn_bundle_encode(&f->bundle, out);
}

static int absorb_bundle(void *arg, uint64_t first, uint64_t n, const void *bytes, size_t len)
{
	struct finish *f = arg;

	(void)first;
	(void)n;
	return f->status < 0 ? f->status
			     : rn_bundle_absorb(&f->bundle, bytes, len, &f->scratch, &f->err);
}

/* ---- the file ---- */

static int facts_of(struct finish *f, struct rn_facts *m)
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

#define WORD_MAX 1024 /* maximum bytes of a path in a message; rn_say truncates longer messages */

/* The merge time is `tracer_s`. The write time cannot be stored in the file being written. */
static void say_done(const struct finish *f, uint64_t calls, uint64_t size)
{
	uint64_t write_ns = since_began(f) - tracer_ns;
	char word[WORD_MAX];

	rn_say("%" PRIu64 " call%s on %d rank%s in %" PRIu64
	       " bytes (%.3g per call), merged in %.4f s, written in %.4f s, "
	       "%" PRIu64 " lost; see: rondo info %s",
	       calls, rn_plural(calls), rn_tracer.world_size,
	       rn_plural((uint64_t)rn_tracer.world_size), size,
	       calls ? (double)size / (double)calls : 0.0, (double)f->bundle.tally.tracer_ns / 1e9,
	       (double)write_ns / 1e9, f->bundle.tally.lost,
	       rn_text_path(rn_config.output, word, sizeof(word)));
}

/* Whether a list of names, separated by commas, contains the name. */
static bool is_named(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at += n)
		if (at[n] == '\0' || at[n] == ',')
			return true;
	return false;
}

/* "; not exactly replayable: 12 calls of MPI_Get, MPI_Fetch_and_op" */
static void say_loose(const struct rn_order_list *l, uint64_t calls, char *text, size_t cap)
{
	size_t at = (size_t)snprintf(text, cap, "; not exactly replayable: %" PRIu64 " call%s of ",
				     calls, rn_plural(calls));
	const char *between = "";

	for (uint32_t i = 0; i < rn_sigs_count(l->site) && at < cap; i++) {
		struct rn_order_place p = rn_order_list_site(l, i);
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)p.function_len, p.function);
		if (p.kind != RN_ORDER_LOOSE || is_named(text, name))
			continue;
		at += (size_t)snprintf(text + at, cap - at, "%s%s", between, name);
		between = ", ";
	}
}

/* What is spawned in a replay runs freely. */
static void say_events(const struct finish *f, const struct rn_order_count *n, uint64_t size)
{
	char loose[400] = "";
	char word[WORD_MAX];

	if (n->loose)
		say_loose(&f->bundle.order, n->loose, loose, sizeof(loose));
	rn_say("%" PRIu64 " event%s (%" PRIu64 " message%s received, %" PRIu64
	       " failed test%s) on %d rank%s in %" PRIu64 " bytes (%.3g per event), %" PRIu64
	       " lost%s; see: rondo %s %s%s",
	       n->events, rn_plural(n->events), n->received, rn_plural(n->received), n->failed,
	       rn_plural(n->failed), rn_tracer.world_size,
	       rn_plural((uint64_t)rn_tracer.world_size), size,
	       n->events ? (double)size / (double)n->events : 0.0, f->bundle.tally.lost, loose,
	       spawned ? "report" : "replay", rn_text_path(rn_config.output, word, sizeof(word)),
	       spawned ? "" : " COMMAND");
}

static bool selects_no_rank(void)
{
	for (int i = 0; i < rn_tracer.world_size; i++)
		if (rn_config_wants_rank(i))
			return false;
	return true;
}

static void say_no_rank(void)
{
	rn_say("--rank %s selects none of the %d rank%s of the run; no trace was written",
	       rn_config.rank, rn_tracer.world_size, rn_plural((uint64_t)rn_tracer.world_size));
	rn_finish_tell("failed", "no rank");
}

static void say_unchanged(void)
{
	char word[WORD_MAX];

	rn_say("no call was recorded, so the existing trace was not replaced: %s",
	       rn_text_path(rn_config.output, word, sizeof(word)));
	rn_finish_tell("failed", "no call");
}

static int write_trace(struct finish *f)
{
	struct rn_facts m;
	struct rn_meta meta;
	struct rn_bundle_file file;
	int rc;

	if (selects_no_rank()) {
		say_no_rank();
		return RN_OK;
	}
	update_tally(f);
	if (facts_of(f, &m) < 0)
		return rn_err_nomem(&f->err);
	meta = (struct rn_meta){ m.entry, m.n };
	rn_output_renew();
	do
		rc = rn_bundle_write(&f->bundle, &meta, rn_config.output, &file, &f->err);
	while (rc == RN_E_SYS && rn_output_renew());
	if (rc == RN_OK && file.unchanged) {
		say_unchanged();
	} else if (rc == RN_OK) {
		f->written = true;
		rn_finish_tell("traced", rn_config.output);
		if (!quiet && rn_config.order)
			say_events(f, &file.order, file.bytes);
		else if (!quiet)
			say_done(f, file.calls, file.bytes);
	}
	return rc;
}

/* ---- a rank alone ---- */

/* Without a world (sessions only) the launcher's word has to do. */
static void find_place(void)
{
	if (rn_tracer.init_done)
		return;
	rn_tracer.world_rank = rn_rank_of(environ, 0);
	rn_tracer.world_size = rn_size_of(environ, rn_tracer.world_rank + 1);
}

/* The same for all processes of a job, as far as its launcher tells. */
static uint64_t job_number(void)
{
	static const char *const names[] = { "PMIX_NAMESPACE", "PMI_JOBID", "SLURM_JOB_ID" };
	const char *value = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !value; i++)
		value = getenv(names[i]);
	return value ? rn_hash(value, strlen(value)) : (uint64_t)getppid();
}

/* Writes the end reason of this process to the journal. */
static void note_end(const char *how, bool copied)
{
	struct rn_fact_tally tally = { rn_clock_age(), tracer_ns, memory_used() };

	rn_spool_note(how, rn_tracer.lost, &tally, copied);
}

/* What this process has is in the part file, as a rule; one that has had no world puts it there. */
static bool leave_part(const struct finish *f, const char *how)
{
	find_place();
	if (!rn_spool_folder()[0]) {
		run_number = job_number();
		rn_spool_start(run_number);
		tell_spool();
	}
	for (struct rn_stream *t = rn_tracer.streams; t; t = t->next) {
		rn_spool_adopt(t);
		rn_stopwatch_stop(t);
		if (t->spooled)
			rn_spool_seal(t); /* with all times */
	}
	tracer_ns = since_began(f);
	note_end(how, true);
	parts_left = true;
	return rn_spool_any();
}

/* The launcher puts parts together, if it waits; otherwise the user does. */
static void say_parts(const char *word, const char *why)
{
	char folder[WORD_MAX];

	if (!rn_finish_tell(word, why))
		rn_say("%s; %s did is kept; put together by: rondo recover %s", why,
		       rn_spool_whole() ? "what every rank" : "some of what the ranks",
		       rn_text_path(rn_spool_folder(), folder, sizeof(folder)));
}

/* Reports that the watchers of the ranks make the trace. The rank prints the line itself, because
 * its launcher still reads its standard error. */
static void say_watched(const char *why, bool first)
{
	char folder[WORD_MAX];

	rn_finish_tell("parts", why);
	if (first)
		rn_say("%s; the trace is made when all ranks have ended; if it is not: rondo "
		       "recover %s",
		       why, rn_text_path(rn_spool_folder(), folder, sizeof(folder)));
}

/* Without MPI the ranks do not know of each other: the first on a node speaks for all. */
static void leave_alone(const struct finish *f, const char *why)
{
	bool first = rn_spool_first();

	if (!leave_part(f, why)) {
		if (rn_tracer.world_rank == 0)
			rn_say("rank 0 is not traced to its end");
	} else if (is_watched()) {
		say_watched(why, first);
	} else if (first) {
		say_parts("parts", why);
	}
}

static int pack_left(void *arg, struct rn_buf *out)
{
	rn_buf_u64(out, ((struct finish *)arg)->left);
	return rn_buf_status(out);
}

static int absorb_left(void *arg, uint64_t first, uint64_t n, const void *bytes, size_t len)
{
	struct rn_reader in = rn_reader(bytes, len);

	(void)first;
	((struct finish *)arg)->left += rn_get_max(&in, n);
	return in.bad ? RN_E_DATA : RN_OK;
}

/* What was recorded stays in parts, on all ranks: `how` they ended. One line says why, whatever
 * becomes of the parts. */
static void leave_parts(struct finish *f, struct rn_mpi_link *link, const char *how,
			const char *word, const char *text)
{
	f->left = leave_part(f, how);
	rn_link_arm(link, DEADLINE_NS);
	rn_link_up(link, pack_left, absorb_left, f);
	if (rn_tracer.world_rank != 0)
		return;
	if (f->left == 0) {
		rn_spool_drop();
		rn_say("nothing was traced (%s)", how);
		rn_finish_tell("failed", how);
	} else {
		say_parts(word, text);
	}
}

/* The merge failed, on all ranks. */
static void leave_unmerged(struct finish *f, struct rn_mpi_link *link)
{
	struct rn_err why = f->err;
	char text[sizeof(why.text) + 64];

	if (!why.text[0])
		rn_link_explain(link, &why);
	snprintf(text, sizeof(text), "the ranks' traces could not be put together (%s)", why.text);
	leave_parts(f, link, why.text, "unmerged", text);
}

/* A rank has some of its calls in its part alone. */
static void leave_segments(struct finish *f, struct rn_mpi_link *link)
{
	leave_parts(f, link, "MPI_Finalize", "parts",
		    "more was recorded than the memory limit holds at once, so the trace is made "
		    "from parts");
}

/* ---- both ends ---- */

#define BUSY_TRIES 5000 /* of 2 ms each: then it is not going to end */

/* A thread that starts a segment is done before anybody else looks at its stream. */
static bool is_busy(const struct rn_stream *t)
{
	return t != rn_me && __atomic_load_n(&t->busy, __ATOMIC_ACQUIRE);
}

/* From now on calls are counted, not recorded: those of other threads, when one calls exit,
 * MPI_Abort or MPI_Finalize. Who is about to record one gets the time to do so. */
static void stop_recording(void)
{
	static const struct timespec moment = { 0, 2000000 };

	rn_tracer.active = false;
	rn_tracer.finished = true;
	for (struct rn_stream *t = rn_tracer.streams; t; t = t->next)
		rn_stream_turn(t, RN_OFF_OVER, true);
	if (rn_tracer.nstreams > 1)
		nanosleep(&moment, NULL);
	for (struct rn_stream *t = rn_tracer.streams; t; t = t->next)
		for (int tries = 0; tries < BUSY_TRIES && is_busy(t); tries++)
			nanosleep(&moment, NULL);
}

/* The trace is written. The journal is also completed: if any rank makes more calls, the trace is
 * built again from the journals of all ranks. */
static void keep_part(void)
{
	for (struct rn_stream *t = rn_tracer.streams; t; t = t->next)
		rn_spool_seal_times(t);
	note_end("MPI_Finalize", false);
}

/* Later calls are recorded in the journal. If it is not complete, they are only counted. */
static void resume_recording(void)
{
	bool whole = rn_spool_whole();

	for (struct rn_stream *t = rn_tracer.streams; t; t = t->next) {
		t->merged = t->calls + rn_order_log_events(t);
		rn_stream_turn(t, RN_OFF_OVER, !whole);
	}
	rn_tracer.active = whole;
}

/* _Fork and clone make children that no handler hears of. */
static bool is_ours_to_end(void)
{
	return !rn_tracer.finished && rn_tracer.pid == (int)getpid();
}

/* Nothing was recorded. */
static bool is_replay(void)
{
	return rn_order_mode == RN_ORDER_REPLAYS;
}

static void begin(struct finish *f)
{
	memset(f, 0, sizeof(*f));
	rn_calm_begin(&f->calm);
	f->me = rn_me;
	if (f->me) /* an MPI call of a signal handler must not wait for locks of this thread */
		f->top = rn_stream_enter(f->me);
	rn_tracer_use_reserve();
	rn_arena_init(&f->mem, LIMIT);
	rn_arena_init(&f->scratch, LIMIT);
	f->began = rn_clock_now();
	stop_recording();
}

static void end(struct finish *f)
{
	rn_arena_free(&f->scratch);
	rn_arena_free(&f->mem);
	if (f->me)
		rn_stream_leave(f->me, f->top);
	rn_calm_end(&f->calm);
}

#define IN_SEGMENTS RN_E_RANGE

/* Whether some rank cannot take part. Ranks come here at different times, which is not of our
 * making. */
static bool any_in_segments(struct finish *f, struct rn_mpi_link *link)
{
	int rc = rn_link_agree(link, rn_spool_in_segments() ? IN_SEGMENTS : RN_OK);

	f->began = rn_clock_now();
	rn_link_arm(link, DEADLINE_NS);
	return rc == IN_SEGMENTS;
}

/* Broadcasts the path of the trace with the verdict: rank 0 may have changed it since MPI_Init. It
 * is empty if no trace was written. The watcher of each rank needs it. */
static int agree_on_output(struct finish *f, struct rn_mpi_link *link)
{
	static char path[sizeof(rn_config.output)];
	struct rn_buf b = rn_buf_over(path, sizeof(path) - 1);
	int rc;

	if (f->written)
		rn_buf_add(&b, rn_config.output, strlen(rn_config.output));
	rc = rn_link_agree_down(link, f->status, &b);
	if (rc < 0 || rn_tracer.world_rank == 0)
		return rc;
	path[b.len] = 0;
	if (b.len)
		memcpy(rn_config.output, path, b.len + 1);
	if (is_watched())
		rn_finish_tell(b.len ? "traced" : "failed", b.len ? path : "no trace");
	return rc;
}

/* All ranks go through the same steps, whatever fails on the way; at the end all know. */
static int merge(struct finish *f, struct rn_mpi_link *link)
{
	if (relation.times)
		compare_clocks(link);
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

void rn_finish_world(void)
{
	static struct finish f;
	int saved = errno;

	if (!is_ours_to_end() || is_replay())
		return;
	begin(&f);
	if (COMM_AT_END)
		create_link_comm();
	if (link_comm == MPI_COMM_NULL ||
	    rn_link_open(&world, real_calls(), link_comm, LIMIT) < 0) {
		leave_alone(&f, "the tracer has no communicator");
	} else {
		if (any_in_segments(&f, &world)) {
			leave_segments(&f, &world);
			resume_recording();
		} else if (merge(&f, &world) < 0) {
			leave_unmerged(&f, &world);
		} else {
			keep_part();
			resume_recording();
		}
		rn_link_close(&world);
	}
	if (link_comm != MPI_COMM_NULL)
		rn_real.MPI_Comm_free(&link_comm);
	end(&f);
	errno = saved;
}

void rn_finish_alone(const char *why)
{
	static struct finish f;
	int saved = errno;

	if (!is_ours_to_end() || is_replay())
		return;
	begin(&f);
	leave_alone(&f, why);
	end(&f);
	errno = saved;
}

/* Calls that the trace does not have: they are in the part file, or if there is none, only known to
 * have been made. The launcher adds them up. Without one rank 0 speaks of its own: other ranks will
 * have done the same, and not each of them is to say so. */
static void tell_late(uint64_t kept, uint64_t lost)
{
	char word[WORD_MAX];
	char text[64];

	snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64, kept, lost);
	if (!rn_finish_tell("late", text) && rn_tracer.world_rank == 0) {
		if (lost)
			rn_say("%" PRIu64 " call%s on rank 0 came when the trace had been written "
			       "(after MPI_Finalize), and cannot be added",
			       lost, rn_plural(lost));
		else
			rn_say("%" PRIu64 " call%s on rank 0 came when the trace had been written "
			       "(after MPI_Finalize); to add to it: rondo recover %s",
			       kept, rn_plural(kept),
			       rn_text_path(rn_spool_folder(), word, sizeof(word)));
	}
}

void rn_finish_late(void)
{
	int saved = errno;
	uint64_t kept = 0, lost = 0, made;

	if (rn_me)
		rn_stream_enter(rn_me);
	for (struct rn_stream *t = rn_tracer.streams; t; t = t->next) {
		rn_stopwatch_stop(t);
		lost += t->late;
		if (parts_left) /* which have this counter */
			t->live.lost = t->lost += t->late;
		made = t->calls + rn_order_log_events(t);
		kept += rn_spool_whole() && made > t->merged ? made - t->merged : 0;
	}
	if ((kept || lost) && !parts_left)
		tell_late(kept, lost);
	if (kept) {
		stop_recording();
		for (struct rn_stream *t = rn_tracer.streams; t; t = t->next)
			rn_spool_seal_times(t);
		note_end("exit", true);
	}
	rn_spool_end(kept > 0 || (parts_left && rn_spool_any()));
	if (is_watched())
		rn_finish_tell("ended", "");
	errno = saved;
}
