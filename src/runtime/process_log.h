/*
 * process_log.h - the journal file of a process, and its log records that are not of a stream:
 * world, metadata, constants, communicators, modules, call stacks, and how the process ended.
 *
 * A sink: callers pass in what is to be written. Before the file is open, and without a file,
 * records are dropped; rn_process_log_open is followed by all records so far. If the file cannot be
 * opened or cannot grow, one line says so, and the file stays a valid beginning.
 *
 * Records are appended under a lock of their own.
 */
#ifndef RN_RUNTIME_PROCESS_LOG_H
#define RN_RUNTIME_PROCESS_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/spin.h"
#include "journal/journal_copy.h"
#include "journal/journal_dir.h"
#include "journal/journal_file.h"

struct rn_object;

struct rn_process_log {
	struct rn_spill file; /* without a head: not open */
	struct rn_journal_folder folder;
	struct rn_spill_copy copies;
	struct rn_log log;
	struct rn_spin lock;
	bool failed; /* a record is missing in the file */
};

extern struct rn_process_log rn_process_log;

/* Opens the node's file in the journal directory of rn_config.output. Called by rank 0 before the
 * other ranks open it. 0: the name is reserved for this run. EBUSY: the name is in use. Another
 * errno value: journals cannot be written. */
int rn_process_log_reserve(uint64_t run);

/* Opens the node's file, once the world is known. `run` is the same in all processes of the run and
 * in no others. False: there is no file. */
bool rn_process_log_open(uint64_t run);

/* The directory that `rondo recover` finds the journal by; "" before it is known. */
const char *rn_process_log_folder(void);

/* Whether this process is the first on its node to ask. */
bool rn_process_log_is_first(void);

/* Whether there is a file, with everything in it so far. */
bool rn_process_log_is_whole(void);

/* Something could not be written. The first process of the node reports it. */
void rn_process_log_fail(int error);

/* Copying the file failed. */
void rn_process_log_copy_failed(int error);

/* Appends a record; its bytes are a and b. */
void rn_process_log_add(enum rn_fact type, const void *a, size_t an, const void *b, size_t bn);
void rn_process_log_meta(const char *key, const char *value);

/* A communicator is new, or known better. */
void rn_process_log_comm(const struct rn_object *comm);

/* The next call stack. */
void rn_process_log_stack(uint64_t number, const void *bytes, size_t len);

/* The relation of this host's clock to that of rank 0. */
void rn_process_log_clock(int64_t offset, int64_t drift);

/* The end of the log, for a copy. */
struct rn_log_end rn_process_log_end(void);

/* The process ends. If no process of the node keeps the file, the last one removes it. */
void rn_process_log_close(bool keep);

/* No process has written anything to the file: removes it. */
void rn_process_log_drop(void);

#endif
