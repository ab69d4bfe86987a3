/*
 * metadata.h - the keys of the section "meta", one row for each, and metadata under construction.
 *
 * The tracer, recovery, `rondo info` and `rondo replay` use this table. Other keys may be present.
 * doc/format.md, section 10, describes the values, which are texts.
 */
#ifndef RN_FILE_METADATA_H
#define RN_FILE_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "file/payload.h"
#include "merge/blur.h"
#include "order/codec.h"

struct rn_arena;

enum rn_meta_flag {
	RN_META_LINE = 1,    /* `rondo info` prints it in a line of its own, before the others */
	RN_META_COMMAND = 2, /* part of the command, which `rondo replay` compares itself */
	RN_META_FINAL = 4,   /* known at the end of the run; a part file does not contain it */
	RN_META_PREFIX = 8,  /* of keys that end in a name */
};

/* Constant, key, flags, and the text that `rondo info` prints if the key is absent. */
#define RN_META_KEYS(X)                                                    \
	X(PROGRAM, "program", RN_META_LINE | RN_META_COMMAND, "unknown")   \
	X(PROGRAM_K, "program.", RN_META_FINAL | RN_META_PREFIX, NULL)     \
	X(ARGUMENTS, "arguments", RN_META_COMMAND, NULL)                   \
	X(LIBRARY, "library", 0, NULL)                                     \
	X(EAGER, "eager", 0, NULL)                                         \
	X(CHOICES, "choices", 0, NULL)                                     \
	X(ENVIRONMENT, "environment", 0, NULL)                             \
	X(NODES, "nodes", 0, NULL)                                         \
	X(MPI, "mpi", RN_META_LINE, "none")                                \
	X(TIME, "time", RN_META_LINE, "none")                              \
	X(ELASTIC, "elastic", 0, NULL)                                     \
	X(LOSSY, "lossy", 0, NULL)                                         \
	X(ONLY, "only", 0, NULL)                                           \
	X(ORDER_CODEC, "order_codec", 0, NULL)                             \
	X(VALUES, "values", 0, NULL)                                       \
	X(MODULE, "module.", RN_META_PREFIX, NULL)                         \
	X(THREADS, "threads", RN_META_LINE | RN_META_FINAL, NULL)          \
	X(COMPLETE, "complete", RN_META_LINE | RN_META_FINAL, "unknown")   \
	X(LOST, "lost", RN_META_FINAL, NULL)                               \
	X(INCOMPLETE, "incomplete", RN_META_FINAL, NULL)                   \
	X(STOPPED_IN, "stopped_in.", RN_META_FINAL | RN_META_PREFIX, NULL) \
	X(STOPPED_OUTSIDE, "stopped_outside", RN_META_FINAL, NULL)         \
	X(WALL_S, "wall_s", RN_META_LINE | RN_META_FINAL, NULL)            \
	X(TRACER_S, "tracer_s", RN_META_LINE | RN_META_FINAL, NULL)        \
	X(MEMORY, "memory", RN_META_FINAL, NULL)

enum rn_meta_key {
#define RN_META_ENUM(id, key, flags, otherwise) RN_META_##id,
	RN_META_KEYS(RN_META_ENUM)
#undef RN_META_ENUM
		RN_META_COUNT
};

struct rn_meta_row {
	const char *key;
	unsigned flags; /* enum rn_meta_flag */
	const char *otherwise;
};

extern const struct rn_meta_row rn_meta_rows[RN_META_COUNT];

/* Whether the key, or one that it begins with, has this flag. */
bool rn_meta_has_flag(const char *key, enum rn_meta_flag flag);

/* The end of a key that begins with this one, or NULL. */
const char *rn_meta_suffix(const char *key, enum rn_meta_key prefix);

/* The value, or NULL. */
const char *rn_meta_value(const struct rn_meta *m, enum rn_meta_key key);

#define RN_ONLY_ORDER       "order"
#define RN_VALUES_WORD_NONE "none"
#define RN_VALUES_WORD_MPI  "mpi"
#define RN_VALUES_WORD_ALL  "all"

/* The value, or the default if the key is absent. */
bool rn_meta_elastic(const struct rn_meta *m);
struct rn_lossy rn_meta_lossy(const struct rn_meta *m);
enum rn_order_codec rn_meta_order(const struct rn_meta *m);
uint64_t rn_meta_threads(const struct rn_meta *m);

/* Metadata under construction, with room for `cap` entries. */
struct rn_facts {
	struct rn_arena *mem;
	struct rn_meta_entry *entry;
	uint32_t n, cap;
};

/* RN_OK or RN_E_NOMEM. */
int rn_facts_init(struct rn_facts *f, struct rn_arena *mem, uint32_t cap);

/* Adds an entry, unless the value is NULL or empty. Key and value are not copied. */
void rn_fact_add(struct rn_facts *f, const char *key, const char *value);

/* Adds an entry whose value is this short text. */
__attribute__((format(printf, 3, 4))) void rn_fact(struct rn_facts *f, enum rn_meta_key key,
						   const char *format, ...);

#endif
