/* event_log.c - see event_log.h. */
#include "record/event_log.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/errno_guard.h"
#include "base/vec.h"
#include "journal/event_tail.h"
#include "model/event_list.h"
#include "order/event_chunk.h"
#include "runtime/tracer_config.h"
#include "trace/stream.h"
#include "trace/stream_journal.h"

#include <string.h>
#include <sys/mman.h>

#include "hand.h"

#define TAIL  ((size_t)256 << 10) /* bytes, including the header */
#define ROWS  (TAIL - sizeof(struct rn_order_tail))
#define TABLE 1024u /* slots of the hash table, of which half are used */

/* A hash slot: an event site and its id plus 1; 0: empty. */
struct slot {
	struct rn_order_site site;
	uint32_t number;
};

/* The event log of a stream. The rows and all other state are in private memory. `tail` is the copy
 * in the journal, which is written and never read. Without a journal, `tail` is in private memory
 * and is not used. */
struct rn_order_log {
	struct rn_event_state state;
	uint32_t *run; /* number of failed polls in the current row; NULL: none */
	uint32_t run_site;
	uint64_t *events_in_file; /* copy of `events`, even if `tail` is not in the journal */
	struct rn_order_tail *tail;
	unsigned char *rows; /* TAIL bytes */
	bool over;           /* no memory: all later events are lost */
	bool busy;           /* an event is being added; events of signal handlers are lost */
	uint64_t sealed;     /* number of events in chunks */
	struct rn_arena mem;
	struct rn_seg site;  /* struct rn_order_site */
	struct rn_seg chunk; /* struct rn_chunk */
	struct slot last;    /* latest event site that is not in its first slot */
	struct slot table[TABLE];
};

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Creates the tail: in the journal if there is one, otherwise in private memory. */
static bool make_tail(struct rn_stream *t, struct rn_order_log *o)
{
	struct rn_mapped m = { .at = NULL };
	bool in_file = t->spooled && rn_spool_order(t, TAIL, &m);
	struct rn_order_tail *tail = in_file ? (struct rn_order_tail *)(void *)m.at : map(TAIL);

	if (!tail)
		return false;
	o->tail = tail;
	o->state.extent = m.head;
	o->state.in_file = in_file;
	o->run = NULL;
	if (in_file || !o->events_in_file)
		o->events_in_file = &tail->events;
	o->state.counted |= in_file;
	*o->events_in_file = o->state.events;
	return true;
}

static struct rn_order_log *allocate(struct rn_stream *t)
{
	struct rn_order_log *o = map(sizeof(*o));

	if (!o)
		return NULL;
	rn_arena_init(&o->mem, rn_config.memory);
	rn_seg_init(&o->site, sizeof(struct rn_order_site));
	rn_seg_init(&o->chunk, sizeof(struct rn_chunk));
	o->rows = map(TAIL);
	if (o->rows && make_tail(t, o))
		return o;
	if (o->rows)
		munmap(o->rows, TAIL);
	munmap(o, sizeof(*o));
	return NULL;
}

/* Creates the log. Returns NULL without memory, or if a signal handler has interrupted this
 * function: the event of the handler is lost. */
static struct rn_order_log *make(struct rn_stream *t)
{
	RN_ERRNO_GUARD;

	if (t->making_order)
		return NULL;
	t->making_order = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (!t->order) /* a signal handler may have created it after the caller's check */
		t->order = allocate(t);
	t->events = t->order ? &t->order->state : NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->making_order = false;
	return t->order;
}

/* Returns the log, marked busy, for one more event; NULL if nothing is to be recorded. Calls after
 * the end of the recording are counted. */
static struct rn_order_log *log_of(struct rn_stream *t)
{
	uint8_t off = t->off;
	struct rn_order_log *o;

