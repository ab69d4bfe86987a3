/* prog_ending.c - some calls, and then an end of another kind than MPI_Finalize: see the table. */
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

/* An error that nobody handles. */
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

static void some_calls(int n)
{
	int x = 0;

	for (int i = 0; i < n; i++)
		DO(MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD),
		   "buffer=stack:*, count=1, datatype=MPI_INT, root=0, comm=MPI_COMM_WORLD");
	DO(MPI_Barrier(MPI_COMM_WORLD), "comm=MPI_COMM_WORLD");
}

/* The rank that ends so, or "all"; the others go on to MPI_Finalize. */
int main(int argc, char **argv)
{
	int all = argc < 3 || strcmp(argv[2], "all") == 0;

	begin();
	some_calls(20);
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
