/* show_env.c - Prints the environment before MPI_Init, after it, and in a child process. For one
 * rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void show(const char *when)
{
	for (char **e = environ; *e; e++)
		printf("%s: %s\n", when, *e);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int rc;

	show("before");
	MPI_Init(&argc, &argv);
	show("after");
	rc = system("env | sed 's/^/child: /'");
	MPI_Finalize();
	return rc != 0;
}