	if (__builtin_expect(off & (RN_OFF_RANK | RN_OFF_OVER), 0)) {
		t->late += !(off & RN_OFF_RANK);
		return NULL;
	}
	o = t->order;
	if (__builtin_expect(!o, 0))
		o = make(t);
	if (__builtin_expect(!o || o->over || o->busy, 0)) {
		rn_stream_lost(t);
		return NULL;
	}
	o->busy = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return o;
}

/* Ends the addition of an event that log_of started. The event was added or is lost. */
static void done_with(struct rn_order_log *o)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	o->busy = false;
}

static bool seal(struct rn_stream *t, struct rn_order_log *o);

/* Called when the journal cannot grow: the rows in its tail remain there, and later rows are stored
 * in private memory. */
static void leave_file(struct rn_stream *t, struct rn_order_log *o)
{
	if (o->state.at)
		seal(t, o);
	else if (!make_tail(t, o))
		o->over = true;
}

/* ---- event sites ---- */

static bool is_site(const struct slot *s, const struct rn_order_site *site)
{
	return s->number && s->site.place == site->place && s->site.function == site->function &&
	       s->site.comm == site->comm && s->site.kind == site->kind;
}

static uint32_t place_of(const struct rn_order_site *s)
{
	uint64_t key = ((uint64_t)s->place << 32 | s->comm) ^ (uint64_t)s->function << 20 ^
		       (uint64_t)s->kind << 52;

	return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 54);
}

/* Returns the id plus 1 of an event site, or 0; *slot becomes its slot, or the empty slot for it.
 * When half of the table is used, no more sites are added to it, and later sites are searched
 * linearly. */
static uint32_t find_site(struct rn_order_log *o, const struct rn_order_site *site,
			  struct slot **slot)
{
	uint32_t at = place_of(site);

	while (o->table[at].number && !is_site(&o->table[at], site))
		at = (at + 1) % TABLE;
	*slot = &o->table[at];
	if ((*slot)->number)
		return (*slot)->number;
	for (uint32_t i = TABLE / 2; i < o->site.n; i++)
		if (memcmp(RN_SEG_AT(&o->site, struct rn_order_site, i), site, sizeof(*site)) == 0)
			return i + 1;
	return 0;
}

/* Adds an event site. It is written to the journal before a row refers to it. Returns its id plus
 * 1, or 0 without memory. */
static uint32_t add_site(struct rn_stream *t, struct rn_order_log *o,
			 const struct rn_order_site *site, struct slot *slot)
{
	RN_ERRNO_GUARD;

	if (!rn_seg_reserve(&o->site, &o->mem, 1)) {
		return 0;
	}
	*RN_SEG_AT(&o->site, struct rn_order_site, o->site.n) = *site;
	o->site.n++;
	if (o->site.n <= TABLE / 2)
		*slot = (struct slot){ *site, o->site.n };
	if (o->state.in_file)
		rn_spool_fact(t, RN_FACT_ORDER_SITE, site, sizeof(*site));
	if (o->state.in_file && !t->spooled)
		leave_file(t, o);
	return o->site.n;
}

/* Finds or adds an event site that is not in its first slot. Not inlined, because most sites are.
 */
static __attribute__((noinline)) uint32_t site_elsewhere(struct rn_stream *t,
							 struct rn_order_log *o,
							 const struct rn_order_site *site)
{
	struct slot *slot = NULL;
	uint32_t n;

	o->busy = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	n = is_site(&o->last, site) ? o->last.number : find_site(o, site, &slot);
	if (!n)
		n = add_site(t, o, site, slot);
	if (n)
		o->last = (struct slot){ *site, n };
	done_with(o);
	return n - 1; /* RN_ORDER_NO_SITE if n is 0 */
}

uint32_t rn_order_log_site(struct rn_stream *t, enum rn_order_kind kind, uint32_t function,
			   uint32_t comm_word, uint32_t callstack)
{
	const struct rn_order_site site = { kind, function, comm_word, callstack };
	struct rn_order_log *o = t->order;
	const struct slot *slot;

	if (__builtin_expect(!o, 0) && !(o = make(t)))
		return RN_ORDER_NO_SITE;
	if (__builtin_expect(o->busy, 0))
		return RN_ORDER_NO_SITE;
	slot = &o->table[place_of(&site)];
	return __builtin_expect(is_site(slot, &site), 1) ? slot->number - 1
							 : site_elsewhere(t, o, &site);
}

