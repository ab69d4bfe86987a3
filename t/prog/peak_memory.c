/* peak_memory.c - Runs a command with an address space limit of 1.5 GiB, and reports whether one of
 * its processes used a quarter of that as resident memory. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT ((rlim_t)3 << 29)

int main(int argc, char **argv)
{
	const struct rlimit limit = { LIMIT, LIMIT };
	struct rusage used;
	int status = 0;

	if (argc < 2 || setrlimit(RLIMIT_AS, &limit) < 0)
		return 1;
	if (fork() == 0) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	wait(&status);
	getrusage(RUSAGE_CHILDREN, &used);
	printf("%s memory\n", (rlim_t)used.ru_maxrss * 1024 < LIMIT / 4 ? "little" : "much");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
