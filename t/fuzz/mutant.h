/*
 * mutant.h - mutants of good traces and part files for mutate.c, from random numbers.
 *
 * A mutant of a trace is made of changed sections in a valid container, of a changed container
 * whose checks are recomputed, or of a changed container as it is. A mutant of a part file has
 * changed words and pages, with checksums recomputed or as they are.
 */
#ifndef RN_T_MUTANT_H
#define RN_T_MUTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "t/unit/forge_trace.h"

/* A good file. */
struct good_input {
	const char *name;
	bool part;
	struct rn_buf file;
	struct rn_buf section[FORGE_SECTIONS]; /* of a trace: unpacked */
	size_t *word, words;                   /* of a part file: offsets of words to change */
};

/* Reads a trace. Returns false if the file is not one. */
bool good_trace(struct good_input *in, const char *path);

/* Reads a part file. Its words that are 0 are not changed, unless they follow one that is not. */
bool good_part_file(struct good_input *in, const char *path, const char *name);

/* Replaces the content of `out` by a mutant of input `of`. The same random state and inputs result
 * in the same mutant. Sections of other traces may become sections of this one. */
void make_mutant(uint64_t *random, const struct good_input *in, size_t inputs, size_t of,
		 struct rn_buf *out);

/* A number below n. */
uint64_t random_below(uint64_t *random, uint64_t n);

#endif
