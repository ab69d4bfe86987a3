/*
 * roles.h - what functions do with messages and requests, and where their arguments stand.
 *
 * A trace has functions with numbers of its own; they are known by name, and a name that ends with
 * _c is that of the same function. Where a value stands is told once for each function, so that a
 * call of it is looked at without names.
 */
#ifndef RN_ANALYSE_ROLES_H
#define RN_ANALYSE_ROLES_H

#include <stdbool.h>
#include <stdint.h>

#include "encode/call.h"

struct rn_arena;
struct rn_roles; /* opaque */

enum rn_act {
	RN_ACT_OTHER,
	RN_ACT_MESSAGE, /* sends, receives, or both, and has done so when it returns */
	RN_ACT_PROBES,
	RN_ACT_MAKES,    /* a request, for what is started */
	RN_ACT_PREPARES, /* a request that can be started */
	RN_ACT_STARTS,
	RN_ACT_COMPLETES, /* requests */
	RN_ACT_ASKS,      /* whether something is complete, and leaves it at that */
	RN_ACT_CANCELS,   /* a request */
	RN_ACT_FREES,     /* a request */
	RN_ACT_FINALIZES,
};

enum rn_sends { RN_SENDS_NOTHING, RN_SENDS, RN_SENDS_SYNCHRONOUSLY };

#define RN_ROLE_NONE 255u /* there is no such value */

struct rn_role {
	const struct rn_func *func; /* in the trace */
	uint32_t function;          /* in this program, or UINT32_MAX */
	uint32_t kind;              /* enum rn_order_kind, where there is one */
	enum rn_act act;
	enum rn_sends sends;
	bool receives;
	uint32_t ins; /* values that go in, which are the first */
	/* Which value of a signature it is. */
	uint8_t peer, tag, count; /* what is compared (order/plan.h) */
	uint8_t dest, sendtag, source, recvtag;
	uint8_t request, flag, index, indices, status;
};

/* Of a vocabulary, which outlives it. NULL when there is no memory. */
struct rn_roles *rn_roles_new(struct rn_arena *mem, const struct rn_vocab *vocab);

/* The function is in the vocabulary. */
const struct rn_role *rn_roles_get(const struct rn_roles *r, uint64_t function);

#endif
