/*
 * report_format.h - how the report writes numbers, lists of ranks, and calls with their arguments.
 *
 * Text without a bound is appended to a buffer, whose status the caller checks at the end.
 */
#ifndef RN_REPORT_REPORT_FORMAT_H
#define RN_REPORT_REPORT_FORMAT_H

#include <stdint.h>

struct rn_buf;
struct rn_members;
struct rn_templates;
struct rn_trace;
struct rn_variant;

/* Numbers as text, in the given memory or, for COUNT, in memory of the enclosing block. */
#define TEXT_MAX 32
const char *text_count(char text[TEXT_MAX], uint64_t v); /* 48,210 */
const char *text_bytes(char text[TEXT_MAX], uint64_t v); /* 1.2 MB */
const char *text_time(char text[TEXT_MAX], double ns);   /* 78.9 us */
#define COUNT(v) text_count((char[TEXT_MAX]){ 0 }, v)

/* "rank 3", "ranks 0-3,7", "ranks 0-3 thread 1", of which at most some ranges. */
void text_ranks(struct rn_buf *out, const struct rn_trace *t, const struct rn_members *m,
		uint64_t streams);

/* The same for streams, given as thread * ranks + rank, which are sorted for it; n > 0. */
void text_streams(struct rn_buf *out, const struct rn_trace *t, uint64_t *s, uint64_t n);

/* "MPI_Send(1 MPI_INT, dest=rank+1|MPI_PROC_NULL, tag=*)": the arguments that say what is done
 * with whom, each with its values in all variants; "*": there are more than a few. */
void text_call(struct rn_buf *out, struct rn_templates *t, const struct rn_variant *v);

/* Equal for calls that have the same text. The buffer is scratch. */
uint64_t text_hash(struct rn_buf *scratch, struct rn_templates *t, uint32_t sig);

#endif
