/* journal_repair.c - see journal_repair.h. */
#include "recover/journal_repair.h"

#include "journal/byte_locator.h"
#include "journal/journal_file.h"
#include "recover/journal_read_stream.h"

#include <stdbool.h>
#include <string.h>

#define BUDGET   ((uint64_t)1 << 31) /* bytes that all searches together may hash */
#define FACTOR   4u                  /* additional hashes of each byte of the file */
#define OVERHEAD 64u                 /* fixed cost of a hash, in bytes */

struct repair {
	unsigned char *bytes;
	size_t len;
	uint64_t budget;
};

/* Bytes that a checksum covers: the head of an extent, a record, a checkpoint or a snapshot. */
struct piece {
	struct repair *r;
	const struct rn_extent *extent; /* the extent that the checksum includes */
	unsigned char *at;
	size_t n;        /* bytes at `at`; for a record: upper bound */
	uint64_t offset; /* record: offset in its extent; head of an extent: its page */
	uint64_t sum;    /* snapshot: the expected checksum */
};

/* Whether the checksum of a piece matches. */
typedef bool match_fn(const struct piece *p);

static void charge(struct repair *r, uint64_t bytes)
{
	r->budget -= r->budget < bytes + OVERHEAD ? r->budget : bytes + OVERHEAD;
}

/* Tries all values of each of n bytes. On failure the bytes are unchanged. */
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

/* Corrects one byte of a piece. False if the checksum does not match. A search that would exceed
 * the budget is not started. Records of a hostile file can name the same snapshot many times, so
 * the first comparison is limited, too. */
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

/* Replaces a word with `right` if they differ in one byte. */
static void correct_word(unsigned char *at, uint64_t right)
{
	const unsigned char *want = (const unsigned char *)&right;
	unsigned wrong = 0;

	for (size_t i = 0; i < sizeof(right); i++)
		wrong += at[i] != want[i];
	if (wrong == 1)
		memcpy(at, want, sizeof(right));
}

/* The last byte of the magic number is the format version. A different version is not corrected. */
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
	struct rn_found f;

	charge(p->r, sizeof(f.head));
	return rn_found_at(p->r->bytes, p->r->len, p->offset, &f);
}

/* Corrects the heads of all extents. A page is searched only if the magic number or the page number
 * is right. */
static void correct_heads(struct repair *r)
{
	struct rn_found f;
	struct rn_extent e;

	for (uint64_t page = 1; page < r->len / RN_SPILL_PAGE;) {
		struct piece p = { r, NULL, r->bytes + page * RN_SPILL_PAGE, sizeof(e), page, 0 };

		memcpy(&e, p.at, sizeof(e));
		if (e.magic == RN_EXTENT_MAGIC || e.number == page)
			correct(&p, is_extent);
		page += rn_found_at(r->bytes, r->len, page, &f) ? f.len / RN_SPILL_PAGE : 1;
	}
}

/* The position of the bytes after the head of an extent, and the number of them in the file. */
static unsigned char *bytes_of(struct repair *r, const struct rn_found *f)
{
	return r->bytes + f->head.number * RN_SPILL_PAGE + sizeof(f->head);
}

static size_t room_of(const struct rn_found *f)
{
	return f->len - sizeof(f->head);
}

static void set_used(struct repair *r, uint64_t page, uint64_t used)
{
	memcpy(r->bytes + page * RN_SPILL_PAGE + offsetof(struct rn_extent, used), &used,
	       sizeof(used));
}

/* Corrects `used` of the previous extent of a log, of which the head of this extent has a copy. */
static void correct_used_before(struct repair *r, const struct rn_extent *e)
{
	struct rn_found f;

	if (rn_found_at(r->bytes, r->len, e->before, &f) && f.head.kind == RN_EXTENT_LOG &&
	    f.head.process == e->process && f.head.stream == e->stream)
		set_used(r, e->before, e->before_used);
}

/* ---- snapshots ---- */

