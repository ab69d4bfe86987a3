/*
 * prog_slack.c - The same calls through many call paths: for tests of --callsite-slack.
 *
 *	prog_slack STEPS [between | inside]
 *
 * Each step calls one of twelve callbacks in an unpredictable order. The callback calls a function
 * that makes MPI calls, and then recurses through one of two functions at each level. At the end
 * two threads each make calls from two places. The path of a step depends on the step, and in the
 * callbacks also on the rank. With a second argument, rank 0 is killed in the last step, between
 * calls or inside a call.
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define KEEP   __attribute__((noipa))
#define LEVELS 4

static volatile int sink;
static int rank, size, number, other, sum, message[64];
static int between, inside; /* the rank is killed there if this is the last step */
static int last;
static MPI_Op op;

/* Numbers without a pattern that are the same in every run. */
static unsigned mix(unsigned n)
{
	n = (n ^ 61) ^ (n >> 16);
	n *= 9;
	n ^= n >> 4;
	n *= 0x27d4eb2d;
	return n ^ (n >> 15);
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
	(void)n;
	(void)type;
	if (inside && last)
		raise(SIGKILL);
	*(int *)inout += *(int *)in;
}

/* A request, a length that changes continually, and calls that never change. */
KEEP static void work(int step)
{
	MPI_Request request;

	MPI_Irecv(&other, 1, MPI_INT, (rank + size - 1) % size, 7, MPI_COMM_WORLD, &request);
	MPI_Send(&number, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Reduce_local(&other, &sum, 1, MPI_INT, op);
	MPI_Bcast(message, (int)(mix((unsigned)step) % 64), MPI_INT, 0, MPI_COMM_WORLD);
	sink = step;
}

#define WAY(n)                            \
	KEEP static void way##n(int step) \
	{                                 \
		work(step);               \
		sink = n;                 \
	}
WAY(0)
WAY(1)
WAY(2)
WAY(3)
WAY(4)
WAY(5)
WAY(6)
WAY(7)
WAY(8)
WAY(9)
WAY(10)
WAY(11)

static void (*const ways[])(int) = { way0, way1, way2, way3, way4,  way5,
				     way6, way7, way8, way9, way10, way11 };
#define WAYS (sizeof(ways) / sizeof(*ways))

/* Two functions that the compiler would otherwise merge. */
#define ONE_OR_OTHER(which, call)                    \
	do {                                         \
		if ((which)&1) {                     \
			call;                        \
			__asm__ volatile("# left");  \
		} else {                             \
			call;                        \
			__asm__ volatile("# right"); \
		}                                    \
	} while (0)

KEEP static void turn(int level, unsigned path)
{
	if (level == 0)
		MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	else
		ONE_OR_OTHER(path, turn(level - 1, path >> 1));
	sink = level;
}

KEEP static void ask(void)
{
	int flag;

	MPI_Initialized(&flag);
	sink = flag;
}

KEEP static void *on_thread(void *arg)
{
	int steps = *(int *)arg;

	for (int i = 0; i < steps; i++)
		ONE_OR_OTHER(mix((unsigned)i), ask());
	sink = steps;
	return NULL;
}

KEEP static void by_threads(int steps)
{
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, on_thread, &steps))
			abort();
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	sink = steps;
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 100, provided;

	between = argc > 2 && strcmp(argv[2], "between") == 0;
	inside = argc > 2 && strcmp(argv[2], "inside") == 0;
	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Op_create(add, 1, &op);
	for (int i = 0; i < steps; i++) {
		last = rank == 0 && i == steps - 1;
		ways[mix((unsigned)(i * size + rank) + 1000000) % WAYS](i);
		turn(LEVELS, mix((unsigned)i + 2000000));
		if (between && last)
			raise(SIGKILL);
	}
	by_threads(steps);
	MPI_Op_free(&op);
	MPI_Finalize();
	return 0;
}
