/*
 * order_sim.h - order events of programs that did not run, for the benchmark of the codecs.
 *
 * Particles: 16 ranks in a torus of 4 x 4. A rank works on the particles it has, which takes a
 * random time each, and sends each on to a neighbour, or it is gone; between any two it asks with
 * Testsome whether one of its open wildcard receives is done, which are started anew at once. A
 * rank without particles asks all the time. When all are gone, everybody gets new ones. Messages
 * take a random time and do not overtake. That is simulated event by event, so senders, clocks and
 * failed tests go together as in a run.
 *
 * Jacobi: the same ranks, each waits with Waitany for a wildcard receive from each neighbour, 1000
 * times, and they always come in the same order.
 */
#ifndef RN_BENCH_ORDER_SIM_H
#define RN_BENCH_ORDER_SIM_H

#include <stddef.h>

#include "order/events.h"

struct rn_arena;

#define ORDER_SIM_RANKS 16u

/* Into thread[ORDER_SIM_RANKS]. */
void order_sim_particles(struct rn_arena *mem, size_t receives, struct rn_order *thread);
void order_sim_jacobi(struct rn_arena *mem, size_t iterations, struct rn_order *thread);

#endif
