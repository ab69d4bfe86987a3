/*
 * rich_trace.h - streams that use every feature of signatures, and their log, for tests.
 *
 * Each stream is a random program of a few phases. A phase is a body of operations that is
 * repeated. An operation writes its call twice: as a signature, with ranks relative to a
 * communicator, requests as creator and index, and statuses in all forms; and as the line that
 * `rondo dump` must print, from absolute ranks and numbers. A naive model, a list searched
 * linearly, tracks the requests. All ranks run the same programs with different peers, so that
 * their streams can be merged. A nested run also has nested calls.
 *
 *	ranks 0..R-1, R even; threads 0..T-1, of which odd ranks have only the first
 *	comm:world.0   rows of W ranks
 *	comm:world.1   an inter-communicator between the two halves
 */
#ifndef RN_T_RICH_TRACE_H
#define RN_T_RICH_TRACE_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/intern.h"
#include "encode/callsite.h"
#include "encode/signature.h"
#include "encode/time_stats.h"
#include "file/container.h"
#include "model/payload.h"
#include "take_sites.h"
#include "bench/rank_merge.h"
#include "file/trace_writer.h"
#include "grammar/grammar.h"
#include "identity/comm_table.h"
#include "model/merged_streams.h"
#include "call_writer.h"

enum {
	RICH_INIT,
	RICH_SPLIT,
	RICH_SEND,
	RICH_RECV,
	RICH_ISEND,
	RICH_WAIT,
	RICH_WAITALL,
	RICH_TEST,
	RICH_PUT,
	RICH_SET,
	RICH_MANY,
	RICH_FREE,
	RICH_FINALIZE,
	RICH_ENTER,
	RICH_LEAVE,
	RICH_ENDED,
	RICH_THREAD,
	RICH_THREAD_TWO
};

#define RICH_NAMES(...) ((const char *const[]){ __VA_ARGS__ })
#define RICH_DIRS(...)  ((const unsigned char[]){ __VA_ARGS__ })

static const struct rn_func rich_funcs[] = {
	{ RICH_INIT, "MPI_Init", RICH_NAMES("argc", "argv"), 2, RICH_DIRS(2, 2) },
	{ RICH_SPLIT, "MPI_Comm_split", RICH_NAMES("comm", "color", "key", "newcomm"), 4,
	  RICH_DIRS(0, 0, 0, 1) },
	{ RICH_SEND, "MPI_Send", RICH_NAMES("buf", "dest", "tag", "comm"), 4, NULL },
	{ RICH_RECV, "MPI_Recv", RICH_NAMES("buf", "source", "tag", "comm", "status"), 5,
	  RICH_DIRS(0, 0, 0, 0, 1) },
	{ RICH_ISEND, "MPI_Isend", RICH_NAMES("buf", "dest", "tag", "comm", "request"), 5,
	  RICH_DIRS(0, 0, 0, 0, 1) },
	{ RICH_WAIT, "MPI_Wait", RICH_NAMES("request", "status"), 2, RICH_DIRS(0, 1) },
	{ RICH_WAITALL, "MPI_Waitall",
	  RICH_NAMES("count", "array_of_requests", "array_of_statuses"), 3, RICH_DIRS(0, 0, 1) },
	{ RICH_TEST, "MPI_Test", RICH_NAMES("request", "flag", "status"), 3, RICH_DIRS(0, 1, 1) },
	{ RICH_PUT, "MPI_Put", RICH_NAMES("origin_addr", "target_rank", "win"), 3, NULL },
	{ RICH_SET, "MPI_Status_set_elements", RICH_NAMES("status", "datatype", "count"), 3,
	  RICH_DIRS(2, 0, 0) },
	{ RICH_MANY, "x_create_many", RICH_NAMES("array_of_requests", "old", "last"), 3,
	  RICH_DIRS(1, 0, 1) },
	{ RICH_FREE, "MPI_Request_free", RICH_NAMES("request"), 1, NULL },
	{ RICH_FINALIZE, "MPI_Finalize", NULL, 0, NULL },
	{ RICH_ENTER, "rondo_enter", NULL, 0, NULL },
	{ RICH_LEAVE, "rondo_leave", NULL, 0, NULL },
	{ RICH_ENDED, "rondo_ended", RICH_NAMES("request"), 1, NULL },
	{ RICH_THREAD, "rondo_thread", RICH_NAMES("lineage"), 1, NULL },
	{ RICH_THREAD_TWO, "rondo_thread", RICH_NAMES("lineage", "of"), 2, NULL },
};

