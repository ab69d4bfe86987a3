/*
 * process_log.h - the journal file of a process, and the log records that do not belong to a
 * stream: world, metadata, constants, communicators, modules, call stacks, and how the process
 * ended.
 *
 * Callers pass in the data to be written. Records are dropped before the file is open, and if there
 * is no file. After rn_process_log_open, the callers append all records so far. If the file cannot
 * be opened or cannot grow, one message says so, and the contents of the file remain a valid
 * prefix.
 *
 * Locking: records are appended under a separate lock.
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
	struct rn_spill file; /* the file is open if its head is not NULL */
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

/* Returns the directory from which `rondo recover` reads the journal; "" before it is known. */
const char *rn_process_log_folder(void);

/* Whether this process is the first on its node to call this function. */
bool rn_process_log_is_first(void);

/* Whether the file exists and contains all records appended so far. */
bool rn_process_log_is_whole(void);

/* Reports a write error. Only the first process of the node prints it. */
void rn_process_log_fail(int error);

/* Reports that the file could not be copied. */
void rn_process_log_copy_failed(int error);

/* Appends a record; its bytes are a and b. */
void rn_process_log_add(enum rn_fact type, const void *a, size_t an, const void *b, size_t bn);
void rn_process_log_meta(const char *key, const char *value);

/* Appends the record of a communicator that is new or has more known fields. */
void rn_process_log_comm(const struct rn_object *comm);

/* Appends the record of the next call stack. */
void rn_process_log_stack(uint64_t number, const void *bytes, size_t len);

/* Appends the relation of this host's clock to that of rank 0. */
void rn_process_log_clock(int64_t offset, int64_t drift);

/* Returns the end of the log, for a copy of the file. */
struct rn_log_end rn_process_log_end(void);

/* Closes the file at the end of the process. The last process of the node removes the file if no
 * process has set `keep`. */
void rn_process_log_close(bool keep);

/* Removes the file, to which no process has written anything. */
void rn_process_log_drop(void);

#endif