/* ---- chunks ---- */

/* Encodes rows into a chunk. Temporary data are in `scratch`; the chunk is in the memory of the
 * log. */
static bool write_chunk(struct rn_order_log *o, const struct rn_order *rows,
			struct rn_arena *scratch, struct rn_chunk *out)
{
	size_t room = 4 * TAIL + 64 * (rows->dones + rows->rows + rows->sends);
	struct rn_buf b = rn_buf_over(rn_new(scratch, unsigned char, room), room);
	unsigned char *bytes;

	if (!b.data || rn_order_chunk_write(RN_ORDER_MODEL, rows, scratch, &b) < 0 ||
	    rn_buf_status(&b) < 0 || !rn_seg_reserve(&o->chunk, &o->mem, 1))
		return false;
	bytes = rn_new(&o->mem, unsigned char, b.len);
	if (!bytes)
		return false;
	memcpy(bytes, b.data, b.len);
	*out = (struct rn_chunk){ bytes, b.len };
	return true;
}

/* Copies all event sites to one array, as readers of rows require. */
static struct rn_order_site *all_sites(const struct rn_order_log *o, struct rn_arena *mem)
{
	struct rn_order_site *all = rn_new(mem, struct rn_order_site, o->site.n);

	for (uint32_t i = 0; i < o->site.n && all; i++)
		all[i] = *RN_SEG_AT(&o->site, struct rn_order_site, i);
	return all;
}

static uint64_t tail_word(const struct rn_order_log *o)
{
	return (uint64_t)o->state.chunks << 32 | o->state.at;
}

static void publish(struct rn_order_log *o)
{
	__atomic_store_n(&o->tail->word, tail_word(o), __ATOMIC_RELEASE);
}

/* Adds the chunk to the log, and to the journal. A chunk in the journal is valid when the tail
 * contains its count. */
static void keep_chunk(struct rn_stream *t, struct rn_order_log *o, struct rn_chunk c)
{
	*RN_SEG_AT(&o->chunk, struct rn_chunk, o->chunk.n) = c;
	o->chunk.n++;
	o->state.chunks++;
	o->state.at = 0;
	o->run = NULL;
	if (o->state.in_file)
		rn_spool_fact(t, RN_FACT_ORDER, c.bytes, c.len);
	if (o->state.in_file && !t->spooled) {
		leave_file(t, o);
		return;
	}
	publish(o);
	if (o->state.in_file)
		rn_spool_order_sealed(t);
}

static bool seal_rows(struct rn_stream *t, struct rn_order_log *o, const struct rn_order *rows,
		      struct rn_arena *scratch)
{
	struct rn_chunk c;
	bool done = write_chunk(o, rows, scratch, &c);

	if (done) {
		o->sealed += rn_order_count(rows).events;
		keep_chunk(t, o, c);
	}
	o->over |= !done;
	return done;
}

/* Encodes the rows of the tail into a chunk. Without memory the tail is unchanged, and no more rows
 * are recorded. */
static bool seal(struct rn_stream *t, struct rn_order_log *o)
{
	RN_ERRNO_GUARD;
	struct rn_arena scratch;
	struct rn_order rows = { .sites = o->site.n };
	bool failed, done = false;

	rn_arena_init(&scratch, SIZE_MAX);
	rows.site = all_sites(o, &scratch);
	o->over = true;
	if (rows.site && rn_order_tail_read(&scratch, o->rows, o->state.at, &rows, &failed)) {
		o->over = false;
		done = seal_rows(t, o, &rows, &scratch);
	}
	rn_arena_free(&scratch);
	return done;
}

