/* prog_long.c - Arrays whose length is the first argument, and longer texts than usual. */
#include "log.h"

#include <stdlib.h>
#include <string.h>

static int n;
static int *a, *b; /* heap: 2 n integers */
static MPI_Request *requests;
static MPI_Status *statuses;
static int *indices;

static void start(int wild)
{
	int next = (me + 1) % procs, prev = (me + procs - 1) % procs;
	int from = wild ? MPI_ANY_SOURCE : prev;

	for (int i = 0; i < n; i++)
		DO(MPI_Irecv(b + i, 1, MPI_INT, from, i, MPI_COMM_WORLD, &requests[i]),
		   "buf=%p, count=1, datatype=MPI_INT, source=%r, tag=%d, comm=MPI_COMM_WORLD, "
		   "request=%+",
		   b + i, from, i, &requests[i]);
	for (int i = 0; i < n; i++)
		DO(MPI_Isend(a + i, 1, MPI_INT, next, i, MPI_COMM_WORLD, &requests[n + i]),
		   "buf=%p, count=1, datatype=MPI_INT, dest=%d, tag=%d, comm=MPI_COMM_WORLD, "
		   "request=%+",
		   a + i, next, i, &requests[n + i]);
	memset(statuses, 0, 2 * (size_t)n * sizeof(*statuses));
}

static void wait_some(void)
{
	int done;

	for (int left = 2 * n; left > 0; left -= done)
		DO(MPI_Waitsome(2 * n, requests, &done, indices, statuses),
		   "incount=%d, array_of_requests=%*q, outcount=%d, array_of_indices=%*x, "
		   "array_of_statuses=%*S",
		   2 * n, 2 * n, requests, done, done, indices, done, statuses);
}

static void many_requests(void)
{
	start(0);
	DO(MPI_Waitall(2 * n, requests, statuses),
	   "count=%d, array_of_requests=%*q, array_of_statuses=%*S", 2 * n, 2 * n, requests, 2 * n,
	   statuses);
	start(0);
	DO(MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE),
	   "count=%d, array_of_requests=%*q, array_of_statuses=MPI_STATUSES_IGNORE", 2 * n, 2 * n,
	   requests);
	start(1);
	wait_some();
}

static void long_arrays(void)
{
	int *lengths = malloc((size_t)n * sizeof(int)), *places = malloc((size_t)n * sizeof(int));
	MPI_Datatype t;

	for (int i = 0; i < n; i++) {
		lengths[i] = 1 + i % 3;
		places[i] = 4 * i + i % 2;
	}
	DO(MPI_Type_indexed(n, lengths, places, MPI_INT, &t),
	   "count=%d, array_of_blocklengths=%*d, array_of_displacements=%*d, oldtype=MPI_INT, "
	   "newtype=type:0",
	   n, n, lengths, n, places);
	DO(MPI_Type_free(&t), "datatype=type:0");
	free(lengths);
	free(places);
}

static void long_texts(void)
{
	static char text[MPI_MAX_INFO_VAL];
	MPI_Info info;

	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, "a \"quoted\"\n\ttext \\ of \xc3\xa4 kind ", 29);
	DO(MPI_Info_create(&info), "info=info:0");
	DO(MPI_Info_set(info, "key", text), "info=info:0, key='key', value=%s", text);
	DO(MPI_Info_free(&info), "info=info:0");
}

int main(int argc, char **argv)
{
	n = argc > 1 ? atoi(argv[1]) : 100;
	begin();
	a = grab(2 * (size_t)n * sizeof(*a));
	b = grab(2 * (size_t)n * sizeof(*b));
	requests = malloc(2 * (size_t)n * sizeof(*requests));
	statuses = malloc(2 * (size_t)n * sizeof(*statuses));
	indices = malloc(2 * (size_t)n * sizeof(*indices));
	for (int round = 0; round < 2; round++) {
		many_requests();
		long_arrays();
		long_texts();
	}
	end();
	return 0;
}
