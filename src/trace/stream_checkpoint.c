/* stream_checkpoint.c - see stream_checkpoint.h. */
#include "trace/stream_checkpoint.h"

#include "base/arena.h"
#include "base/buf.h"
#include "journal/journal_file.h"
#include "rules/rules.h"
#include "series/units.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define RING_FIRST  16384u /* entries of the first ring */
#define RING_SCALE  8u     /* bytes of a ring for each byte of a snapshot */
#define TIMES_FIRST 4096u  /* bytes of the first buffer for time statistics */

/* Makes room in the file for a snapshot of `bytes` bytes and some growth. Returns 0 or an errno
 * value. */
static int make_area(struct rn_stream *t, struct rn_mapped *area, size_t bytes)
{
	struct rn_mapped next;
	int rc;

	if (rn_mapped_room(area) >= bytes)
		return 0;
	rc = rn_spill_claim(t->log.spill, RN_EXTENT_AREA, t->number,
			    sizeof(next.head) + bytes + bytes / 4 + 4096, NULL, &next);
	if (rc)
		return rc;
	rn_spill_release(area);
	*area = next;
	return 0;
}

/* Makes room in private memory for a snapshot of `bytes` bytes. A snapshot is built in this buffer
 * and then copied to the file, so that the process does not read the file. The previous contents
 * are lost. */
static int make_room(struct rn_stream *t, size_t bytes)
{
	void *p;

	if (bytes <= t->snapshot_room)
		return 0;
	bytes = (2 * bytes + RN_SPILL_PAGE - 1) & ~(size_t)(RN_SPILL_PAGE - 1);
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return errno;
	if (t->snapshot)
		munmap(t->snapshot, t->snapshot_room);
	t->snapshot = p;
	t->snapshot_room = bytes;
	return 0;
}

static uint64_t ring_places(const struct rn_mapped *ring, size_t size)
{
	uint64_t most = rn_mapped_room(ring) / size;

	return (uint64_t)1 << (63 - __builtin_clzll(most));
}

/* Makes a ring of at least `bytes` bytes for entries of `size` bytes. Claims a new ring if the old
 * one is too small. The old ring remains in use. */
static int make_ring(struct rn_stream *t, const struct rn_mapped *old, size_t size, size_t bytes,
		     struct rn_mapped *ring)
{
	uint64_t places = old->at ? ring_places(old, size) : RING_FIRST;

	*ring = *old;
	if (old->at && bytes <= places * size)
		return 0;
	while (places * size < bytes)
		places *= 2;
	return rn_spill_claim(t->log.spill, RN_EXTENT_TAIL, t->number,
			      sizeof(ring->head) + places * size, NULL, ring);
}

static void use_ring(struct rn_stream *t, const struct rn_mapped *ring)
{
	struct rn_mapped old = t->tail;

	t->tail = *ring;
	t->ring = (uint32_t *)(ring->at + 1);
	t->ring_mask = ring_places(ring, sizeof(uint32_t)) - 1;
	if (old.at == ring->at)
		return;
	t->ready = t->calls;
	t->unready = t->ring_mask + 1;
	rn_spill_release(&old);
}

/* More bytes than this are written with one system call, because one page fault per page costs
 * more. */
#define WRITTEN 65536

static int write_area(struct rn_stream *t, const struct rn_mapped *area, const void *bytes,
		      size_t n)
{
	int fd = n > WRITTEN ? rn_spill_descriptor(t->log.spill) : -1;

	if (n > WRITTEN && fd < 0)
		return errno;
	if (n > WRITTEN)
		return rn_spill_write(fd, bytes, n,
				      area->head.number * RN_SPILL_PAGE + sizeof(area->head));
	memcpy(area->at + 1, bytes, n);
	return 0;
}

/* Writes a snapshot to the area that does not contain the latest one, *s. */
static int save(struct rn_stream *t, struct rn_mapped area[2], const struct rn_buf *b,
		struct rn_snapshot *s)
{
	struct rn_mapped *to = &area[area[0].at && area[0].head.number == s->page];
	int rc = make_area(t, to, b->len);

	if (rc == 0)
		rc = write_area(t, to, b->data, b->len);
	if (rc == 0)
		*s = (struct rn_snapshot){ to->head.number, b->len,
					   rn_area_sum(&to->head, b->data, b->len) };
	return rc;
}

#define PIECE 16384 /* bytes; a longer encoded series is moved to the log and not written again */

