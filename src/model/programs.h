/*
 * programs.h - the programs of a run and the ranks of each: mpirun -n 1 ./a : -n 2 ./b
 *
 * Ranks are added in ascending order. A run of one program needs one entry for any number of ranks,
 * and adds nothing to the trace. The programs of other runs are metadata (doc/format.md, 10).
 *
 * Memory is allocated from the arena.
 */
#ifndef RN_MODEL_PROGRAMS_H
#define RN_MODEL_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/varint.h"
#include "base/vec.h"

struct rn_buf;
struct rn_meta;
struct rn_meta_entry;

struct rn_programs {
	struct rn_arena *mem;
	struct rn_seg run; /* ranges of ranks that ran one program */
};

void rn_programs_init(struct rn_programs *p, struct rn_arena *mem);

/* Adds ranks first..last, which follow the ranks that were added before. The name is copied.
 * Returns RN_OK or RN_E_NOMEM. */
int rn_programs_add(struct rn_programs *p, const char *name, uint64_t first, uint64_t last);

void rn_programs_encode(const struct rn_programs *p, struct rn_buf *out);

/* Decodes programs into an empty list. The caller verifies the end of the input. Input is
 * untrusted; malformed input returns RN_E_DATA. */
int rn_programs_decode(struct rn_programs *p, struct rn_reader *in, struct rn_err *err);

/* Adds the programs of another list. Returns RN_OK, RN_E_NOMEM, or RN_E_ARG if its ranks do not
 * follow the ranks that were added before. */
int rn_programs_merge(struct rn_programs *p, const struct rn_programs *from);

/* Sets *out to a copy of `meta`, in the arena of the programs, with one entry "program.K" for each
 * program if there are several. Returns RN_OK or RN_E_NOMEM. */
int rn_programs_meta(const struct rn_programs *p, const struct rn_meta *meta, struct rn_meta *out);

/* Whether a metadata entry is "program.K". Its list of ranks is the first `ranks` bytes of the
 * value, and *name is the program. Metadata is untrusted; another form returns false. */
bool rn_program_entry(const struct rn_meta_entry *e, int *ranks, const char **name);

#endif
