/*
 * test_outcomes.c - outcomes of calls, from traces that are written as text: events, calls, and
 * the matches of unobserved receives.
 */
#include "tap.h"

#include <stdarg.h>
#include <string.h>

#include "analysis/event_source.h"
#include "analysis/infer_receives.h"
#include "read/trace.h"
#include "script_trace.h"

#define W      " comm=MPI_COMM_WORLD"
#define LINES  400
#define LONGER 160

static char text[1 << 16];

__attribute__((format(printf, 1, 2))) static void say(const char *fmt, ...)
{
	size_t n = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - n, fmt, ap);
	va_end(ap);
}

/* Prints index, +overtaken, source and tag; x: cancelled. */
static void say_done(const struct rn_order_done *d)
{
	say(" %u", d->index);
	if (d->late != RN_ORDER_NOT)
		say("+%u", d->late);
	if (d->flags & RN_ORDER_MATCHED)
		say("=%d/%d", d->source, d->tag);
	if (d->flags & RN_ORDER_CANCELLED)
		say("x");
}

static void say_rows(const struct rn_order *o)
{
	const struct rn_order_done *d = o->done;
	const int64_t *v = o->value;

	for (size_t i = 0; i < o->rows; i++) {
		const struct rn_order_site *s = &o->site[o->row[i].site];

		const char *name = rn_order_kinds[s->kind].name;

		say("%s %u:", name ? name : rn_vocab_func(&rn_mpi_vocab, s->function)->name + 4,
		    o->row[i].fails);
		for (uint32_t k = 0; k < o->row[i].done; k++)
			if (rn_order_has_numbers(s))
				say(" %lld", (long long)*v++);
			else
				say_done(d++);
		say("\n");
	}
	CHECK(d == o->done + o->dones && v == o->value + o->values);
}

/* Prints the matches; x: cancelled, ?: unobserved, !: inferred. */
static void say_matches(const struct rn_outcome *o)
{
	for (size_t i = 0; i < o->matches; i++) {
		const struct rn_plan_match *m = &o->match[i];

		if (m->state == RN_PLAN_MATCHED || m->state == RN_PLAN_INFERRED)
			say(" %d/%d", m->source, m->tag);
		else
			say(" ");
		say("%s", (const char *const[]){ "", "x", "?", "!" }[m->state]);
	}
	say("\n");
}

/* A trace that was read, and its outcomes. */
struct read {
	struct rn_buf file;
	struct rn_trace t;
	struct rn_arena mem;
	struct rn_orders orders;
	struct rn_outcome out[16];
	uint64_t ambiguous;
};

static int read_all(struct read *r)
{
	struct rn_err err = { 0 };
	int rc = rn_orders_init(&r->orders, &r->mem, &r->t, &err);

	for (uint64_t s = 0; s < r->t.ranks && rc == RN_OK; s++)
		rc = rn_orders_outcome(&r->orders, s, true, &r->mem, &r->out[s], &err);
	return rc == RN_OK ? rn_unseen_infer(&r->mem, &r->orders, r->out, r->t.ranks, &r->ambiguous)
			   : rc;
}

static void open_script(struct read *r, const char *const *const *rank, uint64_t ranks,
			const struct rn_comms *comms)
{
	struct rn_err err = { 0 };

	memset(r, 0, sizeof(*r));
	rn_arena_init(&r->mem, SIZE_MAX);
	CHECK(script_file(rank, ranks, comms, &r->file) == RN_OK);
	if (!CHECK(rn_trace_parse(&r->t, r->file.data, r->file.len, &err) == RN_OK))
		diag("%s", err.text);
}

static void close_script(struct read *r)
{
	rn_orders_free(&r->orders);
	rn_trace_close(&r->t);
	rn_arena_free(&r->mem);
	rn_buf_free(&r->file);
}

/* Compares each wildcard receive with the match that the events alone give. */
static void check_matches(const struct read *r, const struct rn_outcome *o)
{
	struct rn_plan_match *m;
	struct rn_arena mem;
	size_t n;

	rn_arena_init(&mem, SIZE_MAX);
	CHECK(rn_plan_matches(&mem, &o->order, &m, &n) == RN_OK && n <= o->matches);
	for (size_t i = 0; i < n; i++)
		if (o->match[i].state == RN_PLAN_INFERRED)
			CHECK(m[i].state == RN_PLAN_UNSEEN);
		else
			CHECK(m[i].source == o->match[i].source && m[i].tag == o->match[i].tag &&
			      m[i].state == o->match[i].state);
	for (size_t i = n; i < o->matches; i++)
		CHECK(o->match[i].state >= RN_PLAN_UNSEEN);
	rn_arena_free(&mem);
	(void)r;
}

