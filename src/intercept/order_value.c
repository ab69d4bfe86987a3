/*
 * order_value.c - hooks for what gives a number that is another one in each run.
 *
 * Numbers are kept as the bits that they are. A name is its length, and then its letters, eight to
 * a number.
 */
#include "intercept/order.h"

#include "intercept/config.h"
#include "intercept/order_log.h"
#include "intercept/replay.h"

#include <string.h>

#define NAME_WORDS (1 + (MPI_MAX_PROCESSOR_NAME + 7) / 8)

static void record(const struct rn_order_call *c, const int64_t *value, uint32_t n)
{
	uint32_t site = rn_order_log_site(c->t, c->kind, c->function, c->comm, c->place);

	for (uint32_t i = 0; i < n; i++)
		rn_order_log_value(c->t, site, value[i]);
}

static int64_t bits_of(double v)
{
	int64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

static double number_of(int64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* What nothing is recorded of goes on from what was told last, to any thread. */
static double replayed(const struct rn_order_call *c, double now)
{
	static _Atomic int64_t last, ahead; /* bits; ahead: of the time */
	int64_t bits;

	if (!c->o->replay || !rn_replay_value(c, &bits, 1)) {
		now += number_of(ahead);
		return now < number_of(last) ? number_of(last) : now; /* rounded */
	}
	last = bits;
	ahead = bits_of(number_of(bits) - now);
	return number_of(bits);
}

static double hook_Wtime(void)
{
	struct rn_order_call c;
	double now = rn_real.MPI_Wtime();
	int64_t bits = bits_of(now);

	if (!rn_order_call(&c, RN_ORDER_VALUE, MPI_COMM_NULL))
		return now;
	if (rn_order_mode == RN_ORDER_REPLAYS)
		return replayed(&c, now);
	record(&c, &bits, 1);
	return now;
}

/* Of which the whole array is the program's to read. */
static int hook_Get_processor_name(char *name, int *len)
{
	int64_t word[NAME_WORDS] = { 0 };
	struct rn_order_call c;
	int rc = rn_real.MPI_Get_processor_name(name, len);

	if (rc != MPI_SUCCESS || !rn_order_call(&c, RN_ORDER_VALUE, MPI_COMM_NULL))
		return rc;
	word[0] = *len;
	memcpy(&word[1], name, (size_t)*len + 1);
	if (rn_order_mode == RN_ORDER_RECORDS) {
		record(&c, word, 1 + ((uint32_t)*len + 8) / 8);
	} else if (c.o->replay && rn_replay_value(&c, word, 1) && word[0] >= 0 &&
		   word[0] < MPI_MAX_PROCESSOR_NAME &&
		   rn_replay_value(&c, &word[1], ((uint32_t)word[0] + 8) / 8)) {
		*len = (int)word[0];
		memcpy(name, &word[1], (size_t)*len + 1);
	}
	return rc;
}

/* Without values, the calls are counted as unreplayable: rn_order_is_loose. */
void rn_order_hook_values(void)
{
	if (rn_order_mode == RN_ORDER_RECORDS && rn_config.values == RN_VALUES_NONE)
		return;
	RN_HOOK(RN_LINK_OUTCOME, MPI_Wtime, hook_Wtime);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Get_processor_name, hook_Get_processor_name);
}
