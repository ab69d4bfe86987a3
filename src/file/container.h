/*
 * container.h - the container of a trace: sections of bytes, each with a checksum.
 *
 *   header | section | section | ... | footer (describes each section) | trailer
 *
 * Writing: sections are added in ascending type and compressed at once if that makes them smaller.
 * The file is replaced atomically (file/trace_writer.h). Reading: opening verifies the complete
 * container, including every hash. A section is decompressed at its first rn_container_get. After a
 * successful open a section can be invalid only because of a defect of the writer, never because of
 * a damaged disk.
 *
 * Cost: 41 bytes per file, 10 to 15 per section. Opening reads the file once. The writer uses
 * malloc through struct rn_buf, the reader an arena; zstd allocates its own memory. Not locked:
 * rn_container_get may decompress. On disk: doc/format.md, chapters 2 to 4.
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
	uint64_t offset, stored; /* position and size of its bytes in the file */
	uint64_t raw;            /* size after decompression, in bytes */
	uint64_t hash;
	unsigned codec; /* enum rn_section_codec, or a codec of a newer version */
	bool required;
	bool readable; /* both type and codec are supported */
};

/* Writing. A struct of zeros is an empty container. */
struct rn_container_writer {
	struct rn_buf file;   /* header and sections; the whole file after rn_container_finish */
	struct rn_buf footer; /* encoded entries, without their count */
	struct rn_buf scratch, other; /* a section compressed without and with the dictionary */
	struct rn_packer packer;
	uint64_t count, last_type;
	uint64_t packed_raw; /* decompressed size of the compressed sections, in bytes */
	bool finished;
};

/* Adds a copy of a section. Returns RN_E_ARG if types do not ascend or the container is finished.
 * On failure the container is unchanged. */
int rn_container_add(struct rn_container_writer *w, enum rn_section_type type, const void *bytes,
		     size_t len, struct rn_err *err);

/* Returns the whole file, in memory owned by the writer. May be called again. */
int rn_container_finish(struct rn_container_writer *w, const void **bytes, size_t *len,
			struct rn_err *err);

void rn_container_writer_free(struct rn_container_writer *w);

/* Reading. */
struct rn_container; /* opaque */

#define RN_CONTAINER_HEAD 24 /* bytes of the header */

/* Checks that a file of this size which begins with these bytes (RN_CONTAINER_HEAD, or all if it is
 * shorter) can be a container: the checks of magic, header, version and length of
 * rn_container_open. */
int rn_container_probe(const void *head, size_t head_len, uint64_t file_size, struct rn_err *err);

/* `bytes` is the whole file and must outlive the container. Returns RN_OK, RN_E_NOMEM, or RN_E_DATA
 * with a description of the error and its location in one line. */
int rn_container_open(struct rn_arena *mem, const void *bytes, size_t len,
		      struct rn_container **out, struct rn_err *err);

void rn_container_version(const struct rn_container *c, unsigned *major, unsigned *minor);

/* Number of sections, including unsupported ones, and entry i of the footer. */
size_t rn_container_count(const struct rn_container *c);
const struct rn_section *rn_container_section(const struct rn_container *c, size_t i);

bool rn_container_has(const struct rn_container *c, enum rn_section_type type);

/* Returns the bytes of a section, decompressed into the arena of the container if necessary. They
 * are valid as long as both the arena and the bytes of the file. Returns RN_E_RANGE if the section
 * does not exist. */
int rn_container_get(struct rn_container *c, enum rn_section_type type, const void **bytes,
		     size_t *len, struct rn_err *err);

#endif
