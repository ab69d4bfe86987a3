/*
 * prog_fault.c - Calls that use all resources of the tracer, to test failures of these (faults.c).
 *
 *	prog_fault FOLDER CODE
 *
 * Rank N writes to the file FOLDER/N: its process id, then a line for each call, in the order of
 * entry: the function and some of its arguments as `rondo dump` prints them. Prints its result, and
 * ends with CODE.
 */
#include <mpi.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MANY  9000 /* number of values: too many for a call */
#define CALLS 20000
#define NOISE 6000

static FILE *file;
static int me, procs, sum;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(file, format, args);
	va_end(args);
	putc('\n', file);
}

/* Writes the line, and then makes the call. */
#define DO(call, ...)                    \
	do {                             \
		say(__VA_ARGS__);        \
		if (call != MPI_SUCCESS) \
			_exit(9);        \
	} while (0)

static void open_log(const char *folder)
{
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, rank ? rank : getenv("PMI_RANK"));
	file = fopen(path, "w");
	if (!file)
		_exit(9);
	say("%ld", (long)getpid());
}

/* Each call is a new one. */
static void types(void)
{
	for (int i = 0; i < 300; i++) {
		int n = 1 + 17 * i, size;
		MPI_Datatype type;

		DO(MPI_Type_contiguous(n, MPI_INT, &type), "MPI_Type_contiguous count=%d", n);
		DO(MPI_Type_size(type, &size), "MPI_Type_size size=%d", 4 * n);
		DO(MPI_Type_free(&type), "MPI_Type_free");
		sum += size;
	}
}

static void long_arrays(void)
{
	static int length[MANY], place[MANY];
	MPI_Datatype type;

	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < MANY; i++) {
			length[i] = 1;
			place[i] = 2 * i + k;
		}
		DO(MPI_Type_indexed(MANY, length, place, MPI_INT, &type),
		   "MPI_Type_indexed count=%d", MANY);
		DO(MPI_Type_free(&type), "MPI_Type_free");
	}
}

static void add(void *in, void *out, int *len, MPI_Datatype *type)
{
	int rank;

	(void)len;
	(void)type;
	DO(MPI_Comm_rank(MPI_COMM_SELF, &rank), "MPI_Comm_rank comm=MPI_COMM_SELF");
	*(int *)out += *(int *)in;
}

static void nested(void)
{
	int a = 1, b = 2;
	MPI_Op op;

	DO(MPI_Op_create(add, 1, &op), "MPI_Op_create commute=1");
	for (int i = 0; i < 20; i++)
		DO(MPI_Reduce_local(&a, &b, 1, MPI_INT, op), "MPI_Reduce_local count=1");
	DO(MPI_Op_free(&op), "MPI_Op_free");
	sum += b;
}

static void requests(void)
{
	int next = (me + 1) % procs, last = (me + procs - 1) % procs;

	for (int i = 0; i < 30; i++) {
		int x[2] = { 0, me + i }, tag = i % 5;
		MPI_Request r[2];

		DO(MPI_Irecv(&x[0], 1, MPI_INT, last, tag, MPI_COMM_WORLD, &r[0]),
		   "MPI_Irecv source=%d tag=%d", last, tag);
		DO(MPI_Isend(&x[1], 1, MPI_INT, next, tag, MPI_COMM_WORLD, &r[1]),
		   "MPI_Isend dest=%d tag=%d", next, tag);
		DO(MPI_Waitall(2, r, MPI_STATUSES_IGNORE), "MPI_Waitall");
		sum += x[0];
	}
}

static void groups(void)
{
	char name[64];
	MPI_Comm half;

	for (int i = 0; i < 10; i++) {
		DO(MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &half), "MPI_Comm_split color=%d",
		   me % 2);
		snprintf(name, sizeof(name), "half %d", i);
		DO(MPI_Comm_set_name(half, name), "MPI_Comm_set_name");
		DO(MPI_Barrier(half), "MPI_Barrier");
		DO(MPI_Comm_free(&half), "MPI_Comm_free");
	}
}

/* Calls that do not compress, so that the next checkpoint is written. */
static void noise(void)
{
	unsigned state = 1;
	int flag;

	for (int i = 0; i < NOISE; i++) {
		int tag = (int)(state >> 16) % 100;

		state = state * 1103515245 + 12345;
		DO(MPI_Iprobe(0, tag, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE), "MPI_Iprobe tag=%d",
		   tag);
	}
}

/* More calls than fit into the ring. */
static void many_calls(void)
{
	int size;

	for (int i = 0; i < CALLS; i++) {
		DO(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size comm=MPI_COMM_WORLD");
		sum += size;
	}
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	open_log(argv[1]);
	DO(MPI_Init(NULL, NULL), "MPI_Init");
	DO(MPI_Comm_rank(MPI_COMM_WORLD, &me), "MPI_Comm_rank comm=MPI_COMM_WORLD");
	DO(MPI_Comm_size(MPI_COMM_WORLD, &procs), "MPI_Comm_size comm=MPI_COMM_WORLD");
	types();
	long_arrays();
	nested();
	requests();
	groups();
	noise();
	many_calls();
	printf("rank %d of %d: %d\n", me, procs, sum);
	say("MPI_Finalize");
	fclose(file); /* some launchers kill one rank when the other has ended */
	return MPI_Finalize() == MPI_SUCCESS ? atoi(argv[2]) : 9;
}
