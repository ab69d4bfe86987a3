/* tracer_state.c - see tracer_state.h. */
#include "runtime/tracer_state.h"

#define TABLES_LIMIT ((size_t)4 << 30)

struct rn_tracer rn_tracer = { .threaded = true, .last_stream = &rn_tracer.streams };

/* Memory of the first tables: without tables this rank could not report to the other ranks that it
 * has no memory, and they would wait for it. */
static _Alignas(64) unsigned char first_tables[64 << 10];

void rn_tracer_lock_slow(void)
{
	rn_spin_lock(&rn_tracer.lock);
}

int rn_tracer_init_tables(void)
{
	rn_arena_init_over(&rn_tracer.mem, TABLES_LIMIT, first_tables, sizeof(first_tables));
	return rn_requests_init(&rn_tracer.requests, &rn_tracer.mem);
}
