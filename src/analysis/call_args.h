/*
 * call_args.h - the arguments and statuses of a call (read/calls.h) by their traits
 * (encode/call_traits.h), as a plan has them (order/replay_plan.h).
 */
#ifndef RN_ANALYSIS_CALL_ARGS_H
#define RN_ANALYSIS_CALL_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "encode/call_words.h"
#include "read/calls.h"

struct rn_arena;

/* Keywords with a meaning in arguments and statuses; UINT64_MAX: the vocabulary lacks it. */
struct rn_arg_words {
	uint64_t any_source, any_tag, nobody, root, pending, nothing;
};

struct rn_arg_words rn_arg_words_of(const struct rn_vocab *v);

/* A function of the trace, and what this program knows of it. */
struct rn_arg_function {
	const struct rn_func *func;
	const struct rn_traits *traits;
	const struct rn_param *param; /* NULL: all are inputs */
	uint32_t number;              /* in this program; UINT32_MAX: it is not known */
	uint32_t ins;                 /* number of values of inputs, which are the first */
};

/* By the numbers of the vocabulary, which must outlive them. NULL without memory. */
const struct rn_arg_function *rn_arg_functions(struct rn_arena *mem, const struct rn_vocab *vocab);

/* The value of a parameter, which is not RN_NO_PARAM. */
static inline const struct rn_value *rn_arg(const struct rn_arg_function *f,
					    const struct rn_call *c, uint8_t param)
{
	return &c->args->value[c->args->top[f->param ? f->param[param].value : param]];
}

/* A rank or a tag: a number, or one of RN_PLAN_*. The value may be NULL. */
int32_t rn_arg_number(const struct rn_arg_words *w, const struct rn_value *v);
int64_t rn_arg_count(const struct rn_value *v);
bool rn_arg_true(const struct rn_value *v);

/* The call did not return, or returned an error. */
bool rn_call_failed(const struct rn_arg_words *w, const struct rn_call *c);

struct rn_arg_status {
	bool known;     /* source and tag are */
	bool ignored;   /* and nothing is known */
	bool cancelled; /* that is known */
	bool pending;   /* its request is not complete */
	int32_t source, tag;
};

/* A status; none is known of NULL, or of another value. */
struct rn_arg_status rn_arg_status(const struct rn_arg_words *w, const struct rn_value *v);

/* The statuses of a call, in their order; for one that has no list, always the same. */
struct rn_arg_statuses {
	const struct rn_value *next; /* NULL: it has none */
	int64_t left;                /* -1: there is no list */
};

struct rn_arg_statuses rn_arg_statuses(const struct rn_value *v);
struct rn_arg_status rn_arg_status_next(const struct rn_arg_words *w, struct rn_arg_statuses *l);

#endif
