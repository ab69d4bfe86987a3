/*
 * clock_value.h - a clock reading, seconds as a double, as a number of ticks, and back.
 *
 * A clock counts ticks of 1 ns or 1 us, and the MPI library converts them to a double. The double
 * nearest to the time of the ticks is that double, or differs from it in the last place by how the
 * library rounds. So a reading is a number of ticks and a difference to what that number stands
 * for, which is almost always 0 if the way of rounding is known, and never lost.
 *
 * All is integer arithmetic: the result does not depend on the rounding mode of the program or on
 * the processor, and no floating-point exception is raised. Doubles are passed as their bits. Cost:
 * below 100 ns. Allocates nothing.
 */
#ifndef RN_ORDER_CLOCK_VALUE_H
#define RN_ORDER_CLOCK_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/* Ticks a second. */
#define RN_CLOCK_NS 1000000000u
#define RN_CLOCK_US 1000000u

/* Whether it can be a clock reading: 0, or from 2^-40 to below 2^33 seconds. */
bool rn_clock_is_reading(uint64_t bits);

/* The number of ticks nearest to a reading. */
uint64_t rn_clock_ticks(uint64_t bits, uint32_t hz);

/* The double nearest to the time of so many ticks, in seconds. */
uint64_t rn_clock_seconds(uint64_t ticks, uint32_t hz);

/* How three usual conversions differ from that, as a number below RN_CLOCK_ROUNDINGS: seconds plus
 * ticks / hz, seconds + 1 minus the ticks to the next one / hz, and seconds plus ticks * (1 / hz).
 */
#define RN_CLOCK_ROUNDINGS 27u

uint32_t rn_clock_rounding(uint64_t ticks, uint32_t hz);

#endif
