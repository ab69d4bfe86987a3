/*
 * thread_stream.h - assigns a stream to the calling thread when it makes its first call, and
 * releases the stream when the thread ends.
 */
#ifndef RN_TRACE_THREAD_STREAM_H
#define RN_TRACE_THREAD_STREAM_H

#include <stdint.h>

struct rn_stream;

/* Finds or creates the stream of the calling thread. NULL if tracing is off. NULL, with the call
 * counted as lost, if out of memory or if there are too many threads. */
struct rn_stream *rn_stream_begin(void);

/* Returns the stream with this id, which must exist. */
struct rn_stream *rn_stream_get(uint32_t number);

/* Called once by the constructor. From then on, threads release their streams when they end. */
void rn_stream_watch_ends(void);

#endif