enum {
	RICH_W_NULL,
	RICH_W_HEAP,
	RICH_W_WORLD,
	RICH_W_SELF,
	RICH_W_LIVE,
	RICH_W_GONE,
	RICH_W_NEW,
	RICH_W_WIN,
	RICH_W_INT
};

static const struct rn_word rich_words[] = {
	{ RICH_W_NULL, "NULL" },
	{ RICH_W_HEAP, "heap" },
	{ RICH_W_WORLD, "MPI_COMM_WORLD" },
	{ RICH_W_SELF, "MPI_COMM_SELF" },
	{ RICH_W_LIVE, "request" },
	{ RICH_W_GONE, "request-" },
	{ RICH_W_NEW, "request+" },
	{ RICH_W_WIN, "win" },
	{ RICH_W_INT, "MPI_INT" },
};

static const struct rn_vocab rich_vocab = { rich_funcs, rich_words,
					    sizeof(rich_funcs) / sizeof(*rich_funcs),
					    sizeof(rich_words) / sizeof(*rich_words) };

/* The defect of a trace. */
enum rich_flaw {
	RICH_GOOD,
	RICH_NO_COMMS,
	RICH_ODD_THREADS,
	RICH_LOST_REQUEST,
	RICH_NO_TABLE,
	RICH_LEAVE_ALONE,
	RICH_LEAVE_NOTHING,
	RICH_NO_LINEAGE,
	RICH_TWO_LINEAGES
};

struct rich_run {
	uint64_t ranks, threads, row, seed;
	unsigned phases, ops, times;
	bool nested, sites;
	enum rich_flaw flaw;
};

enum { RICH_WORLD, RICH_SELF, RICH_ROW, RICH_HALVES, RICH_COMMS };

static const char *const rich_comm_name[RICH_COMMS] = { "MPI_COMM_WORLD", "MPI_COMM_SELF",
							"comm:world.0", "comm:world.1" };

/* Computes the rank of a process in a communicator, and the number of ranks it can address
 * there. */
static inline void rich_place(const struct rich_run *r, unsigned comm, uint64_t rank, uint64_t *me,
			      uint64_t *size)
{
	uint64_t half = r->ranks / 2;

	*me = comm == RICH_WORLD  ? rank
	      : comm == RICH_SELF ? 0
	      : comm == RICH_ROW  ? rank % r->row
				  : rank % half;
	*size = comm == RICH_WORLD  ? r->ranks
		: comm == RICH_SELF ? 1
		: comm == RICH_ROW  ? r->row
				    : half;
}

#define RICH_LIVE_MAX   256
#define RICH_SHAPES_MAX 1024

#define RICH_DEPTH_MAX 3

/* Receives one signature and its log line. The line is inserted before the last `back` lines. A
 * marker has no line. */
typedef int rich_emit(void *arg, const unsigned char *sig, size_t len, const char *line,
		      uint64_t back);

/* A stream that is being generated. */
struct rich_stream {
	const struct rich_run *r;
	uint64_t rank, thread, seq, created, rng;
	uint64_t parent[RICH_DEPTH_MAX + 1], back;
	unsigned depth;
	struct {
		unsigned shape, slot, comm;
		uint64_t number;
		bool fresh; /* created by the current call; its creator is not known yet */
	} live[RICH_LIVE_MAX];
	unsigned lives;
	struct {
		unsigned char sig[512];
		size_t len;
	} shape[RICH_SHAPES_MAX];
	unsigned shapes;
	struct rn_buf w;
	unsigned char sig[CALL_BUFFER];
	char line[CALL_BUFFER], matched[CALL_BUFFER];
	rich_emit *emit;
	void *arg;
	int rc;
};

static inline uint64_t rich_below(struct rich_stream *s, uint64_t n)
{
	uint64_t z = s->rng += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (z ^ (z >> 31)) % n;
}

__attribute__((format(printf, 2, 3))) static inline void rich_say(char *to, const char *fmt, ...)
{
	size_t n = strlen(to);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(to + n, CALL_BUFFER - n, fmt, ap);
	va_end(ap);
}

static inline void rich_begin(struct rich_stream *s, unsigned func)
{
	call_begin(&s->w, s->sig, sizeof(s->sig), func);
	s->line[0] = s->matched[0] = 0;
	rich_say(s->line, "%" PRIu64, s->rank);
	if (s->thread)
		rich_say(s->line, ".%" PRIu64, s->thread);
	rich_say(s->line, " %" PRIu64 " %s(", s->seq++, rich_funcs[func].name);
}

