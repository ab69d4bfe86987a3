/*
 * test_order_list.c - order events in all their encodings: rows of a tail, chunks, lists of
 * streams, and part files of killed processes. Each is tested with a round trip and with hostile
 * bytes.
 */
#include "tap.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/io.h"
#include "encode/call_words.h"
#include "encode/process_table.h"
#include "journal/event_tail.h"
#include "model/event_list.h"
#include "order/event_chunk.h"
#include "recover/journal_read.h"
#include "recover/recover.h"
#include "part_files.h"
#include "read/event_reader.h"
#include "read/event_text.h"
#include "read/trace.h"
#include "read/trace_check.h"
#include "whole.h"

#define SITES 6u
#define TAIL  ((size_t)1 << 16)

static struct rn_order_site site[SITES];

static void make_sites(void)
{
	static const char *const name[SITES] = { "MPI_Test", "MPI_Waitany", "MPI_Testsome",
						 "MPI_Recv", "MPI_Iprobe",  "MPI_Wtime" };

	for (uint32_t i = 0; i < SITES; i++)
		site[i] = (struct rn_order_site){ i, function(name[i]),
						  i == 3 ? (uint32_t)world() : 0, i % 3 };
}

/* The events of a thread, in the form of order/events.h and as rows of a tail. */
struct events {
	struct rn_order o;
	struct rn_order_row row[4096];
	struct rn_order_done done[16384];
	int64_t value[4096];
	struct rn_order_send send[4096];
	size_t used;
	size_t end[4096]; /* end of each row, among the published values */
	_Alignas(8) unsigned char tail[TAIL];
};

static struct rn_order_done some_done(bool wildcard)
{
	struct rn_order_done d = { (uint32_t)tap_rand() % 40, RN_ORDER_NOT, 0, 0, 0 };

	if (wildcard) {
		d.late = (uint32_t)tap_rand() % 3;
		d.flags = tap_rand() % 50 ? RN_ORDER_MATCHED : RN_ORDER_CANCELLED;
	}
	if (d.flags & RN_ORDER_MATCHED) {
		d.source = (int32_t)(tap_rand() % 16);
		d.tag = tap_rand() % 9 ? 7 : (int32_t)tap_rand();
	}
	return d;
}

static void add_fails(struct events *e, unsigned char **p, uint32_t s, uint32_t n)
{
	*p = rn_tail_put_fails(e->tail, *p, s);
	memcpy(*p - sizeof(n), &n, sizeof(n));
}

static void add_done(struct events *e, unsigned char **p, struct rn_order_row *r)
{
	if (rn_order_has_numbers(&site[r->site])) {
		r->done = 1;
		e->value[e->o.values] = (int64_t)tap_rand();
		*p = rn_tail_put_value(*p, r->site, e->value[e->o.values++]);
		return;
	}
	r->done = r->site == 2 ? 1 + (uint32_t)tap_rand() % 6 : 1;
	for (uint32_t i = 0; i < r->done; i++)
		e->done[e->o.dones + i] = some_done(tap_rand() % 4);
	*p = rn_tail_put_done(*p, r->site, &e->done[e->o.dones], r->done);
	e->o.dones += r->done;
}

static void add_send(struct events *e, unsigned char **p)
{
	struct rn_order_send s = { e->o.dones, 3, 1, (int32_t)(tap_rand() % 16), 5 };

	e->send[e->o.sends++] = s;
	*p = rn_tail_put_send(*p, 3, s.me, s.dest, s.tag);
}

