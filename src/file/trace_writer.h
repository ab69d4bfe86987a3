/*
 * trace_writer.h - writes a trace in memory to a file: its sections in one container.
 *
 * Equal traces always have equal bytes. Cost: linear, plus zstd. Uses malloc. The target is
 * replaced atomically (base/io.h).
 */
#ifndef RN_FILE_TRACE_WRITER_H
#define RN_FILE_TRACE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct rn_container_writer;
struct rn_trace;

/* Adds all sections of the trace. */
int rn_trace_sections(const struct rn_trace *t, struct rn_container_writer *w, struct rn_err *err);

struct rn_written {
	uint64_t bytes, calls;
	bool unchanged; /* the trace has no call, so the existing file was not replaced */
};

/* Writes the trace. A trace without calls does not replace a file, except a trace of events
 * (--only=order), which never has calls. */
int rn_trace_write(const struct rn_trace *t, const char *path, struct rn_written *out,
		   struct rn_err *err);

#endif