static void is_text(const char *wanted)
{
	if (!CHECK(strcmp(text, wanted) == 0))
		fprintf(stderr, "# has:\n%s# wanted:\n%s", text, wanted);
	text[0] = 0;
}

/* Compares the events of one rank, then its matches. */
static void one_rank(const char *const *line, const char *wanted)
{
	struct read r;

	open_script(&r, &line, 1, NULL);
	CHECK(read_all(&r) == RN_OK);
	say_rows(&r.out[0].order);
	say_matches(&r.out[0]);
	check_matches(&r, &r.out[0]);
	is_text(wanted);
	close_script(&r);
}

#define LINE(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void test_blocking(void)
{
	one_rank(LINE("MPI_Recv source=1 tag=2" W " status=<1,2,0>",
		      "MPI_Recv source=* tag=2" W " status=<1,2,0>",
		      "MPI_Recv source=1 tag=*" W " status={1,8}",
		      "MPI_Recv source=MPI_PROC_NULL tag=*" W " status=<0,0,0>",
		      "MPI_Sendrecv dest=1 source=* recvtag=4" W " status={2,4}",
		      "MPI_Recv_c source=* tag=*" W " status={3,3}",
		      "MPI_Recv source=* tag=5" W " ret=unset"),
		 "Recv 0: 0+0=1/2\n"
		 "Recv 0: 0+0=1/8\n"
		 "Sendrecv 0: 0+0=2/4\n"
		 "Recv_c 0: 0+0=3/3\n"
		 " 1/2 1/8 2/4 3/3 ?\n");
	one_rank(LINE("MPI_Probe source=1 tag=2" W " status=<1,2,0>",
		      "MPI_Probe source=* tag=2" W " status=<1,2,1>",
		      "MPI_Iprobe source=1 tag=2" W " flag=0 status=~", "MPI_Comm_rank" W " rank=0",
		      "MPI_Iprobe source=1 tag=2" W " flag=0 status=~",
		      "MPI_Iprobe source=1 tag=2" W " flag=1 status={1,2}",
		      "MPI_Iprobe source=MPI_PROC_NULL tag=2" W " flag=1 status={0,0}",
		      "MPI_Iprobe source=1 tag=2" W " flag=0 status=~",
		      "MPI_Mprobe source=* tag=*" W " status={3,2}",
		      "MPI_Improbe source=* tag=*" W " flag=1 status={2,2}"),
		 "Probe 0: 0=1/2\n"
		 "Iprobe 2: 0=1/2\n"
		 "Iprobe 1:\n"
		 "Mprobe 0: 0=3/2\n"
		 "Improbe 0: 0=2/2\n"
		 "\n");
}

