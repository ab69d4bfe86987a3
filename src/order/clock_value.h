/*
 * clock_value.h - converts a clock reading (a double, in seconds) to a number of ticks and back.
 *
 * A clock counts ticks of 1 ns or 1 us, and the MPI library converts them to a double. Depending on
 * the rounding of the library, this double is the one nearest to the time of the ticks, or differs
 * from it in the last place. A reading is therefore a number of ticks, and the difference from the
 * nearest double. If the rounding is known, this difference is almost always 0. It is never lost.
 *
 * All computations use integers: the result does not depend on the rounding mode of the program or
 * on the processor, and no floating-point exception is raised. Doubles are passed as their bits.
 * Cost: below 100 ns. Allocates nothing.
 */
#ifndef RN_ORDER_CLOCK_VALUE_H
#define RN_ORDER_CLOCK_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/* Ticks per second. */
#define RN_CLOCK_NS 1000000000u
#define RN_CLOCK_US 1000000u

/* Returns whether the double can be a clock reading: 0, or from 2^-40 to below 2^33 seconds. */
bool rn_clock_is_reading(uint64_t bits);

/* Returns the number of ticks nearest to a reading. */
uint64_t rn_clock_ticks(uint64_t bits, uint32_t hz);

/* Returns the double nearest to the time of a number of ticks, in seconds. */
uint64_t rn_clock_seconds(uint64_t ticks, uint32_t hz);

/* Returns the differences of three common conversions from rn_clock_seconds, as a number below
 * RN_CLOCK_ROUNDINGS. The conversions are seconds + ticks / hz, (seconds + 1) - (ticks to the next
 * second) / hz, and seconds + ticks * (1 / hz). */
#define RN_CLOCK_ROUNDINGS 27u

uint32_t rn_clock_rounding(uint64_t ticks, uint32_t hz);

#endif
