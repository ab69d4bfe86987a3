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
#include "merge/blur.h"
#include "order/codec.h"

struct rn_container_writer;
struct rn_meta;
struct rn_streams;
struct rn_vocab;

/* With "no", metadata say that loops whose counts change stay as they are (merge/fold.h). */
#define RN_META_ELASTIC "elastic"
/* That of counts of loops, or of numbers in holes, only the distribution is kept (merge/blur.h). */
#define RN_META_LOSSY "lossy"

/* What they say of it; nothing is lossy where they say nothing. */
struct rn_lossy rn_meta_lossy(const struct rn_meta *meta);

/* Of which kind of trace this is: "order" where it has events and no calls; and in which codec
 * those are (order/codec.h). */
#define RN_META_ONLY  "only"
#define RN_ONLY_ORDER "order"
#define RN_META_ORDER "order_codec"
/* The recorded results that differ from run to run (`none` or `all`); absent: those of MPI. */
#define RN_META_VALUES      "values"
#define RN_VALUES_WORD_NONE "none"
#define RN_VALUES_WORD_MPI  "mpi"
#define RN_VALUES_WORD_ALL  "all"

/* What they say of it; the default where they say nothing. */
enum rn_order_codec rn_meta_order(const struct rn_meta *meta);

/* Adds all sections that every trace has; the container is not finished yet, so that others may
 * follow: comms, times. */
int rn_trace_sections(struct rn_container_writer *w, const struct rn_streams *s,
		      const struct rn_vocab *vocab, const struct rn_meta *meta, struct rn_err *err);

#endif
