/*
 * call_loop.c - repeats one group of MPI calls on one rank, for bench/call-instructions.
 *
 *	call_loop             prints the names of the groups, each with the functions that it calls
 *	call_loop NAME TIMES  calls the group TIMES times
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOUR = 4, TAG = 5 };

static double from[FOUR], to[FOUR];

static void comm_rank(void)
{
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

static void iprobe(void)
{
	int flag;

	MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void sendrecv(void)
{
	MPI_Status status;

	MPI_Sendrecv(from, 1, MPI_DOUBLE, 0, TAG, to, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD,
		     &status);
}

static void isend(MPI_Request *request)
{
	MPI_Isend(from, 1, MPI_DOUBLE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, request);
}

static void call_wait(void)
{
	MPI_Request request;

	isend(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void wait_status(void)
{
	MPI_Request request;
	MPI_Status status;

	isend(&request);
	MPI_Wait(&request, &status);
}

static void test(void)
{
	MPI_Request request;
	int flag;

	isend(&request);
	MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

static void waitall(void)
{
	MPI_Request request[2];

	MPI_Irecv(to, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, &request[0]);
	MPI_Isend(from, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, &request[1]);
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}

static void waitall_four(void)
{
	MPI_Request request[FOUR];

	for (int i = 0; i < FOUR; i++)
		MPI_Isend(from + i, 1, MPI_DOUBLE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &request[i]);
	MPI_Waitall(FOUR, request, MPI_STATUSES_IGNORE);
}

static const struct {
	const char *name, *functions;
	void (*run)(void);
} groups[] = {
	{ "Comm_rank", "MPI_Comm_rank", comm_rank },
	{ "Iprobe", "MPI_Iprobe", iprobe },
	{ "Sendrecv", "MPI_Sendrecv", sendrecv },
	{ "Wait", "MPI_Isend MPI_Wait", call_wait },
	{ "Wait-status", "MPI_Isend MPI_Wait", wait_status },
	{ "Test", "MPI_Isend MPI_Test", test },
	{ "Waitall", "MPI_Irecv MPI_Isend MPI_Waitall", waitall },
	{ "Waitall-4", "MPI_Isend MPI_Waitall", waitall_four },
};

enum { GROUPS = sizeof(groups) / sizeof(groups[0]) };

int main(int argc, char **argv)
{
	const int times = argc > 2 ? atoi(argv[2]) : 0;

	if (argc < 3) {
		for (int i = 0; i < GROUPS; i++)
			printf("%s %s\n", groups[i].name, groups[i].functions);
		return 0;
	}
	MPI_Init(&argc, &argv);
	for (int i = 0; i < GROUPS; i++)
		for (int k = 0; k < times && strcmp(groups[i].name, argv[1]) == 0; k++)
			groups[i].run();
	MPI_Finalize();
	return 0;
}
