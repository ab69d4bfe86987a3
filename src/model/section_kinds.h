/*
 * section_kinds.h - a trace in memory, and one row for each kind of section.
 *
 * The merge creates the contents of a struct rn_trace (merge/trace_finish.h), the writer encodes
 * its sections, and the reader decodes them. Writer, reader and container iterate over the rows. A
 * new kind of data needs one file with its codec, one field of struct rn_trace and one row.
 *
 * Rows are in the order of decoding: a section depends only on sections of earlier rows. In a file,
 * sections ascend by type. Encoders only encode: folding, rounding and renumbering happen before.
 * Input of the decoders is untrusted. They return RN_OK, RN_E_NOMEM, or RN_E_DATA with the reason.
 */
#ifndef RN_MODEL_SECTION_KINDS_H
#define RN_MODEL_SECTION_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "encode/signature.h"
#include "model/elastic_values_codec.h"
#include "model/event_list.h"
#include "model/folded_streams.h"
#include "model/merged_streams.h"
#include "model/payload.h"
#include "model/site_table.h"

struct rn_comms;
struct rn_container;
struct rn_chunk_list;
struct rn_order_view;
struct rn_times;

/* The types of sections in a file. Reserved types (doc/format.md, section 3) are absent, so a trace
 * that requires one is refused. */
enum rn_section_type {
	RN_SECTION_META = 1,
	RN_SECTION_FUNCTIONS = 2,
	RN_SECTION_STRINGS = 3,
	RN_SECTION_SIGNATURES = 4,
	RN_SECTION_RULES = 5,
	RN_SECTION_LOOPS = 6,
	RN_SECTION_RANKS = 7,
	RN_SECTION_TIME = 8,
	RN_SECTION_COMMS = 10,
	RN_SECTION_TIMES = 11,
	RN_SECTION_SITES = 12,
	RN_SECTION_VALUES = 13,
	RN_SECTION_ORDER = 14,
	RN_SECTION_END
};

struct rn_trace {
	struct rn_arena mem;
	struct rn_buf file; /* used only by the reader, as are container and order */
	struct rn_container *container;
	struct rn_meta meta;
	struct rn_vocab vocab;
	struct rn_streams streams;           /* "rank" in it means stream */
	struct rn_comms *comms;              /* NULL: no communicator is known */
	struct rn_times *times;              /* time statistics; NULL: not recorded */
	const struct rn_chunk_list *moments; /* call times; NULL: not recorded */
	struct rn_sites sites;               /* call sites */
	struct rn_value_list values;         /* elastic values */
	struct rn_order_list *events;        /* order events; NULL: none */
	struct rn_order_view *order;         /* the events, with names (read/event_reader.h) */
	uint64_t ranks, threads;
	uint64_t symbols;        /* number of items in the bodies of all rules */
	struct rn_folded folded; /* the streams in the form of the file */
};

void rn_trace_init(struct rn_trace *t);
void rn_trace_close(struct rn_trace *t);

struct rn_section_kind {
	enum rn_section_type type;
	const char *name;
	bool required; /* a reader that does not know the section refuses the file */
	bool optional; /* a trace may be without it */
	/* Appends the section. An optional section without bytes is not written. Returns RN_OK,
	 * RN_E_NOMEM, or RN_E_ARG if a reader would refuse the data. */
	int (*encode)(const struct rn_trace *t, struct rn_buf *out);
	/* The caller verifies the end of the input (rn_err_end). */
	int (*decode)(struct rn_trace *t, struct rn_reader *in, struct rn_err *err);
};

#define RN_SECTION_KINDS 13
extern const struct rn_section_kind rn_section_kinds[RN_SECTION_KINDS];

/* Returns the row of a type, or NULL. */
const struct rn_section_kind *rn_section_kind(uint64_t type);

/* Returns a name such as "rules", or NULL for a type that this program does not support. */
const char *rn_section_name(uint64_t type);

#endif
