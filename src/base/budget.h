/*
 * budget.h - limits the memory that a process allocates for the files that it reads.
 *
 * A few bytes of a hostile file can claim gigabytes, in any section and in any table that a reader
 * builds from a section. The limit is therefore enforced where memory is allocated: arenas
 * (arena.h) and buffers (buf.h) charge each block before they allocate it. An allocation that
 * exceeds the limit fails as if there were no memory. rn_err_nomem then reports the limit.
 *
 * There is one budget per process. It has no limit until a command sets one. The tracer never sets
 * one. Cost: an atomic addition per block. Safe to call from several threads.
 */
#ifndef RN_BASE_BUDGET_H
#define RN_BASE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets the limit. Blocks that are already charged count toward it. SIZE_MAX: no limit. */
void rn_budget_set(size_t limit);
size_t rn_budget_limit(void);

/* The limit that the user has set (--max-memory), in bytes; 0: not set. */
extern uint64_t rn_budget_given;

/* Sets the limit for reading a file: the limit that the user has set, or one in proportion to the
 * size of the file. In the second case, each call adds the limit for one more file. */
void rn_budget_allow(uint64_t file_bytes);

/* Charges a block that is about to be allocated. Returns false, and charges nothing, if the limit
 * would be exceeded. */
bool rn_budget_charge(size_t bytes);
void rn_budget_release(size_t bytes);

/* The total, in bytes, that the first refused charge would have reached; 0 if none was refused. */
size_t rn_budget_exceeded(void);

#endif