/* Assigns creator and index to the requests that the call created. */
static inline void rich_settle(struct rich_stream *s, size_t len)
{
	unsigned shape = 0, slot;

	while (shape < s->shapes &&
	       (s->shape[shape].len != len || memcmp(s->shape[shape].sig, s->sig, len) != 0))
		shape++;
	for (unsigned i = 0; i < s->lives; i++) {
		bool taken = true;

		if (!s->live[i].fresh)
			continue;
		for (slot = 0; taken; slot += taken) {
			taken = false;
			for (unsigned k = 0; k < s->lives; k++)
				taken |= !s->live[k].fresh && s->live[k].shape == shape &&
					 s->live[k].slot == slot;
		}
		s->live[i].shape = shape;
		s->live[i].slot = slot;
		s->live[i].fresh = false;
		if (shape == s->shapes) {
			memcpy(s->shape[shape].sig, s->sig, len);
			s->shape[s->shapes++].len = len;
		}
	}
}

/* Writes the call site: up to three frames, which depend on the called function. */
static inline void rich_site(struct rich_stream *s)
{
	static const char *const module[] = { "m0", "m1", "m2" };
	static struct rn_callsite site;
	static unsigned char bytes[RN_CALLSITE_BYTES];
	uint64_t frames = rn_hash(s->sig, s->w.len) % 4;

	site.frames = site.modules = 0;
	rich_say(s->line, frames ? " at " : " at ?");
	for (uint64_t i = 0; i < frames; i++) {
		uint64_t offset = (frames - i) * 256;

		rn_callsite_add(&site, (struct rn_code_module){ module[i], 2, NULL, 0 }, offset);
		rich_say(s->line, "%s%s+0x%" PRIx64, i ? " < " : "", module[i], offset);
	}
	rn_call_text(&s->w, RN_V_STRING, (const char *)bytes, rn_callsite_write(&site, bytes));
}

static inline void rich_end(struct rich_stream *s)
{
	size_t len;
	int rc;

	rn_call_num(&s->w, RN_V_INT, 0);
	rich_say(s->line, ") = 0");
	if (s->depth)
		rich_say(s->line, " <%" PRIu64 ">", s->parent[s->depth - 1]);
	rich_say(s->line, "%s%s", s->matched[0] ? " matched=" : "", s->matched);
	if (s->r->sites)
		rich_site(s);
	rich_say(s->line, "\n");
	rc = call_done(&s->w, &len);
	rich_settle(s, len);
	if (rc == RN_OK && s->rc == RN_OK)
		rc = s->emit(s->arg, s->sig, len, s->line, s->back);
	if (s->rc == RN_OK)
		s->rc = rc;
	s->back = 0;
}

static inline void rich_end_marker(struct rich_stream *s)
{
	size_t len;
	int rc = call_end(&s->w, 0, &len);

	if (rc == RN_OK && s->rc == RN_OK)
		rc = s->emit(s->arg, s->sig, len, "", 0);
	if (s->rc == RN_OK)
		s->rc = rc;
}

static inline void rich_mark(struct rich_stream *s, unsigned func)
{
	call_begin(&s->w, s->sig, sizeof(s->sig), func);
	rich_end_marker(s);
}

/* Begins a call that contains nested calls. The call gets its number here. */
static inline void rich_enter(struct rich_stream *s)
{
	s->parent[s->depth++] = s->seq++;
	rich_mark(s, RICH_ENTER);
}

/* Writes the peer `d` ranks further in a communicator, in one of four ways. */
static inline void rich_peer(struct rich_stream *s, char *text, unsigned comm, uint64_t d,
			     unsigned way)
{
	uint64_t me, size, peer;

	rich_place(s->r, comm, s->rank, &me, &size);
	peer = (me + d) % size;
	rn_call_num(&s->w, (enum rn_value_kind)way,
		    way == RN_V_INT   ? (int64_t)peer
		    : way == RN_V_REL ? (int64_t)(peer - me)
		    : way == RN_V_XOR ? (int64_t)(peer ^ me)
				      : (int64_t)d - (int64_t)(d > 3 ? size : 0));
	rich_say(text, "%" PRIu64, peer);
}

