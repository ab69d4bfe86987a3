/*
 * metadata.h - a table of the keys of the section "meta", and a list of metadata to be written.
 *
 * The tracer, recovery, `rondo info` and `rondo replay` use this table. A trace may contain other
 * keys. doc/format.md, section 10, describes the values, which are texts.
 */
#ifndef RN_MODEL_METADATA_H
#define RN_MODEL_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/lossy.h"
#include "model/payload.h"
#include "order/event_codec.h"

struct rn_arena;

enum rn_meta_flag {
	RN_META_LINE = 1,   /* `rondo info` prints it among its first lines */
	RN_META_FINAL = 4,  /* available only at the end of the run; not in a journal */
	RN_META_PREFIX = 8, /* a prefix of keys; a name follows */
};

/* Constant, key, flags, and the text that `rondo info` prints if the key is absent. */
#define RN_META_KEYS(X)                                                    \
	X(PROGRAM, "program", RN_META_LINE, "unknown")                     \
	X(PROGRAM_K, "program.", RN_META_FINAL | RN_META_PREFIX, NULL)     \
	X(ARGUMENTS, "arguments", 0, NULL)                                 \
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

/* Whether the row of the key, or of a prefix of the key, has this flag. */
bool rn_meta_has_flag(const char *key, enum rn_meta_flag flag);

/* The rest of a key after this prefix; NULL if the key has another prefix. */
const char *rn_meta_suffix(const char *key, enum rn_meta_key prefix);

/* The value, or NULL if the key is absent. */
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

/* Metadata to be written: n entries, at most `cap`. */
struct rn_facts {
	struct rn_arena *mem;
	struct rn_meta_entry *entry;
	uint32_t n, cap;
	bool failed; /* memory for an entry was not available */
};

/* Returns RN_OK or RN_E_NOMEM. */
int rn_facts_init(struct rn_facts *f, struct rn_arena *mem, uint32_t cap);

/* Adds an entry, unless the value is NULL or empty or the list is full. Key and value are not
 * copied. */
void rn_fact_add(struct rn_facts *f, const char *key, const char *value);

/* Adds an entry with a formatted value of at most 31 bytes. */
__attribute__((format(printf, 3, 4))) void rn_fact(struct rn_facts *f, enum rn_meta_key key,
						   const char *format, ...);

#endif
