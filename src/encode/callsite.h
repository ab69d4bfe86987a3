/*
 * callsite.h - call site: the call stack of a call, as bytes that are equal in every run and on
 * every rank.
 *
 * A frame is a module (file name and build id) and a return address as an offset in that file, so
 * it does not depend on load addresses. The innermost frame is the first one. Encoding: the modules
 * in the order of their first use, then the frames, each a module index and an offset.
 *
 * Before a trace is written, these bytes are the last value of a signature, a string. In the trace
 * the value is an index into the section `sites` (model/site_table.h). A stack without frames means
 * that the stack is unknown. Input is untrusted.
 *
 * With --callsite-slack, stacks that differ in few frames form a stack cluster. Calls from one
 * cluster share a signature; the stack of each call is an elastic value (encode/elastic_slots.h).
 */
#ifndef RN_ENCODE_CALLSITE_H
#define RN_ENCODE_CALLSITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/varint.h"

#define RN_CALLSITE_FRAMES 64u
#define RN_CALLSITE_NAME   255u /* bytes of a module's name */
#define RN_CALLSITE_ID     64u  /* bytes of a build id */
#define RN_CALLSITE_BYTES  ((size_t)RN_CALLSITE_FRAMES * 350)

/* The module of code without a file (generated at run time) has an empty name. */
struct rn_code_module {
	const char *name; /* not terminated */
	size_t name_len;
	const unsigned char *id;
	size_t id_len; /* 0: no build id */
};

struct rn_code_frame {
	uint32_t module;
	uint64_t offset; /* of the return address */
};

struct rn_callsite {
	struct rn_code_module module[RN_CALLSITE_FRAMES];
	struct rn_code_frame frame[RN_CALLSITE_FRAMES];
	uint32_t modules, frames;
};

#define RN_CODE_MODULE_BYTES (2 * RN_VARINT_MAX + RN_CALLSITE_NAME + RN_CALLSITE_ID)

/* A module as at most RN_CODE_MODULE_BYTES bytes. rn_code_module_write returns their end.
 * rn_code_module_read sets in->bad if the bytes are malformed. */
unsigned char *rn_code_module_write(const struct rn_code_module *m, unsigned char *p);
void rn_code_module_read(struct rn_reader *in, struct rn_code_module *m);

/* Appends a frame. Names and ids that are too long are truncated; frames beyond the limit are
 * dropped. */
void rn_callsite_add(struct rn_callsite *s, struct rn_code_module module, uint64_t offset);

/* Writes the stack to `out`, of RN_CALLSITE_BYTES bytes. Returns the number of bytes. */
size_t rn_callsite_write(const struct rn_callsite *s, unsigned char *out);

/* Returns whether both stacks have the same number of frames, the same innermost frame, and at most
 * `slack` other frames that differ. */
bool rn_callsite_alike(const struct rn_callsite *a, const struct rn_callsite *b, uint32_t slack);

#define RN_CALLSITE_ALIKE 256u /* maximum number of stacks in a cluster, including the first */

/* Decodes a stack. Returns false if the bytes are not a stack in the form of rn_callsite_write:
 * different bytes are different stacks. The names point into the bytes. */
bool rn_callsite_read(const void *bytes, size_t len, struct rn_callsite *out);

#endif
