/* show_env.c - prints the environment of rank 0 as its program sees it: before MPI_Init, after it,
 * or (in a child) what it hands on. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void show(void)
{
	for (char **e = environ; *e; e++)
		puts(*e);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *when = argc > 1 ? argv[1] : "";
	const char *ompi = getenv("OMPI_COMM_WORLD_RANK"), *mpich = getenv("PMI_RANK");
	int first = atoi(ompi ? ompi : mpich ? mpich : "0") == 0;

	if (first && strcmp(when, "before") == 0)
		show();
	MPI_Init(&argc, &argv);
	if (first && strcmp(when, "after") == 0)
		show();
	if (first && strcmp(when, "child") == 0 && system("env") != 0)
		return 1;
	MPI_Finalize();
	return 0;
}