/* Moves the long series of an elastic slot to the log. The buffer contains it from `at` on. */
static int cut_values(struct rn_stream *t, const struct rn_sig *s, uint32_t hole, struct rn_buf *b,
		      size_t at)
{
	const struct rn_fact_values f = { s->id, hole };
	int rc = rn_log_add(&t->log, RN_FACT_VALUES, &f, sizeof(f), b->data + at, b->len - at);

	if (rc)
		return rc;
	if (!rn_holes_cut(s->holes, &t->mem, hole))
		return ENOMEM;
	t->pieces++;
	b->len = at;
	return 0;
}

/* Memory of a checkpoint, until it is written. */
struct work {
	struct rn_arena mem, scratch;
	struct rn_buf out; /* out.failed if too small, which is not an error */
};

static int add_series(struct work *w, const struct rn_series *s)
{
	struct rn_arena_mark mark = rn_arena_mark(&w->mem);
	struct rn_units *u;
	int rc = rn_units_seal_quickly(&w->mem, &w->scratch, s, &u);

	if (rc == RN_OK)
		rn_units_encode_quickly(u, 0, &w->out);
	rn_arena_rewind(&w->mem, mark);
	return rc < 0 ? ENOMEM : 0;
}

static int add_values(struct rn_stream *t, const struct rn_sig *s, struct work *w)
{
	struct rn_buf *b = &w->out;
	int rc = 0;

	rn_buf_u64(b, s->id);
	for (uint32_t k = 0; k < s->holes->n && rc == 0 && !b->failed; k++) {
		size_t at = b->len;

		rc = add_series(w, s->holes->series[k]);
		if (rc || b->failed || b->len - at <= PIECE)
			continue;
		rc = cut_values(t, s, k, b, at);
		if (rc == 0)
			rc = add_series(w, s->holes->series[k]);
	}
	return rc;
}

/* Encodes the grammar and, after it, the elastic values. Returns 0 also if the buffer is too
 * small. */
static int encode_calls(struct rn_stream *t, struct rn_seal *s, struct work *w)
{
	struct rn_buf *b = &w->out;
	int rc = 0;

	if (rn_rules_encode_grammar(t->grammar, &w->scratch, b) < 0)
		return b->failed ? 0 : ENOMEM;
	s->grammar = b->len;
	for (uint32_t i = 0; i < t->holes.n && rc == 0 && !b->failed; i++)
		if (rn_holes_of(&t->holes, i))
			rc = add_values(t, *RN_SEG_AT(&t->sig, struct rn_sig *, i), w);
	return rc;
}

/* Encodes grammar and elastic values in private memory. The size is not known in advance. */
static int make_calls(struct rn_stream *t, struct rn_seal *s, struct rn_buf *b)
{
	struct work w;
	int rc;

	do {
		rn_arena_init(&w.mem, SIZE_MAX);
		rn_arena_init(&w.scratch, SIZE_MAX);
		w.out = rn_buf_over(t->snapshot, t->snapshot_room);
		rc = encode_calls(t, s, &w);
		rn_arena_free(&w.mem);
		rn_arena_free(&w.scratch);
		if (rc == 0 && w.out.failed)
			rc = make_room(t, t->snapshot_room + 1);
	} while (rc == 0 && w.out.failed);
	*b = w.out;
	return rc;
}

static int save_calls(struct rn_stream *t, struct rn_seal *s)
{
	struct rn_buf b;
	int rc = make_calls(t, s, &b);

	if (rc == 0)
		rc = save(t, t->area, &b, &s->calls);
	s->upto = t->calls;
	s->values_from = t->values_at;
	s->pieces = t->pieces;
	return rc;
}

static int save_times(struct rn_stream *t, struct rn_seal *s)
{
	size_t room = s->times.bytes ? s->times.bytes : TIMES_FIRST;
	struct rn_buf b;
	int rc;

	do {
		rc = make_room(t, room);
		b = rn_buf_over(t->snapshot, t->snapshot_room);
		room = t->snapshot_room + 1;
	} while (rc == 0 && rn_times_save(&t->times, &b) < 0);
	return rc ? rc : save(t, t->times_area, &b, &s->times);
}

/* Makes the rings for the calls after a checkpoint. The ring of elastic values exists only if
 * there are any. */
static int make_rings(struct rn_stream *t, struct rn_seal *s, struct rn_mapped *ring,
		      struct rn_mapped *values)
{
	int rc = 0;

