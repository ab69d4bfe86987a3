/*
 * test_section.c - the container: round trips, and rejection of damaged, foreign and newer files.
 */
#include "tap.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/io.h"
#include "file/container.h"
#include "file/zstd_dictionary.h"

#define HEADER  24
#define TRAILER 16

static struct rn_arena mem;

/* The content of a section, for comparison. */
struct sample {
	enum rn_section_type type;
	unsigned char bytes[5000];
	size_t len;
};

static void fill(struct sample *s, enum rn_section_type type, size_t len, unsigned alphabet)
{
	s->type = type;
	s->len = len;
	for (size_t i = 0; i < len; i++)
		s->bytes[i] = (unsigned char)tap_below(alphabet);
}

/* Unpacks every section that can be read. */
static int unpack_all(struct rn_container *c, struct rn_err *err)
{
	const void *bytes;
	size_t len;
	int rc = RN_OK;

	for (size_t i = 0; rc == RN_OK && i < rn_container_count(c); i++) {
		const struct rn_section *s = rn_container_section(c, i);

		if (s->readable)
			rc = rn_container_get(c, (enum rn_section_type)s->type, &bytes, &len, err);
	}
	return rc;
}

static int add(struct rn_container_writer *w, const struct sample *s, struct rn_err *err)
{
	return rn_container_add(w, s->type, s->bytes, s->len, err);
}

static bool one_line(const struct rn_err *err)
{
	return err->text[0] && !strchr(err->text, '\n');
}

static int try_open(const void *bytes, size_t len, struct rn_container **c, struct rn_err *err)
{
	*err = (struct rn_err){ 0 };
	return rn_container_open(&mem, bytes, len, c, err);
}

/* The file is rejected with one line that begins with the text or, from a '*' on, contains it. */
static void refused(const void *bytes, size_t len, const char *text)
{
	struct rn_container *c;
	struct rn_err err;
	bool good = CHECK(try_open(bytes, len, &c, &err) == RN_E_DATA) && CHECK(one_line(&err));

	if (good && text)
		good = text[0] == '*' ? CHECK(strstr(err.text, text + 1))
				      : CHECK(strncmp(err.text, text, strlen(text)) == 0);
	if (!good)
		diag("wanted \"%s\", got \"%s\"", text ? text : "(any)", err.text);
}

static bool has(struct rn_container *c, const struct sample *s)
{
	const void *bytes;
	size_t len;
	struct rn_err err;

	return rn_container_has(c, s->type) &&
	       rn_container_get(c, s->type, &bytes, &len, &err) == RN_OK && len == s->len &&
	       memcmp(bytes, s->bytes, len) == 0;
}

/* Three sections: one stored, one empty, one packed. */
static struct sample meta, empty, rules;

static void build(struct rn_container_writer *w, const unsigned char **bytes, size_t *len)
{
	const void *file = NULL;

	*w = (struct rn_container_writer){ 0 };
	fill(&meta, RN_SECTION_META, 12, 256);
	fill(&empty, RN_SECTION_STRINGS, 0, 1);
	fill(&rules, RN_SECTION_RULES, 100, 2);
	CHECK(add(w, &meta, NULL) == RN_OK && add(w, &empty, NULL) == RN_OK);
	CHECK(add(w, &rules, NULL) == RN_OK);
	CHECK(rn_container_finish(w, &file, len, NULL) == RN_OK);
	*bytes = file;
}

static void random_file(void)
{
	static struct sample s[9];
	struct rn_arena_mark mark = rn_arena_mark(&mem);
	struct rn_container_writer w = { 0 };
	struct rn_container *c;
	struct rn_err err;
	const void *bytes = NULL;
	size_t n = 0, len = 0;

	for (uint64_t t = 1; t <= 9; t++) {
		if (tap_below(2) || !rn_section_name(t))
			continue;
		fill(&s[n], (enum rn_section_type)t, tap_below(tap_below(4) ? 100 : 5000),
		     tap_below(2) ? 256 : 3);
		CHECK(add(&w, &s[n++], &err) == RN_OK);
	}
	CHECK(rn_container_finish(&w, &bytes, &len, &err) == RN_OK);
	if (CHECK(try_open(bytes, len, &c, &err) == RN_OK)) {
		CHECK(rn_container_count(c) == n);
		CHECK(unpack_all(c, &err) == RN_OK);
		for (size_t i = 0; i < n; i++)
			CHECK(has(c, &s[i]) && rn_container_section(c, i)->type == s[i].type);
	}
	rn_container_writer_free(&w);
	rn_arena_rewind(&mem, mark);
}

