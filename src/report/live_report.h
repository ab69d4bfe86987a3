/*
 * live_report.h - state shared by the files of `rondo recover --live` (live_json.h).
 *
 * live_sample.c samples the journals and processes twice, to distinguish blocked threads from
 * active ones. live_report.c writes the result as text, live_json.c as JSON.
 */
#ifndef RN_REPORT_LIVE_REPORT_H
#define RN_REPORT_LIVE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/hang.h"
#include "base/arena.h"
#include "base/buf.h"
#include "recover/journal_set.h"

/* The state of a process according to the operating system. */
struct live_process {
	const struct rn_node_file *file;
	bool here;  /* the process is on this host */
	char state; /* state of proc(5); '?': running, state unknown; 0: the process has ended */
};

struct live {
	const char *folder;
	bool json;
	struct rn_arena mem;
	const struct rn_node_file *file;
	size_t files;
	struct rn_sight *sight;
	struct live_process *process; /* by index in `sight` */
	size_t n;
	bool running;       /* at least one process is running */
	uint64_t ticks, ns; /* time of the latest sample: host ticks; ns since 1970 */
	struct rn_standstill standstill;
	struct rn_buf out;
};

/* Samples the run; fills in all fields except the output. Returns RN_OK or a negative code. */
int live_look(struct live *v, struct rn_err *err);

/* Seconds since the thread entered or left its call, depending on its state; negative: unknown. */
double live_seconds(const struct live *v, const struct rn_stand *s);

/* Appends the text report to the output. Returns false if memory is exhausted. */
bool live_put_text(struct live *v);

#endif
