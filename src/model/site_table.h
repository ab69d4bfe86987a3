/*
 * site_table.h - the section `sites`: the call stacks of a trace.
 *
 * Stacks begin alike (main, then what it calls), so they are kept as the paths of a tree: a node is
 * a frame (encode/callsite.h) and the node of the frame that it was called from. A signature has
 * the number of its innermost frame's node, as its last value: 0 for a stack that is not known,
 * node + 1 for others; or several of these, and a hole that says which.
 *
 * Decoding trusts no byte; results are in the arena. On disk: doc/format.md, chapter 13.
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
	uint32_t caller; /* node + 1; 0: none. Always a lower one */
	uint32_t module;
	uint64_t offset;
};

struct rn_sites {
	const struct rn_code_module *module;
	const struct rn_site_node *node;
	uint32_t modules, nodes;
	bool known; /* there is a stack, if only one that is not known */
};

/* Modules and nodes while they are collected: modules as bytes, nodes as struct rn_site_node. */
struct rn_site_tables {
	struct rn_sigs *module, *node;
	bool any; /* somebody has had a stack, if only one that is not known */
};

/* RN_OK or RN_E_NOMEM. */
int rn_site_tables_init(struct rn_site_tables *t, struct rn_arena *mem);

/* The number of a stack, given as bytes: its innermost frame's node + 1, or 0. RN_OK, RN_E_NOMEM,
 * or RN_E_ARG: it is none. */
int rn_site_tables_add(struct rn_site_tables *t, const void *stack, size_t len, uint32_t *number);

/* Signatures with stacks as bytes: *out are the same with numbers, in `mem`. Without stacks: *out
 * is `in`. RN_OK, RN_E_NOMEM, or RN_E_ARG: a signature is not valid under the vocabulary. */
int rn_site_tables_take(struct rn_site_tables *t, struct rn_arena *mem, const struct rn_sigs *in,
			const struct rn_vocab *vocab, const struct rn_sigs **out);

/* The sites; modules are those of the tables. RN_OK or RN_E_NOMEM. */
int rn_site_tables_finish(const struct rn_site_tables *t, struct rn_arena *mem,
			  struct rn_sites *out);

/* Appends the section; nothing where nobody has had a stack. RN_OK or RN_E_NOMEM. */
int rn_sites_encode(const struct rn_sites *s, struct rn_buf *section);

/* The caller verifies the end of the input. */
int rn_sites_decode(struct rn_arena *mem, struct rn_reader *in, struct rn_sites *out,
		    struct rn_err *err);

/* Whether the stacks of all signatures are there. RN_OK or RN_E_DATA. */
int rn_sites_fit(const struct rn_sites *s, const struct rn_sigs *sigs, const struct rn_vocab *vocab,
		 struct rn_err *err);

#endif
