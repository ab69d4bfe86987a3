/* message.c - see message.h. */
#include "runtime/message.h"

#include "base/errno_guard.h"
#include "base/text.h"
#include "runtime/signal_guard.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
	bool open;
	dev_t dev;
	ino_t ino;
} stderr_file;

void rn_message_start(void)
{
	struct stat st;

	stderr_file.open = fstat(STDERR_FILENO, &st) == 0;
	if (stderr_file.open) {
		stderr_file.dev = st.st_dev;
		stderr_file.ino = st.st_ino;
	}
}

static bool is_same_file(void)
{
	struct stat st;

	return stderr_file.open && fstat(STDERR_FILENO, &st) == 0 && st.st_dev == stderr_file.dev &&
	       st.st_ino == stderr_file.ino;
}

void rn_say(const char *format, ...)
{
	char text[1024], line[sizeof(text) + 64] = "rondo: ";
	RN_ERRNO_GUARD;
	size_t n = strlen(line);
	struct rn_calm calm;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	rn_text_line(text, line + n, sizeof(line) - n - 1);
	n = strlen(line);
	line[n++] = '\n';
	rn_calm_begin(&calm);
	if (is_same_file() && write(STDERR_FILENO, line, n) < 0)
		n = 0; /* the failure cannot be reported */
	rn_calm_end(&calm);
}