/* No row follows one that it could be merged with. */
static void make_events(struct events *e, size_t rows, bool sends)
{
	unsigned char *p = e->tail;

	memset(e, 0, sizeof(*e));
	e->o = (struct rn_order){ .site = site,
				  .row = e->row,
				  .done = e->done,
				  .value = e->value,
				  .send = e->send,
				  .sites = SITES };
	for (size_t i = 0; i < rows; i++) {
		struct rn_order_row *r = &e->row[i], *last = i ? r - 1 : NULL;

		r->site = (uint32_t)tap_rand() % SITES;
		if (last && last->done == 0 && last->site == r->site)
			r->site = (r->site + 1) % SITES;
		if (sends && tap_rand() % 3 == 0)
			add_send(e, &p);
		r->fails = tap_rand() % 2 ? (uint32_t)tap_rand() % 1000 + 1 : 0;
		if (r->fails)
			add_fails(e, &p, r->site, r->fails);
		if (!r->fails || tap_rand() % 3)
			add_done(e, &p, r);
		e->end[i] = (size_t)(p - e->tail);
	}
	e->o.rows = rows;
	e->used = (size_t)(p - e->tail);
}

static bool is_same(const struct rn_order *a, const struct rn_order *b)
{
	return a->rows == b->rows && a->dones == b->dones && a->values == b->values &&
	       a->sends == b->sends && memcmp(a->row, b->row, a->rows * sizeof(*a->row)) == 0 &&
	       memcmp(a->done, b->done, a->dones * sizeof(*a->done)) == 0 &&
	       memcmp(a->value, b->value, a->values * sizeof(*a->value)) == 0 &&
	       memcmp(a->send, b->send, a->sends * sizeof(*a->send)) == 0;
}

static struct events events;

static void test_tail(void)
{
	struct rn_arena mem;
	bool failed;

	rn_arena_init(&mem, SIZE_MAX);
	for (int i = 0; i < 50; i++) {
		struct rn_order o = { .site = site, .sites = SITES };

		make_events(&events, (size_t)tap_rand() % 1000, i % 2);
		CHECK(rn_order_tail_read(&mem, events.tail, events.used, &o, &failed));
		CHECK(!failed && is_same(&o, &events.o));
		rn_arena_rewind(&mem, (struct rn_arena_mark){ 0 });
	}
	/* A truncated tail is a prefix of the events. */
	make_events(&events, 40, true);
	for (size_t n = 0; n < events.used; n++) {
		struct rn_order o = { .site = site, .sites = SITES };

		rn_order_tail_read(&mem, events.tail, n, &o, &failed);
		CHECK(!failed && o.rows <= events.o.rows && o.dones <= events.o.dones);
		for (size_t i = 0; i + 1 < o.rows; i++)
			CHECK(memcmp(&o.row[i], &events.row[i], sizeof(*o.row)) == 0);
		rn_arena_rewind(&mem, (struct rn_arena_mark){ 0 });
	}
	rn_arena_free(&mem);
}

/* Makes a chunk of the rows from..to of the events. */
static void put_chunk(struct rn_arena *mem, enum rn_order_codec codec, size_t from, size_t to,
		      struct rn_chunk *out)
{
	struct rn_order o = { .site = site, .sites = SITES };
	struct rn_buf b = { 0 };
	bool failed;

	/* A read that ends at row `from` counts the completions and values before it, aligned. */
	if (from) {
		struct rn_order before = o, all = o;
		size_t skipped = 0, values = 0;

		CHECK(rn_order_tail_read(mem, events.tail, events.end[to - 1], &all, &failed));
		CHECK(rn_order_tail_read(mem, events.tail, events.end[from - 1], &before, &failed));
		skipped = before.dones;
		values = before.values;
		o.row = all.row + from;
		o.rows = to - from;
		o.done = all.done + skipped;
		o.dones = all.dones - skipped;
		o.value = all.value + values;
		o.values = all.values - values;
	} else {
		CHECK(rn_order_tail_read(mem, events.tail, events.end[to - 1], &o, &failed));
	}
	CHECK(rn_order_chunk_write(codec, &o, mem, &b) == RN_OK);
	out->bytes = memcpy(rn_new(mem, unsigned char, b.len), b.data, b.len);
	out->len = b.len;
	rn_buf_free(&b);
}

