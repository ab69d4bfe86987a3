/* tracer_config.h - configuration of the tracer, which `rondo trace` passes in the environment. */
#ifndef RN_RUNTIME_TRACER_CONFIG_H
#define RN_RUNTIME_TRACER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rn_grain;

/* --values: no run-dependent results; those of MPI's clock and processor name; also those of
 * libc. */
enum rn_order_values { RN_VALUES_NONE, RN_VALUES_MPI, RN_VALUES_ALL };

struct rn_config {
	char output[4096];          /* path of the trace; absolute */
	char pattern[4096];         /* pattern of the output path (file/trace_name.h) */
	char status[4096];          /* path of the status file (base/status_file.h); "" */
	char spill[4096];           /* journal directory; "": none given */
	char program[256];          /* file name of this executable, without directory */
	char call[1024], rank[256]; /* filters; may be empty */
	char time[256];             /* value of the metadata entry for --time */
	bool times;
	bool elastic;               /* loops whose counts vary are folded (merge/loop_fold.h) */
	char lossy[64];             /* value of --lossy (model/lossy.h); "": exact */
	size_t memory;              /* memory limit of the streams of this process, bytes */
	uint32_t callsite;          /* number of frames of a call site; 0: no call sites */
	uint32_t callsite_slack;    /* number of frames in which stacks of a cluster may differ */
	char callsite_ignore[1024]; /* modules whose frames are omitted */
	char replay[4096];          /* directory of replay plans (replay_cursor.h); "": no replay */
	enum rn_order_values values;  /* run-dependent results to record */
	bool alone;                   /* each rank has its own plan directory */
	bool diverges_on;             /* the run continues after a divergence */
	uint32_t stall;               /* seconds of waiting until a stall message is printed */
	const struct rn_grain *grain; /* quantization of call times; NULL: not recorded */
	bool order;                   /* only outcomes are recorded (event_log.h) */
	bool order_sends;             /* sends are also recorded */
	char order_codec[16];         /* name of the codec that writes the events at the end */
};

extern struct rn_config rn_config;

void rn_config_read(void);

/* The value of the metadata entry `values`; NULL: the default. */
const char *rn_config_values(void);

/* Restores the program's own environment. This is done at once, unless the program is an
 * interpreter, a shell or similar. Such a program may start the program that calls MPI, so its
 * environment is restored at its first MPI call. */
void rn_config_give_back(void);

/* Until the environment is restored, programs that this one starts load the stub in place of the
 * tracer. The stub detects their MPI. */
void rn_config_pass_on(void);

/* Replaces the output path with the pattern that contains this number. False if the path is too
 * long; the output path is then unchanged. */
bool rn_config_name(unsigned number);

/* Sets the output path to NAME.WORD-NUMBER.rondo, for one of several worlds. */
void rn_config_number(const char *word, int number);

/* Whether calls of the function are recorded. RONDO_CALL is a list of patterns; a leading -
 * excludes functions. */
bool rn_config_wants_function(uint32_t number);
bool rn_config_wants_rank(int rank);

#endif
