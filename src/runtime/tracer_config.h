/*
 * tracer_config.h - what `rondo trace` asked for, from the environment.
 */
#ifndef RN_RUNTIME_TRACER_CONFIG_H
#define RN_RUNTIME_TRACER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rn_grain;

/* --values: no results; results of MPI's clock and processor name; also those of the C library. */
enum rn_order_values { RN_VALUES_NONE, RN_VALUES_MPI, RN_VALUES_ALL };

struct rn_config {
	char output[4096];          /* path of the trace; absolute */
	char pattern[4096];         /* pattern of the output path (file/trace_name.h) */
	char status[4096];          /* where the launcher waits for a word; may be empty */
	char spill[4096];           /* folder for parts; may be empty */
	char program[256];          /* this executable, without folder */
	char call[1024], rank[256]; /* filters; may be empty */
	char time[256];             /* what of the times is kept, in words */
	bool times;
	bool elastic;               /* loops whose counts change are folded (merge/loop_fold.h) */
	char lossy[64];             /* what is blurred (model/lossy.h); "": nothing */
	size_t memory;              /* bytes that the streams of this process may have */
	uint32_t callsite;          /* frames of a call's stack that are kept; 0: none */
	uint32_t callsite_slack;    /* in so many frames may stacks differ that are alike */
	char callsite_ignore[1024]; /* frames that are not */
	char replay[4096];          /* folder of plans (replay_cursor.h); "": nothing is replayed */
	enum rn_order_values values;  /* run-dependent results to record */
	bool alone;                   /* each rank has a folder of its own */
	bool diverges_on;             /* and what does not go by its plan goes on */
	uint32_t stall;               /* seconds, after which it says what it waits for */
	const struct rn_grain *grain; /* of single calls; NULL: not kept */
	bool order;                   /* only events are recorded (event_log.h) */
	bool order_sends;             /* and what is sent */
	char order_codec[16];         /* how they are written at the end, in a word */
};

extern struct rn_config rn_config;

void rn_config_read(void);

/* The value of the metadata entry `values`; NULL: the default. */
const char *rn_config_values(void);

/* The program gets its own environment back: at once, or if it is an interpreter, a shell or the
 * like, at its first call of MPI, because until then it may be about to start the program that
 * makes some. */
void rn_config_give_back(void);

/* Until then, what it starts finds the stub in our place, which tells of which MPI that is. */
void rn_config_pass_on(void);

/* Sets the output path to the pattern with this number. False: the path is too long, and the output
 * is unchanged. */
bool rn_config_name(unsigned number);

/* The output is that of one world among several: NAME.WORD-NUMBER.rondo. */
void rn_config_number(const char *word, int number);

/* Whether a function's calls are recorded: RONDO_CALL is a list of patterns, with - those not. */
bool rn_config_wants_function(uint32_t number);
bool rn_config_wants_rank(int rank);

#endif