static void test_round_trips(void)
{
	for (int i = 0; i < 500; i++)
		random_file();
}

/* The version does not depend on the sections. */
static void test_version(void)
{
	struct rn_container_writer w = { 0 };
	struct rn_container *c;
	const void *bytes;
	unsigned major, minor;
	size_t len;

	CHECK(rn_container_add(&w, RN_SECTION_RANKS, "abc", 3, NULL) == RN_OK);
	CHECK(rn_container_add(&w, RN_SECTION_COMMS, "abc", 3, NULL) == RN_OK);
	CHECK(rn_container_finish(&w, &bytes, &len, NULL) == RN_OK);
	CHECK(rn_container_open(&mem, bytes, len, &c, NULL) == RN_OK);
	rn_container_version(c, &major, &minor);
	CHECK(major == 2 && minor == 0);
	CHECK(rn_container_section(c, 1)->required);
	rn_container_writer_free(&w);
}

static void test_directory(void)
{
	struct rn_container_writer w;
	const unsigned char *file;
	const struct rn_section *s;
	struct rn_container *c;
	struct rn_err err;
	const void *bytes;
	unsigned major, minor;
	size_t len, n;

	build(&w, &file, &len);
	if (!CHECK(try_open(file, len, &c, &err) == RN_OK))
		return;
	rn_container_version(c, &major, &minor);
	CHECK(major == RN_FORMAT_MAJOR && minor == RN_FORMAT_MINOR);
	s = rn_container_section(c, 0);
	CHECK(s->type == RN_SECTION_META && s->offset == HEADER && s->stored == 12 && s->raw == 12);
	CHECK(s->codec == RN_SECTION_STORED && s->required && s->readable);
	s = rn_container_section(c, 2);
	CHECK(s->type == RN_SECTION_RULES && s->codec == RN_SECTION_ZSTD_DICT && s->raw == 100);
	CHECK(s->offset == HEADER + 12 && s->stored < 100);
	CHECK(!rn_container_has(c, RN_SECTION_RANKS));
	CHECK(rn_container_get(c, RN_SECTION_RANKS, &bytes, &n, &err) == RN_E_RANGE);
	CHECK(strcmp(err.text, "no section ranks") == 0);
	CHECK(strcmp(rn_section_name(RN_SECTION_SIGNATURES), "signatures") == 0);
	CHECK(rn_section_name(0) == NULL && rn_section_name(15) == NULL);
	rn_container_writer_free(&w);
}

static void test_overhead(void)
{
	struct rn_container_writer w = { 0 };
	const void *bytes;
	size_t len;

	CHECK(rn_container_finish(&w, &bytes, &len, NULL) == RN_OK && len == 41);
	rn_container_writer_free(&w);
	fill(&meta, RN_SECTION_META, 100, 256);
	CHECK(add(&w, &meta, NULL) == RN_OK);
	CHECK(rn_container_finish(&w, &bytes, &len, NULL) == RN_OK && len == 41 + 100 + 10);
	rn_container_writer_free(&w);
}

static void test_writer_misuse(void)
{
	struct rn_container_writer w = { 0 };
	struct rn_err err;
	const void *bytes;
	size_t len;

	CHECK(rn_container_add(&w, (enum rn_section_type)0, "", 0, &err) == RN_E_ARG);
	CHECK(rn_container_add(&w, (enum rn_section_type)15, "", 0, &err) == RN_E_ARG);
	CHECK(rn_container_add(&w, RN_SECTION_RULES, "abc", 3, &err) == RN_OK);
	CHECK(rn_container_add(&w, RN_SECTION_RULES, "abc", 3, &err) == RN_E_ARG);
	CHECK(rn_container_add(&w, RN_SECTION_META, "abc", 3, &err) == RN_E_ARG && one_line(&err));
	CHECK(rn_container_finish(&w, &bytes, &len, &err) == RN_OK && len == 41 + 10 + 3);
	CHECK(rn_container_add(&w, RN_SECTION_RANKS, "abc", 3, &err) == RN_E_ARG);
	CHECK(rn_container_finish(&w, &bytes, &len, &err) == RN_OK && len == 41 + 10 + 3);
	rn_container_writer_free(&w);
}