static void test_requests(void)
{
	one_rank(LINE("MPI_Irecv source=* tag=1" W " request=+a",
		      "MPI_Irecv source=* tag=1" W " request=+b",
		      "MPI_Irecv source=2 tag=1" W " request=+c",
		      "MPI_Irecv source=* tag=2" W " request=+d",
		      "MPI_Isend dest=2 tag=1" W " request=+e",
		      "MPI_Test request=d flag=0 status=~", "MPI_Test request=d flag=0 status=~",
		      "MPI_Test request=d- flag=1 status=<5,2,0>",
		      "MPI_Test request=e- flag=1 status=~",
		      "MPI_Waitany array_of_requests=[a,b-,c,d] index=1 status={6,1}",
		      "MPI_Waitany array_of_requests=[a,b,c-,d] index=2 status=~",
		      "MPI_Waitany array_of_requests=[b,d] index=MPI_UNDEFINED status=~",
		      "MPI_Wait request=a- status={7,1}", "MPI_Test request=a flag=1 status=~"),
		 "Test 2: 0+2=5/2\n"
		 "Test 0: 0\n"
		 "Waitany 0: 1+1=6/1\n"
		 "Waitany 0: 2\n"
		 "Wait 0: 0+0=7/1\n"
		 " 7/1 6/1 5/2\n");
	one_rank(LINE("MPI_Irecv source=* tag=1" W " request=+a",
		      "MPI_Irecv source=* tag=1" W " request=+b",
		      "MPI_Irecv source=* tag=1" W " request=+c",
		      "MPI_Isend dest=2 tag=1" W " request=+d",
		      "MPI_Testsome array_of_requests=[a,b,c,d] outcount=0 array_of_indices=[] "
		      "array_of_statuses=[]",
		      "MPI_Testsome array_of_requests=[a,b,c-,d-] outcount=2 "
		      "array_of_indices=[3,2] array_of_statuses=[~,{1,1}]",
		      "MPI_Waitsome array_of_requests=[a-,b-] outcount=2 array_of_indices=[1,0] "
		      "array_of_statuses=[<2,1,0>,<3,1,0>]",
		      "MPI_Waitsome array_of_requests=[a,b] outcount=MPI_UNDEFINED"),
		 "Testsome 1: 3 2+2=1/1\n"
		 "Waitsome 0: 1+1=2/1 0+0=3/1\n"
		 " 3/1 2/1 1/1\n");
	one_rank(LINE("MPI_Irecv source=* tag=1" W " request=+a",
		      "MPI_Irecv source=* tag=1" W " request=+b",
		      "MPI_Isend dest=2 tag=1" W " request=+c",
		      "MPI_Isend dest=2 tag=1" W " request=+d",
		      "MPI_Testall array_of_requests=[a,b,c] flag=0",
		      "MPI_Testall array_of_requests=[c-,b-,a-] flag=1 "
		      "array_of_statuses=[~,{4,1},{5,1}]",
		      "MPI_Testall array_of_requests=[a,b] flag=1 array_of_statuses=[~,~]",
		      "MPI_Waitall array_of_requests=[d-,a] array_of_statuses=[~,~]",
		      "MPI_Irecv source=* tag=1" W " request=+a",
		      "MPI_Isend dest=2 tag=1" W " request=+d",
		      "MPI_Waitall array_of_requests=[d-,a-] "
		      "array_of_statuses=[<0,0,0>,<9,1,0>]"),
		 "Testall 1: 1+1=4/1 2+0=5/1\n"
		 "Waitall 0: 1+0=9/1\n"
		 " 5/1 4/1 9/1\n");
}

static void test_ends(void)
{
	one_rank(LINE("MPI_Irecv source=* tag=1" W " request=+a", "MPI_Cancel request=a",
		      "MPI_Wait request=a- status=~", "MPI_Irecv source=* tag=1" W " request=+a",
		      "MPI_Cancel request=a", "MPI_Wait request=a- status=<1,1,1>",
		      "MPI_Irecv source=* tag=1" W " request=+a", "MPI_Request_free request=a-",
		      "MPI_Irecv source=* tag=1" W " request=+a",
		      "MPI_Request_get_status request=a flag=0 status=~",
		      "MPI_Request_get_status request=a flag=1 status={3,1}",
		      "MPI_Request_get_status request=a flag=1 status={3,1}",
		      "MPI_Wait request=a- status={3,1}",
		      "MPI_Irecv source=1 tag=1" W " request=+a", "MPI_Cancel request=a",
		      "MPI_Waitany array_of_requests=[a-] index=0 status=<1,1,1>",
		      "MPI_Irecv source=* tag=1" W " ret=MPI_ERR_RANK",
		      "MPI_Wait request=a status=~ ret=MPI_ERR_REQUEST", "MPI_Win_test flag=0",
		      "MPI_Win_test flag=1", "MPI_Finalize"),
		 "Wait 0: 0+0x\n"
		 "Wait 0: 0+0x\n"
		 "Request_get_status 1: 0+1=3/1\n"
		 "Request_get_status 0: 0\n"
		 "cancellation 0: 1\n"
		 "Waitany 0: 0x\n"
		 "Win_test 1: 0\n"
		 " x x ? 3/1 ?\n");
	/* For requests with a named partner: which were cancelled. Twice the ordinal, plus one if
	 * it was cancelled. Requests that the program did not try to cancel have ordinals too. */
	one_rank(LINE("MPI_Isend dest=1 tag=1" W " request=+a",
		      "MPI_Isend dest=1 tag=1" W " request=+b",
		      "MPI_Recv_init source=1 tag=1" W " request=+c", "MPI_Start request=c",
		      "MPI_Cancel request=b", "MPI_Cancel request=c",
		      "MPI_Waitall array_of_requests=[c,b-,a-] "
		      "array_of_statuses=[<1,1,1>,<1,1,0>,<1,1,0>]",
		      "MPI_Start request=c", "MPI_Cancel request=c", "MPI_Wait request=c status=~",
		      "MPI_Start request=c", "MPI_Wait request=c status=<1,1,0>"),
		 "cancellation 0: 5\n"
		 "cancellation 0: 2\n"
		 "\n");
	one_rank(LINE("MPI_Recv_init source=* tag=1" W " request=+a",
		      "MPI_Send_init dest=1 tag=1" W " request=+b",
		      "MPI_Barrier_init" W " request=+c", "MPI_Test request=a flag=1 status={0,0}",
		      "MPI_Startall array_of_requests=[b,a]",
		      "MPI_Irecv source=* tag=1" W " request=+d",
		      "MPI_Wait request=d- status={4,1}",
		      "MPI_Testany array_of_requests=[a,b] index=MPI_UNDEFINED flag=0 status=~",
		      "MPI_Testany array_of_requests=[a,b] index=0 flag=1 status={5,1}",
		      "MPI_Testany array_of_requests=[a,b] index=1 flag=1 status=~",
		      "MPI_Testall array_of_requests=[a,b,c] flag=1 array_of_statuses=[~,~,~]",
		      "MPI_Start request=a", "MPI_Wait request=a status={6,1}",
		      "MPI_Wait request=a status={0,0}", "MPI_Start request=c",
		      "MPI_Test request=c flag=1 status=~", "MPI_Test request=c flag=1 status=~"),
		 "Wait 0: 0+1=4/1\n"
		 "Testany 1: 0+0=5/1\n"
		 "Testany 0: 1\n"
		 "Wait 0: 0+0=6/1\n"
		 "Test 0: 0\n"
		 " 5/1 4/1 6/1\n");
	/* A nested call has no event, but its request is tracked. */
	one_rank(LINE("MPI_Irecv source=* tag=1" W " request=+a", "rondo_enter",
		      "MPI_Recv source=* tag=1" W " status={1,1}",
		      "MPI_Irecv source=* tag=1" W " request=+b", "rondo_leave",
		      "MPI_Wait request=a- status={2,1}", "MPI_Test request=b- flag=1 status={3,1}",
		      "MPI_Irecv source=* tag=1" W " request=+a", "rondo_ended request=a-",
		      "MPI_Irecv source=* tag=1" W " request=+b",
		      "MPI_Test request=b- flag=1 status={4,1}"),
		 "Wait 0: 0+0=2/1\n"
		 "Test 0: 0\n"
		 "Test 0: 0+1=4/1\n"
		 " 2/1 ? 4/1\n");
}