static inline void rich_comm(struct rich_stream *s, unsigned comm)
{
	const char *name = rich_comm_name[comm];

	if (comm <= RICH_SELF)
		rn_call_const(&s->w, comm == RICH_WORLD ? RICH_W_WORLD : RICH_W_SELF);
	else
		rn_call_text(&s->w, RN_V_NAME, name, strlen(name));
	rich_say(s->line, "comm=%s", name);
}

/* Writes a status in one of three forms, optionally of a communicator that is not an argument of
 * the call. */
static inline void rich_status(struct rich_stream *s, unsigned form, int comm, int own, uint64_t d)
{
	static const char *const ignored = "MPI_STATUS_IGNORE";
	char source[32] = "";

	if (comm != own)
		rn_call_in(&s->w, rich_comm_name[comm], strlen(rich_comm_name[comm]));
	rn_call_status(&s->w, (enum rn_status_form)form);
	if (form == RN_STATUS_NOTHING) {
		rich_say(s->line, "%s", ignored);
		rich_say(s->matched, "null");
		return;
	}
	rich_peer(s, source, (unsigned)comm, d, RN_V_RELMOD);
	rn_call_num(&s->w, RN_V_INT, 7);
	if (form == RN_STATUS_MATCHED) {
		rich_say(s->line, "%s", ignored);
		rich_say(s->matched, "{source=%s, tag=7}", source);
		return;
	}
	for (int64_t i = 0; i < 3; i++)
		rn_call_num(&s->w, RN_V_INT, i * 40);
	rich_say(s->line, "{source=%s, tag=7, error=0, count=40, cancelled=80}", source);
}

static inline void rich_message(struct rich_stream *s, const char *peer, unsigned comm, uint64_t d,
				unsigned way)
{
	rn_call_place(&s->w, RICH_W_HEAP, d, -8);
	rich_say(s->line, "buf=heap:%" PRIu64 "-8, %s=", d, peer);
	rich_peer(s, s->line, comm, d, way);
	rn_call_num(&s->w, RN_V_INT, 7);
	rich_say(s->line, ", tag=7, ");
	rich_comm(s, comm);
}

static inline void rich_new_request(struct rich_stream *s, unsigned comm)
{
	rn_call_const(&s->w, RICH_W_NEW);
	rich_say(s->line, "request:%" PRIu64, s->created);
	s->live[s->lives].fresh = true;
	s->live[s->lives].comm = comm;
	s->live[s->lives++].number = s->created++;
}

static inline void rich_old_request(struct rich_stream *s, unsigned i, bool gone)
{
	rn_call_place(&s->w, gone ? RICH_W_GONE : RICH_W_LIVE, s->live[i].shape, s->live[i].slot);
	rich_say(s->line, "request:%" PRIu64, s->live[i].number);
}

static inline void rich_forget(struct rich_stream *s, unsigned i)
{
	memmove(&s->live[i], &s->live[i + 1], (s->lives - i - 1) * sizeof(s->live[0]));
	s->lives--;
}

/*
 * Operations; x and y are random, and the same each time that the body is run
 */

static inline void rich_send(struct rich_stream *s, uint64_t x, uint64_t y)
{
	rich_begin(s, RICH_SEND);
	rich_message(s, "dest", (unsigned)(x % RICH_COMMS), y % 5, (unsigned)(x / 8 % 4));
	rich_end(s);
}

static inline void rich_recv(struct rich_stream *s, uint64_t x, uint64_t y)
{
	int comm = (int)(x % RICH_COMMS);
	unsigned form = (unsigned)(y / 8 % 3);

	rich_begin(s, RICH_RECV);
	rich_message(s, "source", (unsigned)comm, y % 5, (unsigned)(x / 8 % 4));
	rich_say(s->line, ", status=");
	rich_status(s, form, comm, comm, y % 4);
	if (form == RN_STATUS_NOTHING)
		s->matched[0] = 0;
	rich_end(s);
}

static inline void rich_isend(struct rich_stream *s, uint64_t x, uint64_t y)
{
	unsigned comm = (unsigned)(x % RICH_COMMS);

	if (s->lives == RICH_LIVE_MAX || s->shapes == RICH_SHAPES_MAX)
		return;
	rich_begin(s, RICH_ISEND);
	rich_message(s, "dest", comm, y % 5, (unsigned)(x / 8 % 4));
	rich_say(s->line, ", request=");
	rich_new_request(s, comm);
	rich_end(s);
}

