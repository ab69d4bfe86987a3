/*
 * call_args.h - arguments and statuses of a call (read/calls.h) as numbers, found by call traits.
 *
 * The traits are in encode/call_traits.h. Numbers are encoded as in a replay plan
 * (order/replay_plan.h).
 */
#ifndef RN_ANALYSIS_CALL_ARGS_H
#define RN_ANALYSIS_CALL_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "encode/call_words.h"
#include "read/calls.h"

struct rn_arena;

/* Keywords that are special values of arguments and statuses. UINT64_MAX: not in the vocabulary. */
struct rn_arg_words {
	uint64_t any_source, any_tag, nobody, root, pending, nothing;
};

struct rn_arg_words rn_arg_words_of(const struct rn_vocab *v);

/* A function of the trace, and its description in this version. */
struct rn_arg_function {
	const struct rn_func *func;
	const struct rn_traits *traits;
	const struct rn_param *param; /* NULL: all parameters are inputs */
	uint32_t number;              /* id in rn_mpi_protos; UINT32_MAX: unknown function */
	uint32_t ins;                 /* number of input values, which precede the outputs */
};

/* Returns an array indexed by function number of the vocabulary, or NULL if memory is exhausted.
 * The vocabulary must outlive it. */
const struct rn_arg_function *rn_arg_functions(struct rn_arena *mem, const struct rn_vocab *vocab);

/* The value of a parameter. `param` must not be RN_NO_PARAM. */
static inline const struct rn_value *rn_arg(const struct rn_arg_function *f,
					    const struct rn_call *c, uint8_t param)
{
	return &c->args->value[c->args->top[f->param ? f->param[param].value : param]];
}

/* Converts a rank or a tag to its number or to one of RN_PLAN_*. The value may be NULL. */
int32_t rn_arg_number(const struct rn_arg_words *w, const struct rn_value *v);
int64_t rn_arg_count(const struct rn_value *v);
bool rn_arg_true(const struct rn_value *v);

/* Whether the call did not return, or returned an error. */
bool rn_call_failed(const struct rn_arg_words *w, const struct rn_call *c);

struct rn_arg_status {
	bool known;     /* source and tag are known */
	bool ignored;   /* the program ignored the status; `known` is false */
	bool cancelled; /* the operation is known to have been cancelled */
	bool pending;   /* the request is not complete */
	int32_t source, tag;
};

/* Decodes a status. All fields are false if the value is NULL or not a status. */
struct rn_arg_status rn_arg_status(const struct rn_arg_words *w, const struct rn_value *v);

/* Iterates over the statuses of a call. If the value is a single status, every step returns it. */
struct rn_arg_statuses {
	const struct rn_value *next; /* NULL: the call has no status */
	int64_t left;                /* number of statuses left; -1: a single status */
};

struct rn_arg_statuses rn_arg_statuses(const struct rn_value *v);
struct rn_arg_status rn_arg_status_next(const struct rn_arg_words *w, struct rn_arg_statuses *l);

#endif