/* ---- threads that use a stream one after the other ---- */

static void say_threads(const struct rn_outcome *o)
{
	for (size_t i = 0; i < o->threads; i++) {
		const struct rn_outcome_thread *t = &o->thread[i];

		say("thread %lld%s: row %zu, done %zu, match %zu, call %zu\n",
		    (long long)t->lineage, t->named ? "" : "?", t->row, t->done, t->match, t->call);
	}
}

static void test_threads(void)
{
	/* The second thread completes a receive of the first one. The third one has a lineage of
	 * its own although a call of the second one has not returned. */
	const char *const *line =
		LINE("MPI_Irecv source=* tag=1" W " request=+a",
		     "MPI_Irecv source=* tag=1" W " request=+b", "MPI_Wait request=b- status={3,1}",
		     "MPI_Test request=a flag=0 status=~", "rondo_thread lineage=7",
		     "MPI_Irecv source=* tag=2" W " request=+c",
		     "MPI_Test request=a flag=0 status=~", "MPI_Wait request=a- status={4,1}",
		     "MPI_Wait request=c- status={5,2}", "rondo_enter", "rondo_thread lineage=8",
		     "MPI_Recv source=* tag=*" W " status={6,6}");
	struct read r;

	open_script(&r, &line, 1, NULL);
	CHECK(read_all(&r) == RN_OK);
	say_rows(&r.out[0].order);
	say_matches(&r.out[0]);
	say_threads(&r.out[0]);
	is_text("Wait 0: 0+1=3/1\n"
		"Test 1:\n"
		"Test 1:\n"
		"Wait 0: 0=4/1\n"
		"Wait 0: 0+0=5/2\n"
		"Recv 0: 0+0=6/6\n"
		" 4/1 3/1 5/2 6/6\n"
		"thread 0?: row 0, done 0, match 0, call 0\n"
		"thread 7: row 2, done 1, match 2, call 4\n"
		"thread 8: row 5, done 3, match 3, call 8\n");
	close_script(&r);
	line = LINE("rondo_thread lineage=MPI_COMM_WORLD", "MPI_Comm_rank" W " rank=0");
	open_script(&r, &line, 1, NULL);
	CHECK(read_all(&r) == RN_E_DATA);
	close_script(&r);
}

/* ---- properties of calls that a replay compares ---- */

static struct rn_comms *pairs(struct rn_arena *mem, bool between)
{
	struct rn_comms *c = rn_comms_new(mem);

