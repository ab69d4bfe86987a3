/*
 * sites.h - the section `sites`: the call stacks of a trace.
 *
 * Stacks begin alike (main, then what it calls), so they are kept as the paths of a tree: a node is
 * a frame (encode/callsite.h) and the node of the frame that it was called from. A signature has
 * the number of its innermost frame's node, as its last value: 0 for a stack that is not known,
 * node + 1 for others.
 *
 * Decoding trusts no byte; results are in the arena. On disk: doc/format.md, chapter 13.
 */
#ifndef RN_FILE_SITES_H
#define RN_FILE_SITES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "encode/callsite.h"

struct rn_arena;
struct rn_buf;
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
};

/* Signatures with stacks as bytes: *out are the same with numbers, in `mem`, and the section is
 * appended to `section`. Without stacks: *out is `in`, and nothing is appended. RN_OK, RN_E_NOMEM,
 * or RN_E_ARG: a signature is not valid under the vocabulary. */
int rn_sites_take(struct rn_arena *mem, const struct rn_sigs *in, const struct rn_vocab *vocab,
		  const struct rn_sigs **out, struct rn_buf *section);

int rn_sites_decode(struct rn_arena *mem, const void *bytes, size_t len, struct rn_sites *out,
		    struct rn_err *err);

/* Whether the stacks of all signatures are there. RN_OK or RN_E_DATA. */
int rn_sites_fit(const struct rn_sites *s, const struct rn_sigs *sigs, const struct rn_vocab *vocab,
		 struct rn_err *err);

#endif
