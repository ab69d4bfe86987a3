/*
 * callsite.h - where a call was made: its stack, as bytes that are the same in every run and on
 * every rank.
 *
 * A frame is a module (file name and build id) and a return address as an offset in that file, so
 * where things are loaded does not matter. Frames begin with the innermost one. As bytes: the
 * modules, in the order of their first use, then the frames, as numbers of those and offsets.
 *
 * These bytes are the last value, a string, of a signature on its way to the trace; there it is a
 * number of the section `sites` (model/site_table.h). A stack without frames is one that is not
 * known. Reading trusts no byte.
 *
 * Stacks can be alike (--callsite-slack): what calls they make then are the same calls, and which
 * stack each was made from is a number beside them (encode/elastic_slots.h).
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

/* Code that is in no file (made while the program runs) has a name of no bytes. */
struct rn_code_module {
	const char *name; /* not terminated */
	size_t name_len;
	const unsigned char *id;
	size_t id_len; /* 0: it has none */
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

/* As bytes, of which there are at most so many: returns their end. Back: fails the reader if they
 * are none. */
unsigned char *rn_code_module_write(const struct rn_code_module *m, unsigned char *p);
void rn_code_module_read(struct rn_reader *in, struct rn_code_module *m);

/* One more frame; what is too long is cut, and a frame too many is left out. */
void rn_callsite_add(struct rn_callsite *s, struct rn_code_module module, uint64_t offset);

/* Into `out`, which has room for RN_CALLSITE_BYTES. Returns how many they are. */
size_t rn_callsite_write(const struct rn_callsite *s, unsigned char *out);

/* Whether the innermost frames are the same, and of the others, which are as many in both, at most
 * so many are not. */
bool rn_callsite_alike(const struct rn_callsite *a, const struct rn_callsite *b, uint32_t slack);

#define RN_CALLSITE_ALIKE 256u /* stacks that are alike, with the first of them */

/* False when that is no stack, or not as rn_callsite_write writes it: different bytes are different
 * stacks. The names are those in the bytes. */
bool rn_callsite_read(const void *bytes, size_t len, struct rn_callsite *out);

#endif