static bool is_snapshot(const struct piece *p)
{
	charge(p->r, p->n);
	return rn_area_sum(p->extent, p->at, p->n) == p->sum;
}

static void correct_snapshot(struct repair *r, const struct rn_snapshot *s)
{
	struct rn_found f;

	if (rn_found_at(r->bytes, r->len, s->page, &f) && s->bytes <= room_of(&f))
		correct(&(struct piece){ r, &f.head, bytes_of(r, &f), (size_t)s->bytes, 0, s->sum },
			is_snapshot);
}

static void correct_snapshots(struct repair *r, const struct rn_seal *s)
{
	correct_snapshot(r, &s->calls);
	correct_snapshot(r, &s->times);
}

static bool is_seal(const struct piece *p)
{
	struct rn_seal s;

	memcpy(&s, p->at, sizeof(s));
	charge(p->r, sizeof(s));
	return s.sum == rn_seal_sum(p->extent, &s);
}

/* Corrects both checkpoints of a stream, the index of the valid one, and the snapshots of the valid
 * one. The process may have been writing the other one when it ended. */
static void correct_live(struct repair *r, const struct rn_found *f)
{
	unsigned char *at = r->bytes + f->head.number * RN_SPILL_PAGE;
	struct rn_live l;
	bool valid[2];

	if (f->len < sizeof(l))
		return;
	for (unsigned i = 0; i < 2; i++)
		valid[i] = correct(&(struct piece){ r, &f->head,
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

/* Corrects one byte of a record: a byte of its data by the locator, a byte of its checksum, or a
 * byte of its type or length by a search. */
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

/* Position in a log whose records are being read. */
struct walk {
	size_t at;       /* bytes read */
	bool at_used;    /* a record begins or ends at offset `used` */
	unsigned beyond; /* records after offset `used` */
};

/* Reads the next record, and corrects it. False at the end of the valid records. */
static bool next_record(struct repair *r, const struct rn_found *f, struct walk *w)
{
	struct piece p = { r, &f->head, bytes_of(r, f) + w->at, room_of(f) - w->at, w->at, 0 };
	struct rn_record h;
	struct rn_seal s;

	w->at_used |= w->at == f->head.used;
	if (p.n < sizeof(h))
		return false;
	if (!is_record(&p) && (w->at >= f->head.used || !correct_record(&p)))
		return false;
	memcpy(&h, p.at, sizeof(h));
	if (h.type == RN_FACT_SEGMENT && h.bytes == sizeof(s)) {
		memcpy(&s, p.at + sizeof(h), sizeof(s));
		correct_snapshots(r, &s);
	}
	w->beyond += w->at >= f->head.used;
	w->at += size_of(&h);
	return true;
}

/* Corrects the records of a log, and `used`. A single record after offset `used` is not damage: the
 * process may have been adding it when it ended. */
static void correct_log(struct repair *r, const struct rn_found *f)
{
	struct walk w = { 0 };

	while (next_record(r, f, &w))
		;
	if (w.at > f->head.used && (!w.at_used || w.beyond > 1))
		set_used(r, f->head.number, w.at);
}

void rn_journal_repair(void *bytes, size_t len, uint64_t run)
{
	struct repair r = { bytes, len, BUDGET + FACTOR * (uint64_t)len };
	struct rn_found f;
	uint64_t page = 1;

	if (len < RN_SPILL_PAGE)
		return;
	correct_magic(r.bytes + offsetof(struct rn_spill_head, magic));
	correct_word(r.bytes + offsetof(struct rn_spill_head, run), run);
	correct_heads(&r);
	while (rn_found_next(r.bytes, len, &page, &f))
		if (f.head.kind == RN_EXTENT_LOG)
			correct_used_before(&r, &f.head);
	for (page = 1; rn_found_next(r.bytes, len, &page, &f);)
		if (f.head.kind == RN_EXTENT_LOG)
			correct_log(&r, &f);
		else if (f.head.kind == RN_EXTENT_LIVE)
			correct_live(&r, &f);
}
