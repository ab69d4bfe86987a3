/*
 * order_clock.c - Reads the time repeatedly, and prints whether it has gone back.
 *
 *	order_clock STEPS NAPS [kill]
 *
 * Each of the first NAPS steps lasts 20 ms. `kill`: the process kills itself at the end.
 */
#include <signal.h>

#include "order_prog.h"

int main(int argc, char **argv)
{
	const struct timespec nap = { 0, 20000000 };
	double last = 0, now;
	struct order o;
	int back = 0;

	MPI_Init(&argc, &argv);
	order_begin(&o, argc, argv, 10);
	for (int i = 0; i < o.steps; i++) {
		now = MPI_Wtime();
		back += now < last;
		last = now;
		if (argc > 2 && i < atoi(argv[2]))
			nanosleep(&nap, NULL);
	}
	if (argc > 3) {
		MPI_Barrier(MPI_COMM_WORLD); /* all have read the clock */
		raise(SIGKILL);
	}
	printf("back: %d\n", back);
	MPI_Finalize();
	return 0;
}
