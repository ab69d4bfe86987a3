/* container.c - see container.h; the bytes are described in doc/format.md, chapters 2 to 4. */
#include "file/container.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/compress.h"
#include "base/hash.h"
#include "base/varint.h"
#include "file/zstd_dictionary.h"

#define HEADER    RN_CONTAINER_HEAD
#define TRAILER   16
#define ENTRY_MIN 10 /* in bytes: tag, length, hash */

/* Sections of this size and larger do not benefit from the dictionary. */
#define DICT_WORTH ((size_t)64 << 10)

/* Sections of this size and larger that are already coded do not benefit from compression. */
#define CODED_WORTH ((size_t)4 << 10)

/* Limit of the total size of the compressed sections of one file after decompression, in bytes. */
#define RAW_MAX ((uint64_t)4 << 30)

static const unsigned char magic[8] = { 0x89, 'R', 'N', 'D', '\r', '\n', 0x1a, '\n' };
static const unsigned char end_mark[4] = { 'D', 'N', 'R', 0x89 };

static void put_le(unsigned char *p, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (unsigned char)(v >> 8 * i);
}

static uint64_t get_le(const unsigned char *p, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

/* Returns the checksum in the header, of the bytes before it. */
static uint64_t header_check(const unsigned char *file)
{
	return XXH64(file, 20, 0) & UINT32_MAX;
}

/* Seeded with the header, so that a 64-bit hash also protects the header. */
static uint64_t footer_hash(const unsigned char *file, const unsigned char *footer, size_t len)
{
	return XXH64(footer, len, XXH64(file, HEADER, 0));
}

/*
 * Writing
 */

/* Magic number of every zstd frame. Omitted from frames that use the dictionary. */
static const unsigned char frame_mark[4] = { 0x28, 0xb5, 0x2f, 0xfd };

/* Compresses the bytes into w->scratch in the smallest form. *codec is that form. */
static int pack(struct rn_container_writer *w, const void *bytes, size_t len, unsigned *codec)
{
	int rc = rn_pack(&w->packer, (struct rn_pack_dict){ 0 }, bytes, len, &w->scratch);

	*codec = RN_SECTION_ZSTD;
	if (rc == RN_OK && len < DICT_WORTH) {
		rc = rn_pack(&w->packer, rn_dictionary(), bytes, len, &w->other);
		if (rc == RN_OK && w->other.len - sizeof(frame_mark) < w->scratch.len) {
			struct rn_buf less = w->other;

			less.len -= sizeof(frame_mark);
			memmove(less.data, less.data + sizeof(frame_mark), less.len);
			w->other = w->scratch;
			w->scratch = less;
			*codec = RN_SECTION_ZSTD_DICT;
		}
	}
	/* A reader would refuse more than RAW_MAX bytes in compressed sections. */
	if (w->scratch.len >= len || len > RAW_MAX - w->packed_raw)
		*codec = RN_SECTION_STORED;
	return rc;
}

/* True if the section is already coded: compression would gain nothing and take long. */
static bool is_coded(const struct rn_section_kind *t, size_t len)
{
	return t->type == RN_SECTION_TIME && len >= CODED_WORTH;
}

static int append(struct rn_container_writer *w, const struct rn_section_kind *t, const void *bytes,
		  size_t len)
{
	unsigned codec = RN_SECTION_STORED;
	int rc = is_coded(t, len) ? RN_OK : pack(w, bytes, len, &codec);
	const void *stored = codec ? w->scratch.data : bytes;
	size_t n = codec ? w->scratch.len : len;

	if (rc)
		return rc;
	if (w->file.len == 0)
		rn_buf_add(&w->file, (unsigned char[HEADER]){ 0 }, HEADER);
	rn_buf_add(&w->file, stored, n);
	rn_buf_u64(&w->footer, t->type << 3 | (unsigned)t->required << 2 | codec);
	rn_buf_u64(&w->footer, n);
	if (codec)
		rn_buf_u64(&w->footer, len);
	rn_buf_le64(&w->footer, XXH64(stored, n, 0));
	if (w->file.failed || w->footer.failed)
		return RN_E_NOMEM;
	w->packed_raw += codec ? len : 0;
	return RN_OK;
}

/* Restores a buffer to its state before a failure. */
static void roll_back(struct rn_buf *b, size_t len)
{
	b->len = len;
	b->failed = false;
}

int rn_container_add(struct rn_container_writer *w, enum rn_section_type type, const void *bytes,
		     size_t len, struct rn_err *err)
{
	const struct rn_section_kind *t = rn_section_kind(type);
	size_t file = w->file.len, footer = w->footer.len;

	if (!t || w->finished || type <= w->last_type)
		return rn_err_set(err, RN_E_ARG, "section %u cannot be added %s", (unsigned)type,
				  !t            ? "(unknown)"
				  : w->finished ? "to a finished file"
						: "(types must ascend)");
	if (append(w, t, len ? bytes : "", len)) {
		roll_back(&w->file, file);
		roll_back(&w->footer, footer);
		return rn_err_nomem(err);
	}
	w->last_type = type;
	w->count++;
	return RN_OK;
}

static void fill_header(unsigned char *p, size_t len)
{
	memcpy(p, magic, sizeof(magic));
	put_le(p + 8, len, 8);
	put_le(p + 16, RN_FORMAT_MAJOR, 2);
	put_le(p + 18, RN_FORMAT_MINOR, 2);
	put_le(p + 20, header_check(p), 4);
}

static void fill_trailer(unsigned char *file, size_t footer_at, size_t len)
{
	unsigned char *p = file + len - TRAILER;
	size_t footer = len - TRAILER - footer_at;

	put_le(p, footer_hash(file, file + footer_at, footer), 8);
	put_le(p + 8, footer, 4);
	memcpy(p + 12, end_mark, sizeof(end_mark));
}

int rn_container_finish(struct rn_container_writer *w, const void **bytes, size_t *len,
			struct rn_err *err)
{
	struct rn_buf *f = &w->file;
	size_t before = f->len, footer_at;

	if (!w->finished) {
		if (f->len == 0)
			rn_buf_add(f, (unsigned char[HEADER]){ 0 }, HEADER);
		footer_at = f->len;
		rn_buf_u64(f, w->count);
		if (w->footer.len)
			rn_buf_add(f, w->footer.data, w->footer.len);
		rn_buf_add(f, (unsigned char[TRAILER]){ 0 }, TRAILER);
		if (rn_buf_status(f)) {
			roll_back(f, before);
			return rn_err_nomem(err);
		}
		fill_header(f->data, f->len);
		fill_trailer(f->data, footer_at, f->len);
		w->finished = true;
	}
	*bytes = f->data;
	*len = f->len;
	return RN_OK;
}

void rn_container_writer_free(struct rn_container_writer *w)
{
	rn_buf_free(&w->file);
	rn_buf_free(&w->footer);
	rn_buf_free(&w->scratch);
	rn_buf_free(&w->other);
	rn_packer_free(&w->packer);
	*w = (struct rn_container_writer){ 0 };
}

/*
 * Reading
 */

struct rn_container {
	struct rn_arena *mem;
	const unsigned char *file;
	size_t len, footer_at;
	unsigned major, minor;
	size_t count;
	struct rn_section *section;
};

static int check_magic(const unsigned char *file, size_t len, struct rn_err *err)
{
	size_t n = len < sizeof(magic) ? len : sizeof(magic);

	if (n && memcmp(file, magic, n) == 0)
		return RN_OK;
	if (n > 4 && memcmp(file, magic, 4) == 0)
		return rn_err_set(err, RN_E_DATA,
				  "not a Rondo trace: line ends changed at byte 4 "
				  "(was it copied as text?)");
	return rn_err_set(err, RN_E_DATA, "not a Rondo trace");
}

static int check_version(unsigned major, unsigned minor, struct rn_err *err)
{
	if (major == RN_FORMAT_MAJOR)
		return RN_OK;
	return rn_err_set(err, RN_E_DATA,
			  "format %u.%u; this version of rondo reads format %d.%d; %s", major,
			  minor, RN_FORMAT_MAJOR, RN_FORMAT_MINOR,
			  major < RN_FORMAT_MAJOR ? "trace the program again"
						  : "a newer version of rondo is required");
}

int rn_container_probe(const void *head, size_t head_len, uint64_t file_size, struct rn_err *err)
{
	const unsigned char *p = head;
	uint64_t len;
	int rc = check_magic(p, head_len, err);

	if (rc)
		return rc;
	if (head_len < HEADER)
		return rn_err_set(err, RN_E_DATA, "cut off at byte %zu, inside the header",
				  head_len);
	if (get_le(p + 20, 4) != header_check(p))
		return rn_err_set(err, RN_E_DATA, "header damaged: checksum differs at byte 0..%d",
				  HEADER - 1);
	rc = check_version((unsigned)get_le(p + 16, 2), (unsigned)get_le(p + 18, 2), err);
	if (rc)
		return rc;
	len = get_le(p + 8, 8);
	if (file_size < len)
		return rn_err_set(err, RN_E_DATA, "cut off at byte %" PRIu64 " of %" PRIu64,
				  file_size, len);
	if (file_size > len)
		return rn_err_set(err, RN_E_DATA, "goes on behind its end at byte %" PRIu64, len);
	return RN_OK;
}

static int check_header(struct rn_container *c, struct rn_err *err)
{
	int rc = rn_container_probe(c->file, c->len, c->len, err);

	if (rc == RN_OK) {
		c->major = (unsigned)get_le(c->file + 16, 2);
		c->minor = (unsigned)get_le(c->file + 18, 2);
	}
	return rc;
}

/* Finds and verifies the footer. */
static int check_trailer(struct rn_container *c, struct rn_err *err)
{
	const unsigned char *p = c->file + c->len - TRAILER;
	size_t at = c->len - TRAILER;
	uint64_t footer;

	if (c->len < HEADER + TRAILER + 1)
		return rn_err_set(err, RN_E_DATA, "cut off at byte %zu, before the trailer",
				  c->len);
	footer = get_le(p + 8, 4);
	if (memcmp(p + 12, end_mark, sizeof(end_mark)) || footer > at - HEADER)
		return rn_err_set(err, RN_E_DATA, "trailer damaged at byte %zu..%zu", at,
				  c->len - 1);
	c->footer_at = at - footer;
	if (get_le(p, 8) != footer_hash(c->file, c->file + c->footer_at, footer))
		return rn_err_set(err, RN_E_DATA,
				  "footer damaged: checksum differs at byte %zu..%zu", c->footer_at,
				  c->len - 1);
	return RN_OK;
}

static void read_entry(struct rn_reader *r, struct rn_section *s)
{
	uint64_t tag = rn_get_u64(r);
	const unsigned char *hash;

	s->type = tag >> 3;
	s->required = tag >> 2 & 1;
	s->codec = tag & 3;
	s->stored = rn_get_u64(r);
	s->raw = s->codec == RN_SECTION_STORED ? s->stored : rn_get_u64(r);
	hash = rn_get_bytes(r, 8);
	s->hash = hash ? get_le(hash, 8) : 0;
	s->readable = rn_section_kind(s->type) && s->codec <= RN_SECTION_ZSTD_DICT;
}

/* Sets the offsets of all sections. Returns NULL, or a description if the entries are inconsistent.
 */
static const char *place_sections(struct rn_container *c)
{
	uint64_t at = HEADER, raw_left = RAW_MAX, last = 0;

	for (size_t i = 0; i < c->count; i++) {
		struct rn_section *s = &c->section[i];

		if (s->type <= last)
			return "types do not ascend";
		if (s->stored > c->footer_at - at)
			return "sections do not fit";
		if (s->readable && s->codec != RN_SECTION_STORED) {
			if (s->raw <= s->stored || !rn_pack_possible(s->raw, s->stored))
				return "unpacked length is impossible";
			if (s->raw > raw_left)
				return "sections unpack to more than 4 GiB";
			raw_left -= s->raw;
		}
		s->offset = at;
		at += s->stored;
		last = s->type;
	}
	return at == c->footer_at ? NULL : "sections leave a gap";
}

static int read_footer(struct rn_container *c, struct rn_err *err)
{
	size_t end = c->len - TRAILER;
	struct rn_reader r = rn_reader(c->file + c->footer_at, end - c->footer_at);
	const char *why;

	c->count = rn_get_count(&r, ENTRY_MIN);
	c->section = rn_new(c->mem, struct rn_section, c->count);
	if (!c->section)
		return rn_err_nomem(err);
	for (size_t i = 0; i < c->count; i++)
		read_entry(&r, &c->section[i]);
	why = r.bad ? "an entry is cut off" : rn_left(&r) ? "bytes left over" : place_sections(c);
	if (why)
		return rn_err_set(err, RN_E_DATA, "footer damaged at byte %zu..%zu: %s",
				  c->footer_at, end - 1, why);
	return RN_OK;
}

/* Returns the name of a section for messages. */
static const char *label(const struct rn_section *s, char *space, size_t size)
{
	const char *name = rn_section_name(s->type);

	if (name)
		return name;
	snprintf(space, size, "%" PRIu64, s->type);
	return space;
}

static int check_section(const struct rn_container *c, const struct rn_section *s,
			 struct rn_err *err)
{
	char space[24];
	uint64_t last = s->offset + (s->stored ? s->stored - 1 : 0);

	if (s->required && !s->readable)
		return rn_err_set(
			err, RN_E_DATA,
			"section %s is required and unknown: format %u.%u; this version of rondo "
			"reads format %d.%d; a newer version of rondo is required",
			label(s, space, sizeof(space)), c->major, c->minor, RN_FORMAT_MAJOR,
			RN_FORMAT_MINOR);
	if (XXH64(c->file + s->offset, s->stored, 0) != s->hash)
		return rn_err_set(err, RN_E_DATA,
				  "section %s damaged: checksum differs at byte %" PRIu64
				  "..%" PRIu64,
				  label(s, space, sizeof(space)), s->offset, last);
	return RN_OK;
}

static int verify(struct rn_container *c, struct rn_err *err)
{
	int rc = check_header(c, err);

	if (!rc)
		rc = check_trailer(c, err);
	if (!rc)
		rc = read_footer(c, err);
	for (size_t i = 0; !rc && i < c->count; i++)
		rc = check_section(c, &c->section[i], err);
	return rc;
}

int rn_container_open(struct rn_arena *mem, const void *bytes, size_t len,
		      struct rn_container **out, struct rn_err *err)
{
	struct rn_arena_mark before = rn_arena_mark(mem);
	struct rn_container *c = rn_new(mem, struct rn_container, 1);
	int rc;

	if (!c)
		return rn_err_nomem(err);
	c->mem = mem;
	c->file = bytes;
	c->len = len;
	rc = verify(c, err);
	if (rc)
		rn_arena_rewind(mem, before);
	else
		*out = c;
	return rc;
}

void rn_container_version(const struct rn_container *c, unsigned *major, unsigned *minor)
{
	*major = c->major;
	*minor = c->minor;
}

size_t rn_container_count(const struct rn_container *c)
{
	return c->count;
}

const struct rn_section *rn_container_section(const struct rn_container *c, size_t i)
{
	assert(i < c->count);
	return &c->section[i];
}

/* Returns the index of a section that can be read, or SIZE_MAX. */
static size_t find_section(const struct rn_container *c, uint64_t type)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->section[i].type == type && c->section[i].readable)
			return i;
	return SIZE_MAX;
}

