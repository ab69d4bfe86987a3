/*
 * prog_killed.c - Calls of many kinds until the process is killed; each is logged before it is
 * made.
 *
 *	prog_killed FOLDER SEED [HOW]
 *
 * With HOW, rank 1 ends itself that way after a while: see the table.
 *
 * Rank N writes to the file FOLDER/N: its process id, then a line for each call, in the order of
 * entry: the function and some of its arguments as `rondo dump` prints them. Each line is written
 * by one write. Therefore, at any time of the kill, the log has all calls that the process made,
 * and at most one more.
 */
#include <mpi.h>

#include <fcntl.h>
#include <signal.h>
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

/* Writes the line, and then makes the call. */
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

/* Calls of this rank only, in quick succession; each may be a new one. */
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

static int end_inside;

static void add(void *in, void *out, int *len, MPI_Datatype *type)
{
	int rank;

	(void)in;
	(void)out;
	(void)len;
	(void)type;
	DO(MPI_Comm_rank(MPI_COMM_SELF, &rank), "MPI_Comm_rank comm=MPI_COMM_SELF");
	if (end_inside)
		exit(7);
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

/* ---- ends ---- */

static void by_quick_exit(void)
{
	_exit(7);
}

static void by_exit(void)
{
	exit(7);
}

static void *volatile nowhere;

static void by_bad_pointer(void)
{
	*(volatile int *)nowhere = 1;
}

static void by_term(void)
{
	raise(SIGTERM);
}

static void by_mpi_abort(void)
{
	DO(MPI_Abort(MPI_COMM_WORLD, 7), "MPI_Abort errorcode=7");
}

/* An error without a handler. */
static void by_error(void)
{
	DO(MPI_Bcast(NULL, -1, MPI_INT, 0, MPI_COMM_SELF), "MPI_Bcast root=0");
}

static void by_callback(void)
{
	int a = 1, b = 2;

	end_inside = 1;
	DO(MPI_Reduce_local(&a, &b, 1, MPI_INT, op), "MPI_Reduce_local count=1");
}

/* Recurses without end, with a call at each level. */
static int by_recursion(int depth)
{
	volatile char room[16384];
	int size;

	room[depth % 16384] = 1;
	DO(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size comm=MPI_COMM_WORLD");
	return depth < 0 ? 0 : by_recursion(depth + 1) + room[size];
}

static void by_overflow(void)
{
	by_recursion(0);
}

static const struct {
	const char *name;
	void (*end)(void);
} endings[] = {
	{ "abort", abort },          { "quick-exit", by_quick_exit },
	{ "exit", by_exit },         { "segv", by_bad_pointer },
	{ "term", by_term },         { "mpi-abort", by_mpi_abort },
	{ "mpi-error", by_error },   { "callback", by_callback },
	{ "overflow", by_overflow },
};

static void end_so(const char *how)
{
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		if (strcmp(how, endings[i].name) == 0)
			endings[i].end();
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
	for (int i = 0; time(NULL) < end; i++) {
		kinds[any(6)]();
		if (argc > 3 && me == 1 && i == 40) {
			end_so(argv[3]);
			return 7;
		}
	}
	return 1; /* the process was not killed */
}
