/*
 * live_report.h - what the files that make up `rondo recover --live` share (live_json.h).
 *
 * live_sample.c looks at the files and at the processes, twice, a moment apart, so that what stands
 * can be told from what moves; live_report.c says it to people, live_json.c to programs.
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

/* What the machine says of a process. */
struct live_process {
	const struct rn_node_file *file;
	bool here;  /* it is on this host */
	char state; /* of proc(5), '?' if that is not known, 0: it is no more */
};

struct live {
	const char *folder;
	bool json;
	struct rn_arena mem;
	const struct rn_node_file *file;
	size_t files;
	struct rn_sight *sight;
	struct live_process *process; /* by sight */
	size_t n;
	bool running;       /* some process is */
	uint64_t ticks, ns; /* now, here; and since 1970 */
	struct rn_standstill standstill;
	struct rn_buf out;
};

/* Fills in all but the output. Returns RN_OK or a negative code. */
int live_look(struct live *v, struct rn_err *err);

/* For how long it has been where it is; negative: nobody knows. */
double live_seconds(const struct live *v, const struct rn_stand *s);

/* What there is to say to people, into the output. False when there is no memory. */
bool live_put_text(struct live *v);

#endif