	for (uint64_t r = 0; r < 4; r++) {
		struct rn_comm_entry e = { r % 2, 2, 0, 1 + r / 2, 0 };

		if (between)
			e = (struct rn_comm_entry){ r % 2, 2, 2, 1 + r / 2, 2 - r / 2 };
		CHECK(rn_comms_add(c, "comm:world.0", 12, r, &e) == RN_OK);
	}
	return c;
}

static void say_number(int64_t n)
{
	static const char *const name[] = { "-", "?", "any", "nobody", "root" };

	if (n >= RN_PLAN_NOTHING && n <= RN_PLAN_ROOT)
		say(" %s", name[n - RN_PLAN_NOTHING]);
	else
		say(" %lld", (long long)n);
}

static void test_calls(void)
{
	const char *const *line = LINE(
		"MPI_Send count=5 dest=^1 tag=7" W,
		"MPI_Send count=5 dest=^1 tag=7 comm=comm:world.0",
		"MPI_Send count=5 dest=^1 tag=7 comm=comm:world.8",
		"MPI_Sendrecv sendcount=3 dest=1 sendtag=2 source=* recvtag=*" W " status={1,1}",
		"MPI_Recv count=4 source=* tag=*" W " status={1,1}", "MPI_Bcast root=MPI_ROOT" W,
		"MPI_Comm_get_parent parent=comm:world.0",
		"MPI_Waitall count=2 array_of_requests=[a,b] array_of_statuses=[~,~]",
		"MPI_Finalize");
	const char *const *const rank[] = { line, line, line, line };
	struct rn_arena mem;
	struct read r;
	uint32_t n;

	rn_arena_init(&mem, SIZE_MAX);
	open_script(&r, rank, 4, pairs(&mem, false));
	CHECK(read_all(&r) == RN_OK);
	for (size_t i = 0; i < r.out[2].calls; i++) {
		const struct rn_plan_call *c = &r.out[2].call[i];

		say("%s %s", rn_vocab_func(&rn_mpi_vocab, c->function)->name,
		    c->comm ? rn_orders_comms(&r.orders, &n)[c->comm - 1] : "-");
		say_number(c->peer);
		say_number(c->tag);
		say_number(c->count);
		if (c->source != RN_PLAN_NOTHING) {
			say_number(c->source);
			say_number(c->recvtag);
		}
		say("\n");
	}
	is_text("MPI_Send MPI_COMM_WORLD 3 7 5\n"
		"MPI_Send comm:world.0 1 7 5\n"
		"MPI_Send comm:world.8 ? 7 5\n"
		"MPI_Sendrecv MPI_COMM_WORLD 1 2 3 any any\n"
		"MPI_Recv MPI_COMM_WORLD any any 4\n"
		"MPI_Bcast MPI_COMM_WORLD root - 0\n"
		"MPI_Comm_get_parent - - - -\n"
		"MPI_Waitall - - - 2\n"
		"MPI_Finalize - - - -\n");
	CHECK(r.out[2].order.sends == 3);
	CHECK(r.out[2].order.send[1].me == 0 && r.out[2].order.send[1].dest == 1);
	close_script(&r);
	rn_arena_free(&mem);
}

/* ---- unobserved receives ---- */

static void several_ranks(const char *const *const *rank, uint64_t ranks,
			  const struct rn_comms *comms, uint64_t ambiguous, const char *wanted)
{
	struct read r;

	open_script(&r, rank, ranks, comms);
	CHECK(read_all(&r) == RN_OK);
	for (uint64_t i = 0; i < ranks; i++) {
		check_matches(&r, &r.out[i]);
		if (r.out[i].matches)
			say_matches(&r.out[i]);
	}
	CHECK(r.ambiguous == ambiguous);
	is_text(wanted);
	close_script(&r);
}

#define RANKS(...) ((const char *const *const[]){ __VA_ARGS__ })

