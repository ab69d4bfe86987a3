/* prog_ending.c - Some calls, and then an end other than MPI_Finalize: see the table. */
#include "log.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void by_exit(void)
{
	exit(7);
}

static void by_exit_0(void)
{
	exit(0);
}

static void by_quick_exit(void)
{
	_exit(7);
}

static void by_signal(void)
{
	raise(SIGKILL);
}

static void by_mpi_abort(void)
{
	log_plain(log_enter(), "MPI_Abort", 0, "comm=MPI_COMM_WORLD, errorcode=7");
	MPI_Abort(MPI_COMM_WORLD, 7);
}

/* An error without a handler. */
static void by_error(void)
{
	MPI_Send(NULL, 1, MPI_INT, procs, 0, MPI_COMM_WORLD);
}

static void by_finalize(void)
{
	end();
	exit(7);
}

static const struct {
	const char *name;
	void (*end)(void);
} endings[] = {
	{ "exit", by_exit },       { "exit-0", by_exit_0 },     { "quick-exit", by_quick_exit },
	{ "kill", by_signal },     { "abort", abort },          { "mpi-abort", by_mpi_abort },
	{ "mpi-error", by_error }, { "finalize", by_finalize },
};

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
	int size;

	(void)keyval;
	(void)extra;
	(void)in;
	(void)out;
	DO(MPI_Comm_size(comm, &size), "comm=comm:world.0, size=%d", size);
	*flag = 0;
	return MPI_SUCCESS;
}

/* Calls among even ranks and among odd ranks; and calls inside a call. */
static void halves(void)
{
	MPI_Comm half, dup;
	int key, rank, size, x = 0;

	DO(MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half),
	   "comm=MPI_COMM_WORLD, color=%d, key=%d, newcomm=comm:world.0", me % 2, -me);
	DO(MPI_Comm_rank(half, &rank), "comm=comm:world.0, rank=%d", rank);
	DO(MPI_Comm_size(half, &size), "comm=comm:world.0, size=%d", size);
	DO(MPI_Sendrecv_replace(&x, 1, MPI_INT, (rank + 1) % size, 3, (rank + size - 1) % size, 3,
				half, MPI_STATUS_IGNORE),
	   "buf=stack:*, count=1, datatype=MPI_INT, dest=%d, sendtag=3, source=%d, recvtag=3, "
	   "comm=comm:world.0, status=MPI_STATUS_IGNORE; matched?={source:%d,tag:3}",
	   (rank + 1) % size, (rank + size - 1) % size, (rank + size - 1) % size);
	DO(MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL),
	   "comm_copy_attr_fn=static:*, comm_delete_attr_fn=MPI_COMM_NULL_DELETE_FN, "
	   "comm_keyval=keyval:0, extra_state=NULL");
	DO(MPI_Comm_set_attr(half, key, NULL),
	   "comm=comm:world.0, comm_keyval=keyval:0, attribute_val=0");
	DO(MPI_Comm_dup(half, &dup), "comm=comm:world.0, newcomm=comm:world.0.0");
	DO(MPI_Barrier(dup), "comm=comm:world.0.0");
}

static void some_calls(int n)
{
	int x = 0;

	for (int i = 0; i < n; i++)
		DO(MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD),
		   "buffer=stack:*, count=1, datatype=MPI_INT, root=0, comm=MPI_COMM_WORLD");
	DO(MPI_Barrier(MPI_COMM_WORLD), "comm=MPI_COMM_WORLD");
}

/* The rank that ends this way, or "all"; the other ranks continue to MPI_Finalize. */
int main(int argc, char **argv)
{
	int all = argc < 3 || strcmp(argv[2], "all") == 0;

	begin();
	some_calls(20);
	halves();
	printf("rank %d of %d is here\n", me, procs);
	fflush(stdout);
	if (all || atoi(argv[2]) == me)
		for (size_t i = 0; argc > 1 && i < sizeof(endings) / sizeof(*endings); i++)
			if (strcmp(argv[1], endings[i].name) == 0)
				endings[i].end();
	if (argc > 1 && strcmp(argv[1], "return") == 0)
		return 7;
	end();
	return 0;
}
