/*
 * template.h - a signature, parsed once: an array of values in which a call changes only the
 * elastic slots.
 *
 * The values of a signature (signature.h) have the order of its bytes. The elements of a list and
 * the fields of a status follow it, so a value takes `span` entries, and v + v->span is the value
 * after it. RN_V_IN is not stored: a number that depends on the rank refers to the communicator
 * instead.
 *
 *	MPI_Waitall   value  count  LIST 2  request  request  LIST 1  STATUS  source  tag  0
 *	              span     1      3       1        1       4       3       1      1   1
 *	              top      0      1                        4                          8
 *
 * An elastic slot has the kind RN_V_ELASTIC until rn_template_fill stores the value of a call.
 *
 * The parser is the only decoder of signatures. Input is untrusted. Parsing is O(bytes) and
 * allocates from the arena; the signature must outlive the template. Filling is O(slots) and
 * allocates nothing. Not locked.
 */
#ifndef RN_ENCODE_TEMPLATE_H
#define RN_ENCODE_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "encode/signature.h"

struct rn_sigs;

#define RN_TEMPLATE_NONE UINT32_MAX

/* The names of requests. */
#define RN_REQUEST_LIVE "request"
#define RN_REQUEST_GONE "request-"
#define RN_REQUEST_NEW  "request+"

/* A vocabulary and its keywords with a meaning; UINT64_MAX: it lacks the keyword. */
struct rn_keywords {
	const struct rn_vocab *vocab;
	uint64_t world, self, live, gone, made, unset, nothing;
};

struct rn_keywords rn_keywords_of(const struct rn_vocab *v);

/* A communicator that ranks are relative to. `rank` and `size` are set by a reader: the rank of the
 * calling process in the communicator and its size, if `known`. */
struct rn_template_comm {
	const char *name;
	size_t len;
	bool known;
	uint64_t rank, size;
};

/* A value of kind RN_V_REL, RN_V_RELMOD, RN_V_XOR or RN_V_VARIES, as stored in the signature. */
struct rn_template_rank {
	uint32_t value, comm;
	enum rn_value_kind kind;
	int64_t num;
};

struct rn_template_slot {
	uint32_t value, comm;
	uint32_t series; /* the series of the signature that the value comes from */
	enum rn_elastic form;
	struct rn_value stored;
	char *text; /* RN_ELASTIC_NAME: buffer for the name and a displacement */
};

struct rn_template {
	const struct rn_func *func;
	struct rn_value *value;
	uint32_t *top;   /* entries of the values that are not nested in others; see `ret` */
	uint32_t n, ret; /* number of entries; top[ret] is the return value */
	uint32_t comm;   /* index in `top` of the call's communicator, or RN_TEMPLATE_NONE */
	uint32_t ranks, slots, comms;
	struct rn_template_comm *comm_of; /* the first one is that of the call, or MPI_COMM_WORLD */
	struct rn_template_rank *rank;
	struct rn_template_slot *slot;
	bool has_site;  /* the call site is known: top[ret + 1] */
	uint32_t site;  /* node of the call site + 1; 0: none, or the slot is not filled */
	uint32_t stack; /* entry of the call site; RN_TEMPLATE_NONE: as for `site` */
	size_t stacks; /* bytes of the signature before the stacks of its call site; 0: no stacks */
	uint32_t owner; /* for use by the reader; 0 after parsing */
};

/* Parses a signature. Returns RN_OK, RN_E_NOMEM or RN_E_DATA. */
int rn_template_parse(struct rn_arena *mem, const struct rn_keywords *k, const void *sig,
		      size_t len, struct rn_template *out);

/* Stores the elastic values of a call, one for each series of the signature. Ranks become absolute
 * if their communicator is known. Returns false if the index of the call site is out of range. */
bool rn_template_fill(struct rn_template *t, const int64_t *series);

/* The value of a parameter before the call; for an output parameter, the value after it. */
const struct rn_value *rn_template_argument(const struct rn_template *t, uint32_t param);

/* The templates of a table of signatures. Each is parsed at its first use. They take at most about
 * RN_TEMPLATES_MAX bytes, or the memory of one template. When the limit is reached, all are
 * discarded and parsed again on use. */
struct rn_templates {
	struct rn_keywords keywords;
	const struct rn_sigs *sigs;
	struct rn_arena mem;
	struct rn_template *of; /* by signature; func is NULL until the signature is parsed */
};

#define RN_TEMPLATES_MAX ((size_t)64 << 20)

/* Initializes the table. Signatures must be valid under the vocabulary; both must outlive the
 * table. Returns RN_OK or RN_E_NOMEM. */
int rn_templates_init(struct rn_templates *t, struct rn_arena *mem, const struct rn_vocab *vocab,
		      const struct rn_sigs *sigs);
void rn_templates_free(struct rn_templates *t);

/* Parses a signature. The result is valid until the next call. Returns NULL without memory. */
struct rn_template *rn_templates_parse(struct rn_templates *t, uint32_t sig);

static inline struct rn_template *rn_templates_get(struct rn_templates *t, uint32_t sig)
{
	return t->of[sig].func ? &t->of[sig] : rn_templates_parse(t, sig);
}

/* The contents of a signature, from one pass over its bytes. */
struct rn_sig_contents {
	const struct rn_func *func;
	uint64_t values, ranks, slots, names, comms, series;
	size_t stacks;     /* bytes before the stacks of the call site; 0: it has no call site */
	uint64_t max_site; /* largest index of a stack; UINT64_MAX: one of them is not a number */
};

/* Returns false if the bytes are not a valid signature. A valid signature has a known function and
 * known keywords, the right number of values, only permitted values in `in` and in statuses, one
 * return value that is equal on all ranks, and at most a call site after it. */
bool rn_sig_scan(const void *sig, size_t len, const struct rn_vocab *vocab,
		 struct rn_sig_contents *out);
bool rn_call_valid(const void *sig, size_t len, const struct rn_vocab *vocab);

#endif