static inline void rich_wait(struct rich_stream *s, uint64_t x, uint64_t y)
{
	unsigned i = s->lives ? (unsigned)(x % s->lives) : 0, form = (unsigned)(y % 3);

	if (!s->lives)
		return;
	rich_begin(s, RICH_WAIT);
	rich_say(s->line, "request=");
	rich_old_request(s, i, y & 8 ? false : true);
	rich_say(s->line, ", status=");
	rich_status(s, form, (int)s->live[i].comm, -1, 1);
	if (form == RN_STATUS_NOTHING)
		s->matched[0] = 0;
	rich_end(s);
	if (!(y & 8))
		rich_forget(s, i);
}

/* Either all statuses are ignored or none is. */
static inline void rich_waitall(struct rich_stream *s, uint64_t x, uint64_t y)
{
	unsigned n = s->lives < 6 ? s->lives : 6, known = 0;
	char line[CALL_BUFFER], matched[CALL_BUFFER] = "[";

	(void)y;
	rich_begin(s, RICH_WAITALL);
	rn_call_num(&s->w, RN_V_INT, n);
	rn_call_list(&s->w, n);
	rich_say(s->line, "count=%u, array_of_requests=[", n);
	for (unsigned i = 0; i < n; i++) {
		rich_say(s->line, i ? ", " : "");
		rich_old_request(s, i, true);
	}
	rich_say(s->line, "], array_of_statuses=");
	strcpy(line, s->line);
	rich_say(line, "MPI_STATUSES_IGNORE");
	rich_say(s->line, "[");
	rn_call_list(&s->w, n);
	for (unsigned i = 0; i < n; i++) {
		unsigned form = x % 2       ? RN_STATUS_FULL
				: x / 2 % 3 ? 1 + (i & 1)
					    : RN_STATUS_NOTHING;

		rich_say(s->line, i ? ", " : "");
		s->matched[0] = 0;
		rich_status(s, form, (int)s->live[i].comm, -1, i);
		rich_say(matched, "%s%s", i ? ", " : "", s->matched);
		known += form == RN_STATUS_MATCHED;
	}
	rich_say(s->line, "]");
	rich_say(matched, "]");
	if (n && x % 2 == 0)
		strcpy(s->line, line);
	strcpy(s->matched, known ? matched : "");
	rich_end(s);
	while (n--)
		rich_forget(s, 0);
}

static inline void rich_test(struct rich_stream *s, uint64_t x, uint64_t y)
{
	unsigned i = s->lives ? (unsigned)(x % s->lives) : 0;

	if (!s->lives)
		return;
	rich_begin(s, RICH_TEST);
	rich_say(s->line, "request=");
	rich_old_request(s, i, false);
	rn_call_num(&s->w, RN_V_INT, y % 2);
	rich_say(s->line, ", flag=%u, status=", (unsigned)(y % 2));
	rich_status(s, RN_STATUS_FULL, RICH_WORLD, RICH_WORLD, 1);
	rich_end(s);
}

static inline void rich_put(struct rich_stream *s, uint64_t x, uint64_t y)
{
	unsigned comm = (unsigned)(x % RICH_COMMS);

	rich_begin(s, RICH_PUT);
	rn_call_const(&s->w, RICH_W_NULL);
	rn_call_in(&s->w, rich_comm_name[comm], strlen(rich_comm_name[comm]));
	rich_say(s->line, "origin_addr=NULL, target_rank=");
	rich_peer(s, s->line, comm, y % 5, (unsigned)(x / 8 % 4));
	rn_call_object(&s->w, RICH_W_WIN, 3);
	rich_say(s->line, ", win=win:3");
	rich_end(s);
}

/* The call changes the status. The old value is written first and is not printed. */
static inline void rich_set(struct rich_stream *s, uint64_t x, uint64_t y)
{
	rich_begin(s, RICH_SET);
	rn_call_status(&s->w, RN_STATUS_NOTHING);
	rn_call_const(&s->w, RICH_W_INT);
	rn_call_num(&s->w, RN_V_INT, (int64_t)(x % 3));
	rich_say(s->line, "status=");
	rich_status(s, RN_STATUS_FULL, RICH_WORLD, RICH_WORLD, y % 2);
	rich_say(s->line, ", datatype=MPI_INT, count=%u", (unsigned)(x % 3));
	rich_end(s);
}

