/*
 * replay_value.c - returns the recorded results of MPI_Wtime and MPI_Get_processor_name, and of
 * libc functions.
 */
#include "base/errno_guard.h"
#include "record/record_value.h"

#include "replay/replay_cursor.h"
#include "replay/replay_start.h"

static double time_of(int64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* Returns the recorded time. A time that is not recorded continues from the last recorded time of
 * any thread. */
static double hook_Wtime(void)
{
	static _Atomic int64_t last,
		ahead; /* bits of doubles; ahead: recorded time minus actual time */
	double now = rn_real.MPI_Wtime();
	struct rn_order_call c;
	int64_t bits;

	if (!rn_order_call(&c, RN_ORDER_VALUE, MPI_COMM_NULL))
		return now;
	if (!c.o->replay || !rn_replay_value(&c, &bits, 1)) {
		now += time_of(ahead);
		return now < time_of(last) ? time_of(last)
					   : now; /* rounding must not make the time decrease */
	}
	last = bits;
	ahead = rn_time_bits(time_of(bits) - now);
	return time_of(bits);
}

/* Clears the array after the name, because the program may read all of it. */
static int hook_Get_processor_name(char *name, int *len)
{
	int64_t word[RN_NAME_NUMBERS] = { 0 };
	struct rn_order_call c;
	int rc = rn_real.MPI_Get_processor_name(name, len);

	if (rc != MPI_SUCCESS || !rn_order_call(&c, RN_ORDER_VALUE, MPI_COMM_NULL))
		return rc;
	memcpy(&word[1], name, (size_t)*len + 1);
	if (c.o->replay && rn_replay_value(&c, word, 1) && word[0] >= 0 &&
	    word[0] < MPI_MAX_PROCESSOR_NAME &&
	    rn_replay_value(&c, &word[1], rn_name_numbers(word[0]))) {
		*len = (int)word[0];
		memcpy(name, &word[1], (size_t)*len + 1);
	}
	return rc;
}

void rn_replay_libc_value(struct rn_stream *t, uint32_t function, int64_t *value, uint32_t n)
{
	struct rn_order_call c = { .t = t, .function = function, .kind = RN_ORDER_VALUE };
	int64_t recorded[2];
	RN_ERRNO_GUARD;

	c.o = rn_order_current(t);
	if (c.o && c.o->replay && rn_replay_value(&c, recorded, n))
		memcpy(value, recorded, n * sizeof(*recorded));
}

void rn_replay_hook_values(void)
{
	RN_HOOK(RN_LINK_OUTCOME, MPI_Wtime, hook_Wtime);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Get_processor_name, hook_Get_processor_name);
}