/* Returns memory for `bytes` more bytes of rows, or NULL if there is none. Encodes a chunk if
 * necessary. */
static unsigned char *room_for(struct rn_stream *t, struct rn_order_log *o, size_t bytes)
{
	if (__builtin_expect(o->state.at + bytes > ROWS, 0) && o->state.at)
		seal(t, o);
	return o->over || bytes > ROWS ? NULL : o->rows + o->state.at;
}

/* Publishes the row that ends at p. */
static void row_ends(struct rn_order_log *o, const unsigned char *p)
{
	size_t end = (size_t)(p - o->rows);

	memcpy(rn_order_tail_rows(o->tail) + o->state.at, o->rows + o->state.at, end - o->state.at);
	o->state.at = end;
	publish(o);
}

static void count_event(struct rn_order_log *o)
{
	__atomic_store_n(o->events_in_file, ++o->state.events, __ATOMIC_RELAXED);
}

/* ---- events ---- */

/* Starts a row of at most `bytes` bytes. Returns NULL if the row is lost or not wanted. If the
 * result is not NULL, the caller must call done_with. */
static unsigned char *begin_row(struct rn_stream *t, uint32_t site, size_t bytes)
{
	struct rn_order_log *o = log_of(t);
	unsigned char *p = o && site != RN_ORDER_NO_SITE ? room_for(t, o, bytes) : NULL;

	if (p) {
		o->run = NULL;
	} else if (o) {
		rn_stream_lost(t);
		done_with(o);
	}
	return p;
}

static void new_run(struct rn_stream *t, uint32_t site)
{
	unsigned char *p = begin_row(t, site, RN_TAIL_ROW);
	struct rn_order_log *o = t->order;

	if (!p)
		return;
	p = rn_tail_put_fails(o->rows, p, site);
	o->run = (uint32_t *)(void *)p - 1;
	o->run_site = site;
	row_ends(o, p);
	count_event(o);
	done_with(o);
}

/* Counts one more failed poll in the current row. */
static void count_failure(struct rn_order_log *o)
{
	size_t at = (size_t)((unsigned char *)o->run - o->rows);

	++*o->run;
	__atomic_store_n((uint32_t *)(void *)(rn_order_tail_rows(o->tail) + at), *o->run,
			 __ATOMIC_RELAXED);
	count_event(o);
}

void rn_order_log_fails(struct rn_stream *t, uint32_t site)
{
	struct rn_order_log *o = t->order;

	if (__builtin_expect(o && !o->busy && o->run && o->run_site == site &&
				     *o->run != UINT32_MAX &&
				     !(t->off & (RN_OFF_RANK | RN_OFF_OVER)),
			     1)) {
		o->busy = true;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		count_failure(o);
		done_with(o);
	} else {
		new_run(t, site);
	}
}

/* Records a call whose completions exceed the tail: they become a separate chunk. */
static void add_large(struct rn_stream *t, uint32_t site, const struct rn_order_done *d, uint32_t n)
{
	RN_ERRNO_GUARD;
	struct rn_order_log *o = log_of(t);
	struct rn_order_row row = { site, 0, n };
	struct rn_order rows = { .row = &row, .rows = 1, .dones = n };
	struct rn_arena scratch;

	if (!o)
		return;
	if (o->state.at)
		seal(t, o);
	rn_arena_init(&scratch, SIZE_MAX);
	rows.site = all_sites(o, &scratch);
	rows.sites = o->site.n;
	rows.done = (struct rn_order_done *)(uintptr_t)d; /* only read */
	if (rows.site && site < rows.sites && !o->over && seal_rows(t, o, &rows, &scratch))
		count_event(o);
	else
		rn_stream_lost(t);
	rn_arena_free(&scratch);
	done_with(o);
}