/* Creates requests in several parameters of one call, with an existing request between them. */
static inline void rich_many(struct rich_stream *s, uint64_t x, uint64_t y)
{
	unsigned n = 1 + (unsigned)(y % 3), i = s->lives ? (unsigned)(x % s->lives) : 0;

	if (!s->lives || s->lives + n + 1 > RICH_LIVE_MAX || s->shapes == RICH_SHAPES_MAX)
		return;
	rich_begin(s, RICH_MANY);
	rn_call_place(&s->w, RICH_W_LIVE, s->live[i].shape, s->live[i].slot);
	rn_call_list(&s->w, n);
	rich_say(s->line, "array_of_requests=[");
	for (unsigned k = 0; k < n; k++) {
		rich_say(s->line, k ? ", " : "");
		rich_new_request(s, RICH_WORLD);
	}
	rich_say(s->line, "], old=request:%" PRIu64 ", last=", s->live[i].number);
	rich_new_request(s, RICH_WORLD);
	rich_end(s);
}

static inline void rich_free(struct rich_stream *s, uint64_t x, uint64_t y)
{
	unsigned i = s->lives ? (unsigned)(x % s->lives) : 0;

	(void)y;
	if (!s->lives)
		return;
	rich_begin(s, RICH_FREE);
	rich_say(s->line, "request=");
	rich_old_request(s, i, true);
	rich_end(s);
	rich_forget(s, i);
}

/* Ends a request by a marker, because the call that completed it is not in this stream. */
static inline void rich_ended(struct rich_stream *s, uint64_t x, uint64_t y)
{
	unsigned i = s->lives ? (unsigned)(x % s->lives) : 0;

	(void)y;
	if (!s->lives)
		return;
	call_begin(&s->w, s->sig, sizeof(s->sig), RICH_ENDED);
	rn_call_place(&s->w, RICH_W_GONE, s->live[i].shape, s->live[i].slot);
	rich_end_marker(s);
	rich_forget(s, i);
}

/* The calls that follow were made by another thread. With a flaw, the lineage is not an integer. */
static inline void rich_thread(struct rich_stream *s, uint32_t function, int64_t lineage)
{
	call_begin(&s->w, s->sig, sizeof(s->sig), function);
	if (lineage < 0)
		rn_call_const(&s->w, RICH_W_NULL);
	else
		rn_call_num(&s->w, RN_V_INT, lineage);
	if (function == RICH_THREAD_TWO)
		rn_call_num(&s->w, RN_V_INT, 1);
	rich_end_marker(s);
}

/* Frees a request that never existed. */
static inline void rich_free_none(struct rich_stream *s)
{
	rich_begin(s, RICH_FREE);
	rn_call_place(&s->w, RICH_W_GONE, 0, 2 * RICH_LIVE_MAX);
	rich_say(s->line, "request=request:?");
	rich_end(s);
}

static void (*const rich_op[])(struct rich_stream *s, uint64_t x, uint64_t y) = {
	rich_send, rich_recv, rich_isend, rich_isend, rich_wait,  rich_waitall, rich_test,
	rich_put,  rich_set,  rich_many,  rich_free,  rich_isend, rich_ended,
};

#define RICH_OPS (sizeof(rich_op) / sizeof(*rich_op))

/* Runs some operations as nested calls of a call that is always made. */
static inline void rich_inside(struct rich_stream *s, uint64_t x, uint64_t y)
{
	static void (*const outer[])(struct rich_stream * s, uint64_t x,
				     uint64_t y) = { rich_send, rich_recv, rich_waitall, rich_put };
	uint64_t first = s->seq, next;

	rich_enter(s);
	for (uint64_t i = 0; i <= x % 4; i++) {
		uint64_t op = rich_below(s, RICH_OPS + 2), a = rich_below(s, 64),
			 b = rich_below(s, 64);

		if (op < RICH_OPS)
			rich_op[op](s, a, b);
		else if (s->depth < RICH_DEPTH_MAX)
			rich_inside(s, a, b);
	}
	rich_mark(s, RICH_LEAVE);
	next = s->seq;
	s->depth--;
	s->seq = first;
	s->back = next - first - 1;
	outer[y % 4](s, x, y);
	s->seq = next;
}

/* The value of a rank in a per-rank table. */
#define RICH_TABLE 2

static inline int64_t rich_colour(uint64_t rank)
{
	return (int64_t)(rank * rank % 7) - 3;
}

