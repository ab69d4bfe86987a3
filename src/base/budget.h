/*
 * budget.h - limits the memory that a process allocates for the files that it reads.
 *
 * A few bytes of a hostile file can claim gigabytes, in any section and in any table that a reader
 * builds from one. So the limit is enforced where memory is allocated: arenas (arena.h) and buffers
 * (buf.h) charge each block before they allocate it, and an allocation that exceeds the limit
 * fails like any other. rn_err_nomem then reports the limit instead of a lack of memory.
 *
 * There is one budget per process. It has no limit until a command sets one, so a traced program
 * has none. Cost: an atomic addition per block. Safe to call from several threads.
 */
#ifndef RN_BASE_BUDGET_H
#define RN_BASE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

/* Sets the limit for everything that is charged from now on, and for what has been charged before.
 * SIZE_MAX: no limit. */
void rn_budget_set(size_t limit);
size_t rn_budget_limit(void);

/* Charges a block that is about to be allocated. Returns false, and charges nothing, if the limit
 * would be exceeded. */
bool rn_budget_charge(size_t bytes);
void rn_budget_release(size_t bytes);

/* The bytes that the first allocation that exceeded the limit would have needed in total; 0 if none
 * exceeded it. */
size_t rn_budget_exceeded(void);

#endif
