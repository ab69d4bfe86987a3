/* node_once.c - see node_once.h. */
#include "launch/node_once.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static bool held;

bool node_once(uint64_t key)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int n = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "rondo-%016" PRIx64, key);
	int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (s < 0)
		return true;
	if (bind(s, (struct sockaddr *)&name,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) < 0) {
		bool used = errno == EADDRINUSE;

		close(s);
		return !used;
	}
	held = true;
	return true;
}

void node_once_wait(void)
{
	static const struct timespec moment = { 2, 0 };

	if (held)
		nanosleep(&moment, NULL);
}
