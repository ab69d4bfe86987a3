/*
 * fuzz_section.c - libFuzzer target: opening a container of hostile bytes.
 *
 * The first byte picks what the rest is: a file as it stands; a file whose checks (magic, length,
 * version, hashes) are made right first, so that the fuzzer reaches what lies behind them; or
 * sections for the writer, because nobody guesses a valid frame, and a few bytes to change in its
 * file before its checks are made right, or are not.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/varint.h"
#include "file/section.h"

#define HEADER  24
#define TRAILER 16

/* Sections of inputs this short unpack to less; more means that a claim was believed. */
#define INPUT_MAX 1024
#define LIMIT     ((size_t)64 << 20)

static void must(int condition)
{
	if (!condition)
		abort();
}

static void put_le(unsigned char *p, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (unsigned char)(v >> 8 * i);
}

/* The hash of each section goes where the footer has room for it. */
static void mend_entries(unsigned char *file, unsigned char *footer, size_t len)
{
	struct rn_reader r = rn_reader(footer, len);
	uint64_t count = rn_get_u64(&r), left = (uint64_t)(footer - file) - HEADER;
	unsigned char *at = file + HEADER;

	for (uint64_t i = 0; i < count && !r.bad; i++) {
		unsigned codec = rn_get_u64(&r) & 3;
		uint64_t stored = rn_get_max(&r, left);
		const unsigned char *hash;

		if (codec)
			rn_get_u64(&r);
		hash = rn_get_bytes(&r, 8);
		if (!hash || r.bad)
			return;
		put_le(footer + (hash - footer), XXH64(at, stored, 0), 8);
		at += stored;
		left -= stored;
	}
}

static void mend(unsigned char *file, size_t len)
{
	unsigned char *trailer = file + len - TRAILER;
	size_t footer;

	memcpy(file, "\x89RND\r\n\x1a\n", 8);
	put_le(file + 8, len, 8);
	put_le(file + 16, 1, 2);
	put_le(file + 20, XXH64(file, 20, 0), 4);
	memcpy(trailer + 12, "DNR\x89", 4);
	footer = (size_t)trailer[8] | (size_t)trailer[9] << 8;
	put_le(trailer + 10, 0, 2);
	if (footer > len - HEADER - TRAILER)
		return;
	mend_entries(file, trailer - footer, footer);
	put_le(trailer, XXH64(trailer - footer, footer, XXH64(file, HEADER, 0)), 8);
}

/* All that the reader offers; every byte that it hands out is read. */
static void use(struct rn_container *c)
{
	struct rn_err err = { 0 };

	for (size_t i = 0; i < rn_container_count(c); i++) {
		const struct rn_section *s = rn_container_section(c, i);
		const void *bytes;
		size_t len;
		int rc = rn_container_get(c, (enum rn_section_type)s->type, &bytes, &len, &err);

		must(rc != RN_E_NOMEM);
		must(rc != RN_E_DATA || (err.text[0] && !strchr(err.text, '\n')));
		must((rc == RN_E_RANGE) == !s->readable);
		if (rc == RN_OK) {
			volatile uint64_t sink = XXH64(bytes, len, 0);

			(void)sink;
		}
	}
	rn_container_check(c, &err);
}

static void try_file(const void *file, size_t len)
{
	struct rn_arena mem;
	struct rn_container *c;
	struct rn_err err = { 0 };
	int rc;

	rn_arena_init(&mem, LIMIT);
	rc = rn_container_open(&mem, file, len, &c, &err);
	must(rc == RN_OK || (rc == RN_E_DATA && err.text[0] && !strchr(err.text, '\n')));
	if (rc == RN_OK)
		use(c);
	rn_arena_free(&mem);
}

/* A copy of just the right size: reading behind it is seen. */
static void try_copy(const uint8_t *data, size_t len, bool mended)
{
	unsigned char *file = malloc(len + !len);

	must(file != NULL);
	memcpy(file, data, len);
	if (mended && len >= HEADER + TRAILER)
		mend(file, len);
	try_file(file, len);
	free(file);
}

/* The same bytes eight times over, so that the section gets packed. */
static void add_section(struct rn_container_writer *w, enum rn_section_type type,
			const uint8_t *data, size_t len)
{
	unsigned char bytes[8 * INPUT_MAX];

	for (size_t i = 0; i < 8; i++)
		memcpy(bytes + i * len, data, len);
	must(rn_container_add(w, type, bytes, 8 * len, NULL) == RN_OK);
}

static void try_built(const uint8_t *data, size_t len, size_t changes, bool mended)
{
	struct rn_container_writer w = { 0 };
	const uint8_t *change = data;
	const void *bytes;
	unsigned char *file;
	size_t n;

	if (len < 3 * changes)
		return;
	data += 3 * changes;
	len -= 3 * changes;
	add_section(&w, RN_SECTION_META, data, len / 2);
	add_section(&w, RN_SECTION_RANKS, data + len / 2, len - len / 2);
	must(rn_container_finish(&w, &bytes, &n, NULL) == RN_OK);
	file = w.file.data;
	for (; changes--; change += 3)
		file[(change[0] | (size_t)change[1] << 8) % n] ^= change[2];
	if (mended)
		mend(file, n);
	try_file(file, n);
	rn_container_writer_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0 || size > INPUT_MAX)
		return 0;
	if (data[0] & 2)
		try_built(data + 1, size - 1, data[0] >> 2 & 7, data[0] & 1);
	else
		try_copy(data + 1, size - 1, data[0] & 1);
	return 0;
}
