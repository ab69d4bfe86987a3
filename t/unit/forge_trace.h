/*
 * forge_trace.h - containers (file/container.h) with valid checksums around hostile bytes.
 *
 * forge_container puts sections into a container as they are, without packing them. forge_trace
 * recomputes the checks of a file that was changed: magic, length, version and hashes.
 */
#ifndef RN_T_FORGE_TRACE_H
#define RN_T_FORGE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/varint.h"
#include "file/container.h"

#define FORGE_HEADER  24u
#define FORGE_TRAILER 16u

static inline void forge_le(unsigned char *p, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (unsigned char)(v >> 8 * i);
}

/* Stores the hash of each section in the section's footer entry. */
static inline void forge_entries(unsigned char *file, unsigned char *footer, size_t len)
{
	struct rn_reader r = rn_reader(footer, len);
	uint64_t count = rn_get_u64(&r), left = (uint64_t)(footer - file) - FORGE_HEADER;
	unsigned char *at = file + FORGE_HEADER;

	for (uint64_t i = 0; i < count && !r.bad; i++) {
		unsigned codec = rn_get_u64(&r) & 3;
		uint64_t stored = rn_get_max(&r, left);
		const unsigned char *hash;

		if (codec)
			rn_get_u64(&r);
		hash = rn_get_bytes(&r, 8);
		if (!hash || r.bad)
			return;
		forge_le(footer + (hash - footer), XXH64(at, stored, 0), 8);
		at += stored;
		left -= stored;
	}
}

/* Recomputes the checks of a file of `len` bytes, at least FORGE_HEADER + FORGE_TRAILER. The
 * footer must be shorter than 64 KiB. */
static inline void forge_trace(unsigned char *file, size_t len)
{
	unsigned char *trailer = file + len - FORGE_TRAILER;
	size_t footer;

	memcpy(file, "\x89RND\r\n\x1a\n", 8);
	forge_le(file + 8, len, 8);
	forge_le(file + 16, RN_FORMAT_MAJOR, 2);
	forge_le(file + 20, XXH64(file, 20, 0), 4);
	memcpy(trailer + 12, "DNR\x89", 4);
	footer = (size_t)trailer[8] | (size_t)trailer[9] << 8;
	forge_le(trailer + 10, 0, 2);
	if (footer > len - FORGE_HEADER - FORGE_TRAILER)
		return;
	forge_entries(file, trailer - footer, footer);
	forge_le(trailer, XXH64(trailer - footer, footer, XXH64(file, FORGE_HEADER, 0)), 8);
}

/* ---- sections ---- */

#define FORGE_SECTIONS RN_SECTION_KINDS

/* In file order. */
static const enum rn_section_type forge_types[] = {
	RN_SECTION_META,  RN_SECTION_FUNCTIONS, RN_SECTION_STRINGS, RN_SECTION_SIGNATURES,
	RN_SECTION_RULES, RN_SECTION_LOOPS,     RN_SECTION_RANKS,   RN_SECTION_TIME,
	RN_SECTION_COMMS, RN_SECTION_TIMES,     RN_SECTION_SITES,   RN_SECTION_VALUES,
	RN_SECTION_ORDER,
};
_Static_assert(sizeof(forge_types) / sizeof(*forge_types) == FORGE_SECTIONS, "all sections");

/* The bytes of section i of forge_types. A section is omitted if it is `dropped`, or if it is
 * empty and optional. */
struct forge_section {
	const unsigned char *bytes;
	size_t len;
	bool dropped;
};

static inline bool forge_has(const struct forge_section s[FORGE_SECTIONS], unsigned i)
{
	return !s[i].dropped && (s[i].len || !rn_section_kind(forge_types[i])->optional);
}

/* Replaces the content of `out` with the file. */
static inline void forge_container(const struct forge_section s[FORGE_SECTIONS], struct rn_buf *out)
{
	static const unsigned char zero[FORGE_HEADER];
	size_t footer;
	uint64_t n = 0;

	rn_buf_clear(out);
	rn_buf_add(out, zero, FORGE_HEADER);
	for (unsigned i = 0; i < FORGE_SECTIONS; i++) {
		n += forge_has(s, i);
		if (forge_has(s, i) && s[i].len)
			rn_buf_add(out, s[i].bytes, s[i].len);
	}
	footer = out->len;
	rn_buf_u64(out, n);
	for (unsigned i = 0; i < FORGE_SECTIONS; i++)
		if (forge_has(s, i)) {
			bool required = rn_section_kind(forge_types[i])->required;

			rn_buf_u64(out, (uint64_t)forge_types[i] << 3 | (unsigned)required << 2);
			rn_buf_u64(out, s[i].len);
			rn_buf_add(out, zero, 8);
		}
	footer = out->len - footer;
	rn_buf_add(out, zero, FORGE_TRAILER);
	forge_le(out->data + 18, RN_FORMAT_MINOR, 2);
	forge_le(out->data + out->len - 8, footer, 4);
	forge_trace(out->data, out->len);
}

#endif
