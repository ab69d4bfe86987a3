/*
 * order_value.c - hooks for what gives a number that is another one in each run.
 *
 * Numbers are kept as the bits that they are. A name is its length, and then its letters, eight to
 * a number.
 */
#include "intercept/order.h"

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

static double hook_Wtime(void)
{
	struct rn_order_call c;
	double now = rn_real.MPI_Wtime();
	int64_t bits;

	if (!rn_order_call(&c, RN_ORDER_VALUE, MPI_COMM_NULL))
		return now;
	memcpy(&bits, &now, sizeof(bits));
	if (rn_order_mode == RN_ORDER_RECORDS)
		record(&c, &bits, 1);
	else if (c.o->replay && rn_replay_value(&c, &bits, 1))
		memcpy(&now, &bits, sizeof(now));
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

void rn_order_hook_values(void)
{
	rn_next.MPI_Wtime = hook_Wtime;
	rn_next.MPI_Get_processor_name = hook_Get_processor_name;
}
