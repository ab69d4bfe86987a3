/* demangle.c - see demangle.h. A packet to the process contains a symbol. The reply contains its
 * demangled name, or an empty string. Both are terminated by a zero byte. */
#include "report/demangle.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mpi_detect.h"
#include "base/notes.h"

#define NAME_MAX_BYTES ((size_t)8192) /* maximum length of a symbol and of a demangled name */
#define CPU_SECONDS    1u             /* limit for all names together */
#define MEMORY_BYTES   ((rlim_t)64 << 20)

typedef char *demangle_fn(const char *symbol, char *buffer, size_t *n, int *status);

static pid_t server;
static int to_server = -1;
static bool failed; /* the process could not be started, or has ended */

/* ---- the demangler process ---- */

static void limit_resources(void)
{
	struct rlimit cpu = { CPU_SECONDS, CPU_SECONDS }, memory;
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f || fscanf(f, "%lu", &pages) != 1)
		_exit(1);
	fclose(f);
	memory.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + MEMORY_BYTES;
	memory.rlim_max = memory.rlim_cur;
	if (setrlimit(RLIMIT_CPU, &cpu) < 0 || setrlimit(RLIMIT_AS, &memory) < 0)
		_exit(1);
}

static void serve(int fd)
{
	void *library = dlopen("libstdc++.so.6", RTLD_NOW);
	demangle_fn *fn = library ? (demangle_fn *)dlsym(library, "__cxa_demangle") : NULL;
	char symbol[NAME_MAX_BYTES];
	ssize_t n;

	limit_resources();
	while (fn && (n = recv(fd, symbol, sizeof(symbol) - 1, 0)) > 0) {
		char *name;
		size_t len;

		symbol[n] = '\0';
		name = fn(symbol, NULL, NULL, NULL);
		len = name ? strlen(name) + 1 : 0;
		if (send(fd, len && len <= NAME_MAX_BYTES ? name : "",
			 len && len <= NAME_MAX_BYTES ? len : 1, MSG_NOSIGNAL) < 0)
			break;
		free(name);
	}
}

/* ---- the rondo process ---- */

static void start_server(void)
{
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) < 0) {
		failed = true;
		return;
	}
	server = fork();
	if (server == 0) {
		close(fd[0]);
		serve(fd[1]);
		_exit(0);
	}
	close(fd[1]);
	to_server = fd[0];
}

void demangle_end(void)
{
	if (to_server >= 0)
		close(to_server);
	if (server > 0)
		waitpid(server, NULL, 0);
	to_server = -1;
	server = 0;
}

/* The reply of the demangler process, for free(3); NULL if the process has ended. */
static char *ask_server(const char *symbol, size_t n)
{
	char *answer = malloc(NAME_MAX_BYTES + 1);
	ssize_t got = -1;

	if (answer && send(to_server, symbol, n, MSG_NOSIGNAL) == (ssize_t)n)
		got = recv(to_server, answer, NAME_MAX_BYTES, 0);
	if (got > 0) {
		answer[got] = '\0';
		return answer;
	}
	free(answer);
	return NULL;
}

char *demangle(const char *symbol, struct rn_buf *notes)
{
	size_t n = strlen(symbol);
	char *name;

	if (!rn_begins(symbol, "_Z") || n >= NAME_MAX_BYTES - 1 || failed)
		return NULL;
	if (to_server < 0)
		start_server();
	name = failed || server < 0 ? NULL : ask_server(symbol, n);
	if (!name) {
		failed = true;
		demangle_end();
		rn_note(notes, "C++ names remain mangled: libstdc++.so.6 is not installed, or a "
			       "name needs too much time or memory");
	} else if (!*name) {
		free(name);
		name = NULL;
	}
	return name;
}
