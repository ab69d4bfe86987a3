/*
 * stream_list.h - the streams of the process by number, and whether a thread uses each.
 *
 * The list has a lock of its own, because threads begin and end at any time.
 */
#ifndef RN_TRACE_STREAM_LIST_H
#define RN_TRACE_STREAM_LIST_H

#include <stdbool.h>
#include <stdint.h>

struct rn_stream;

/* Returns the stream with the lowest number that no thread uses, for the calling thread. NULL if
 * there is none, or if there are few streams: the thread then makes one. */
struct rn_stream *rn_stream_list_take(void);

/* Adds a stream in two steps. Between them no other stream is added, and no other thread sees this
 * one. rn_stream_list_number returns false if there are too many streams; then the second step is
 * omitted. */
bool rn_stream_list_number(struct rn_stream *t);
void rn_stream_list_publish(struct rn_stream *t);

bool rn_stream_list_is_full(void);
struct rn_stream *rn_stream_list_get(uint32_t number);

/* The thread of the stream ends. */
void rn_stream_list_leave(const struct rn_stream *t);

#endif
