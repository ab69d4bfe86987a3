/* bypass.c - see bypass.h. */
#include "trace/bypass.h"

#include "preload/next_mpi.h"
#include "runtime/outcome.h"
#include "runtime/tracer_config.h"
#include "trace/callstack.h"

_Atomic uint8_t rn_light[RN_LIGHT_FUNCTIONS];

/* Whether the function creates or frees a communicator or a session. A program may have several
 * sessions. */
static bool deals_in_comms(const struct rn_proto *f)
{
	for (uint32_t i = 0; i < f->nparams; i++)
		if ((f->param[i].kind == RN_K_comm || f->param[i].kind == RN_K_session) &&
		    (f->param[i].how == RN_HOW_new || f->param[i].how == RN_HOW_free))
			return true;
	return false;
}

/* Whether the outcome depends on other processes in a way that no hook can reach, or is not
 * recorded. */
static bool is_unreplayable(uint32_t function)
{
	uint32_t unreplayable = RN_IS_external | RN_IS_unreplayable;

	if (rn_config.values == RN_VALUES_NONE)
		unreplayable |= RN_IS_value;
	return rn_mpi_protos[function].traits.is & unreplayable;
}

void rn_light_count(struct rn_stream *t, uint64_t head)
{
	if (is_unreplayable(RN_RAW_FUNCTION(head)))
		rn_outcome_ops->unreplayable(t, head);
}

static enum rn_light way_of(uint32_t function)
{
	const struct rn_proto *f = &rn_mpi_protos[function];

	if (!rn_outcome_ops || (f->traits.is & RN_IS_control) || deals_in_comms(f))
		return RN_LIGHT_NOT;
	if (is_unreplayable(function))
		return RN_LIGHT_COUNTED;
	return rn_real_hooked(function) ? RN_LIGHT_HOOKED : RN_LIGHT_STRAIGHT;
}

enum rn_light rn_light_way(uint32_t function)
{
	enum rn_light way = way_of(function);

	rn_light[function] = (uint8_t)way;
	return way;
}

uint64_t *rn_light_begin(struct rn_stream *t, uint32_t function, const void *frame)
{
	uint64_t *w;

	if (__builtin_expect(t->top != t->buffer, 0) && !rn_stream_nested(t, frame))
		return NULL;
	w = rn_stream_enter(t);
	w[0] = rn_callstack_head(t, function, frame);
	rn_stream_show(t, w, w + 1);
	w[1] = (uint64_t)(uintptr_t)frame;
	w[2] = (uint64_t)(uintptr_t)w;
	t->live.top = (uint64_t)(uintptr_t)(w + 3);
	rn_stream_leave(t, w + 3);
	return w;
}

void rn_light_end(struct rn_stream *t, uint64_t *base)
{
	rn_stream_enter(t);
	t->live.top = (uint64_t)(uintptr_t)base;
	if (__builtin_expect(rn_light[RN_RAW_FUNCTION(base[0])] == RN_LIGHT_COUNTED, 0))
		rn_outcome_ops->unreplayable(t, base[0]);
	rn_stream_leave(t, base);
}
