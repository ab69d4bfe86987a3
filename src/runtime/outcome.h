/*
 * outcome.h - interface between the wrappers and libc hooks and the recording or replay of
 * outcomes.
 *
 * In a run that records (`rondo trace --only=order`) or replays (`rondo replay`) outcomes, record
 * or replay sets rn_outcome_ops when the tracer starts. Outcomes of MPI functions are handled by
 * hooks of the link RN_LINK_OUTCOME (next_mpi.h), which record or replay installs. The functions
 * below are for events that a link between wrapper and MPI does not see.
 */
#ifndef RN_RUNTIME_OUTCOME_H
#define RN_RUNTIME_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

struct rn_comm;
struct rn_order_thread;
struct rn_stream;

struct rn_outcome_ops {
	bool libc_values; /* `value` is called for functions of the C library */

	/* A call of a function whose outcome no hook can reach has returned. `head` is the first
	 * word of the call. */
	void (*unreplayable)(struct rn_stream *t, uint64_t head);

	/* A thread has reached its first outcome. */
	void (*thread_begins)(struct rn_stream *t, struct rn_order_thread *o);

	/* The stream is in the journal from now on. */
	void (*stream_stored)(struct rn_stream *t);

	/* A function of the C library returns these values to the program; n <= 2. */
	void (*value)(struct rn_stream *t, uint32_t function, int64_t *value, uint32_t n);

	/* A call that creates communicators has returned. `name`: the name of the communicator, if
	 * the call created a new one. `now`: the new communicator; NULL: none was created, or it
	 * equals one that was freed. */
	void (*comm_created)(uint32_t function, const char *name, const struct rn_comm *now);
};

/* NULL: the run traces calls. */
extern const struct rn_outcome_ops *rn_outcome_ops;

#endif
