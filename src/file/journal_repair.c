/* journal_repair.c - see journal_repair.h. */
#include "file/journal_repair.h"

#include "base/locate.h"
#include "file/spill.h"

#include <stdbool.h>
#include <string.h>

#define BUDGET   ((uint64_t)1 << 31) /* bytes that all searches together may hash */
#define FACTOR   4u                  /* how often the bytes of the file may be hashed besides */
#define OVERHEAD 64u                 /* the cost of a hash in addition to its bytes, in bytes */

struct repair {
	unsigned char *bytes;
	size_t len;
	uint64_t budget;
};

/* A piece with a checksum. `matches` tells whether the checksum is right. */
struct piece {
	struct repair *r;
	const struct rn_extent *extent; /* the extent that contains the piece, or that owns it */
	unsigned char *at;
	size_t n;        /* bytes at `at`; of a record: at most */
	uint64_t offset; /* of a record in its extent; of an extent: its page */
	uint64_t sum;    /* of a snapshot: the expected checksum */
};

typedef bool match_fn(const struct piece *p);

static void charge(struct repair *r, uint64_t bytes)
{
	r->budget -= r->budget < bytes + OVERHEAD ? r->budget : bytes + OVERHEAD;
}

/* Tries all values of n bytes of the piece. If none matches, the bytes are as before. */
static bool search(const struct piece *p, size_t from, size_t n, match_fn *matches)
{
	for (size_t i = from; i < from + n; i++) {
		unsigned char old = p->at[i];

		for (unsigned v = 1; v < 256 && p->r->budget; v++) {
			p->at[i] = (unsigned char)(old ^ v);
			if (matches(p))
				return true;
		}
		p->at[i] = old;
	}
	return false;
}

/* A search that would exceed the budget is not begun. Records of a hostile file can name the same
 * snapshot many times, so the first comparison must not exceed it, either. */
static bool correct(const struct piece *p, match_fn *matches)
{
	if (p->n > p->r->budget)
		return false;
	if (matches(p))
		return true;
	if (p->n > p->r->budget / 255 / (p->n + OVERHEAD))
		return false;
	return search(p, 0, p->n, matches);
}

/* ---- the head of the file ---- */

/* Replaces a word that differs from `right` in one byte. */
static void correct_word(unsigned char *at, uint64_t right)
{
	const unsigned char *want = (const unsigned char *)&right;
	unsigned wrong = 0;

	for (size_t i = 0; i < sizeof(right); i++)
		wrong += at[i] != want[i];
	if (wrong == 1)
		memcpy(at, want, sizeof(right));
}

/* The last byte of the magic number is the version of the format. Another version is not corrected.
 */
static void correct_magic(unsigned char *at)
{
	const uint64_t right = RN_SPILL_MAGIC;
	const size_t last = sizeof(right) - 1;

	if (at[last] == ((const unsigned char *)&right)[last])
		correct_word(at, right);
}

/* ---- extents ---- */

static bool is_extent(const struct piece *p)
{
	struct rn_extent e;

	memcpy(&e, p->at, sizeof(e));
	charge(p->r, sizeof(e));
	return e.magic == RN_EXTENT_MAGIC && e.number == p->offset && e.pages &&
	       e.sum == rn_extent_sum(&e);
}

static uint64_t count_pages(const struct repair *r)
{
	return r->len / RN_SPILL_PAGE;
}

/* Reads the head of the extent at a page, and corrects it. False if there is no extent. Only pages
 * with one of the two fields that are known are searched. */
static bool get_extent(struct repair *r, uint64_t page, struct rn_extent *e)
{
	struct piece p = { r, NULL, NULL, sizeof(*e), page, 0 };

	if (page == 0 || page >= count_pages(r))
		return false;
	p.at = r->bytes + page * RN_SPILL_PAGE;
	memcpy(e, p.at, sizeof(*e));
	if ((e->magic != RN_EXTENT_MAGIC && e->number != page) || !correct(&p, is_extent))
		return false;
	memcpy(e, p.at, sizeof(*e));
	return true;
}