static void test_chunks(void)
{
	struct rn_chunk chunk[3];
	struct rn_arena mem;
	struct rn_err err;

	rn_arena_init(&mem, SIZE_MAX);
	for (int i = 0; i < 40; i++) {
		struct rn_order o = { .site = site, .sites = SITES };
		size_t n = 10 + (size_t)tap_rand() % 1000, cut = 1 + (size_t)tap_rand() % (n - 1);

		make_events(&events, n, false);
		put_chunk(&mem, (enum rn_order_codec)(i % RN_ORDER_CODECS), 0, cut, &chunk[0]);
		put_chunk(&mem, (enum rn_order_codec)(i % RN_ORDER_CODECS), cut, n, &chunk[1]);
		CHECK(rn_order_chunks_read(chunk, 2, &mem, &o, &err) == RN_OK);
		CHECK(is_same(&o, &events.o));
		rn_arena_rewind(&mem, (struct rn_arena_mark){ 0 });
	}
	rn_arena_free(&mem);
}

/* ---- lists ---- */

static const unsigned char stack[] = { 1, 1, 'm', 0, 0, 16 }; /* m+0x10 */

/* Interns the sites and stores their ids. */
static void intern_sites(struct rn_order_list *l, uint64_t *id)
{
	for (uint32_t i = 0; i < SITES; i++) {
		struct rn_order_place p = { .kind = site[i].kind, .comm = "MPI_COMM_WORLD" };
		uint32_t number;

		p.function = rn_mpi_vocab.func[site[i].function].name;
		p.function_len = strlen(p.function);
		p.comm_len = site[i].comm ? strlen(p.comm) : 0;
		p.stack = stack;
		p.stack_len = site[i].place == 1 ? sizeof(stack) : 0;
		CHECK(rn_order_list_intern(l, &p, &number) == RN_OK);
		id[i] = number;
	}
}

/* Encodes streams first and first + 2. */
static void encode_list(struct rn_arena *mem, uint64_t first, struct rn_buf *out)
{
	uint64_t id[SITES];
	struct rn_chunk chunk;
	struct rn_chunk_stream s = { first, id, &chunk, SITES, 1 };
	struct rn_order_list l;

	CHECK(rn_order_list_init(&l, mem, false) == RN_OK);
	intern_sites(&l, id);
	put_chunk(mem, RN_ORDER_MODEL, 0, events.o.rows, &chunk);
	CHECK(rn_chunk_list_add(&l.chunks, &s) == RN_OK);
	s.stream += 2;
	CHECK(rn_chunk_list_add(&l.chunks, &s) == RN_OK);
	CHECK(rn_order_list_encode(&l, first, out) == RN_OK);
}

static bool has_events(const struct rn_order_list *l, uint64_t stream)
{
	const struct rn_chunk_stream *s = rn_chunk_list_find(&l->chunks, stream);
	const uint32_t *comm;
	struct rn_sigs *names;
	struct rn_arena mem;
	struct rn_order o;
	bool same;

	rn_arena_init(&mem, SIZE_MAX);
	same = s && rn_order_list_comms(l, &mem, &names, &comm) == RN_OK &&
	       rn_order_list_get(l, s, comm, &mem, &o, NULL) == RN_OK && is_same(&o, &events.o);
	rn_arena_free(&mem);
	return same;
}

static void test_list(void)
{
	struct rn_buf b = { 0 };
	struct rn_order_list l, more;
	struct rn_arena mem;
	struct rn_err err;

	rn_arena_init(&mem, SIZE_MAX);
	make_events(&events, 300, false);
	encode_list(&mem, 4, &b);
	CHECK(rn_order_list_init(&l, &mem, false) == RN_OK);
	CHECK(WHOLE(b.data, b.len, &err, rn_order_list_decode(&l, &whole, 4, 3, &err)) == RN_OK);
	CHECK(rn_order_list_init(&more, &mem, false) == RN_OK);
	CHECK(WHOLE(b.data, b.len, &err, rn_order_list_decode(&more, &whole, 10, 3, &err)) ==
	      RN_OK);
	CHECK(rn_order_list_merge(&l, &more) == RN_OK);
	CHECK(rn_order_list_sites(&l) == SITES);
	CHECK(has_events(&l, 4) && has_events(&l, 6) && has_events(&l, 10) && has_events(&l, 12));
	CHECK(!rn_chunk_list_find(&l.chunks, 5) && !rn_chunk_list_find(&l.chunks, 13));
	CHECK(rn_order_list_count(&l).events == 4 * rn_order_count(&events.o).events);
	CHECK(rn_order_list_init(&more, &mem, false) == RN_OK);
	CHECK(WHOLE(b.data, b.len, &err, rn_order_list_decode(&more, &whole, 20, 2, &err)) ==
	      RN_E_DATA);
	rn_buf_free(&b);
	rn_arena_free(&mem);
}

