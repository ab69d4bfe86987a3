/*
 * forge_part.h - recomputes the checksums of a modified journal (journal/journal_file.h).
 *
 * Readers detect most modifications by their checksums. To test the code after those checks, a
 * fuzzer forges the checksums as an attacker would: those of extent heads, of the areas of
 * checkpoints, of checkpoints (also those in records of finished segments) and of log records.
 * Rings, counters, calls in flight and order events have no checksums.
 */
#ifndef RN_T_FORGE_PART_H
#define RN_T_FORGE_PART_H

#include <stddef.h>
#include <string.h>

#include "journal/journal_file.h"

/* Recomputes the checksum of a snapshot, or sets it to 0 if the snapshot is not in the file. */
static inline void forge_snapshot(const unsigned char *b, size_t len, struct rn_snapshot *s)
{
	struct rn_extent area;
	size_t at = s->page * RN_SPILL_PAGE + sizeof(area);

	s->sum = 0;
	if (s->page >= len / RN_SPILL_PAGE || s->bytes > len - at)
		return;
	memcpy(&area, b + at - sizeof(area), sizeof(area));
	s->sum = rn_area_sum(&area, b + at, s->bytes);
}

/* Recomputes the checksums of a checkpoint that has the owner of the extent. */
static inline void forge_seal(const unsigned char *b, size_t len, const struct rn_extent *of,
			      struct rn_seal *s)
{
	forge_snapshot(b, len, &s->calls);
	forge_snapshot(b, len, &s->times);
	s->sum = rn_seal_sum(of, s);
}

/* Recomputes the checksum of the record at this offset of the log at `at`. */
static inline void forge_record(unsigned char *b, size_t len, size_t at, const struct rn_extent *e,
				size_t offset)
{
	unsigned char *p = b + at + sizeof(*e) + offset;
	struct rn_record r;
	struct rn_seal s;

	memcpy(&r, p, sizeof(r));
	if (r.type == RN_FACT_SEGMENT && r.bytes == sizeof(s)) {
		memcpy(&s, p + sizeof(r), sizeof(s));
		forge_seal(b, len, e, &s);
		memcpy(p + sizeof(r), &s, sizeof(s));
	}
	r.sum = rn_record_sum(e, offset, &r, p + sizeof(r));
	memcpy(p, &r, sizeof(r));
}

static inline void forge_log(unsigned char *b, size_t len, size_t at, const struct rn_extent *e)
{
	size_t room = len - at - sizeof(*e), size;
	struct rn_record r;

	for (size_t i = 0; i < e->used && room >= sizeof(r) && i <= room - sizeof(r); i += size) {
		memcpy(&r, b + at + sizeof(*e) + i, sizeof(r));
		size = sizeof(r) + (((size_t)r.bytes + 7) & ~(size_t)7);
		if (size > room - i)
			break;
		forge_record(b, len, at, e, i);
	}
}

static inline void forge_live(unsigned char *b, size_t len, size_t at)
{
	struct rn_live l;

	memcpy(&l, b + at, sizeof(l));
	forge_seal(b, len, &l.extent, &l.seal[0]);
	forge_seal(b, len, &l.extent, &l.seal[1]);
	memcpy(b + at, &l, sizeof(l));
}

/* Recomputes all checksums of the file. */
static inline void forge_part(unsigned char *b, size_t len)
{
	for (size_t at = RN_SPILL_PAGE; at + RN_SPILL_PAGE <= len; at += RN_SPILL_PAGE) {
		struct rn_extent e;

		memcpy(&e, b + at, sizeof(e));
		if (e.magic != RN_EXTENT_MAGIC)
			continue;
		e.sum = rn_extent_sum(&e);
		memcpy(b + at, &e, sizeof(e));
		if (e.kind == RN_EXTENT_LOG)
			forge_log(b, len, at, &e);
		if (e.kind == RN_EXTENT_LIVE)
			forge_live(b, len, at);
	}
}

#endif
