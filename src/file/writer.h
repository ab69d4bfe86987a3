/*
 * writer.h - a merged trace to a file: its parts as sections of one container.
 *
 * The same streams, vocabulary and metadata always give the same bytes. Of the vocabulary only what
 * is used gets in, and metadata that a reader would refuse is refused here (RN_E_ARG). Cost:
 * linear, plus zstd. Tool-side code: uses malloc. The target is replaced atomically (base/io.h).
 */
#ifndef RN_FILE_WRITER_H
#define RN_FILE_WRITER_H

#include "base/err.h"

struct rn_container_writer;
struct rn_meta;
struct rn_streams;
struct rn_vocab;

/* Adds all sections that every trace has; the container is not finished yet, so that others may
 * follow: comms, times. */
int rn_trace_sections(struct rn_container_writer *w, const struct rn_streams *s,
		      const struct rn_vocab *vocab, const struct rn_meta *meta, struct rn_err *err);

#endif
