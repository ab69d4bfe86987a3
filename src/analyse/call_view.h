/*
 * call_view.h - a decoded call of a trace: its arguments by their traits (encode/traits.h), its
 * ranks as numbered in the caller's communicators, and its statuses.
 *
 * Communicators are counted from 1 as their names come up, the world and self first. Words and
 * relative numbers become what a plan has (order/plan.h).
 *
 * Signatures are valid under the trace's vocabulary and have no holes. Memory from arenas: names,
 * and for each rank what it is in its communicators. When there is none, *rc says so and what is
 * returned means nothing.
 */
#ifndef RN_ANALYSE_CALL_VIEW_H
#define RN_ANALYSE_CALL_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "encode/raw.h"
#include "read/decode.h"

struct rn_arena;
struct rn_trace;

/* What a rank is in a communicator. */
struct rn_standing {
	bool asked, known;
	uint64_t rank, size;
};

/* A function of the trace, and its description in this program. */
struct rn_called_function {
	const struct rn_func *func;
	const struct rn_traits *traits;
	const struct rn_param *param; /* NULL: unknown, or all are inputs */
	uint32_t number;              /* in this program; UINT32_MAX: unknown */
	uint32_t ins;                 /* number of inputs; their values come first */
};

struct rn_call_view {
	const struct rn_trace *t;
	struct rn_arena *mem, *scratch;
	struct rn_decoder decoder;
	const struct rn_called_function *function;           /* by function number */
	uint64_t any_source, any_tag, nobody, root, pending; /* words */
	struct rn_map comm_of;
	const char **comm; /* by number - 1 */
	uint32_t comms, room;
	uint32_t world, self;
	uint64_t rank;
	struct rn_standing *standing; /* by number - 1 */
	uint32_t standings;
	int *rc;
};

/* Of a trace, which outlives it. RN_OK or RN_E_NOMEM. */
int rn_call_view_init(struct rn_call_view *v, struct rn_arena *mem, const struct rn_trace *t,
		      int *rc);

/* Calls of this rank from now on; scratch is as it is until the next rank. */
void rn_call_view_begin(struct rn_call_view *v, uint64_t rank, struct rn_arena *scratch);

/* NULL when nothing is known. */
const struct rn_standing *rn_call_view_standing(struct rn_call_view *v, uint32_t comm);

struct rn_called {
	const struct rn_called_function *f;
	uint32_t comm;     /* the first that goes in; 0: none */
	uint32_t relative; /* that which ranks are relative to */
	uint32_t place;    /* node of the stacks + 1, or 0 */
	bool unfinished, failed;
	uint32_t n; /* values, without what they are made of: that is in `parts` */
	struct rn_value value[RN_CALL_VALUES_MAX + 2];
	struct rn_reader parts[RN_CALL_VALUES_MAX + 2];
};

void rn_call_view_read(struct rn_call_view *v, const void *sig, size_t len, struct rn_called *c);

/* Values behind the one that was read, and what they are made of. */
void rn_called_skip(struct rn_reader *in, uint64_t n);

/* The index of a parameter's value in c->value. */
static inline uint32_t rn_called_at(const struct rn_called *c, uint8_t param)
{
	return c->f->param ? c->f->param[param].value : param;
}

/* The value of a parameter in the form of a replay plan. `param` may be RN_NO_PARAM. */
int32_t rn_called_argument(struct rn_call_view *v, const struct rn_called *c, uint8_t param);
int64_t rn_called_count(struct rn_call_view *v, const struct rn_called *c);
bool rn_called_true(const struct rn_called *c, uint8_t param);

struct rn_called_status {
	bool known;     /* source and tag are */
	bool ignored;   /* and nothing is known */
	bool cancelled; /* that is known */
	bool pending;   /* its request is not complete */
	int32_t source, tag;
};

/* The status of a call that has one. */
struct rn_called_status rn_called_status(struct rn_call_view *v, const struct rn_called *c);

/* The statuses of a call, one after the other; for one that has no list, always the same. */
struct rn_called_statuses {
	struct rn_reader in;
	int64_t left; /* -1: there is no list */
};

struct rn_called_statuses rn_called_statuses(const struct rn_called *c);
struct rn_called_status rn_called_next(struct rn_call_view *v, const struct rn_called *c,
				       struct rn_called_statuses *l);

#endif
