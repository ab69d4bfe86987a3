/*
 * prog_site.c - Calls from known call sites: two lines, recursion, frames of all kinds, callbacks,
 * libraries, a thread, a separately allocated stack. For tests of --callsite.
 *
 *	prog_site LIBRARY [DIE]
 *
 * LIBRARY contains site_loaded (site_lib.c) and is loaded; site_linked is in a linked library. With
 * DIE, the program is killed in a callback. It prints the address of main, so that a test can check
 * that two runs have different addresses.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define KEEP __attribute__((noipa))

int site_linked(MPI_Comm comm);

static volatile int sink;
static int number; /* static: on the stack, alignment would change its address */
static int dies;

KEEP static void two_lines(void)
{
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	sink = rank;
}

KEEP static void recurse(int n)
{
	if (n == 0)
		MPI_Barrier(MPI_COMM_WORLD);
	else
		recurse(n - 1);
	sink = n;
}

/* Calls from one call site with a different stack depth each time. */
KEEP static void any_size(int n)
{
	char *room = alloca((size_t)n * 48 + 16);

	memset(room, n, (size_t)n * 48 + 16);
	MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
	sink = room[0];
}

KEEP static void aligned(int n)
{
	_Alignas(128) char room[256];

	memset(room, n, sizeof(room));
	any_size(n);
	sink = room[n];
}

/* MPI calls this when the communicator is freed. */
KEEP static int deleted(MPI_Comm comm, int key, void *value, void *state)
{
	int size;

	(void)key;
	(void)value;
	(void)state;
	MPI_Comm_size(comm, &size);
	sink = size;
	if (dies)
		raise(SIGKILL);
	return MPI_SUCCESS;
}

KEEP static void by_mpi(void)
{
	MPI_Comm comm;
	int key;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &key, NULL);
	MPI_Comm_set_attr(comm, key, NULL);
	MPI_Comm_free(&comm);
	MPI_Comm_free_keyval(&key);
	sink = key;
}

KEEP static int compare(const void *a, const void *b)
{
	int flag;

	MPI_Initialized(&flag);
	sink = flag;
	return *(const int *)a - *(const int *)b;
}

KEEP static void by_libc(void)
{
	int a[2] = { 2, 1 };

	qsort(a, 2, sizeof(*a), compare);
	sink = a[0];
}

KEEP static void by_libraries(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW);
	int (*loaded)(MPI_Comm) = lib ? (int (*)(MPI_Comm))dlsym(lib, "site_loaded") : NULL;

	sink = site_linked(MPI_COMM_WORLD);
	if (!loaded)
		MPI_Abort(MPI_COMM_WORLD, 1);
	else
		sink = loaded(MPI_COMM_WORLD);
	if (lib)
		dlclose(lib);
}

KEEP static void *on_thread(void *arg)
{
	int flag;

	MPI_Finalized(&flag);
	sink = flag;
	return arg;
}

KEEP static void by_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, on_thread, NULL) == 0)
		pthread_join(thread, NULL);
	sink = 0;
}

static ucontext_t outside, inside;

KEEP static void on_context(void)
{
	int flag;

	MPI_Initialized(&flag);
	sink = flag;
}

/* A stack that the program has allocated itself. */
KEEP static void by_context(void)
{
	static char stack[1 << 18];

	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	inside.uc_link = &outside;
	makecontext(&inside, on_context, 0);
	swapcontext(&outside, &inside);
	sink = 0;
}

int main(int argc, char **argv)
{
	int provided, rank;

	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		printf("%p\n", (void *)(size_t)main);
	fflush(stdout);
	dies = argc > 2;
	two_lines();
	for (int i = 0; i < 3; i++)
		recurse(2);
	for (int i = 0; i < 5; i++)
		aligned(i);
	by_mpi();
	by_libc();
	by_libraries(argv[1]);
	by_thread();
	by_context();
	MPI_Finalize();
	return 0;
}