bool rn_container_has(const struct rn_container *c, enum rn_section_type type)
{
	return find_section(c, type) != SIZE_MAX;
}

/* Decompresses a frame. Footer and frame must agree on the length before memory is allocated. */
static int unpack_frame(struct rn_container *c, struct rn_pack_dict dict, const void *frame,
			size_t len, const struct rn_section *s, const void **out,
			struct rn_err *err)
{
	struct rn_arena_mark before = rn_arena_mark(c->mem);
	unsigned char *raw;
	int rc;

	if (rn_packed_size(frame, len) != s->raw)
		return rn_err_set(err, RN_E_DATA, "not one frame of the length in the footer");
	raw = rn_new(c->mem, unsigned char, s->raw);
	if (!raw)
		return rn_err_nomem(err);
	rc = rn_unpack(dict, frame, len, raw, s->raw);
	if (rc == RN_OK) {
		*out = raw;
		return RN_OK;
	}
	rn_arena_rewind(c->mem, before);
	if (rc == RN_E_NOMEM)
		return rn_err_nomem(err);
	return rn_err_set(err, RN_E_DATA, "does not unpack");
}

static int unpack(struct rn_container *c, const struct rn_section *s, const void **out,
		  struct rn_err *err)
{
	const unsigned char *stored = c->file + s->offset;
	struct rn_buf frame = { 0 };
	int rc;

