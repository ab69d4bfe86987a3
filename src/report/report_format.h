/*
 * report_format.h - formats numbers, rank sets, and calls with their arguments for reports.
 *
 * Text of unbounded length is appended to a buffer, whose status the caller checks at the end.
 */
#ifndef RN_REPORT_REPORT_FORMAT_H
#define RN_REPORT_REPORT_FORMAT_H

#include <stdint.h>

struct rn_buf;
struct rn_members;
struct rn_templates;
struct rn_trace;
struct rn_variant;

/* Formats a number into `text`; the result is valid as long as `text`. COUNT uses memory of the
 * enclosing block. */
#define TEXT_MAX 32
const char *text_count(char text[TEXT_MAX], uint64_t v); /* 48,210 */
const char *text_bytes(char text[TEXT_MAX], uint64_t v); /* 1.2 MB */
const char *text_time(char text[TEXT_MAX], double ns);   /* 78.9 us */
#define COUNT(v) text_count((char[TEXT_MAX]){ 0 }, v)

/* Appends the ranks of the streams: "rank 3", "ranks 0-3,7", "ranks 0-3 thread 1". Long lists are
 * cut. */
void text_ranks(struct rn_buf *out, const struct rn_trace *t, const struct rn_members *m,
		uint64_t streams);

/* Appends the ranks of n > 0 streams, given as thread * ranks + rank. Sorts the array `s`. */
void text_streams(struct rn_buf *out, const struct rn_trace *t, uint64_t *s, uint64_t n);

/* Appends "MPI_Send(1 MPI_INT, dest=rank+1|MPI_PROC_NULL, tag=*)": counts, datatypes, operations,
 * ranks, tags and communicators, each with its values in all variants. "*": too many values. */
void text_call(struct rn_buf *out, struct rn_templates *t, const struct rn_variant *v);

/* Equal for calls that have the same text. `scratch` is overwritten. */
uint64_t text_hash(struct rn_buf *scratch, struct rn_templates *t, uint32_t sig);

#endif
