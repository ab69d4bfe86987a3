/* prog_fork.c - Ranks that create children of every kind between their calls, and threads that end
 * long before MPI_Finalize. With an argument, a child of the started process does all of this, and
 * the process only waits for it. */
#include "log.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4

static void some_calls(int tag)
{
	int x = tag, y = 0;

	for (int i = 0; i < 5; i++)
		DO(MPI_Sendrecv(&x, 1, MPI_INT, me, tag, &y, 1, MPI_INT, me, tag, MPI_COMM_WORLD,
				MPI_STATUS_IGNORE),
		   "sendbuf=stack:*, sendcount=1, sendtype=MPI_INT, dest=%d, sendtag=%d, "
		   "recvbuf=stack:*, recvcount=1, recvtype=MPI_INT, source=%d, recvtag=%d, "
		   "comm=MPI_COMM_WORLD, status=MPI_STATUS_IGNORE; matched?={source:%d,tag:%d}",
		   me, tag, me, tag, me, tag);
	EXPECT(y == tag);
}

/* Uses memory of all kinds that the tracer tracks in its own process. */
static void use_memory(void)
{
	void *p[100], *m = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1, 0);

	for (int i = 0; i < 100; i++) {
		p[i] = malloc((size_t)i * 1000);
		memset(p[i], 1, (size_t)i * 1000);
	}
	for (int i = 0; i < 100; i++)
		free(p[i]);
	munmap(m, 1 << 20);
}

static int ended(pid_t pid)
{
	int status;

	EXPECT(pid > 0 && waitpid(pid, &status, 0) == pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int quick_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		use_memory();
		_exit(3);
	}
	return ended(pid);
}

/* The child has only the exit handlers that it has inherited. */
static int ordinary_child(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		exit(4);
	return ended(pid);
}

/* No fork handler runs for these children. The second is created as in a program that calls clone.
 */
static int unheard_child(void)
{
	pid_t pid;

	fflush(stdout);
	pid = _Fork();
	if (pid == 0) {
		use_memory();
		exit(9);
	}
	return ended(pid);
}

static int cloned_child(void)
{
	pid_t pid;

	fflush(stdout);
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0)
		exit(10);
	return ended(pid);
}

static int killed_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (fork() == 0)
			_exit(0);
		raise(SIGKILL);
	}
	return ended(pid);
}

static int other_program(void)
{
	pid_t pid = fork();

	if (pid == 0)
		execl("/bin/sh", "sh", "-c", "exit 5", NULL);
	return ended(pid);
}

/* The child shares this process's memory until it executes another program or exits because it
 * cannot. */
static int borrowing_child(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execl("/nowhere/at/all", "all", NULL);
		execl("/bin/sh", "sh", "-c", "exit 11", NULL);
		_exit(12);
	}
	return ended(pid);
}

static int spawned_program(void)
{
	char *args[] = { "sh", "-c", "exit 6", NULL };
	pid_t pid = 0;

	posix_spawn(&pid, "/bin/sh", NULL, NULL, args, environ);
	return ended(pid);
}

/* The output would show a preload variable that was not removed. */
static int piped_program(void)
{
	FILE *f = popen("echo \"<$LD_PRELOAD>\"; exit 7", "r");
	char line[1000];

	EXPECT(f && fgets(line, sizeof(line), f));
	printf("rank %d: popen: %s", me, line);
	return WEXITSTATUS(pclose(f));
}

static int by_system(void)
{
	return WEXITSTATUS(system("exit 8"));
}

/* A thread that may be inside malloc when other threads fork. */
static volatile int enough;

static void *churn(void *unused)
{
	while (!enough)
		use_memory();
	return unused;
}

static void *thread(void *number)
{
	log_thread(*(int *)number);
	some_calls(100 + *(int *)number);
	return NULL;
}

int main(int argc, char **argv)
{
	int (*const children[])(void) = { quick_child,     ordinary_child,  unheard_child,
					  cloned_child,    killed_child,    other_program,
					  borrowing_child, spawned_program, piped_program,
					  by_system };
	pthread_t busy;
	int provided;

	(void)argv;
	if (argc > 1) {
		pid_t pid = fork();

		if (pid > 0)
			return ended(pid);
	}
	DO(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided),
	   "argc=NULL, argv=NULL, required=MPI_THREAD_MULTIPLE, provided=MPI_THREAD_MULTIPLE");
	DO(MPI_Comm_rank(MPI_COMM_WORLD, &me), "comm=MPI_COMM_WORLD, rank=%d", me);
	DO(MPI_Comm_size(MPI_COMM_WORLD, &procs), "comm=MPI_COMM_WORLD, size=%d", procs);
	EXPECT(pthread_create(&busy, NULL, churn, NULL) == 0);
	for (int i = 0; i < (int)(sizeof(children) / sizeof(*children)); i++) {
		some_calls(i);
		printf("rank %d: child %d: %d\n", me, i, children[i]());
	}
	enough = 1;
	pthread_join(busy, NULL);
	for (int i = 1; i <= THREADS; i++) {
		pthread_t t;

		EXPECT(pthread_create(&t, NULL, thread, &i) == 0);
		pthread_join(t, NULL);
		some_calls(200 + i);
	}
	end();
	return 0;
}