static void test_cuts(void)
{
	struct rn_container_writer w;
	const unsigned char *file;
	unsigned char longer[2000];
	char text[64];
	size_t len;

	build(&w, &file, &len);
	for (size_t cut = 0; cut < len; cut++) {
		/* A copy of exactly this size, so that ASan finds reads beyond its end. */
		unsigned char *part = malloc(cut + !cut);

		memcpy(part, file, cut);
		snprintf(text, sizeof(text), "cut off at byte %zu", cut);
		refused(part, cut, cut ? text : "not a Rondo trace");
		free(part);
	}
	memcpy(longer, file, len);
	for (size_t more = 1; more < 100; more++) {
		longer[len + more - 1] = (unsigned char)tap_rand();
		snprintf(text, sizeof(text), "goes on behind its end at byte %zu", len);
		refused(longer, len + more, text);
	}
	memcpy(longer + len, file, len); /* two traces in one file */
	refused(longer, 2 * len, text);
	rn_container_writer_free(&w);
}

/* The expected message if byte i of the file of build() was changed. */
static const char *damage_at(size_t i, size_t len, size_t packed)
{
	if (i < 8)
		return "not a Rondo trace";
	if (i < HEADER)
		return "header damaged: checksum differs at byte 0..23";
	if (i < HEADER + 12)
		return "section meta damaged: checksum differs at byte 24..35";
	if (i < HEADER + 12 + packed)
		return "section rules damaged: checksum differs at byte 36..";
	if (i < len - 8)
		return "footer damaged: checksum differs at byte ";
	return "* damaged"; /* length of the footer: footer or trailer */
}

static void test_flips(void)
{
	struct rn_container_writer w;
	struct rn_container *c;
	struct rn_err err;
	const unsigned char *file;
	unsigned char copy[2000];
	size_t len, packed;

	build(&w, &file, &len);
	CHECK(try_open(file, len, &c, &err) == RN_OK);
	packed = rn_container_section(c, 2)->stored;
	memcpy(copy, file, len);
	for (size_t i = 0; i < len; i++) {
		for (unsigned x = 1; x < 256; x++) {
			copy[i] = (unsigned char)(file[i] ^ x);
			refused(copy, len, damage_at(i, len, packed));
		}
		copy[i] = file[i];
	}
	CHECK(try_open(copy, len, &c, &err) == RN_OK);
	rn_container_writer_free(&w);
}

/* Bit flips in a file of some kilobytes with all sections: eight bits of each byte. */
static void test_flips_large(void)
{
	struct rn_container_writer w = { 0 };
	struct sample s;
	unsigned char *copy;
	const void *file;
	size_t len;

	for (uint64_t t = 1; t <= 9; t++) {
		if (!rn_section_name(t))
			continue;
		fill(&s, (enum rn_section_type)t, 100 * t, t & 1 ? 256 : 3);
		CHECK(add(&w, &s, NULL) == RN_OK);
	}
	CHECK(rn_container_finish(&w, &file, &len, NULL) == RN_OK);
	copy = malloc(len);
	memcpy(copy, file, len);
	for (size_t i = 0; i < len * 8; i++) {
		copy[i / 8] ^= (unsigned char)(1 << i % 8);
		refused(copy, len, NULL);
		copy[i / 8] ^= (unsigned char)(1 << i % 8);
	}
	for (size_t cut = 0; cut < len; cut++)
		refused(copy, cut, NULL);
	free(copy);
	rn_container_writer_free(&w);
}

