/*
 * thread_stream.h - assigns a stream to the calling thread when it makes its first call, and
 * releases the stream when the thread ends.
 */
#ifndef RN_TRACE_THREAD_STREAM_H
#define RN_TRACE_THREAD_STREAM_H

#include <stdint.h>

struct rn_stream;

/* Finds or makes this thread's stream. NULL when tracing is off, and, with a call that is lost,
 * when there is no memory or there are too many threads. */
struct rn_stream *rn_stream_begin(void);

/* The stream with this number, which must exist. */
struct rn_stream *rn_stream_get(uint32_t number);

/* Called once, by the constructor: threads that end release their streams from now on. */
void rn_stream_watch_ends(void);

#endif