static void test_unseen(void)
{
	/* The first Send has been received, so only the second one can match. */
	several_ranks(RANKS(LINE("MPI_Irecv source=* tag=7" W " request=+a",
				 "MPI_Irecv source=* tag=7" W " request=+b",
				 "MPI_Irecv source=* tag=9" W " request=+c",
				 "MPI_Wait request=b- status={1,7}"),
			    LINE("MPI_Send dest=0 tag=7" W, "MPI_Send dest=0 tag=7" W)),
		      2, NULL, 0, " 1/7! 1/7 ?\n");
	/* A send that was certainly received, such as a completed Ssend, is matched first. The
	 * other open receives match the remaining sends that fit. */
	several_ranks(RANKS(LINE("MPI_Irecv source=* tag=*" W " request=+a"),
			    LINE("MPI_Send dest=0 tag=1" W), LINE("MPI_Ssend dest=0 tag=2" W)),
		      3, NULL, 1, " 2/2!\n");
	several_ranks(RANKS(LINE("MPI_Irecv source=1 tag=1" W " request=+a",
				 "MPI_Irecv source=1 tag=*" W " request=+b"),
			    LINE("MPI_Send dest=0 tag=1" W, "MPI_Send dest=0 tag=1" W)),
		      2, NULL, 0, " 1/1!\n");
	/* Messages do not overtake: the sends before a certain one were received as well. */
	several_ranks(
		RANKS(LINE("MPI_Irecv source=1 tag=*" W " request=+a",
			   "MPI_Irecv source=1 tag=*" W " request=+b"),
		      LINE("MPI_Send dest=0 tag=1" W, "MPI_Issend dest=0 tag=2" W " request=+a",
			   "MPI_Test request=a- flag=1 status=~")),
		2, NULL, 0, " 1/1! 1/2!\n");
	/* The Isends are incomplete and cancelled, and a matched probe received the Send: no send
	 * remains. */
	several_ranks(RANKS(LINE("MPI_Irecv source=* tag=*" W " request=+a",
				 "MPI_Mprobe source=1 tag=3" W " status={1,3}"),
			    LINE("MPI_Isend dest=0 tag=1" W " request=+a",
				 "MPI_Isend dest=0 tag=2" W " request=+b", "MPI_Cancel request=b",
				 "MPI_Wait request=b- status=<0,0,1>", "MPI_Send dest=0 tag=3" W,
				 "MPI_Ssend dest=0 tag=4" W " ret=unset")),
		      2, NULL, 0, " ?\n");
	/* Rank 2 has two equal sends. One of the three sends remains unmatched. */
	several_ranks(RANKS(LINE("MPI_Irecv source=* tag=1" W " request=+a",
				 "MPI_Request_free request=a-",
				 "MPI_Irecv source=* tag=1" W " request=+a"),
			    LINE("MPI_Ssend dest=0 tag=1" W),
			    LINE("MPI_Ssend dest=0 tag=1" W, "MPI_Ssend dest=0 tag=1" W)),
		      3, NULL, 2, " 1/1! 2/1!\n");
}

static void test_unseen_comms(void)
{
	const char *const *receiver =
		LINE("MPI_Irecv source=* tag=1 comm=comm:world.0 request=+a",
		     "MPI_Irecv source=* tag=1 comm=MPI_COMM_SELF request=+b");
	const char *const *sender = LINE("MPI_Send dest=0 tag=1 comm=comm:world.0",
					 "MPI_Send dest=0 tag=1 comm=MPI_COMM_SELF");
	const char *const *const rank[] = { receiver, sender, receiver, sender };
	struct rn_arena mem;

	rn_arena_init(&mem, SIZE_MAX);
	/* Ranks 0 and 1 are a pair, and ranks 2 and 3. */
	several_ranks(rank, 4, pairs(&mem, false), 0, " 1/1! ?\n 1/1! ?\n");
	/* Ranks 0 and 1 are one side: 1 sends to 2, and 3 to 0. */
	several_ranks(rank, 4, pairs(&mem, true), 0, " 1/1! ?\n 1/1! ?\n");
	/* The communicator is unknown. */
	several_ranks(rank, 4, NULL, 0, " ? ?\n ? ?\n");
	rn_arena_free(&mem);
}

/* ---- random programs, compared with a list that is searched linearly ---- */

struct model {
	char line[LINES][LONGER];
	const char *pointer[LINES + 1];
	int lines;
};

static void add_line(struct model *m, const char *fmt, int a, int b)
{
	snprintf(m->line[m->lines], LONGER, fmt, a, b);
	m->pointer[m->lines] = m->line[m->lines];
	m->pointer[++m->lines] = NULL;
}

#define SENDERS 3
#define TAGS    2
#define RECVS   20

/* The model: the plain sends of all senders match, one after the other, the first receive that
 * fits. */
static void expect(int source[RECVS], int tag[RECVS], const int sent[SENDERS][RECVS], const int *n)
{
	bool taken[RECVS] = { false };

	for (int s = 0; s < SENDERS; s++)
		for (int i = 0; i < n[s]; i++)
			for (int k = 0; k < RECVS; k++)
				if (!taken[k] && (source[k] < 0 || source[k] == s + 1) &&
				    (tag[k] < 0 || tag[k] == sent[s][i])) {
					taken[k] = true;
					source[k] = s + 1;
					tag[k] = sent[s][i];
					break;
				}
	for (int k = 0; k < RECVS; k++)
		if (!taken[k])
			source[k] = -2;
}