/* The bytes of an extent after its head, as far as the file contains them. */
static size_t room_of(const struct repair *r, const struct rn_extent *e)
{
	uint64_t left = count_pages(r) - e->number;

	return (size_t)(e->pages < left ? e->pages : left) * RN_SPILL_PAGE - sizeof(*e);
}

/* Finds the next extent from *page on, and moves *page to the page after it. */
static bool next_extent(struct repair *r, uint64_t *page, struct rn_extent *e)
{
	while (*page < count_pages(r)) {
		if (get_extent(r, *page, e)) {
			*page += (room_of(r, e) + sizeof(*e)) / RN_SPILL_PAGE;
			return true;
		}
		++*page;
	}
	return false;
}

static void set_used(struct repair *r, uint64_t page, uint64_t used)
{
	memcpy(r->bytes + page * RN_SPILL_PAGE + offsetof(struct rn_extent, used), &used,
	       sizeof(used));
}

/* The head of an extent contains the number of bytes that the extent before it uses. */
static void correct_used_before(struct repair *r, const struct rn_extent *e)
{
	struct rn_extent before;

	if (e->before && get_extent(r, e->before, &before) && before.kind == RN_EXTENT_LOG &&
	    before.process == e->process && before.stream == e->stream)
		set_used(r, e->before, e->before_used);
}

/* ---- snapshots ---- */

static bool is_snapshot(const struct piece *p)
{
	charge(p->r, p->n);
	return rn_area_sum(p->extent, p->at, p->n) == p->sum;
}

static void correct_snapshot(struct repair *r, uint64_t page, uint64_t at, uint64_t bytes,
			     uint64_t sum)
{
	struct rn_extent e;
	struct piece p = { r, &e, NULL, (size_t)bytes, 0, sum };

	if ((bytes == 0 && sum == 0) || !get_extent(r, page, &e) || at > room_of(r, &e) ||
	    bytes > room_of(r, &e) - at)
		return;
	p.at = r->bytes + page * RN_SPILL_PAGE + sizeof(e) + at;
	correct(&p, is_snapshot);
}

static void correct_snapshots(struct repair *r, const struct rn_seal *s)
{
	correct_snapshot(r, s->area, 0, s->grammar, s->grammar_sum);
	correct_snapshot(r, s->area, rn_seal_values(s), s->values, s->values_sum);
	correct_snapshot(r, s->times_at, 0, s->times, s->times_sum);
}

static bool is_seal(const struct piece *p)
{
	struct rn_seal s;

	memcpy(&s, p->at, sizeof(s));
	charge(p->r, sizeof(s));
	return s.sum == rn_seal_sum(p->extent, &s);
}

/* Corrects the seals of a stream, which of them is valid, and the snapshots of that one. The other
 * seal may have been changed when the process ended. */
static void correct_live(struct repair *r, const struct rn_extent *e)
{
	unsigned char *at = r->bytes + e->number * RN_SPILL_PAGE;
	struct rn_live l;
	bool valid[2];

	if (room_of(r, e) < sizeof(l) - sizeof(*e))
		return;
	for (unsigned i = 0; i < 2; i++)
		valid[i] = correct(&(struct piece){ r, e,
						    at + offsetof(struct rn_live, seal) +
							    i * sizeof(struct rn_seal),
						    sizeof(struct rn_seal), 0, 0 },
				   is_seal);
	memcpy(&l, at, sizeof(l));
	if (l.sealed > 1) {
		l.sealed = valid[1] && (!valid[0] || l.seal[1].number > l.seal[0].number);
		memcpy(at + offsetof(struct rn_live, sealed), &l.sealed, sizeof(l.sealed));
	}
	if (valid[l.sealed])
		correct_snapshots(r, &l.seal[l.sealed]);
}

