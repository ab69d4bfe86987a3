/*
 * elastic.h - which numbers of calls leave their signatures.
 *
 * Calls that differ in nothing but numbers are a family. As long as it has few members, each is a
 * signature of its own: a few values carry structure (two message sizes, the neighbours of a
 * grid), and the grammar finds it. When there are many, those numbers that have many values become
 * holes (encode/elastic_slots.h), for good: the calls of the family that come from then on are few
 * signatures again, or one. One that stands out among the members, because it comes again and
 * again, stays what it is. Members that make requests become holes with fewer values, where what
 * waits for them is a new combination of them again and again.
 *
 * Nothing of it is on the way of an expected call that has no holes.
 */
#ifndef RN_TRACE_ELASTIC_H
#define RN_TRACE_ELASTIC_H

#include <stddef.h>
#include <stdint.h>

struct rn_sig;
struct rn_stream;

/* The signature of a call that is over and was not expected; if it has holes, with the call's
 * numbers in them. The words may change. NULL: there is no memory; errno may have
 * changed. */
struct rn_sig *rn_elastic_call(struct rn_stream *t, uint64_t *w, size_t n);

/* The call could not be appended: its numbers, if it has any, do not count. */
void rn_elastic_undo(struct rn_stream *t, uint32_t id);

#endif
