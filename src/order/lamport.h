/*
 * lamport.h - the Lamport clocks of messages, from what all threads sent and received.
 *
 * As if each message had carried its sender's clock: a send takes the clock and then adds one to
 * it; a receive sets it to the larger of both, plus one. Nothing is carried: the n-th message of a
 * (communicator, sender, receiver, tag) that is received is the n-th that was sent, and threads are
 * followed as far as the messages that they received are known.
 *
 * Clocks say what order to expect, and nothing is wrong when one is: a receive whose send is not
 * there (it was lost with its rank; the communicator is not known and there are several; directed
 * receives took some of its messages) has the clock of its own thread, or of another message.
 *
 * In proportion to sends and receives, with some 120 bytes of scratch for each send.
 */
#ifndef RN_ORDER_LAMPORT_H
#define RN_ORDER_LAMPORT_H

#include <stddef.h>
#include <stdint.h>

#include "order/events.h"

struct rn_arena;

/* clock[i] of thread t becomes the clock that came with completion i; it is undefined for a
 * completion that is not a receive. rank[t]: the rank of thread t, for communicators on which it
 * has not sent. RN_OK or RN_E_NOMEM. */
int rn_order_clocks(struct rn_arena *mem, struct rn_order *thread, const int32_t *rank, size_t n);

#endif
