/*
 * virtual.h - virtual ranks: the exact calls of well-known communication patterns, without MPI.
 *
 * For rank r of P a pattern gives its calls one by one, as signatures (encode/signature.h) or as a
 * log in the form of `rondo dump`. The log is printed from absolute ranks that are computed from
 * grid coordinates, never from the signatures, so it can judge everything that lies between:
 * encoding, grammar, merge, file, reader. At a border that is not periodic the missing neighbour's
 * calls are left out.
 *
 *   stencil2d, stencil2d-periodic   5-point halo exchange, Irecv/Isend/Waitall
 *   stencil3d, stencil3d-periodic   7-point halo exchange
 *   wavefront                       a sweep from the first corner and one back
 *   butterfly                       log2(P) exchanges with rank xor 2^k
 *   rowcol                          collectives on row and column communicators
 *   timestep                        a ring exchange repeated 8..32 times a step, as solvers do
 *
 * Cost: an encode per call; nothing is allocated.
 */
#ifndef RN_BENCH_VIRTUAL_H
#define RN_BENCH_VIRTUAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "encode/signature.h"

struct rn_grammar;
struct rn_sigs;
struct virtual_rank;

struct virtual_pattern {
	const char *name;
	unsigned dims; /* of the grid */
	bool periodic;
	bool plain; /* all steps are the same */
	void (*before)(struct virtual_rank *c);
	void (*step)(struct virtual_rank *c, uint64_t s);
};

extern const struct virtual_pattern virtual_patterns[];
extern const unsigned virtual_patterns_count;

/* The functions and words that the patterns use. */
extern const struct rn_vocab virtual_vocab;

struct virtual_run {
	const struct virtual_pattern *pattern;
	uint64_t ranks, steps;
	uint64_t grid[3]; /* x runs fastest; 1 where the pattern has no such dimension */
};

/* The grid is as close to a cube as the number of ranks allows. RN_E_ARG for an unknown pattern,
 * RN_E_RANGE for a number of ranks that it cannot have. */
int virtual_init(struct virtual_run *v, const char *pattern, uint64_t ranks, uint64_t steps);

/* The same with a given grid; RN_E_RANGE also when it has more dimensions than the pattern. */
int virtual_init_grid(struct virtual_run *v, const char *pattern, const uint64_t grid[3],
		      uint64_t steps);

/* Gets each call's signature; a negative value stops the generator and is its result. */
typedef int virtual_emit(void *arg, const unsigned char *sig, size_t len);

int virtual_calls(const struct virtual_run *v, uint64_t rank, virtual_emit *emit, void *arg);

/* The parts of it: what comes before the loop, one step, and what comes after. */
int virtual_before(const struct virtual_run *v, uint64_t rank, virtual_emit *emit, void *arg);
int virtual_step(const struct virtual_run *v, uint64_t rank, uint64_t s, virtual_emit *emit,
		 void *arg);
int virtual_after(const struct virtual_run *v, uint64_t rank, virtual_emit *emit, void *arg);

/* Every call through the table into the grammar, one by one. Both are reset first; *calls is
 * increased by their number, up to UINT64_MAX. */
int virtual_feed(const struct virtual_run *v, uint64_t rank, struct rn_sigs *sigs,
		 struct rn_grammar *g, uint64_t *calls);

/* The same result through rn_grammar_append_repeat: one step is encoded, not all. RN_E_ARG when
 * the pattern's steps differ, RN_E_RANGE for more calls than a stream can have. */
int virtual_feed_repeat(const struct virtual_run *v, uint64_t rank, struct rn_sigs *sigs,
			struct rn_grammar *g, uint64_t *calls);

/* The calls from .. to-1 of a rank as `rondo dump` prints them. RN_E_SYS when that failed. */
int virtual_log(const struct virtual_run *v, uint64_t rank, uint64_t from, uint64_t to, bool json,
		FILE *out);

#endif
