/* prog_mpix.c - MPICH extensions, except those for failed processes, which abort. */
#include "log.h"

static int query(void *state, MPI_Status *s)
{
	(void)state;
	s->MPI_SOURCE = s->MPI_TAG = s->MPI_ERROR = 0;
	DO(MPI_Status_set_cancelled(s, 0), "status=?, flag=0");
	DO(MPI_Status_set_elements(s, MPI_INT, 0), "status=%S, datatype=MPI_INT, count=0", s);
	return MPI_SUCCESS;
}

static int release(void *state)
{
	(void)state;
	return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
	(void)state;
	(void)complete;
	return MPI_SUCCESS;
}

/* A request that completes when it is tested. */
static int poll(void *state, MPI_Status *s)
{
	MPI_Request *r = state;

	(void)s;
	DO(MPI_Grequest_complete(*r), "request=%q", r);
	return MPI_SUCCESS;
}

static int await(int n, void **states, double timeout, MPI_Status *s)
{
	(void)timeout;
	for (int i = 0; i < n; i++)
		poll(states[i], s);
	return MPI_SUCCESS;
}

static void requests(void)
{
	static MPI_Request r;
	MPIX_Grequest_class class;

	DO(MPIX_Grequest_start(query, release, cancel, poll, await, &r, &r),
	   "query_fn=static:*, free_fn=static:*, cancel_fn=static:*, poll_fn=static:*, "
	   "wait_fn=static:*, extra_state=static:*, "
	   "request=%+",
	   &r);
	DO(MPI_Wait(&r, MPI_STATUS_IGNORE), "request=%q, status=MPI_STATUS_IGNORE", &r);
	DO(MPIX_Grequest_class_create(query, release, cancel, poll, await, &class),
	   "query_fn=static:*, free_fn=static:*, cancel_fn=static:*, poll_fn=static:*, "
	   "wait_fn=static:*, greq_class=greqclass:0");
	DO(MPIX_Grequest_class_allocate(class, &r, &r),
	   "greq_class=greqclass:0, extra_state=static:*, request=%+", &r);
	DO(MPI_Wait(&r, MPI_STATUS_IGNORE), "request=%q, status=MPI_STATUS_IGNORE", &r);
}

static void extensions(void)
{
	int flag;

	GETS(flag, MPIX_Query_cuda_support(), "?", "");
	DO(MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &flag), "gpu_type=?, is_supported=%d",
	   flag);
	requests();
}

int main(void)
{
	begin();
	extensions();
	end();
	return 0;
}
