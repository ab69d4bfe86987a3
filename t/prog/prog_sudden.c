/*
 * prog_sudden.c - Makes N pairs of calls, and kills itself: prog_sudden N. With another argument,
 * rank 0 instead prints its peak memory in kilobytes, and the program ends normally.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static int peak_kilobytes(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	int n = 0;

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmHWM: %d", &n);
	if (f)
		fclose(f);
	return n;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0, rank, size;

	MPI_Init(&argc, &argv);
	for (int i = 0; i < n; i++) {
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Comm_size(MPI_COMM_WORLD, &size);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (argc < 3)
		raise(SIGKILL);
	if (rank == 0)
		printf("%d\n", peak_kilobytes());
	MPI_Finalize();
	return 0;
}