/* ---- logs ---- */

static size_t size_of(const struct rn_record *h)
{
	return sizeof(*h) + (((size_t)h->bytes + 7) & ~(size_t)7);
}

static bool is_record(const struct piece *p)
{
	struct rn_record h;

	memcpy(&h, p->at, sizeof(h));
	if (size_of(&h) > p->n)
		return false;
	charge(p->r, h.bytes);
	return h.sum == rn_record_sum(p->extent, p->offset, &h, p->at + sizeof(h));
}

static bool correct_bytes(const struct piece *p, const struct rn_record *h)
{
	unsigned char *bytes = p->at + sizeof(*h), old, value;
	size_t at;

	if (!rn_locate(bytes, h->bytes, h->locator, &at, &value))
		return false;
	old = bytes[at];
	bytes[at] = value;
	if (is_record(p))
		return true;
	bytes[at] = old;
	return false;
}

/* The bytes of a record, its checksum, or its type and its length, which are searched. */
static bool correct_record(const struct piece *p)
{
	struct rn_record h;

	memcpy(&h, p->at, sizeof(h));
	if (size_of(&h) <= p->n) {
		if (correct_bytes(p, &h))
			return true;
		correct_word(p->at + offsetof(struct rn_record, sum),
			     rn_record_sum(p->extent, p->offset, &h, p->at + sizeof(h)));
		if (is_record(p))
			return true;
	}
	return search(p, 0, offsetof(struct rn_record, sum), is_record);
}

/* A log while its records are read. */
struct walk {
	size_t at;       /* bytes read */
	bool at_used;    /* a record begins or ends where the used bytes end */
	unsigned beyond; /* records after the used bytes */
};

/* Moves to the next record, and corrects it. False at the end of the valid records. */
static bool next_record(struct repair *r, const struct rn_extent *e, struct walk *w)
{
	size_t room = room_of(r, e);
	struct piece p = { r, e, NULL, room - w->at, w->at, 0 };
	struct rn_record h;
	struct rn_seal s;

	w->at_used |= w->at == e->used;
	if (p.n < sizeof(h))
		return false;
	p.at = r->bytes + e->number * RN_SPILL_PAGE + sizeof(*e) + w->at;
	if (!is_record(&p) && (w->at >= e->used || !correct_record(&p)))
		return false;
	memcpy(&h, p.at, sizeof(h));
	if (h.type == RN_FACT_SEGMENT && h.bytes == sizeof(s)) {
		memcpy(&s, p.at + sizeof(h), sizeof(s));
		correct_snapshots(r, &s);
	}
	w->beyond += w->at >= e->used;
	w->at += size_of(&h);
	return true;
}

/* One record after the used bytes may be one that the process was adding when it ended. */
static void correct_log(struct repair *r, const struct rn_extent *e)
{
	struct walk w = { 0 };

	while (next_record(r, e, &w))
		;
	if (w.at > e->used && (!w.at_used || w.beyond > 1))
		set_used(r, e->number, w.at);
}

void rn_journal_repair(void *bytes, size_t len, uint64_t run)
{
	struct repair r = { bytes, len, BUDGET + FACTOR * (uint64_t)len };
	struct rn_extent e;
	uint64_t page = 1;

	if (len < RN_SPILL_PAGE)
		return;
	correct_magic(r.bytes + offsetof(struct rn_spill_head, magic));
	correct_word(r.bytes + offsetof(struct rn_spill_head, run), run);
	while (next_extent(&r, &page, &e))
		if (e.kind == RN_EXTENT_LOG)
			correct_used_before(&r, &e);
	for (page = 1; next_extent(&r, &page, &e);)
		if (e.kind == RN_EXTENT_LOG)
			correct_log(&r, &e);
		else if (e.kind == RN_EXTENT_LIVE)
			correct_live(&r, &e);
}