void rn_order_log_done(struct rn_stream *t, uint32_t site, const struct rn_order_done *d,
		       uint32_t n)
{
	size_t bytes = RN_TAIL_ROW + (size_t)n * RN_TAIL_DONE_BYTES;
	unsigned char *p;

	if (__builtin_expect(bytes > ROWS, 0)) {
		add_large(t, site, d, n);
		return;
	}
	p = begin_row(t, site, bytes);
	if (!p)
		return;
	row_ends(t->order, rn_tail_put_done(p, site, d, n));
	count_event(t->order);
	done_with(t->order);
}

void rn_order_log_value(struct rn_stream *t, uint32_t site, int64_t value)
{
	unsigned char *p = begin_row(t, site, RN_TAIL_ROW);

	if (!p)
		return;
	row_ends(t->order, rn_tail_put_value(p, site, value));
	count_event(t->order);
	done_with(t->order);
}

/* The message refers to its communicator by an event site, which may have no events. */
void rn_order_log_send(struct rn_stream *t, uint32_t comm_word, int me, int dest, int tag)
{
	uint32_t site = rn_order_log_site(t, RN_ORDER_WAIT, RN_N_MPI_Wait, comm_word, 0);
	unsigned char *p = begin_row(t, site, RN_TAIL_ROW);

	if (!p)
		return;
	row_ends(t->order, rn_tail_put_send(p, site, me, dest, tag));
	done_with(t->order);
}

/* ---- interface for the end of the run and for the journal ---- */

/* Writes everything that was recorded before the stream had a journal to the journal. */
void rn_order_log_adopt(struct rn_stream *t)
{
	struct rn_order_log *o = t->order;
	struct rn_order_tail *old = o ? o->tail : NULL;

	if (!o || o->state.in_file)
		return;
	for (uint32_t i = 0; i < o->site.n; i++)
		rn_spool_fact(t, RN_FACT_ORDER_SITE, RN_SEG_AT(&o->site, struct rn_order_site, i),
			      sizeof(struct rn_order_site));
	for (uint32_t i = 0; i < o->chunk.n; i++) {
		const struct rn_chunk *c = RN_SEG_AT(&o->chunk, struct rn_chunk, i);

		rn_spool_fact(t, RN_FACT_ORDER, c->bytes, c->len);
	}
	if (!t->spooled || !make_tail(t, o))
		return;
	memcpy(rn_order_tail_rows(o->tail), o->rows, o->state.at);
	publish(o);
	munmap(old, TAIL);
}

/* Tries to encode the remaining rows even if memory was exhausted before. Rows that cannot be
 * encoded are counted as lost. */
void rn_order_log_stop(struct rn_stream *t)
{
	struct rn_order_log *o = t->order;
	bool over = o && o->over;

	if (!o || !o->state.at)
		return;
	if (!seal(t, o)) {
		t->live.lost = t->lost += o->state.events - o->sealed;
		*o->events_in_file = o->state.events = o->sealed;
		o->state.at = 0;
	}
	o->over |= over;
}

uint64_t rn_order_log_events(const struct rn_stream *t)
{
	return t->order ? t->order->state.events : 0;
}

uint64_t rn_order_log_size(const struct rn_stream *t)
{
	return t->order ? sizeof(*t->order) + 2 * TAIL + t->order->mem.mapped : 0;
}

int rn_order_log_part(const struct rn_stream *t, struct rn_arena *mem, struct rn_order_part *out)
{
	const struct rn_order_log *o = t->order;
	struct rn_chunk *chunk;

	*out = (struct rn_order_part){ 0 };
	if (!o)
		return RN_OK;
	chunk = rn_new(mem, struct rn_chunk, o->chunk.n);
	out->site = all_sites(o, mem);
	if (!chunk || !out->site)
		return RN_E_NOMEM;
	for (uint32_t i = 0; i < o->chunk.n; i++)
		chunk[i] = *RN_SEG_AT(&o->chunk, struct rn_chunk, i);
	out->chunk = chunk;
	out->chunks = o->chunk.n;
	out->sites = o->site.n;
	return RN_OK;
}
