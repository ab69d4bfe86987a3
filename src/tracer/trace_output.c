/* trace_output.c - see trace_output.h. */
#include "tracer/trace_output.h"

#include <errno.h>
#include <stddef.h>

#include "base/status_file.h"
#include "file/trace_name.h"
#include "runtime/process_log.h"
#include "runtime/tracer_config.h"

static unsigned number = 1;
static struct rn_trace_seen seen; /* the file that may be replaced */

/* Whether the output may be written. With %n in the pattern, the file must not exist. */
static bool is_available(const struct timespec *since)
{
	if (rn_trace_name_has(rn_config.pattern, 'n'))
		return !rn_trace_see(rn_config.output).exists;
	return rn_trace_is_free(rn_config.output, since);
}

/* Stores the start time of `rondo trace`. False: the time does not matter (rn_trace_is_free). If
 * the status file was removed, the time is 0, because any trace may be one of the same command. */
static bool find_start(struct timespec *since)
{
	if (rn_status_since(rn_config.status, since))
		return true;
	*since = (struct timespec){ 0, 0 };
	return rn_config.status[0] && !rn_status_is_watched(rn_config.status);
}

void rn_output_choose(uint64_t run)
{
	struct timespec since;
	bool known = find_start(&since);
	int rc = EBUSY;

	for (number = 1; number < RN_TRACE_NUMBERS && rc == EBUSY && rn_config_name(number);)
		if (!is_available(known ? &since : NULL) ||
		    (rc = rn_process_log_reserve(run)) == EBUSY)
			number++;
	if (rc == EBUSY && number == RN_TRACE_NUMBERS)
		rn_config_name(number = 1);
	seen = rn_trace_see(rn_config.output);
}

bool rn_output_renew(void)
{
	if (rn_trace_is_same(rn_config.output, &seen))
		return false;
	while (++number < RN_TRACE_NUMBERS && rn_config_name(number))
		if (!rn_trace_see(rn_config.output).exists) {
			seen = (struct rn_trace_seen){ .exists = false };
			return true;
		}
	return false;
}
