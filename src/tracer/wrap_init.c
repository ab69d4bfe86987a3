/*
 * wrap_init.c - hand-written wrappers of MPI_Init, MPI_Init_thread, MPI_Finalize, MPI_Abort and
 * MPI_Pcontrol.
 */
#include "trace/wrapper_macros.h"

#include "runtime/tracer_config.h"
#include "runtime/tracer_state.h"
#include "tracer/finish.h"
#include "tracer/tracer.h"

#include <stdarg.h>
#include <string.h>

#include "hand.h"

/* Appends the program's arguments, if they are passed to MPI. */
static uint64_t *put_args(struct rn_stream *t, uint64_t *w, const int *argc, char ***argv)
{
	int n = argc && argv && *argv ? *argc : -1;

	for (int i = 0; i < n; i++)
		if (!(*argv)[i]) /* the program may have changed the array */
			n = i;
	*w++ = argc ? (uint64_t)(int64_t)*argc : RN_RAW_NULL;
	if (n < 0 || n > RN_RAW_FEW) {
		*w++ = (uint64_t)(n < 0 ? RN_WORD_NULL : RN_WORD_nothing) << 2 | RN_RAW_NAMED;
		return w;
	}
	*w++ = (uint64_t)n << 2 | RN_RAW_HERE;
	for (int i = 0; i < n; i++)
		*w++ = rn_stream_text(t, (*argv)[i], strlen((*argv)[i]));
	return w;
}

/* Records a call. These calls are made once, so their signatures are not predicted. */
static void record(struct rn_stream *t, uint64_t *base, uint64_t *w, uint64_t t0, uint64_t t1)
{
	rn_stream_call(t, NULL, base, w, t0, t1);
	rn_stream_leave(t, base);
}

/* ---- MPI_Init and MPI_Finalize ---- */

/* The MPI_Finalize in flight. */
static struct {
	struct rn_stream *t; /* NULL: none */
	uint64_t *base, t0;
} finalizing;

static void finalize_over(int ret)
{
	struct rn_stream *t = finalizing.t;
	uint64_t *base = finalizing.base;

	if (!t)
		return;
	finalizing.t = NULL;
	rn_stream_enter(t);
	base[1] = rn_error_word(ret);
	record(t, base, base + 2, finalizing.t0, rn_clock_now());
}

static int self_deleted(MPI_Comm comm, int keyval, void *value, void *state)
{
	(void)comm;
	(void)keyval;
	(void)value;
	(void)state;
	finalize_over(MPI_SUCCESS);
	rn_finish_world();
	return MPI_SUCCESS;
}

/* Registers the end of the run. MPI deletes the attribute that was set first last, when
 * MPI_Finalize begins and MPI still works. The key is freed at once, so that it is not reported as
 * a leak of the program; MPI keeps it until the attribute is deleted. */
static void watch_finalize(void)
{
	int keyval;

	if (rn_real.MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, self_deleted, &keyval, NULL) !=
	    MPI_SUCCESS)
		return;
	rn_real.MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
	rn_real.MPI_Comm_free_keyval(&keyval);
}

static void init_done(int provided)
{
	rn_tracer_init_done(provided);
	watch_finalize();
}

/* Whether there is no memory for a stream. The start of the run is executed nevertheless, because
 * the other ranks wait for this one in collective steps of the tracer. */
static bool is_poor(void)
{
	rn_tracer_begin();
	return !rn_me && !rn_stream_begin() && rn_tracer_active();
}

static int init_poor(int ret, int provided)
{
	if (ret == MPI_SUCCESS && !rn_tracer.init_done)
		init_done(provided);
	return ret;
}

/* Calls and records MPI_Init or MPI_Init_thread, called in this frame of the stack. */
static int init(struct rn_stream *t, uint32_t function, const void *frame, int *argc, char ***argv,
		int required, int *provided)
{
	const bool threads = function == RN_N_MPI_Init_thread;
	uint64_t *base = rn_stream_enter(t), *w = base, t0;
	int ret;

	*w++ = rn_callstack_head(t, function, frame);
	w = put_args(t, w, argc, argv);
	if (threads)
		*w++ = (uint64_t)required;
	rn_stream_show(t, base, w);
	RN_ENTERED(t0 = rn_clock_now());
	RN_UNDER_WAY(base, w, 0);
	ret = threads ? rn_real.MPI_Init_thread(argc, argv, required, provided)
		      : rn_real.MPI_Init(argc, argv);
	rn_stream_enter(t);
	if (ret == MPI_SUCCESS)
		init_done(*provided);
	w = put_args(t, w, argc, argv);
	if (threads)
		*w++ = ret == MPI_SUCCESS ? (uint64_t)*provided : RN_RAW_UNSET;
	*w++ = rn_error_word(ret);
	record(t, base, w, t0, rn_clock_now());
	return ret;
}

