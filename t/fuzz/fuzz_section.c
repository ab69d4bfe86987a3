/*
 * fuzz_section.c - libFuzzer target: opening a container of hostile bytes.
 *
 * The first byte selects what the rest is. It is a complete file; or a file whose checks (magic,
 * length, version, hashes) are corrected first, so that the fuzzer reaches the data that they
 * protect; or sections for the writer, because a fuzzer does not find a valid frame. In the last
 * case a few bytes change the writer's file, before its checks are corrected or without
 * correction.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "file/container.h"
#include "t/unit/forge_trace.h"

/* Sections of inputs no longer than this unpack to less. More means that the reader accepted a
 * forged size. */
#define INPUT_MAX 1024
#define LIMIT     ((size_t)64 << 20)

static void must(int condition)
{
	if (!condition)
		abort();
}

/* Calls every function of the reader, and reads every byte that it returns. */
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

/* Opens a copy of exactly the input's size, so that AddressSanitizer finds reads beyond its end. */
static void try_copy(const uint8_t *data, size_t len, bool mended)
{
	unsigned char *file = malloc(len + !len);

	must(file != NULL);
	memcpy(file, data, len);
	if (mended && len >= FORGE_HEADER + FORGE_TRAILER)
		forge_trace(file, len);
	try_file(file, len);
	free(file);
}

/* Adds the bytes eight times, so that the section is packed. */
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
		forge_trace(file, n);
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