/* A list that can be decoded can be read, or is rejected. */
static void try_list(const unsigned char *bytes, size_t len)
{
	struct rn_order_list l;
	struct rn_arena mem;
	struct rn_err err;
	int rc;

	rn_arena_init(&mem, SIZE_MAX);
	CHECK(rn_order_list_init(&l, &mem, false) == RN_OK);
	rc = WHOLE(bytes, len, &err, rn_order_list_decode(&l, &whole, 0, 3, &err));
	CHECK(rc == RN_OK || rc == RN_E_DATA);
	if (rc == RN_OK) {
		has_events(&l, 0);
		has_events(&l, 2);
	}
	rn_arena_free(&mem);
}

static void test_hostile(void)
{
	struct rn_buf b = { 0 };
	struct rn_arena mem;

	rn_arena_init(&mem, SIZE_MAX);
	make_events(&events, 60, false);
	encode_list(&mem, 0, &b);
	for (size_t n = 0; n < b.len; n++)
		try_list(b.data, n);
	for (size_t i = 0; i < b.len; i++)
		for (int bit = 0; bit < 8; bit += 1 + (int)(tap_rand() % 3)) {
			b.data[i] ^= (unsigned char)(1 << bit);
			try_list(b.data, b.len);
			b.data[i] ^= (unsigned char)(1 << bit);
		}
	rn_buf_free(&b);
	rn_arena_free(&mem);
}

/* ---- part files ---- */

/* The least number of rows, at least n, such that the following rows can be a tail: counts are
 * aligned in a tail. */
static size_t whole_rows(size_t n)
{
	while (events.end[n - 1] % 4)
		n++;
	return n;
}

/* The state of a process when it is killed: its rows in chunks, and its valid chunks. */
struct death {
	size_t sealed; /* rows in the chunk */
	bool unsaid;   /* only the log records the chunk; the tail still has its rows */
	uint64_t missing;
};

static void be_an_order_rank(const char *path, const struct death *d)
{
	static struct stream s;
	struct rn_spill spill;
	struct rn_log shared = { .spill = &spill, .stream = RN_EXTENT_SHARED };
	struct rn_order_tail *tail;
	struct rn_chunk chunk;
	struct rn_arena mem;
	size_t from = d->sealed && !d->unsaid ? events.end[d->sealed - 1] : 0;

	rn_arena_init(&mem, SIZE_MAX);
	must(rn_spill_open(&spill, path, RUN) == 0);
	add_facts(&shared, 0, 1);
	start_stream(&spill, &s, 0, 0);
	s.m->live.off = RN_OFF_ORDER;
	tail = (void *)claim(&spill, RN_EXTENT_ORDER, 0, sizeof(*tail) + TAIL, NULL);
	for (uint32_t i = 0; i < SITES; i++)
		must(rn_log_add(&s.log, RN_FACT_ORDER_SITE, &site[i], sizeof(*site), NULL, 0) == 0);
	if (d->sealed) {
		put_chunk(&mem, RN_ORDER_MODEL, 0, d->sealed, &chunk);
		must(rn_log_add(&s.log, RN_FACT_ORDER, chunk.bytes, chunk.len, NULL, 0) == 0);
	}
	memcpy(rn_order_tail_rows(tail), events.tail + from, events.used - from);
	tail->events = rn_order_count(&events.o).events + d->missing;
	tail->word = (uint64_t)(d->sealed && !d->unsaid) << 32 | (events.used - from);
	enter(&s, (const uint64_t[]){ function("MPI_Barrier"), world() }, 2);
	rn_spill_close(&spill, false);
}

