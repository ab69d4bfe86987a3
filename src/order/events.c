/* events.c - see events.h. */
#include "order/events.h"

const struct rn_order_kind_row rn_order_kinds[RN_ORDER_KINDS] = {
	[RN_ORDER_TEST] = { .call = true, .in_order = true },
	[RN_ORDER_ANY] = { .call = true, .in_order = true },
	[RN_ORDER_SOME] = { .call = true, .in_order = true },
	[RN_ORDER_WAIT] = { .call = true },
	[RN_ORDER_PROBE] = { .call = true, .in_order = true },
	[RN_ORDER_VALUE] = { .call = true, .in_order = true, .numbers = true },
	[RN_ORDER_LOOSE] = { .call = true },
	[RN_ORDER_THREAD] = { .name = "thread", .numbers = true },
	[RN_ORDER_RECEIVE_RUN] = { .name = "receive_run", .numbers = true },
	[RN_ORDER_SEND_RUN] = { .name = "send_run", .numbers = true },
	[RN_ORDER_ADOPTION] = { .name = "adoption", .numbers = true },
	[RN_ORDER_CANCELLATION] = { .name = "cancellation", .numbers = true },
};
