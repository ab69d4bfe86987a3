/*
 * virtual.h - virtual ranks: the exact calls of well-known communication patterns, without MPI.
 *
 * For rank r of P, a pattern generates its calls one by one, as signatures (encode/signature.h) or
 * as a log in the format of `rondo dump`. The log is printed from absolute ranks that are computed
 * from grid coordinates, never from the signatures. It can therefore verify all code in between:
 * encoding, grammar, merge, file, reader. At the border of a non-periodic grid, the calls for the
 * missing neighbor are omitted.
 *
 *   stencil2d, stencil2d-periodic   5-point halo exchange, Irecv/Isend/Waitall
 *   stencil3d, stencil3d-periodic   7-point halo exchange
 *   wavefront                       a sweep from the first corner and one back
 *   butterfly                       log2(P) exchanges with rank xor 2^k
 *   rowcol                          collectives on row and column communicators
 *   timestep                        a ring exchange repeated 8..32 times per step, as in solvers
 *
 * Cost: one encoding per call; allocates nothing.
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
	unsigned dims; /* number of grid dimensions */
	bool periodic;
	bool plain; /* all steps have the same calls */
	void (*before)(struct virtual_rank *c);
	void (*step)(struct virtual_rank *c, uint64_t s);
};

extern const struct virtual_pattern virtual_patterns[];
extern const unsigned virtual_patterns_count;

/* The vocabulary of the patterns. */
extern const struct rn_vocab virtual_vocab;

struct virtual_run {
	const struct virtual_pattern *pattern;
	uint64_t ranks, steps;
	uint64_t grid[3]; /* x varies fastest; 1 in dimensions that the pattern does not have */
};

/* Initializes a run with a grid as close to a cube as the number of ranks permits. Returns RN_E_ARG
 * for an unknown pattern, or RN_E_RANGE if the pattern does not support the number of ranks. */
int virtual_init(struct virtual_run *v, const char *pattern, uint64_t ranks, uint64_t steps);

/* virtual_init() with a given grid. Also returns RN_E_RANGE if the grid has more dimensions than
 * the pattern. */
int virtual_init_grid(struct virtual_run *v, const char *pattern, const uint64_t grid[3],
		      uint64_t steps);

/* Receives the signature of a call. A negative result stops the generator, which returns it. */
typedef int virtual_emit(void *arg, const unsigned char *sig, size_t len);

int virtual_calls(const struct virtual_run *v, uint64_t rank, virtual_emit *emit, void *arg);

/* The parts of virtual_calls(): the calls before the loop, one step, and the calls after it. */
int virtual_before(const struct virtual_run *v, uint64_t rank, virtual_emit *emit, void *arg);
int virtual_step(const struct virtual_run *v, uint64_t rank, uint64_t s, virtual_emit *emit,
		 void *arg);
int virtual_after(const struct virtual_run *v, uint64_t rank, virtual_emit *emit, void *arg);

/* Interns every call in `sigs` and appends it to the grammar. Resets both first. Adds the number of
 * calls to *calls, up to UINT64_MAX. */
int virtual_feed(const struct virtual_run *v, uint64_t rank, struct rn_sigs *sigs,
		 struct rn_grammar *g, uint64_t *calls);

/* Has the result of virtual_feed(), but encodes only one step and calls rn_grammar_append_repeat.
 * Returns RN_E_ARG if the steps of the pattern differ, or RN_E_RANGE if a stream cannot have as
 * many calls. */
int virtual_feed_repeat(const struct virtual_run *v, uint64_t rank, struct rn_sigs *sigs,
			struct rn_grammar *g, uint64_t *calls);

/* Prints the calls from .. to-1 of a rank in the format of `rondo dump`. Returns RN_E_SYS if a
 * write fails. */
int virtual_log(const struct virtual_run *v, uint64_t rank, uint64_t from, uint64_t to, bool json,
		FILE *out);

#endif