static const char *temporary(const char *what)
{
	return private_path(getenv("TMPDIR"), what);
}

static void part_of(const struct death *d, struct rn_buf *out)
{
	const char *path = temporary("part");
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		be_an_order_rank(path, d);
		raise(SIGKILL);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	rn_buf_clear(out);
	CHECK(rn_io_read(path, out, NULL) == RN_OK);
	unlink(path);
}

/* The events of the trace that is recovered from a part file; NULL if it has none. */
static struct rn_order *recovered(const struct rn_buf *part, struct rn_trace *t,
				  struct rn_recovered *r)
{
	static struct rn_order o;
	const struct rn_node_file file = { .bytes = part->data, .len = part->len };
	struct rn_err err = { 0 };
	const char *path = temporary("trace");
	int rc = rn_recover(&file, 1, RN_RECOVER_INVALID, path, r, &err);

	if (rc == RN_OK)
		rc = rn_trace_open(t, path, &err);
	unlink(path);
	if (rc < 0)
		return NULL;
	CHECK(rn_trace_check(t, &err) == RN_OK);
	CHECK(rn_trace_order(t, 0, &t->mem, &o, &err) == RN_OK);
	return &o;
}

/* Sites are numbered in order of first use by the one stream. */
static void test_salvage(const struct death *d)
{
	struct rn_buf part = { 0 };
	struct rn_recovered r;
	struct rn_trace t;
	struct rn_order *o;

	part_of(d, &part);
	o = recovered(&part, &t, &r);
	if (CHECK(o != NULL)) {
		for (size_t i = 0; i < events.o.sends; i++)
			events.send[i].comm = 1; /* the one that has a name */
		CHECK(is_same(o, &events.o));
		CHECK(r.damaged == 0 && r.lost == d->missing && r.calls == 0);
		CHECK(r.events == rn_order_count(&events.o).events);
		CHECK(strcmp(rn_meta_get(&t.meta, "stopped_in.MPI_Barrier"), "0") == 0);
		CHECK(strcmp(t.order->comm[o->site[3].comm - 1], "MPI_COMM_WORLD") == 0);
		CHECK(o->site[4].place == 1 && o->site[3].place == 0);
		rn_trace_close(&t);
	}
	rn_recovered_free(&r);
	rn_buf_free(&part);
}

static struct rn_order_tail *tail_in(struct rn_buf *part)
{
	for (size_t at = RN_SPILL_PAGE; at < part->len; at += RN_SPILL_PAGE) {
		struct rn_extent e;

		memcpy(&e, part->data + at, sizeof(e));
		if (e.magic == RN_EXTENT_MAGIC && e.kind == RN_EXTENT_ORDER)
			return (struct rn_order_tail *)(void *)(part->data + at);
	}
	abort();
}

/* Rows have no checksums, so other rows may be found, but never more. The trace is sound. */
static void test_damage(void)
{
	struct death d = { 0 };
	struct rn_buf part = { 0 };
	unsigned char *rows;

	make_events(&events, 120, false);
	d.sealed = whole_rows(50);
	part_of(&d, &part);
	rows = rn_order_tail_rows(tail_in(&part));
	for (int i = 0; i < 300; i++) {
		size_t at = i % 3 ? (size_t)tap_rand() % part.len
				  : (size_t)(rows - part.data) + (size_t)tap_rand() % events.used;
		unsigned char old = part.data[at];
		struct rn_recovered r;
		struct rn_trace t;

		part.data[at] ^= (unsigned char)(1 + tap_rand() % 255);
		if (recovered(&part, &t, &r))
			rn_trace_close(&t);
		rn_recovered_free(&r);
		part.data[at] = old;
	}
	rn_buf_free(&part);
}

