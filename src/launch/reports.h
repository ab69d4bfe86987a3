/*
 * reports.h - reads the reports of the processes of a command from the status file
 * (base/status_file.h). base/tracer_env.h lists their tags.
 */
#ifndef RN_LAUNCH_REPORTS_H
#define RN_LAUNCH_REPORTS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One run of an MPI program. Texts are empty if nothing was reported. */
struct run_reports {
	uint64_t run;
	bool failed, ended;
	bool unopened; /* there is no journal; `unspilled` is the reason */
	bool running;  /* processes have not ended; not a report: set by conclude.c */
	/* Calls after MPI_Finalize: `kept` are in journals, `late` are not recorded. `late_ranks`
	 * is the number of ranks that reported such calls. */
	uint64_t kept, late, late_ranks;
	char spool[PATH_MAX], traced[PATH_MAX], parts[PATH_MAX], unmerged[PATH_MAX];
	char unspilled[PATH_MAX];
};

struct reports {
	bool gone;   /* the status file was removed: a process could not write its report */
	bool ranked; /* a launcher started a process */
	struct run_reports *run;
	size_t runs;
	char launcher[PATH_MAX];       /* a launcher that was started */
	char rank[PATH_MAX];           /* a program that a launcher started without a tracer */
	char started[PATH_MAX];        /* a program that was started with a tracer */
	char untraced[PATH_MAX + 256]; /* a program that could not be traced, and why */
};

/* Reads all reports. The result must be freed with reports_free. */
void reports_read(int status, struct reports *out);

void reports_free(struct reports *r);

#endif