static inline void rich_first(struct rich_stream *s)
{
	rich_begin(s, RICH_INIT);
	rn_call_const(&s->w, RICH_W_NULL);
	rn_call_const(&s->w, RICH_W_NULL);
	rn_call_num(&s->w, RN_V_INT, 1);
	rn_call_list(&s->w, 1);
	rn_call_text(&s->w, RN_V_STRING, "./a", 3);
	rich_say(s->line, "argc=1, argv=[\"./a\"]");
	rich_end(s);
	rich_begin(s, RICH_SPLIT);
	rich_comm(s, RICH_WORLD);
	rn_call_num(&s->w, RN_V_VARIES, RICH_TABLE);
	rn_call_num(&s->w, RN_V_REL, 0);
	rn_call_text(&s->w, RN_V_NAME, "comm:world.0", 12);
	rich_say(s->line, ", color=%" PRId64 ", key=%" PRIu64 ", newcomm=comm:world.0",
		 rich_colour(s->rank), s->rank);
	rich_end(s);
}

/* Generates the operations of the body again for each repetition, from the same random numbers. */
static inline void rich_phase(struct rich_stream *s, unsigned phase, unsigned times)
{
	for (unsigned t = 0; t < times; t++) {
		s->rng = s->r->seed * 1000 + phase;
		for (unsigned i = 0; i < s->r->ops; i++) {
			uint64_t op = rich_below(s, RICH_OPS), x = rich_below(s, 64),
				 y = rich_below(s, 64);

			if (s->r->nested && x % 4 == 0)
				rich_inside(s, x, y);
			else
				rich_op[op](s, x, y);
		}
	}
}

/* Generates the calls of a stream in order. *s is too large for a small stack. */
static inline int rich_calls(const struct rich_run *r, uint64_t stream, struct rich_stream *s,
			     rich_emit *emit, void *arg)
{
	memset(s, 0, sizeof(*s));
	s->r = r;
	s->rank = stream / r->threads;
	s->thread = stream % r->threads;
	s->emit = emit;
	s->arg = arg;
	if (s->thread && s->rank % 2)
		return RN_OK;
	if (r->nested && s->thread)
		rich_thread(s, RICH_THREAD, (int64_t)s->thread);
	rich_first(s);
	for (unsigned p = 0; p < r->phases; p++) {
		rich_phase(s, p, 1 + (unsigned)(p * 7 % r->times));
		if (r->nested && s->thread)
			rich_thread(s, RICH_THREAD, (int64_t)(4096 * s->thread + p));
	}
	if (r->flaw == RICH_NO_LINEAGE)
		rich_thread(s, RICH_THREAD, -1);
	if (r->flaw == RICH_TWO_LINEAGES)
		rich_thread(s, RICH_THREAD_TWO, 1);
	if (r->flaw == RICH_LOST_REQUEST)
		rich_free_none(s);
	if (r->flaw == RICH_LEAVE_ALONE)
		rich_mark(s, RICH_LEAVE);
	for (unsigned i = 0; i < 3 && r->flaw == RICH_LEAVE_NOTHING; i++)
		rich_mark(s, i == 1 ? RICH_LEAVE : RICH_ENTER);
	if (r->nested && r->seed % 2) { /* calls that never return */
		rich_enter(s);
		rich_inside(s, 3, r->seed);
		rich_enter(s);
	}
	rich_begin(s, RICH_FINALIZE);
	rich_end(s);
	return s->rc;
}

static inline int rich_add_comms(const struct rich_run *r, uint64_t rank, struct rn_comms *c)
{
	uint64_t half = r->ranks / 2, side = rank / half;
	const struct rn_comm_entry row = { .my_rank = rank % r->row,
					   .size = r->row,
					   .key = rank - rank % r->row };
	const struct rn_comm_entry other = { .my_rank = rank % half,
					     .size = half,
					     .remote = half,
					     .key = side * half,
					     .remote_key = (1 - side) * half };
	int rc = RN_OK;

	if (r->flaw != RICH_NO_TABLE)
		rc = rn_varies_add(c, RICH_TABLE, rank, r->ranks, rich_colour(rank));
	if (r->flaw == RICH_NO_COMMS || rc < 0)
		return rc;
	rc = rn_comms_add(c, "comm:world.0", 12, rank, &row);
	return rc < 0 ? rc : rn_comms_add(c, "comm:world.1", 12, rank, &other);
}

struct rich_feed {
	struct rn_sigs *sigs;
	struct rn_grammar *g;
	struct rn_buf *log;
};

static inline void rich_log(struct rn_buf *log, const char *line, uint64_t back)
{
	size_t len = strlen(line), at = log->len;

	for (; back; back--)
		for (at--; at && log->data[at - 1] != '\n';)
			at--;
	if (!rn_buf_reserve(log, len))
		return;
	memmove(log->data + at + len, log->data + at, log->len - at);
	memcpy(log->data + at, line, len);
	log->len += len;
}

