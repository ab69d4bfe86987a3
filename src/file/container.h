/*
 * container.h - the container of a trace: sections of bytes, each under a check.
 *
 *   header | section | section | ... | footer (what each section is) | trailer
 *
 * Writing: sections are added in ascending type, packed at once where that makes them smaller, and
 * the file is replaced atomically. Reading: opening verifies everything about the container, every
 * hash included; a section is unpacked when it is first asked for. After a successful open only a
 * writer's bug can make a section fail, never a damaged disk.
 *
 * Cost: 41 bytes a file, 10 to 15 a section. Opening reads the file once. Tool-side code: the
 * writer uses malloc through struct rn_buf, the reader an arena; zstd allocates for itself.
 * Not locked: asking for a section may unpack it. On disk: doc/format.md, chapters 2 to 4.
 */
#ifndef RN_FILE_CONTAINER_H
#define RN_FILE_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/compress.h"
#include "base/err.h"
#include "model/section_kinds.h"

struct rn_arena;

#define RN_FORMAT_MAJOR 2
#define RN_FORMAT_MINOR 0

enum rn_section_codec { RN_SECTION_STORED, RN_SECTION_ZSTD, RN_SECTION_ZSTD_DICT };

/* One entry of the footer. */
struct rn_section {
	uint64_t type;
	uint64_t offset, stored; /* where its bytes are in the file */
	uint64_t raw;            /* bytes when unpacked */
	uint64_t hash;
	unsigned codec; /* enum rn_section_codec, or a newer one */
	bool required;
	bool readable; /* both type and codec are known */
};

/* Writing. A zeroed struct is an empty container. */
struct rn_container_writer {
	struct rn_buf file;           /* header and sections; after finish, the whole file */
	struct rn_buf footer;         /* its entries, without the count */
	struct rn_buf scratch, other; /* a section being packed, both ways */
	struct rn_packer packer;
	uint64_t count, last_type;
	uint64_t packed_raw; /* bytes that the packed sections unpack to */
	bool finished;
};

/* Adds a section; the bytes are not needed afterwards. RN_E_ARG when types do not ascend or the
 * container is finished. On failure the container is as it was. */
int rn_container_add(struct rn_container_writer *w, enum rn_section_type type, const void *bytes,
		     size_t len, struct rn_err *err);

/* The whole file, in memory that stays the writer's. May be asked for again. */
int rn_container_finish(struct rn_container_writer *w, const void **bytes, size_t *len,
			struct rn_err *err);

void rn_container_writer_free(struct rn_container_writer *w);

/* Reading. */
struct rn_container; /* opaque */

#define RN_CONTAINER_HEAD 24 /* bytes of the header */

/* Whether a file of this size that begins with these bytes (RN_CONTAINER_HEAD, or all there are) is
 * worth reading: rn_container_open's checks of magic, header, version and length. */
int rn_container_probe(const void *head, size_t head_len, uint64_t file_size, struct rn_err *err);

/* `bytes` is the whole file and must outlive the container. RN_E_DATA with one line that says what
 * is wrong and where; RN_E_NOMEM. */
int rn_container_open(struct rn_arena *mem, const void *bytes, size_t len,
		      struct rn_container **out, struct rn_err *err);

void rn_container_version(const struct rn_container *c, unsigned *major, unsigned *minor);

/* How many sections there are, unknown ones included, and entry i of the footer. */
size_t rn_container_count(const struct rn_container *c);
const struct rn_section *rn_container_section(const struct rn_container *c, size_t i);

bool rn_container_has(const struct rn_container *c, enum rn_section_type type);

/* The bytes of a section, unpacked into the container's arena when needed, valid as long as the
 * arena and the file's bytes are. RN_E_RANGE when there is no such section. */
int rn_container_get(struct rn_container *c, enum rn_section_type type, const void **bytes,
		     size_t *len, struct rn_err *err);

#endif
