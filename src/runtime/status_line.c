/* status_line.c - see status_line.h. */
#include "runtime/status_line.h"

#include "base/status_file.h"
#include "base/tracer_env.h"
#include "runtime/signal_guard.h"
#include "runtime/tracer_config.h"
#include "runtime/tracer_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define LINE_MAX_BYTES 5000

static bool append_line(const char *line, int n)
{
	struct rn_calm calm;
	bool done;
	int fd;

	if (!rn_config.status[0])
		return false;
	rn_calm_begin(&calm);
	fd = rn_status_open(rn_config.status);
	done = fd >= 0 && write(fd, line, (size_t)n) == n;
	if (fd >= 0)
		close(fd);
	rn_calm_end(&calm);
	return done;
}

static bool or_remove(bool posted)
{
	if (!posted && rn_config.status[0])
		rn_status_remove(rn_config.status);
	return posted;
}

bool rn_status_append(const char *tag, const char *text)
{
	char line[LINE_MAX_BYTES];

	return append_line(line, snprintf(line, sizeof(line), "%s %016" PRIx64 " %s\n", tag,
					  rn_tracer.run, text));
}

bool rn_status_post(const char *tag, const char *text)
{
	return or_remove(rn_status_append(tag, text));
}

bool rn_status_untraced(const char *text)
{
	char line[LINE_MAX_BYTES];

	return or_remove(
		append_line(line, snprintf(line, sizeof(line), RN_TAG_UNTRACED " %s\n", text)));
}

bool rn_status_has_watcher(void)
{
	return rn_status_is_watched(rn_config.status);
}