static inline int rich_feed_call(void *arg, const unsigned char *sig, size_t len, const char *line,
				 uint64_t back)
{
	struct rich_feed *f = arg;
	uint32_t id;
	int rc = rn_sigs_intern(f->sigs, sig, len, &id);

	if (f->log)
		rich_log(f->log, line, back);
	return rc < 0 ? rc : rn_grammar_append(f->g, id);
}

/* Merges all streams. Appends their log to *log unless that is NULL. */
static inline int rich_merge(const struct rich_run *r, struct rank_merge *link,
			     struct rn_arena *mem, struct rn_streams *out, struct rn_buf *log)
{
	static struct rich_stream s;
	int rc = RN_OK;

	for (uint64_t i = 0; i < r->ranks * r->threads && rc == RN_OK; i++) {
		struct rich_feed f = { rn_sigs_new(mem), rn_grammar_new(mem, NULL), log };

		rc = rich_calls(r, i, &s, rich_feed_call, &f);
		if (rc == RN_OK)
			rc = rank_merge_add(link, f.sigs, f.g);
	}
	return rc == RN_OK ? rank_merge_finish(link, mem, out) : rc;
}

/* Writes time statistics. Signature i takes i microseconds, and slightly more in each call,
 * after a gap of one millisecond. */
static inline int rich_times(const struct rn_streams *s, struct rn_arena *mem, struct rn_buf *out)
{
	uint32_t n = rn_sigs_count(s->sigs);
	uint64_t *count = rn_new(mem, uint64_t, n);
	struct rn_times times;
	int rc = count ? rn_streams_counts(s, mem, count) : RN_E_NOMEM;

	rn_times_init(&times, mem, RN_TIME_SCALE_ONE);
	for (uint32_t i = 0; i < n && rc == RN_OK; i++)
		for (uint64_t k = 0; k < count[i]; k++)
			rn_times_add(&times, i, i * 1000 + k * 10, 1000000);
	rn_times_settle(&times, RN_TIME_SCALE_ONE);
	return rc == RN_OK ? rn_times_encode(&times, count, n, out) : rc;
}

/* Writes the whole trace file into the memory of the writer, and appends the log. */
static inline int rich_file(const struct rich_run *r, struct rn_container_writer *w,
			    const void **bytes, size_t *len, struct rn_buf *log)
{
	static struct rank_merge link;
	char threads[24];
	const struct rn_meta_entry entry[] = { { "program", "rich" },
					       { "threads", threads },
					       { "time", "summary" } };
	const struct rn_meta meta = { entry, 3 };
	struct rn_buf b = { 0 }, sites = { 0 };
	struct rn_arena mem;
	struct rn_streams s;
	struct rn_comms *comms;
	int rc;

	snprintf(threads, sizeof(threads), "%" PRIu64,
		 r->flaw == RICH_ODD_THREADS ? r->threads * r->ranks - 1 : r->threads);
	rn_arena_init(&mem, SIZE_MAX);
	rank_merge_init(&link);
	comms = rn_comms_new(&mem);
	rc = comms ? rich_merge(r, &link, &mem, &s, log) : RN_E_NOMEM;
	for (uint64_t i = 0; i < r->ranks && rc == RN_OK; i++)
		rc = rich_add_comms(r, i, comms);
	if (rc == RN_OK)
		rc = take_sites(&mem, s.sigs, &rich_vocab, &s.sigs, &sites);
	if (rc == RN_OK)
		rc = rank_merge_sections(w, &s, &rich_vocab, &meta, NULL);
	if (rc == RN_OK)
		rc = rn_comms_encode(comms, &b);
	if (rc == RN_OK)
		rc = rn_container_add(w, RN_SECTION_COMMS, b.data, b.len, NULL);
	rn_buf_clear(&b);
	if (rc == RN_OK)
		rc = rich_times(&s, &mem, &b);
	if (rc == RN_OK)
		rc = rn_container_add(w, RN_SECTION_TIMES, b.data, b.len, NULL);
	if (rc == RN_OK && sites.len)
		rc = rn_container_add(w, RN_SECTION_SITES, sites.data, sites.len, NULL);
	if (rc == RN_OK)
		rc = rn_container_finish(w, bytes, len, NULL);
	rn_buf_free(&sites);
	rn_buf_free(&b);
	rank_merge_free(&link);
	rn_arena_free(&mem);
	return rc;
}

#endif