	if (s->codec == RN_SECTION_ZSTD)
		return unpack_frame(c, (struct rn_pack_dict){ 0 }, stored, s->stored, s, out, err);
	rn_buf_add(&frame, frame_mark, sizeof(frame_mark));
	rn_buf_add(&frame, stored, s->stored);
	if (rn_buf_status(&frame) < 0 || !rn_dictionary().bytes)
		rc = rn_err_nomem(err);
	else
		rc = unpack_frame(c, rn_dictionary(), frame.data, frame.len, s, out, err);
	rn_buf_free(&frame);
	return rc;
}

int rn_container_get(struct rn_container *c, enum rn_section_type type, const void **bytes,
		     size_t *len, struct rn_err *err)
{
	size_t i = find_section(c, type);
	const struct rn_section *s;
	char space[24];
	int rc;

	if (i == SIZE_MAX)
		return rn_err_set(err, RN_E_RANGE, "no section %s", rn_section_name(type));
	s = &c->section[i];
	*bytes = c->file + s->offset;
	*len = s->raw;
	rc = s->codec == RN_SECTION_STORED ? RN_OK : unpack(c, s, bytes, err);
	if (rc == RN_E_NOMEM)
		rn_err_prefix(err, "section %s", label(s, space, sizeof(space)));
	if (rc == RN_E_DATA)
		rn_err_prefix(err, "section %s wrong at byte %" PRIu64 "..%" PRIu64,
			      label(s, space, sizeof(space)), s->offset, s->offset + s->stored - 1);
	return rc;
}