static void test_foreign(void)
{
	static const char png[] = "\x89PNG\r\n\x1a\n0123456789012345678901234567890123456789";
	static const char lf[] = "\x89RND\n\x1a\n0123456789012345678901234567890123456789";
	static const char crlf[] = "\x89RND\r\r\n\x1a\r\n34567890123456789012345678901234567";
	struct rn_buf b = { 0 };
	unsigned char noise[200];
	struct rn_err err;

	refused("", 0, "not a Rondo trace");
	refused("x", 1, "not a Rondo trace");
	refused("#!/bin/sh\necho hello\n", 21, "not a Rondo trace");
	refused(png, sizeof(png), "not a Rondo trace");
	refused(lf, sizeof(lf), "not a Rondo trace: line ends changed");
	refused(crlf, sizeof(crlf), "not a Rondo trace: line ends changed");
	CHECK(rn_io_read("/proc/self/exe", &b, &err) == RN_OK);
	refused(b.data, b.len, "not a Rondo trace");
	for (int round = 0; round < 1000; round++) {
		for (size_t i = 0; i < sizeof(noise); i++)
			noise[i] = (unsigned char)tap_rand();
		refused(noise, tap_below(sizeof(noise)), "not a Rondo trace");
	}
	rn_buf_free(&b);
}

/*
 * Files that the writer never makes, with correct checks.
 */
struct entry {
	uint64_t type;
	bool required;
	unsigned codec;
	const void *stored;
	size_t len;
	uint64_t raw; /* written if codec is not 0 */
};

static struct rn_buf made;

static void put_header(uint64_t length, unsigned major, unsigned minor)
{
	unsigned char version[4] = { (unsigned char)major, (unsigned char)(major >> 8),
				     (unsigned char)minor, (unsigned char)(minor >> 8) };

	rn_buf_clear(&made);
	rn_buf_add(&made, "\x89RND\r\n\x1a\n", 8);
	rn_buf_le64(&made, length);
	rn_buf_add(&made, version, 4);
	rn_buf_le32(&made, (uint32_t)XXH64(made.data, 20, 0));
}

/* Makes a file: header, `nbody` bytes of sections, `footer` unchanged, trailer. */
static void seal(const void *body, size_t nbody, const struct rn_buf *footer, unsigned major,
		 unsigned minor)
{
	put_header(HEADER + nbody + footer->len + TRAILER, major, minor);
	rn_buf_add(&made, body, nbody);
	rn_buf_add(&made, footer->data, footer->len);
	rn_buf_le64(&made, XXH64(footer->data, footer->len, XXH64(made.data, HEADER, 0)));
	rn_buf_le32(&made, (uint32_t)footer->len);
	rn_buf_add(&made, "DNR\x89", 4);
}

static void make(const struct entry *e, size_t n, unsigned major, unsigned minor)
{
	struct rn_buf body = { 0 }, footer = { 0 };

	rn_buf_byte(&body, 0);
	body.len = 0;
	rn_buf_u64(&footer, n);
	for (size_t i = 0; i < n; i++) {
		rn_buf_add(&body, e[i].stored, e[i].len);
		rn_buf_u64(&footer, e[i].type << 3 | (unsigned)e[i].required << 2 | e[i].codec);
		rn_buf_u64(&footer, e[i].len);
		if (e[i].codec)
			rn_buf_u64(&footer, e[i].raw);
		rn_buf_le64(&footer, XXH64(e[i].stored, e[i].len, 0));
	}
	seal(body.data, body.len, &footer, major, minor);
	rn_buf_free(&body);
	rn_buf_free(&footer);
}

static const struct entry known[] = { { 1, true, 0, "abc", 3, 0 }, { 5, true, 0, "defg", 4, 0 } };

static struct rn_container *accepted(void)
{
	struct rn_container *c = NULL;
	struct rn_err err;

	if (!CHECK(try_open(made.data, made.len, &c, &err) == RN_OK))
		diag("%s", err.text);
	return c;
}

static void test_versions(void)
{
	struct entry e[] = { known[0], known[1], { 15, false, 0, "hij", 3, 0 } };
	struct rn_container *c;

	make(known, 2, 2, 0);
	CHECK(accepted());
	make(known, 2, 2, 9);
	CHECK(accepted());
	make(known, 2, 3, 0);
	refused(made.data, made.len,
		"format 3.0; this version of rondo reads format 2.0; a newer version of rondo is "
		"required");
	refused(made.data, HEADER, "format 3.0; this version");
	make(known, 2, 300, 7);
	refused(made.data, made.len, "format 300.7; this version");
	make(known, 2, 1, 3);
	refused(made.data, made.len,
		"format 1.3; this version of rondo reads format 2.0; trace the program again");

	make(e, 3, 2, 1);
	c = accepted();
	CHECK(c && rn_container_count(c) == 3 && !rn_container_section(c, 2)->readable);
	CHECK(c && unpack_all(c, NULL) == RN_OK);
	made.data[HEADER + 8] ^= 1; /* the hash of an unknown section is verified too */
	refused(made.data, made.len, "section 15 damaged: checksum differs at byte 31..33");
	e[2].required = true;
	make(e, 3, 2, 1);
	refused(made.data, made.len,
		"section 15 is required and unknown: format 2.1; this version");
}

