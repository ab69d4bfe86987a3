/* mutant.c - see mutant.h. */
#include "t/fuzz/mutant.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/io.h"
#include "file/container.h"
#include "journal/journal_file.h"
#include "t/unit/forge_part.h"

#define SECTION_MAX ((size_t)64 << 10)

uint64_t random_below(uint64_t *random, uint64_t n)
{
	uint64_t z = *random += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (z ^ (z >> 31)) % n;
}

/* ---- good files ---- */

bool good_trace(struct good_input *in, const char *path)
{
	struct rn_container *c;
	struct rn_arena mem;
	bool good;

	*in = (struct good_input){ .name = path };
	rn_arena_init(&mem, SIZE_MAX);
	good = rn_io_read(path, &in->file, NULL) == RN_OK &&
	       rn_container_open(&mem, in->file.data, in->file.len, &c, NULL) == RN_OK;
	for (unsigned i = 0; good && i < FORGE_SECTIONS; i++) {
		const void *bytes;
		size_t len;

		if (!rn_container_has(c, forge_types[i]))
			continue;
		good = rn_container_get(c, forge_types[i], &bytes, &len, NULL) == RN_OK;
		if (good && len)
			rn_buf_add(&in->section[i], bytes, len);
	}
	rn_arena_free(&mem);
	return good;
}

static bool is_zero(const unsigned char *word)
{
	static const unsigned char zero[8];

	return memcmp(word, zero, sizeof(zero)) == 0;
}

bool good_part_file(struct good_input *in, const char *path, const char *name)
{
	const struct rn_buf *f = &in->file;

	*in = (struct good_input){ .name = name, .part = true };
	if (rn_io_read(path, &in->file, NULL) < 0)
		return false;
	in->word = calloc(f->len / 8 + 1, sizeof(*in->word));
	for (size_t at = 0; in->word && at + 8 <= f->len; at += 8)
		if (!is_zero(f->data + at) || (at && !is_zero(f->data + at - 8)))
			in->word[in->words++] = at;
	return in->words > 0;
}

/* ---- changes of bytes ---- */

static void insert(struct rn_buf *b, size_t at, const unsigned char *bytes, size_t n)
{
	unsigned char copy[64];

	n = n < sizeof(copy) ? n : sizeof(copy);
	if (b->len + n > SECTION_MAX || n == 0)
		return;
	memcpy(copy, bytes, n);
	if (!rn_buf_reserve(b, n))
		return;
	memmove(b->data + at + n, b->data + at, b->len - at);
	memcpy(b->data + at, copy, n);
	b->len += n;
}

static void cut(struct rn_buf *b, size_t at, size_t n)
{
	n = n < b->len - at ? n : b->len - at;
	if (n == 0)
		return;
	memmove(b->data + at, b->data + at + n, b->len - at - n);
	b->len -= n;
}

/* A change that leaves the length as it is. */
static void change_byte(uint64_t *random, unsigned char *p)
{
	static const unsigned char special[] = { 0, 1, 2, 63, 64, 127, 128, 129, 254, 255 };

	switch (random_below(random, 4)) {
	case 0:
		*p = (unsigned char)random_below(random, 256);
		break;
	case 1:
		*p = special[random_below(random, sizeof(special))];
		break;
	case 2:
		*p = (unsigned char)(*p + random_below(random, 9) - 4);
		break;
	case 3:
		*p ^= (unsigned char)(1u << random_below(random, 8));
	}
}

/* A change of the length. Numbers in sections are varints, so large ones are inserted as such. */
static void change_length(uint64_t *random, struct rn_buf *b, size_t at)
{
	static const unsigned char large[] = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 1 };
	unsigned char byte = (unsigned char)random_below(random, 256);
	size_t other;

	switch (random_below(random, 5)) {
	case 0:
		insert(b, at, &byte, 1);
		break;
	case 1:
		other = random_below(random, at + 1);
		if (at > other)
			insert(b, at, b->data + other, random_below(random, at - other + 1));
		break;
	case 2:
		other = random_below(random, sizeof(large));
		insert(b, at, large + other, sizeof(large) - other);
		break;
	case 3:
		cut(b, at, 1 + random_below(random, 8));
		break;
	case 4:
		b->len = at;
	}
}

/* Most changes leave the length as it is, because readers reject most of the others. */
static void change_bytes(uint64_t *random, struct rn_buf *b)
{
	size_t at = b->len ? random_below(random, b->len) : 0;

	if (b->len && random_below(random, 8))
		change_byte(random, b->data + at);
	else
		change_length(random, b, at);
}

