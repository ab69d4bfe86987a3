/*
 * programs.h - The programs of a run, and which ranks ran each: mpirun -n 1 ./a : -n 2 ./b
 *
 * Ranks are added in ascending order. A run of one program takes one entry, however many ranks it
 * has, and nothing in the trace; the programs of other runs are metadata (doc/format.md, 10).
 *
 * Memory comes from the arena.
 */
#ifndef RN_FILE_PROGRAMS_H
#define RN_FILE_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/seg.h"
#include "base/varint.h"

struct rn_buf;
struct rn_meta;
struct rn_meta_entry;

struct rn_programs {
	struct rn_arena *mem;
	struct rn_seg run; /* ranges of ranks with one program */
};

void rn_programs_init(struct rn_programs *p, struct rn_arena *mem);

/* Adds ranks first..last, which come after those that are there. The name is copied. Returns RN_OK
 * or RN_E_NOMEM. */
int rn_programs_add(struct rn_programs *p, const char *name, uint64_t first, uint64_t last);

void rn_programs_encode(const struct rn_programs *p, struct rn_buf *out);

/* Adds what was encoded. Input is untrusted: malformed input, or ranks that do not follow those
 * that are there, return RN_E_DATA with the programs unchanged. */
int rn_programs_absorb(struct rn_programs *p, struct rn_reader in, struct rn_err *err);

/* *out is `meta`, in the arena of the programs, with an entry "program.K" for each if there are
 * several. Returns RN_OK or RN_E_NOMEM. */
int rn_programs_meta(const struct rn_programs *p, const struct rn_meta *meta, struct rn_meta *out);

/* Whether a metadata entry is one of those: its ranks are the first `ranks` bytes of the value, and
 * *name is the program. Metadata is untrusted; an entry in another form is not one of them. */
bool rn_program_entry(const struct rn_meta_entry *e, int *ranks, const char **name);

#endif