static void random_unseen(void)
{
	static struct model rank[SENDERS + 1];
	const char *const *line[SENDERS + 1];
	int source[RECVS], tag[RECVS], sent[SENDERS][RECVS], n[SENDERS];
	struct read r;

	for (int i = 0; i <= SENDERS; i++) {
		rank[i].lines = 0;
		line[i] = rank[i].pointer;
		add_line(&rank[i], "MPI_Barrier" W, 0, 0);
	}
	for (int k = 0; k < RECVS; k++) {
		source[k] = (int)(tap_rand() % (SENDERS + 1)) + 1;
		tag[k] = source[k] > SENDERS ? (int)(tap_rand() % (TAGS + 1)) - 1 : -1;
		source[k] = source[k] > SENDERS ? -1 : source[k];
		if (source[k] < 0 && tag[k] < 0)
			add_line(&rank[0], "MPI_Irecv source=* tag=*" W " request=+%c", 'a' + k, 0);
		else if (source[k] < 0)
			add_line(&rank[0], "MPI_Irecv source=* tag=%d" W " request=+%c", tag[k],
				 'a' + k);
		else
			add_line(&rank[0], "MPI_Irecv source=%d tag=*" W " request=+%c", source[k],
				 'a' + k);
	}
	for (int s = 0; s < SENDERS; s++)
		for (n[s] = 0; n[s] < (int)(tap_rand() % 10); n[s]++) {
			sent[s][n[s]] = (int)(tap_rand() % TAGS);
			add_line(&rank[s + 1], "MPI_Send dest=0 tag=%d" W, sent[s][n[s]], 0);
		}
	expect(source, tag, (const int(*)[RECVS])sent, n);
	open_script(&r, line, SENDERS + 1, NULL);
	CHECK(read_all(&r) == RN_OK && r.out[0].matches == RECVS);
	for (int k = 0; k < RECVS; k++) {
		const struct rn_plan_match *m = &r.out[0].match[k];

		CHECK(m->state == (source[k] < 0 ? RN_PLAN_UNSEEN : RN_PLAN_INFERRED));
		CHECK(source[k] < 0 || (m->source == source[k] && m->tag == tag[k]));
	}
	close_script(&r);
}

/* Many receives, completed in any order by any function, in a loop that a grammar folds. */
static void random_late(void)
{
	static struct model m;
	const char *const *line = m.pointer;
	bool live[10] = { false };
	uint32_t number[10];
	bool done[LINES] = { false };
	int started = 0, from = 1;
	struct read r;

	m.lines = 0;
	text[0] = 0;
	while (m.lines < LINES - 1) {
		int k = (int)(tap_rand() % 10);
		uint32_t late = 0;

		if (!live[k]) {
			add_line(&m, "MPI_Irecv source=* tag=1" W " request=+%c", 'a' + k, 0);
			number[k] = (uint32_t)started++;
			live[k] = true;
			continue;
		}
		live[k] = false;
		from = 1 + (int)(tap_rand() % 3);
		add_line(&m, "MPI_Waitany array_of_requests=[z,%c-] index=1 status={%d,1}", 'a' + k,
			 from);
		for (uint32_t lower = 0; lower < number[k]; lower++)
			late += !done[lower];
		say("Waitany 0: 1+%u=%d/1\n", late, from);
		done[number[k]] = true;
	}
	{
		static char wanted[sizeof(text)];

		memcpy(wanted, text, sizeof(text));
		text[0] = 0;
		open_script(&r, &line, 1, NULL);
		CHECK(read_all(&r) == RN_OK && r.out[0].matches == (size_t)started);
		say_rows(&r.out[0].order);
		check_matches(&r, &r.out[0]);
		is_text(wanted);
		close_script(&r);
	}
}

/* ---- failures ---- */

static const char *const *const rich[] = {
	LINE("MPI_Irecv source=* tag=7 comm=comm:world.0 request=+a",
	     "MPI_Irecv source=* tag=7" W " request=+b",
	     "MPI_Testsome array_of_requests=[a,b-] "
	     "outcount=1 array_of_indices=[1] array_of_statuses=[{1,7}]",
	     "MPI_Iprobe source=1 tag=2" W " flag=0 status=~"),
	LINE("MPI_Send dest=0 tag=7" W, "MPI_Send dest=0 tag=7 comm=comm:world.0"),
};