/* ---- traces ---- */

/* Texts are chosen less often than other sections: most changes of them are rejected. */
static unsigned some_section(uint64_t *random, const struct rn_buf *section)
{
	unsigned i;

	do
		i = (unsigned)random_below(random, FORGE_SECTIONS);
	while ((forge_types[i] <= RN_SECTION_STRINGS && random_below(random, 4)) ||
	       (!section[i].len && random_below(random, 20)));
	return i;
}

/* Replaces a section by that of another trace. */
static void swap_section(uint64_t *random, const struct good_input *in, size_t inputs,
			 struct rn_buf *section)
{
	const struct good_input *other = &in[random_below(random, inputs)];
	unsigned i = some_section(random, other->section);

	if (other->part)
		return;
	rn_buf_clear(&section[i]);
	if (other->section[i].len)
		rn_buf_add(&section[i], other->section[i].data, other->section[i].len);
}

static void change_sections(uint64_t *random, const struct good_input *in, size_t inputs, size_t of,
			    struct rn_buf *out)
{
	static struct rn_buf section[FORGE_SECTIONS];
	struct forge_section s[FORGE_SECTIONS];
	uint64_t changes = 1 + random_below(random, 3);

	for (unsigned i = 0; i < FORGE_SECTIONS; i++) {
		rn_buf_clear(&section[i]);
		if (in[of].section[i].len)
			rn_buf_add(&section[i], in[of].section[i].data, in[of].section[i].len);
	}
	if (random_below(random, 10) == 0)
		swap_section(random, in, inputs, section);
	while (changes--)
		change_bytes(random, &section[some_section(random, section)]);
	for (unsigned i = 0; i < FORGE_SECTIONS; i++)
		s[i] = (struct forge_section){ section[i].data, section[i].len,
					       random_below(random, 200) == 0 };
	forge_container(s, out);
}

/* Changes bytes of the packed file. */
static void change_container(uint64_t *random, const struct good_input *in, bool forged,
			     struct rn_buf *out)
{
	uint64_t changes = 1 + random_below(random, 4);

	rn_buf_clear(out);
	rn_buf_add(out, in->file.data, in->file.len);
	while (changes--)
		change_bytes(random, out);
	if (forged && out->len >= FORGE_HEADER + FORGE_TRAILER)
		forge_trace(out->data, out->len);
}

/* ---- part files ---- */

static void change_word(uint64_t *random, const struct good_input *in, struct rn_buf *b)
{
	size_t at = in->word[random_below(random, in->words)],
	       other = in->word[random_below(random, in->words)];
	uint64_t word, byte = random_below(random, 256);

	if (at + 8 > b->len || other + 8 > b->len)
		return;
	memcpy(&word, b->data + at, 8);
	switch (random_below(random, 6)) {
	case 0:
		word ^= byte << 8 * random_below(random, 8);
		break;
	case 1:
		word += random_below(random, 17) - 8;
		break;
	case 2:
		word = byte << random_below(random, 57);
		break;
	case 3:
		memcpy(&word, b->data + other, 8);
		break;
	case 4:
		word ^= (uint64_t)1 << random_below(random, 64);
		break;
	case 5:
		word += (random_below(random, 9) - 4) << 32;
	}
	memcpy(b->data + at, &word, 8);
}

static void change_part(uint64_t *random, const struct good_input *in, bool forged,
			struct rn_buf *out)
{
	uint64_t changes = 1 + random_below(random, 6), pages = in->file.len / RN_SPILL_PAGE;

	rn_buf_clear(out);
	rn_buf_add(out, in->file.data, in->file.len);
	if (random_below(random, 20) == 0)
		memcpy(out->data + RN_SPILL_PAGE * random_below(random, pages),
		       in->file.data + RN_SPILL_PAGE * random_below(random, pages), RN_SPILL_PAGE);
	if (random_below(random, 30) == 0)
		out->len = random_below(random, out->len);
	while (changes--)
		change_word(random, in, out);
	if (forged)
		forge_part(out->data, out->len);
}

void make_mutant(uint64_t *random, const struct good_input *in, size_t inputs, size_t of,
		 struct rn_buf *out)
{
	uint64_t how = random_below(random, 20);

	if (in[of].part)
		change_part(random, &in[of], how >= 4, out);
	else if (how >= 3)
		change_sections(random, in, inputs, of, out);
	else
		change_container(random, &in[of], how > 0, out);
}
