/*
 * order_sim.h - simulates programs and generates their order events, for the benchmark of the
 * codecs.
 *
 * Particles: 16 ranks form a torus of 4 x 4. A rank processes its particles, each for a random
 * time. It then sends the particle to a neighbor, or the particle is absorbed. Between two
 * particles it polls its open wildcard receives with Testsome and restarts the completed ones at
 * once. A rank without particles polls continuously. When all particles are absorbed, all ranks get
 * new ones. Messages take a random time and do not overtake. The simulation is event by event, so
 * senders, clocks and failed tests are consistent as in a real run.
 *
 * Jacobi: the same ranks. Each waits with Waitany for one wildcard receive per neighbor, 1000
 * times. The receives always complete in the same order.
 */
#ifndef RN_BENCH_ORDER_SIM_H
#define RN_BENCH_ORDER_SIM_H

#include <stddef.h>

#include "order/events.h"

struct rn_arena;

#define ORDER_SIM_RANKS 16u

/* Both functions write the events of rank r to thread[r], for ORDER_SIM_RANKS ranks. */
void order_sim_particles(struct rn_arena *mem, size_t receives, struct rn_order *thread);
void order_sim_jacobi(struct rn_arena *mem, size_t iterations, struct rn_order *thread);

#endif