	s->values_tail = s->values_places = 0;
	if (s->calls.bytes > s->grammar) {
		rc = make_ring(t, &t->values_tail, sizeof(int64_t),
			       RING_SCALE * (s->calls.bytes - s->grammar), values);
		if (rc)
			return rc;
		s->values_tail = values->head.number;
		s->values_places = ring_places(values, sizeof(int64_t));
	}
	return make_ring(t, &t->tail, sizeof(uint32_t),
			 RING_SCALE * s->calls.bytes + s->times.bytes, ring);
}

static void use_values_ring(struct rn_stream *t, const struct rn_mapped *ring)
{
	struct rn_mapped old = t->values_tail;
	const struct rn_seal *s = rn_spool_sealed(t);

	if (!ring->at) {
		t->values_end = 0; /* the first value requests a ring */
		return;
	}
	t->values_tail = *ring;
	t->values = (int64_t *)(ring->at + 1);
	t->values_mask = s->values_places - 1;
	t->values_end = s->values_from + s->values_places;
	if (old.at != ring->at)
		rn_spill_release(&old);
}

/* Allocates the pages of a new ring by writing to them, as far as it will be used until the next
 * checkpoint. For a file on a disk, this costs a fraction of a page fault per page. */
static int make_ready(struct rn_stream *t)
{
	static uint32_t zeros[RING_FIRST];
	int fd = t->unready ? rn_spill_descriptor(t->log.spill) : -1, rc = 0;

	if (t->unready && fd < 0)
		return errno;
	while (t->unready && t->ready < t->ring_end && rc == 0) {
		uint64_t place = t->ready & t->ring_mask, n = RING_FIRST - place % RING_FIRST;

		n = n < t->unready ? n : t->unready;
		rc = rn_spill_write(fd, zeros, n * sizeof(*zeros),
				    t->tail.head.number * RN_SPILL_PAGE + sizeof(t->tail.head) +
					    place * sizeof(*zeros));
		t->ready += n;
		t->unready -= n;
	}
	return rc;
}

/* Computes when the next checkpoint is due. The first ones follow early, so that short runs also
 * leave time statistics. */
static int plan(struct rn_stream *t)
{
	const struct rn_seal *s = rn_spool_sealed(t);
	uint64_t calls = t->calls, full = s->upto + s->places,
		 more = s->times.bytes > RING_FIRST / 2 ? 2 * s->times.bytes : RING_FIRST;

	if (calls < RING_FIRST)
		more = (calls | 63) + 1;
	t->ring_end = full - calls < more ? full : calls + more;
	return make_ready(t);
}

int rn_spool_seal_now(struct rn_stream *t, bool whole)
{
	unsigned which = !t->sealed;
	struct rn_seal *s = &t->seal[which];
	struct rn_mapped ring = t->tail, values = { .at = NULL };
	int rc;

	*s = *rn_spool_sealed(t);
	s->number++;
	s->segment = t->segment;
	rc = save_times(t, s);
	if (rc == 0 && whole)
		rc = save_calls(t, s);
	if (rc == 0 && whole)
		rc = make_rings(t, s, &ring, &values);
	if (rc)
		return rc;
	s->tail = ring.head.number;
	s->places = ring_places(&ring, sizeof(uint32_t));
	s->sum = rn_seal_sum(&ring.head, s);
	t->live.seal[which] = *s;
	t->sealed = which;
	__atomic_store_n(&t->live.sealed, which, __ATOMIC_RELEASE);
	use_ring(t, &ring);
	if (whole)
		use_values_ring(t, &values);
	return plan(t);
}

static void leave_area(struct rn_mapped *area, uint64_t page)
{
	if (area->at && area->head.number == page)
		rn_spill_release(area);
}

void rn_spool_leave_areas(struct rn_stream *t, const struct rn_seal *last)
{
	for (int i = 0; i < 2; i++) {
		leave_area(&t->area[i], last->calls.page);
		leave_area(&t->times_area[i], last->times.page);
	}
}

size_t rn_spool_mapped(const struct rn_stream *t)
{
	size_t all = rn_mapped_room(&t->tail) + rn_mapped_room(&t->values_tail) + t->snapshot_room;

	for (int i = 0; i < 2; i++)
		all += rn_mapped_room(&t->area[i]) + rn_mapped_room(&t->times_area[i]);
	return all;
}
