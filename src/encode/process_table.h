/*
 * process_table.h - the objects of one process that its call words refer to: constants,
 * communicators, modules and call stacks.
 *
 * The table is passive. The tracer fills it from its memory, and recovery fills it from a journal.
 * For an id that is not in the table the functions return a default, because the words may come
 * from a damaged file. The arrays belong to the code that filled the table.
 */
#ifndef RN_ENCODE_PROCESS_TABLE_H
#define RN_ENCODE_PROCESS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "encode/call_words.h"
#include "identity/comm_table.h"

struct rn_arena;

/* A keyword, and the value and parameter kind that it represents. */
struct rn_const_value {
	uint32_t kind; /* enum rn_param_kind */
	uint32_t word;
	int64_t value;
};

/* An object by its id: a communicator (word and name), a module (name), or a call stack (bytes,
 * encode/callsite.h). A name is followed by a 0. */
struct rn_object {
	uint64_t number;
	const char *bytes;
	uint32_t len;
	uint32_t order; /* sequence number of its addition */
	bool complete;  /* of a communicator: `entry` is valid */
	struct rn_comm_entry entry;
};

/* Objects sorted by number. Each number occurs once. */
struct rn_objects {
	struct rn_object *at;
	uint32_t n, cap;
};

/* Keywords of constants are in the vocabulary, and call stacks are well-formed: recovery discards
 * all others. The node of the process is stored among the communicators, under a word that no
 * communicator has. */
struct rn_process_table {
	int64_t rank, size; /* in MPI_COMM_WORLD */
	struct rn_const_value *constant;
	uint32_t kind_at[RN_K_COUNT + 1]; /* the constants of kind k begin at kind_at[k] */
	struct rn_objects comms, modules, sites;
};

/* Appends an object. RN_OK or RN_E_NOMEM. */
int rn_objects_add(struct rn_objects *o, struct rn_arena *mem, struct rn_object object);

/* Sorts the objects. If several have the same number, the last one is retained. */
void rn_objects_sort(struct rn_objects *o);

/* A communicator as seen by the process. */
struct rn_seen_comm {
	const char *name; /* NULL: unknown */
	int64_t rank, size, remote;
};

/* Copies the constants, grouped by kind. RN_OK or RN_E_NOMEM. */
int rn_process_set_constants(struct rn_process_table *p, struct rn_arena *mem,
			     const struct rn_const_value *constant, uint32_t n);

/* Returns the keyword of a value, or -1. If several keywords have the value, returns the first one
 * that was set. */
int64_t rn_process_constant(const struct rn_process_table *p, enum rn_param_kind kind,
			    int64_t value);

struct rn_seen_comm rn_process_comm(const struct rn_process_table *p, uint32_t word);

/* Adds the complete communicators to `out`. Returns RN_OK or RN_E_NOMEM. */
int rn_process_add_comms(const struct rn_process_table *p, struct rn_comms *out);

/* Returns the name of a module; "unknown" if the process ended before it wrote the name. */
const char *rn_process_module(const struct rn_process_table *p, uint32_t id);

/* Returns the bytes of a call stack, or NULL if it is missing. */
const void *rn_process_site(const struct rn_process_table *p, uint32_t id, size_t *len);

/* Returns the bytes of a call stack, or the empty stack if it is missing. */
const void *rn_process_stack(const struct rn_process_table *p, uint32_t id, size_t *len);

#endif