/* A valid chunk is missing: the chunks after it are not used. */
static void test_missing_chunk(void)
{
	struct death d = { 0 };
	struct rn_buf part = { 0 };
	struct rn_recovered r;
	struct rn_trace t;
	struct rn_order *o;

	make_events(&events, 120, false);
	d.sealed = whole_rows(50);
	part_of(&d, &part);
	tail_in(&part)->word += (uint64_t)1 << 32;
	o = recovered(&part, &t, &r);
	if (CHECK(o != NULL)) {
		CHECK(o->rows == d.sealed &&
		      memcmp(o->row, events.row, d.sealed * sizeof(*o->row)) == 0);
		CHECK(r.damaged == 1);
		CHECK(r.lost + r.events == rn_order_count(&events.o).events);
		rn_trace_close(&t);
	}
	rn_recovered_free(&r);
	rn_buf_free(&part);
}

static void test_text(void)
{
	const struct death d = { 0 };
	struct rn_buf part = { 0 }, lines = { 0 };
	struct rn_recovered r;
	struct rn_trace t;
	struct rn_order *o;

	make_events(&events, 0, false);
	events.used = (size_t)(rn_tail_put_fails(events.tail, events.tail, 2) - events.tail);
	events.used = (size_t)(rn_tail_put_done(
				       events.tail + events.used, 2,
				       (struct rn_order_done[]){ { 4, 0, 1, 5, RN_ORDER_MATCHED },
								 { 0, RN_ORDER_NOT, 0, 0, 0 } },
				       2) -
			       events.tail);
	events.used = (size_t)(rn_tail_put_value(events.tail + events.used, 5, -3) - events.tail);
	part_of(&d, &part);
	o = recovered(&part, &t, &r);
	if (CHECK(o != NULL)) {
		const struct rn_decoder names = { .sites = &t.sites };
		struct rn_order_text x = {
			.t = &t, .decoder = &names, .comm = t.order->comm, .order = o
		};

		while (rn_order_text_next(&x, 0, UINT64_MAX, &lines))
			;
		x = (struct rn_order_text){
			.t = &t, .decoder = &names, .comm = t.order->comm, .order = o, .json = true
		};
		while (rn_order_text_next(&x, 1, 2, &lines))
			;
		rn_buf_byte(&lines, 0);
		CHECK(strcmp((const char *)lines.data,
			     "0 0 MPI_Testsome(outcount=0) = 0 times=1\n"
			     "0 1 MPI_Testsome(outcount=2, array_of_indices=[4, 0]) = 0 "
			     "matched=[{source=1, tag=5}, null]\n"
			     "0 2 MPI_Wtime() = -3\n"
			     "{\"rank\":0,\"seq\":1,\"call\":\"MPI_Testsome\",\"args\":{"
			     "\"outcount\":2,\"array_of_indices\":[4,0]},\"ret\":0,"
			     "\"matched\":[{\"source\":1,\"tag\":5},null]}\n") == 0);
		rn_trace_close(&t);
	}
	rn_recovered_free(&r);
	rn_buf_free(&lines);
	rn_buf_free(&part);
}

int main(void)
{
	make_sites();
	test_tail();
	ok("rows are read as they were written, and cut they are a beginning");
	test_chunks();
	ok("chunks are put together again");
	test_list();
	ok("lists of several ranks are put one behind the other");
	test_hostile();
	ok("hostile lists are refused, or can be read");
	make_events(&events, 200, false);
	test_salvage(&(struct death){ 0 });
	test_salvage(&(struct death){ whole_rows(80), false, 0 });
	test_salvage(&(struct death){ 80, true, 0 });
	make_events(&events, 200, true);
	test_salvage(&(struct death){ 0 });
	ok("what a killed process has left is all there, and once");
	make_events(&events, 200, false);
	test_salvage(&(struct death){ 0, false, 17 });
	ok("events that are not there are counted");
	test_missing_chunk();
	test_damage();
	ok("damage ends a stream, and leaves a sound trace");
	test_text();
	ok("events as lines");
	return tap_done();
}
