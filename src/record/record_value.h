/*
 * record_value.h - conversion of results of functions to numbers.
 *
 * The time of MPI_Wtime is stored as the bits of the double. The name of MPI_Get_processor_name is
 * stored as its length, and then its bytes, eight per number.
 */
#ifndef RN_RECORD_RECORD_VALUE_H
#define RN_RECORD_RECORD_VALUE_H

#include <stdint.h>
#include <string.h>

#include <mpi.h>

#define RN_NAME_NUMBERS (1 + (MPI_MAX_PROCESSOR_NAME + 7) / 8)

/* Returns the number of numbers for a name of this length, with its terminating zero. */
static inline uint32_t rn_name_numbers(int64_t len)
{
	return ((uint32_t)len + 8) / 8;
}

static inline int64_t rn_time_bits(double v)
{
	int64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

#endif