RN_EXPORT int MPI_Init(int *argc, char ***argv)
{
	int provided = MPI_THREAD_SINGLE;

	if (RN_UNLIKELY(is_poor()))
		return init_poor(RN_ON(RN_N_MPI_Init, MPI_Init)(argc, argv), provided);
	RN_GATE(RN_N_MPI_Init, MPI_Init, (argc, argv))
	return init(t, RN_N_MPI_Init, __builtin_frame_address(0), argc, argv, 0, &provided);
}
WRAP_ALIAS(MPI_Init)

RN_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	if (RN_UNLIKELY(is_poor())) {
		int ret = RN_ON(RN_N_MPI_Init_thread, MPI_Init_thread)(argc, argv, required,
								       provided);

		return init_poor(ret, ret == MPI_SUCCESS ? *provided : 0);
	}
	RN_GATE(RN_N_MPI_Init_thread, MPI_Init_thread, (argc, argv, required, provided))
	return init(t, RN_N_MPI_Init_thread, __builtin_frame_address(0), argc, argv, required,
		    provided);
}
WRAP_ALIAS(MPI_Init_thread)

/* The call is recorded as completed when the trace is written. That happens inside MPI_Finalize,
 * after the delete callbacks of the program. */
RN_EXPORT int MPI_Finalize(void)
{
	RN_GATE(RN_N_MPI_Finalize, MPI_Finalize, ())
	uint64_t *base = rn_stream_enter(t);
	int ret;

	base[0] = RN_HEAD(RN_N_MPI_Finalize);
	rn_stream_show(t, base, base + 1);
	finalizing.t = t;
	finalizing.base = base;
	RN_ENTERED(finalizing.t0 = rn_clock_now());
	RN_UNDER_WAY(base, base + 1, 0);
	ret = rn_next[RN_LINK_TRACE].MPI_Finalize();
	finalize_over(ret);
	return ret;
}
WRAP_ALIAS(MPI_Finalize)

RN_EXPORT int MPI_Abort(MPI_Comm comm, int errorcode)
{
	RN_GATE(RN_N_MPI_Abort, MPI_Abort, (comm, errorcode))
	uint64_t *base = rn_stream_enter(t), now = rn_clock_now();

	base[0] = RN_HEAD(RN_N_MPI_Abort);
	base[1] = rn_handle_word(t, RN_K_comm, H(comm));
	base[2] = (uint64_t)(int64_t)errorcode;
	base[3] = 0;
	record(t, base, base + 4, now, now);
	rn_finish_alone("MPI_Abort");
	return rn_real.MPI_Abort(comm, errorcode);
}
WRAP_ALIAS(MPI_Abort)

static void control(struct rn_stream *t, int level, uint64_t head)
{
	uint64_t *base = rn_stream_enter(t), now = rn_clock_now();

	base[0] = head;
	base[1] = (uint64_t)(int64_t)level;
	base[2] = 0;
	if (level != 0)
		rn_stream_turn(t, RN_OFF_CONTROL, false);
	record(t, base, base + 3, now,
	       /* Not recorded if recording was and remains disabled. */
	       now);
	if (level == 0)
		rn_stream_turn(t, RN_OFF_CONTROL, true);
}

/* Level 0 disables recording, other levels enable it. The call itself is recorded, so that the
 * trace shows where calls are missing. Another tool may not forward the call to PMPI_Pcontrol, so
 * it is called last. */
RN_EXPORT int MPI_Pcontrol(const int level, ...)
{
	const uintptr_t from = (uintptr_t)__builtin_return_address(0);
	const bool passes = rn_tool.MPI_Pcontrol && rn_site_is_for_tool(from, RN_N_MPI_Pcontrol);
	struct rn_stream *t = rn_me ? rn_me : rn_stream_begin();

	if (t && t->top &&
	    (rn_tool.MPI_Pcontrol ? passes : rn_site(from, RN_N_MPI_Pcontrol) == RN_SITE_RECORDS))
		control(t, level, RN_HEAD(RN_N_MPI_Pcontrol));
	return passes ? rn_tool.MPI_Pcontrol(level) : rn_real.MPI_Pcontrol(level);
}
WRAP_ALIAS(MPI_Pcontrol)
