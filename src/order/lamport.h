/*
 * lamport.h - Lamport clocks of messages, computed from the recorded sends and receives.
 *
 * The clocks are those that would result if each message carried its sender's clock. A send takes
 * the current clock and then increments it. A receive sets the clock to the maximum of both, plus
 * one. The messages carry no data for this. The n-th received message of a (communicator, sender,
 * receiver, tag) is the n-th sent one. A thread is processed as far as the messages that it
 * received are known.
 *
 * A wrong clock only makes the reference order a worse prediction. A receive without a recorded
 * send has the clock of its own thread or of another message. Causes are a rank whose data were
 * lost, an unknown communicator when there are several, and receives with a named source that
 * consumed some of the messages.
 *
 * Cost: linear in sends and receives, with about 120 bytes of scratch memory per send.
 */
#ifndef RN_ORDER_LAMPORT_H
#define RN_ORDER_LAMPORT_H

#include <stddef.h>
#include <stdint.h>

#include "order/events.h"

struct rn_arena;

/* Sets clock[i] of each thread to the clock of the message of completion i. It is undefined for a
 * completion that is not a receive. rank[t] is the rank of thread t, for communicators on which the
 * thread has not sent. Returns RN_OK or RN_E_NOMEM. */
int rn_order_clocks(struct rn_arena *mem, struct rn_order *thread, const int32_t *rank, size_t n);

#endif
