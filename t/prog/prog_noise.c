/*
 * prog_noise.c - Calls that do not compress, until a timer kills the process at an arbitrary point.
 *
 *	prog_noise FILE MICROSECONDS
 *
 * The timer runs for that CPU time from MPI_Init. Call i is MPI_Iprobe with the i-th tag of a
 * sequence that t/t2129-noise.t also computes. FILE contains the number of calls in binary.
 */
#include <mpi.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned *new_counter(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
	void *p = MAP_FAILED;

	if (ftruncate(fd, sizeof(unsigned)) == 0)
		p = mmap(NULL, sizeof(unsigned), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		_exit(9);
	return p;
}

static void kill_after(long microseconds)
{
	struct sigevent how = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
	struct itimerspec when = { .it_value = { microseconds / 1000000,
						 microseconds % 1000000 * 1000 } };
	timer_t timer;

	if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &how, &timer) < 0 ||
	    timer_settime(timer, 0, &when, NULL) < 0)
		_exit(9);
}

int main(int argc, char **argv)
{
	unsigned long long state = 1;
	volatile unsigned *calls;
	int flag;

	if (argc < 3)
		return 2;
	calls = new_counter(argv[1]);
	MPI_Init(NULL, NULL);
	kill_after(atol(argv[2]));
	for (;; ++*calls) {
		state = state * 16807 % 2147483647;
		MPI_Iprobe(0, (int)(state % 1000), MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
	}
}