static void test_new_codec(void)
{
	struct entry e = { RN_SECTION_RANKS, false, 3, "abc", 3, 2 };
	struct rn_container *c;

	make(&e, 1, 2, 1);
	c = accepted();
	CHECK(c && !rn_container_has(c, RN_SECTION_RANKS));
	CHECK(c && unpack_all(c, NULL) == RN_OK);
	e.required = true;
	make(&e, 1, 2, 1);
	refused(made.data, made.len, "section ranks is required and unknown");
}

static void test_bad_footers(void)
{
	struct entry e[] = { known[1], known[0], known[0] };
	struct rn_buf footer = { 0 };

	make(e, 2, 2, 0);
	refused(made.data, made.len, "*types do not ascend");
	make(e + 1, 2, 2, 0);
	refused(made.data, made.len, "*types do not ascend");
	e[0].type = 0;
	make(e, 1, 2, 0);
	refused(made.data, made.len, "*types do not ascend");

	put_header(30, 2, 0);
	rn_buf_add(&made, "------", 6);
	refused(made.data, made.len, "cut off at byte 30, before the trailer");
	rn_buf_byte(&footer, 0);
	seal("abc", 3, &footer, 2, 0);
	refused(made.data, made.len, "*sections leave a gap");
	rn_buf_byte(&footer, 0);
	seal("abc", 3, &footer, 2, 0);
	refused(made.data, made.len, "*bytes left over");
	footer.data[0] = 1;
	seal("abc", 3, &footer, 2, 0);
	refused(made.data, made.len, "*entry is cut off");
	rn_buf_clear(&footer);
	seal("abc", 3, &footer, 2, 0);
	refused(made.data, made.len, "*entry is cut off");
	rn_buf_add(&footer, "\1\x0c\7--------", 11);
	seal("abc", 3, &footer, 2, 0);
	refused(made.data, made.len, "*sections do not fit");
	rn_buf_clear(&footer);
	rn_buf_add(&footer, "\1\x0c\xff\xff\xff\xff\xff\xff\xff\xff\xff\1--------", 20);
	seal("abc", 3, &footer, 2, 0);
	refused(made.data, made.len, "*sections do not fit");
	rn_buf_free(&footer);
}

/* A section that cannot be unpacked: open may accept it, get must reject it. */
static void not_unpacked_as(unsigned codec, const void *frame, size_t len, uint64_t raw)
{
	struct entry e = { RN_SECTION_RULES, true, codec, frame, len, raw };
	struct rn_container *c;
	struct rn_err err;
	const void *bytes;
	size_t n, mapped = mem.mapped;

	make(&e, 1, 2, 0);
	if (try_open(made.data, made.len, &c, &err) == RN_OK) {
		CHECK(rn_container_get(c, RN_SECTION_RULES, &bytes, &n, &err) == RN_E_DATA);
		CHECK(unpack_all(c, &err) == RN_E_DATA);
		CHECK(strncmp(err.text, "section rules wrong at byte 24..", 32) == 0);
	}
	CHECK(one_line(&err) && mem.mapped <= mapped + (1 << 20));
}

static void not_unpacked(const void *frame, size_t len, uint64_t raw)
{
	not_unpacked_as(RN_SECTION_ZSTD, frame, len, raw);
}

