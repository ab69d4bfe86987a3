/*
 * elastic.h - decides which parameters of calls become elastic slots.
 *
 * Calls with equal masked signatures are members of one rn_family. While a family has few members,
 * each has a separate signature: few values carry structure (two message sizes, the neighbors of a
 * grid), which the grammar finds. When a family has many members, the parameters with many values
 * become elastic slots (encode/elastic_slots.h) permanently: later calls of the family have one or
 * few signatures again. A member that accounts for a large share of the calls remains a signature.
 * For members that create requests, fewer values suffice, if each combination of them would make a
 * new signature of the calls that wait for the requests.
 *
 * Cost: none for a predicted call without elastic slots.
 */
#ifndef RN_TRACE_ELASTIC_H
#define RN_TRACE_ELASTIC_H

#include <stddef.h>
#include <stdint.h>

struct rn_sig;
struct rn_stream;

/* Returns the signature of a call that has returned and was not predicted. If it has elastic slots,
 * the values of the call are appended to them. The words may be changed. NULL if out of memory;
 * errno may have changed. */
struct rn_sig *rn_elastic_call(struct rn_stream *t, uint64_t *w, size_t n);

/* Closes the elastic slots of a signature whose latest call could not be appended, so that the
 * values of that call do not count. */
void rn_elastic_undo(struct rn_stream *t, uint32_t id);

#endif
