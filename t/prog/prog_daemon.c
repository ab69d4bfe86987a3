/* prog_daemon.c - A program that continues in the background: its first process exits at once, and
 * a child makes the calls.
 *
 *	prog_daemon early|late GO
 *
 * early: the first process exits after the child has called MPI_Init. late: it exits before that.
 * The child waits until the file GO exists, at most 60 seconds. */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

static void wait_for(const char *go)
{
	for (int i = 0; i < 1200 && access(go, F_OK) < 0; i++)
		usleep(50000);
}

static void work(const char *go, int early, int ready)
{
	if (!early)
		wait_for(go);
	MPI_Init(NULL, NULL);
	if (early) {
		(void)!write(ready, "", 1);
		wait_for(go);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
}

int main(int argc, char **argv)
{
	int early = argc == 3 && strcmp(argv[1], "early") == 0, ends[2];
	char byte;

	if (argc != 3 || pipe(ends) < 0)
		return 2;
	if (fork() == 0) {
		setsid();
		work(argv[2], early, ends[1]);
		return 0;
	}
	return early && read(ends[0], &byte, 1) != 1 ? 3 : 0;
}
