/*
 * count_tool.c - A second tool similar to mpiP: counts calls through MPI's profiling interface and
 * prints the number at the end. It makes no MPI calls of its own.
 *
 * It calls the next function as tools do, through PMPI_X. With -DBY=RTLD_NEXT it uses
 * dlsym(RTLD_NEXT, "PMPI_X"), like tools that are meant to be preloaded (Darshan). With
 * -DBY=RTLD_DEFAULT it uses that handle. With -DTO='"MPI_"' it calls the next tool.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNTED(X)                                                                                 \
	X(Init, (int *a, char ***b), (a, b))                                                       \
	X(Init_thread, (int *a, char ***b, int c, int *d), (a, b, c, d))                           \
	X(Finalized, (int *a), (a))                                                                \
	X(Comm_rank, (MPI_Comm a, int *b), (a, b))                                                 \
	X(Comm_size, (MPI_Comm a, int *b), (a, b))                                                 \
	X(Get_count, (const MPI_Status *a, MPI_Datatype b, int *c), (a, b, c))                     \
	X(Barrier, (MPI_Comm a), (a))                                                              \
	X(Send, (const void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f),                  \
	  (a, b, c, d, e, f))                                                                      \
	X(Recv, (void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Status *g),         \
	  (a, b, c, d, e, f, g))                                                                   \
	X(Isend, (const void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request *g), \
	  (a, b, c, d, e, f, g))                                                                   \
	X(Irecv, (void *a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request *g),       \
	  (a, b, c, d, e, f, g))                                                                   \
	X(Wait, (MPI_Request * a, MPI_Status * b), (a, b))

#define NAME(name, decl, args) COUNT_##name,
enum { COUNTED(NAME) COUNTS };

#define TEXT(name, decl, args) "MPI_" #name,
static const char *const names[] = { COUNTED(TEXT) };

static unsigned long counts[COUNTS];

#ifdef BY
#ifndef TO
#define TO "PMPI_"
#endif
static void *next(const char *name)
{
	void *f = dlsym(BY, name);

	if (!f)
		abort();
	return f;
}
#define GO_ON(name) ((__typeof__(&MPI_##name))next(TO #name))
#else
#define GO_ON(name) PMPI_##name
#endif

#define WRAPPER(name, decl, args)        \
	int MPI_##name decl              \
	{                                \
		counts[COUNT_##name]++;  \
		return GO_ON(name) args; \
	}
COUNTED(WRAPPER)

/* Writes a line with one system call, so that the output of other ranks cannot split it. */
static void say(void)
{
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");

	rank = rank ? rank : getenv("PMI_RANK");
	for (int i = 0; i < COUNTS; i++)
		if (counts[i])
			fprintf(stderr, "tool: rank %s: %lu %s\n", rank ? rank : "?", counts[i],
				names[i]);
}

int MPI_Finalize(void)
{
	int ret = GO_ON(Finalize)();

	say();
	return ret;
}
