/* prog_after.c - Runs a shell command on rank 0 between MPI_Init and MPI_Finalize, and then the
 * action of each rank: see the table. Ranks without an argument return from main. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void make_calls(void)
{
	int version, subversion;

	for (int i = 0; i < 7; i++)
		MPI_Get_version(&version, &subversion);
}

/* By then, the other ranks have ended. */
static void make_calls_later(void)
{
	usleep(200000);
	make_calls();
}

static void exit_at_once(void)
{
	_exit(0);
}

static void kill_self(void)
{
	raise(SIGKILL);
}

static const struct {
	const char *name;
	void (*act)(void);
} actions[] = {
	{ "calls", make_calls },
	{ "later", make_calls_later },
	{ "exit", exit_at_once },
	{ "kill", kill_self },
};

int main(int argc, char **argv)
{
	const char *action;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0 && argc > 1 && system(argv[1]) != 0)
		return 9;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	action = rank + 2 < argc ? argv[rank + 2] : "";
	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (strcmp(action, actions[i].name) == 0)
			actions[i].act();
	return 0;
}
