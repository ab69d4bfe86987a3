/*
 * record_value.c - records run-dependent values: MPI_Wtime, MPI_Get_processor_name.
 */
#include "record/record_value.h"

#include "record/record.h"
#include "record/record_start.h"

static double hook_Wtime(void)
{
	double now = rn_real.MPI_Wtime();
	int64_t bits = rn_time_bits(now);
	struct rn_order_call c;

	if (rn_order_call(&c, RN_ORDER_VALUE, MPI_COMM_NULL))
		rn_record_numbers(&c, &bits, 1);
	return now;
}

static int hook_Get_processor_name(char *name, int *len)
{
	int64_t word[RN_NAME_NUMBERS] = { 0 };
	struct rn_order_call c;
	int rc = rn_real.MPI_Get_processor_name(name, len);

	if (rc != MPI_SUCCESS || !rn_order_call(&c, RN_ORDER_VALUE, MPI_COMM_NULL))
		return rc;
	word[0] = *len;
	memcpy(&word[1], name, (size_t)*len + 1);
	rn_record_numbers(&c, word, 1 + rn_name_numbers(*len));
	return rc;
}

void rn_record_hook_values(void)
{
	RN_HOOK(RN_LINK_OUTCOME, MPI_Wtime, hook_Wtime);
	RN_HOOK(RN_LINK_OUTCOME, MPI_Get_processor_name, hook_Get_processor_name);
}
