/* map_guard.c - see map_guard.h. */
#include "recover/map_guard.h"

#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Maps a page of zeros. If that fails, the default action is restored, and the same instruction
 * raises the signal again. */
static void put_zeros(int sig, siginfo_t *info, void *context)
{
	uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE), page = (uintptr_t)info->si_addr & -size;

	(void)context;
	if (info->si_code != BUS_ADRERR ||
	    mmap((void *)page, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		signal(sig, SIG_DFL);
}

void rn_map_guard_start(void)
{
	struct sigaction a = { .sa_sigaction = put_zeros, .sa_flags = SA_SIGINFO };

	sigemptyset(&a.sa_mask);
	sigaction(SIGBUS, &a, NULL);
}

bool rn_map_guard_is_shorter(int fd, uint64_t len)
{
	struct stat st;

	return fstat(fd, &st) < 0 || (uint64_t)st.st_size < len;
}