/* Codec 2: a frame that refers to the dictionary, without its first four bytes. */
static void test_with_dictionary(void)
{
	struct rn_pack_dict d = rn_dictionary();
	const unsigned char *text = (const unsigned char *)d.bytes + 9000;
	struct entry e = { RN_SECTION_RANKS, true, RN_SECTION_ZSTD_DICT, NULL, 0, 300 };
	struct rn_packer p = { 0 };
	struct rn_buf frame = { 0 };
	struct rn_container *c;
	const void *bytes;
	size_t n;

	CHECK(rn_pack(&p, d, text, 300, &frame) == RN_OK);
	CHECK(memcmp(frame.data, "\x28\xb5\x2f\xfd", 4) == 0);
	e.stored = frame.data + 4;
	e.len = frame.len - 4;
	make(&e, 1, 2, 1);
	c = accepted();
	CHECK(c && rn_container_get(c, RN_SECTION_RANKS, &bytes, &n, NULL) == RN_OK);
	CHECK(c && n == 300 && memcmp(bytes, text, 300) == 0);
	not_unpacked_as(RN_SECTION_ZSTD_DICT, e.stored, e.len, 301);
	not_unpacked_as(RN_SECTION_ZSTD_DICT, e.stored, e.len, 299);
	not_unpacked_as(RN_SECTION_ZSTD_DICT, e.stored, e.len - 1, 300);
	not_unpacked_as(RN_SECTION_ZSTD_DICT, frame.data, frame.len, 300);
	not_unpacked(frame.data, frame.len, 300); /* it needs the dictionary */
	not_unpacked_as(RN_SECTION_ZSTD_DICT, "", 0, 300);
	rn_packer_free(&p);
	rn_buf_free(&frame);
}

static void test_bad_frames(void)
{
	static const unsigned char zeros[1000];
	static const unsigned char skippable[] = { 0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0 };
	unsigned char frame[200];
	size_t len = ZSTD_compress(frame, 100, zeros, sizeof(zeros), 3);
	struct entry e = { RN_SECTION_RULES, true, 1, frame, len, 1000 };

	make(&e, 1, 2, 0);
	CHECK(accepted());
	not_unpacked(frame, len, 999);
	not_unpacked(frame, len, 1001);
	not_unpacked(frame, len, len);
	not_unpacked(frame, len - 1, 1000);
	not_unpacked("abc", 3, 1000);
	not_unpacked("", 0, 1000);
	not_unpacked(frame, len, (uint64_t)1 << 22);
	not_unpacked(frame, len, UINT64_MAX);
	memcpy(frame + len, skippable, sizeof(skippable));
	not_unpacked(frame, len + sizeof(skippable), 1000);
	not_unpacked(skippable, sizeof(skippable), 1000);
	for (size_t i = 0; i < len * 8; i++) {
		struct rn_container *c;

		frame[i / 8] ^= (unsigned char)(1 << i % 8);
		make(&e, 1, 2, 0);
		c = accepted();
		CHECK(c && unpack_all(c, NULL) != RN_E_NOMEM);
		if (i / 8 < 7 && i / 8 != 4) /* magic or content size; others may unpack */
			not_unpacked(frame, len, 1000);
		frame[i / 8] ^= (unsigned char)(1 << i % 8);
	}
}

/* Sections that are equal to the sizes in their frames, but too large together. */
static void test_too_large(void)
{
	static unsigned char frame[40000];
	struct entry e[4];
	struct rn_container *c;
	struct rn_err err;

	for (unsigned i = 0; i < 4; i++)
		e[i] = (struct entry){ i + 1, true, 1, frame, sizeof(frame), (uint64_t)1 << 30 };
	make(e, 4, 2, 0);
	CHECK(try_open(made.data, made.len, &c, &err) == RN_OK);
	e[3].raw++;
	make(e, 4, 2, 0);
	refused(made.data, made.len, "*more than 4 GiB");
}

static void test_no_memory_write(void)
{
	struct rn_container_writer w = { 0 };
	struct rn_container *c;
	struct rn_err err;
	struct sample s[3];
	const void *file;
	size_t n = 0, len;
	unsigned failures = 0;

	fill(&s[0], RN_SECTION_META, 300, 256);
	fill(&s[1], RN_SECTION_FUNCTIONS, 600, 2);
	/* Each step is repeated with a later failing allocation, until it succeeds. */
	for (uint64_t at = 1; n < 4 && at < 50; at++) {
		size_t before = w.file.len;
		int rc;

		if (n == 2 && at == 1) /* nearly fills the buffer, so that finishing grows it */
			fill(&s[2], RN_SECTION_STRINGS, 2040 - before, 256);
		rn_buf_fail_at(at);
		rc = n < 3 ? add(&w, &s[n], &err) : rn_container_finish(&w, &file, &len, &err);
		rn_buf_fail_at(0);
		CHECK(rc == RN_OK || (rc == RN_E_NOMEM && w.file.len == before && one_line(&err)));
		n += rc == RN_OK;
		failures += rc != RN_OK;
		at = rc == RN_OK ? 0 : at;
	}
	CHECK(n == 4 && failures > 3);
	CHECK(try_open(file, len, &c, &err) == RN_OK && has(c, &s[0]) && has(c, &s[1]) &&
	      has(c, &s[2]));
	rn_container_writer_free(&w);
}