/* Every allocation fails once. */
static void test_no_memory(void)
{
	struct rn_arena mem;
	struct read r;
	int rc = RN_E_NOMEM;

	rn_arena_init(&mem, SIZE_MAX);
	open_script(&r, rich, 2, pairs(&mem, false));
	for (uint64_t n = 1; rc == RN_E_NOMEM && n < 1000; n++) {
		r.mem.fail_at = n;
		rc = read_all(&r);
		rn_orders_free(&r.orders);
		r.mem.fail_at = 0;
		CHECK(rc == RN_OK || rc == RN_E_NOMEM);
	}
	CHECK(rc == RN_OK);
	rc = RN_E_NOMEM;
	for (uint64_t n = 1; rc == RN_E_NOMEM && n < 1000; n++) {
		rn_buf_fail_at(n);
		rc = read_all(&r);
		rn_buf_fail_at(0);
		rn_orders_free(&r.orders);
		CHECK(rc == RN_OK || rc == RN_E_NOMEM);
	}
	CHECK(rc == RN_OK && r.out[0].match[0].state == RN_PLAN_INFERRED);
	r.orders.reader = NULL;
	close_script(&r);
	rn_arena_free(&mem);
}

/* Calls with values of any kind in any position: a trace need not come from a program. */
static void random_values(void)
{
	static const char *const name[] = {
		"MPI_Recv",    "MPI_Irecv",    "MPI_Recv_init", "MPI_Start",
		"MPI_Wait",    "MPI_Waitall",  "MPI_Waitany",   "MPI_Waitsome",
		"MPI_Test",    "MPI_Testall",  "MPI_Testany",   "MPI_Testsome",
		"MPI_Iprobe",  "MPI_Sendrecv", "MPI_Isend",     "MPI_Request_get_status",
		"rondo_ended", "MPI_Improbe",  "MPI_Startall",  "MPI_Request_free",
	};
	static const char *const value[] = {
		"0",
		"1",
		"3",
		"-5",
		"^1",
		"*",
		"a",
		"a-",
		"b",
		"b-",
		"+c",
		"c-",
		"~",
		"<1,2,0>",
		"<1,2,1>",
		"{2,3}",
		"comm:x",
		"MPI_COMM_WORLD",
		"MPI_UNDEFINED",
		"unset",
		"[]",
		"[a,b-]",
		"[2,0,1]",
		"[7,-1,0]",
		"[{1,1},~]",
		"[a-,a-,c]",
		"[~,3,<1,2,0>]",
	};
	static struct model m;
	const char *const *line = m.pointer;
	struct read r;
	int rc;

	m.lines = 0;
	add_line(&m, "MPI_Irecv source=* tag=1" W " request=+a", 0, 0);
	while (m.lines < 60) {
		const char *f = name[tap_rand() % (sizeof(name) / sizeof(*name))];
		const struct rn_func *func = script_func(f);
		char *to = m.line[m.lines];

		snprintf(to, LONGER, "%s", f);
		for (uint32_t i = 0; i < func->nparams; i++)
			if (tap_rand() % 4 && strlen(to) < LONGER - 40)
				snprintf(to + strlen(to), LONGER - strlen(to), " %s=%s",
					 func->param[i],
					 value[tap_rand() % (sizeof(value) / sizeof(*value))]);
		m.pointer[m.lines++] = to;
		m.pointer[m.lines] = NULL;
	}
	open_script(&r, &line, 1, NULL);
	rc = read_all(&r);
	CHECK(rc == RN_OK && r.out[0].calls <= 60);
	if (rc == RN_OK)
		say_rows(&r.out[0].order);
	text[0] = 0;
	close_script(&r);
}

int main(void)
{
	test_blocking();
	ok("receives and probes that wait for a message");
	test_requests();
	ok("receives that are completed later, in any order");
	test_ends();
	ok("cancelled, freed, asked for, started again, made inside other calls");
	test_threads();
	ok("the calls of several threads of a stream are separated by rondo_thread");
	test_calls();
	ok("what is compared of a call");
	test_unseen();
	ok("receives that nobody saw complete");
	test_unseen_comms();
	ok("the same in communicators, and between two groups");
	for (int i = 0; i < 50; i++)
		random_unseen();
	ok("at random, against a list that is searched");
	for (int i = 0; i < 20; i++)
		random_late();
	ok("in random order");
	test_no_memory();
	ok("every allocation fails once");
	for (int i = 0; i < 300; i++)
		random_values();
	ok("values that make no sense");
	return tap_done();
}
