/*
 * prog_killed.c - calls of many kinds until it is killed; each is logged before it is made.
 *
 *	prog_killed FOLDER SEED
 *
 * Rank N writes to the file FOLDER/N: its process id, then a line for each call, in the order of
 * entry: the function and some of its arguments as `rondo dump` prints them. A line is one write,
 * so whenever the process is killed, the log has all calls that it made, and at most one more.
 */
#include <mpi.h>

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int log_fd = -1;
static int me, procs;
static unsigned long long state; /* the same on all ranks */

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	char line[256];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line) - 1, format, args);
	va_end(args);
	line[n++] = '\n';
	if (write(log_fd, line, (size_t)n) != n)
		_exit(9);
}

/* The line, and then the call. */
#define DO(call, ...)             \
	do {                      \
		say(__VA_ARGS__); \
		call;             \
	} while (0)

static int any(int n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (int)((state >> 33) % (unsigned)n);
}

static void open_log(const char *folder)
{
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, rank ? rank : getenv("PMI_RANK"));
	log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
	say("%ld", (long)getpid());
}

static void ring(void)
{
	int x = 0, tag = any(40), next = (me + 1) % procs, last = (me + procs - 1) % procs;

	DO(MPI_Sendrecv_replace(&x, 1, MPI_INT, next, tag, last, tag, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE),
	   "MPI_Sendrecv_replace dest=%d sendtag=%d source=%d recvtag=%d", next, tag, last, tag);
}

static void requests(void)
{
	int x[2] = { 0 }, tag = any(10), next = (me + 1) % procs, last = (me + procs - 1) % procs;
	MPI_Request r[2];

	DO(MPI_Irecv(&x[0], 1, MPI_INT, last, tag, MPI_COMM_WORLD, &r[0]),
	   "MPI_Irecv source=%d tag=%d", last, tag);
	DO(MPI_Isend(&x[1], 1, MPI_INT, next, tag, MPI_COMM_WORLD, &r[1]),
	   "MPI_Isend dest=%d tag=%d", next, tag);
	DO(MPI_Waitall(2, r, MPI_STATUSES_IGNORE), "MPI_Waitall");
}

/* Calls of this rank alone, which come quickly, and of which each may be a new one. */
static void local(void)
{
	for (int i = any(200); i > 0; i--) {
		int size, n = 1 + any(50);
		MPI_Datatype type;

		if (n % 4) {
			DO(MPI_Comm_size(MPI_COMM_WORLD, &size),
			   "MPI_Comm_size comm=MPI_COMM_WORLD");
			continue;
		}
		n = n * 10000 + any(10000);
		DO(MPI_Type_contiguous(n, MPI_INT, &type), "MPI_Type_contiguous count=%d", n);
		DO(MPI_Type_free(&type), "MPI_Type_free");
	}
}

static void groups(void)
{
	MPI_Comm half;

	DO(MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &half), "MPI_Comm_split color=%d", me % 2);
	DO(MPI_Barrier(half), "MPI_Barrier");
	DO(MPI_Comm_free(&half), "MPI_Comm_free");
}

static void add(void *in, void *out, int *len, MPI_Datatype *type)
{
	int rank;

	(void)in;
	(void)out;
	(void)len;
	(void)type;
	DO(MPI_Comm_rank(MPI_COMM_SELF, &rank), "MPI_Comm_rank comm=MPI_COMM_SELF");
	DO(MPI_Comm_size(MPI_COMM_SELF, &rank), "MPI_Comm_size comm=MPI_COMM_SELF");
}

static MPI_Op op;

static void nested(void)
{
	int a = 1, b = 2;

	for (int i = any(100); i > 0; i--)
		DO(MPI_Reduce_local(&a, &b, 1, MPI_INT, op), "MPI_Reduce_local count=1");
}

static void whole_world(void)
{
	int x = 0, root = any(procs);

	DO(MPI_Bcast(&x, 1, MPI_INT, root, MPI_COMM_WORLD), "MPI_Bcast root=%d", root);
}

int main(int argc, char **argv)
{
	static void (*const kinds[])(void) = { ring, requests, local, groups, nested, whole_world };
	time_t end = time(NULL) + 30;

	if (argc < 3)
		return 2;
	open_log(argv[1]);
	state = strtoull(argv[2], NULL, 10);
	DO(MPI_Init(NULL, NULL), "MPI_Init");
	DO(MPI_Comm_rank(MPI_COMM_WORLD, &me), "MPI_Comm_rank comm=MPI_COMM_WORLD");
	DO(MPI_Comm_size(MPI_COMM_WORLD, &procs), "MPI_Comm_size comm=MPI_COMM_WORLD");
	DO(MPI_Op_create(add, 1, &op), "MPI_Op_create commute=1");
	while (time(NULL) < end)
		kinds[any(6)]();
	return 1; /* nobody has killed it */
}
