/*
 * prog_signals.c - The signal handler of a timer calls MPI_Wtime, MPI_Initialized and MPI_Comm_rank
 * while the program exchanges messages and checks them.
 *
 *	prog_signals ROUNDS HERTZ [finalize]
 *
 * With a third argument the timer runs until MPI_Finalize has returned, and the handler only calls
 * MPI_Initialized from then on; MPI has locks that another call could wait for.
 *
 * Every rank prints its sum, and on standard error the number of calls of its handler.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static int handled;
static volatile sig_atomic_t wrong;
static volatile sig_atomic_t finalizing;
static int me;

static void handler(int number)
{
	int rank = -1, flag = 0;
	double now;

	(void)number;
	MPI_Initialized(&flag);
	if (finalizing)
		return;
	now = MPI_Wtime();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!flag || rank != me || now < 0)
		wrong = 1;
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED); /* UCX has a thread that runs it, too */
}

static void start_timer(int hertz)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct itimerval every = { { 0, 1000000 / hertz }, { 0, 1000000 / hertz } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

static void stop_timer(void)
{
	struct itimerval never = { { 0, 0 }, { 0, 0 } };

	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
}

/* Makes calls that repeat in every round, and calls whose arguments differ. */
static long exchange(int round, int size)
{
	int out[64], in[64], to = (me + 1) % size, from = (me + size - 1) % size;
	MPI_Request request[2];
	int number, sum;

	for (int i = 0; i < 64; i++)
		out[i] = round + me + i;
	MPI_Irecv(in, 64, MPI_INT, from, 1, MPI_COMM_WORLD, &request[0]);
	MPI_Isend(out, 64, MPI_INT, to, 1, MPI_COMM_WORLD, &request[1]);
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	MPI_Sendrecv(out, 1 + round % 64, MPI_INT, to, round % 5000, in, 64, MPI_INT, from,
		     round % 5000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < 64; i++)
		if (in[i] != round + from + i)
			wrong = 1;
	number = in[round % 64];
	MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	return sum;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1000, size;
	long total = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	start_timer(argc > 2 ? atoi(argv[2]) : 1000);
	for (int i = 0; i < rounds; i++)
		total += exchange(i, size);
	finalizing = argc > 3;
	if (!finalizing)
		stop_timer();
	fprintf(stderr, "handled %d\n", handled);
	printf("rank %d: sum %ld%s\n", me, total, wrong ? ", wrong" : "");
	MPI_Finalize();
	stop_timer();
	return wrong;
}
