/*
 * tracer_env.h - the contract between the rondo program and the tracer.
 *
 * The rondo program sets environment variables for the command that it starts. The stub reads them
 * before the C library is initialized. The tracer reads them when it starts, and removes them from
 * the environment before the traced program can see them (runtime/tracer_config.h). An option of
 * `rondo trace` or `rondo replay` that concerns the tracer has a variable in its row (cmd/cmd.h);
 * the variable contains the value of the option.
 *
 * Stub and tracer respond with reports in the status file (status_file.h), one per line. A report
 * begins with a tag. The report of a stub is "TAG TEXT". The report of a tracer is "TAG RUN TEXT",
 * where RUN is the id of the run as 16 hexadecimal digits. Only the report about an untraced
 * program has no RUN.
 */
#ifndef RN_BASE_TRACER_ENV_H
#define RN_BASE_TRACER_ENV_H

#define RN_ENV_PREFIX "RONDO_" /* of all variables */

/* Options of `rondo trace` */
#define RN_ENV_TIME            "RONDO_TIME"
#define RN_ENV_CALL            "RONDO_CALL"
#define RN_ENV_RANK            "RONDO_RANK"
#define RN_ENV_SPILL           "RONDO_SPILL"
#define RN_ENV_NO_ELASTIC      "RONDO_NO_ELASTIC"
#define RN_ENV_LOSSY           "RONDO_LOSSY"
#define RN_ENV_MEMORY          "RONDO_MEMORY" /* in bytes */
#define RN_ENV_CALLSITE        "RONDO_CALLSITE"
#define RN_ENV_CALLSITE_IGNORE "RONDO_CALLSITE_IGNORE"
#define RN_ENV_CALLSITE_SLACK  "RONDO_CALLSITE_SLACK"
#define RN_ENV_ONLY            "RONDO_ONLY"
#define RN_ENV_ORDER_CODEC     "RONDO_ORDER_CODEC"
#define RN_ENV_VALUES          "RONDO_VALUES"
#define RN_ENV_MPI             "RONDO_MPI"    /* ompi, mpich or auto */
#define RN_ENV_OUTPUT          "RONDO_OUTPUT" /* pattern of the path of the trace */
#define RN_ENV_CWD             "RONDO_CWD"    /* directory of the trace without -o */

/* Set by `rondo replay` */
#define RN_ENV_REPLAY     "RONDO_REPLAY"     /* directory of the replay plans */
#define RN_ENV_DIVERGENCE "RONDO_DIVERGENCE" /* --on-divergence */
#define RN_ENV_ALONE      "RONDO_ALONE"      /* each rank has a private directory */
#define RN_ENV_STALL      "RONDO_STALL"      /* seconds until a rank reports its wait; tests */

/* State of the launch */
#define RN_ENV_STATUS          "RONDO_STATUS"     /* path of the status file */
#define RN_ENV_PRELOAD         "RONDO_PRELOAD"    /* LD_PRELOAD of the user */
#define RN_ENV_IS_COMMAND      "RONDO_IS_COMMAND" /* 1: the next process is the command itself */
#define RN_ENV_IN_RANK         "RONDO_IN_RANK"    /* the process was started by a rank */
#define RN_ENV_RANK_SEEN       "RONDO_RANK_SEEN"  /* 1: a process of a launcher was reported */
#define RN_ENV_SANITIZER_FIRST "RONDO_SANITIZER_FIRST" /* sanitizer.h */

#define RN_ENV_ALL                                                                             \
	RN_ENV_TIME, RN_ENV_CALL, RN_ENV_RANK, RN_ENV_SPILL, RN_ENV_NO_ELASTIC, RN_ENV_LOSSY,  \
		RN_ENV_MEMORY, RN_ENV_CALLSITE, RN_ENV_CALLSITE_IGNORE, RN_ENV_CALLSITE_SLACK, \
		RN_ENV_ONLY, RN_ENV_ORDER_CODEC, RN_ENV_VALUES, RN_ENV_MPI, RN_ENV_OUTPUT,     \
		RN_ENV_CWD, RN_ENV_REPLAY, RN_ENV_DIVERGENCE, RN_ENV_ALONE, RN_ENV_STALL,      \
		RN_ENV_STATUS, RN_ENV_PRELOAD, RN_ENV_IS_COMMAND, RN_ENV_IN_RANK,              \
		RN_ENV_RANK_SEEN, RN_ENV_SANITIZER_FIRST

#define RN_DIVERGENCE_CONTINUE "continue" /* value of RN_ENV_DIVERGENCE; the default is to stop */

/* Tags of the stub; the text begins with the path of a program. */
#define RN_TAG_LAUNCHER "launcher" /* a launcher was started */
#define RN_TAG_RANK     "rank"     /* a launcher started the program, without a tracer */
#define RN_TAG_STARTED  "started"  /* the program was started with a tracer */
#define RN_TAG_UNTRACED "untraced" /* also of the tracer: the program cannot be traced, and why */

/* Tags of the tracer */
#define RN_TAG_SPOOL     "spool"     /* the directory of the journal files */
#define RN_TAG_TRACED    "traced"    /* the path of the trace; the trace was written */
#define RN_TAG_PARTS     "parts"     /* why the trace has to be built from journal files */
#define RN_TAG_UNMERGED  "unmerged"  /* why an attempt to merge failed; as `parts` */
#define RN_TAG_UNSPILLED "unspilled" /* why a journal file does not contain all calls */
#define RN_TAG_UNOPENED  "unopened"  /* why the process's node has no journal file */
#define RN_TAG_LATE      "late" /* calls after MPI_Finalize: number in journal files, number lost */
#define RN_TAG_FAILED    "failed" /* why there is neither a trace nor a journal file */
#define RN_TAG_ENDED     "ended"  /* no text; the process called exit or returned from main */

#endif
