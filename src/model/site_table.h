/*
 * site_table.h - the section `sites`: the call stacks of a trace as a prefix tree of frames.
 *
 * Stacks have common outer frames (main and its callees), so they are stored as paths of a tree. A
 * node is a frame (encode/callsite.h) and the node of the calling frame. The last value of a
 * signature identifies its call site: 0 for an unknown stack, otherwise the node of the innermost
 * frame plus 1. For a stack cluster the signature has several of these, and an elastic slot selects
 * one.
 *
 * Input of the decoder is untrusted. Results are in the arena. On disk: doc/format.md, chapter 13.
 */
#ifndef RN_MODEL_SITE_TABLE_H
#define RN_MODEL_SITE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "encode/callsite.h"

struct rn_arena;
struct rn_buf;
struct rn_reader;
struct rn_sigs;
struct rn_vocab;

struct rn_site_node {
	uint32_t caller; /* node of the calling frame + 1, always a lower node; 0: outermost */
	uint32_t module;
	uint64_t offset;
};

struct rn_sites {
	const struct rn_code_module *module;
	const struct rn_site_node *node;
	uint32_t modules, nodes;
	bool known; /* at least one call has a stack, which may be unknown */
};

/* Modules and nodes while they are collected: encoded modules, and nodes as struct rn_site_node. */
struct rn_site_tables {
	struct rn_sigs *module, *node;
	bool any; /* at least one call has a stack, which may be unknown */
};

/* Returns RN_OK or RN_E_NOMEM. */
int rn_site_tables_init(struct rn_site_tables *t, struct rn_arena *mem);

/* Stores the number of an encoded stack: the node of its innermost frame + 1, or 0. Returns RN_OK,
 * RN_E_NOMEM, or RN_E_ARG if the bytes are not a stack. */
int rn_site_tables_add(struct rn_site_tables *t, const void *stack, size_t len, uint32_t *number);

/* Converts signatures with encoded stacks: *out has the same signatures with numbers, in `mem`.
 * Without stacks *out is `in`. Returns RN_OK, RN_E_NOMEM, or RN_E_ARG if a signature is not valid
 * under the vocabulary. */
int rn_site_tables_take(struct rn_site_tables *t, struct rn_arena *mem, const struct rn_sigs *in,
			const struct rn_vocab *vocab, const struct rn_sigs **out);

/* Stores the sites; the modules remain those of the tables. Returns RN_OK or RN_E_NOMEM. */
int rn_site_tables_finish(const struct rn_site_tables *t, struct rn_arena *mem,
			  struct rn_sites *out);

/* Appends the section, or nothing if no call has a stack. Returns RN_OK or RN_E_NOMEM. */
int rn_sites_encode(const struct rn_sites *s, struct rn_buf *section);

/* The caller verifies the end of the input. */
int rn_sites_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_sites *out,
		    struct rn_err *err);

/* Validates that the stacks of all signatures exist. Returns RN_OK or RN_E_DATA. */
int rn_sites_fit(const struct rn_sites *s, const struct rn_sigs *sigs, const struct rn_vocab *vocab,
		 struct rn_err *err);

#endif