static void test_no_memory_read(void)
{
	struct rn_container_writer w;
	struct rn_container *c = NULL;
	struct rn_err err = { 0 };
	const unsigned char *file;
	const void *bytes;
	size_t len, n;
	int rc = RN_E_NOMEM;
	uint64_t at;

	build(&w, &file, &len);
	for (at = 1; rc != RN_OK && at < 100; at++) {
		unsigned char *before = mem.beg;

		mem.fail_at = at;
		rc = try_open(file, len, &c, &err);
		mem.fail_at = 0;
		CHECK(rc == RN_OK || (rc == RN_E_NOMEM && one_line(&err) && mem.beg == before));
	}
	CHECK(rc == RN_OK && at > 3);
	mem.fail_at = 1;
	CHECK(rn_container_get(c, RN_SECTION_RULES, &bytes, &n, &err) == RN_E_NOMEM);
	mem.fail_at = 1;
	CHECK(unpack_all(c, &err) == RN_E_NOMEM);
	mem.fail_at = 0;
	CHECK(has(c, &rules) && has(c, &meta) && has(c, &empty));
	rn_container_writer_free(&w);
}

static void test_on_disk(void)
{
	char dir[] = "/tmp/rondo-section-XXXXXX", path[100];
	struct rn_container_writer w;
	struct rn_buf b = { 0 };
	struct rn_container *c;
	const unsigned char *file;
	struct rn_err err;
	struct stat st;
	size_t len;

	if (!CHECK(mkdtemp(dir)))
		return;
	snprintf(path, sizeof(path), "%s/x.rondo", dir);
	build(&w, &file, &len);
	for (int twice = 0; twice < 2; twice++)
		CHECK(rn_io_replace(path, file, len, &err) == RN_OK);
	CHECK(rn_io_read(path, &b, &err) == RN_OK && b.len == len);
	CHECK(try_open(b.data, b.len, &c, &err) == RN_OK && has(c, &rules));
	CHECK(rn_io_replace(dir, file, len, &err) == RN_E_ARG && one_line(&err));
	CHECK(stat(dir, &st) == 0 && S_ISDIR(st.st_mode));
	rn_buf_clear(&b);
	CHECK(rn_io_read(dir, &b, &err) == RN_E_DATA && one_line(&err));
	CHECK(unlink(path) == 0 && rmdir(dir) == 0); /* and no other file remained */
	rn_buf_free(&b);
	rn_container_writer_free(&w);
}

int main(void)
{
	rn_arena_init(&mem, SIZE_MAX);
	(void)rn_alloc(&mem, 1, 1, 1); /* a rewind then has a block to return to */
	test_round_trips();
	ok("random files come back");
	test_directory();
	test_version();
	ok("the directory says what is in a file");
	test_overhead();
	ok("a file costs 41 bytes, a short section 10");
	test_writer_misuse();
	ok("sections out of order are not added");
	test_cuts();
	ok("every truncation is named, and so is what is appended");
	test_flips();
	ok("every changed byte is noticed and placed");
	test_flips_large();
	ok("every flipped bit of a larger file is noticed");
	test_foreign();
	ok("foreign files are refused");
	test_versions();
	ok("newer versions and unknown sections");
	test_new_codec();
	ok("unknown codecs");
	test_with_dictionary();
	ok("sections that are packed with the dictionary");
	test_bad_footers();
	ok("footers that make no sense are refused");
	test_bad_frames();
	ok("frames that lie are refused before memory is taken");
	test_too_large();
	ok("unpacked sizes are limited together");
	test_no_memory_write();
	ok("a failed allocation leaves the writer as it was");
	test_no_memory_read();
	ok("a failed allocation leaves the reader as it was");
	test_on_disk();
	ok("files are replaced, folders are not");
	rn_buf_free(&made);
	rn_arena_free(&mem);
	return tap_done();
}
