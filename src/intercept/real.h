/*
 * real.h - the MPI library's own functions, behind ours.
 *
 * The tracer defines MPI_X and PMPI_X, so every call of either reaches the wrapper. The library's
 * functions are found once, as the next functions of PMPI_X (chain.h), and called through this
 * table.
 */
#ifndef RN_INTERCEPT_REAL_H
#define RN_INTERCEPT_REAL_H

#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

/* Which MPICH 4.0 has without const. */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
typedef int *rn_pready_list;
#else
typedef const int *rn_pready_list;
#endif

struct link_map;

struct rn_real {
#define NEXT(name, ret, number, decl) ret(*name) decl;
#include "next_mpi_calls.h"
#undef NEXT
};

extern struct rn_real rn_real;
/* What wrappers call: the same, but for what has hooks (order.h). */
extern struct rn_real rn_next;
/* Where they are. */
extern const struct link_map *rn_real_library;

/* Another tool's MPI_X, where a library of the program has one between us and MPI; else NULL. Calls
 * of MPI_X are given to it, unrecorded, and are recorded when it goes on to PMPI_X. (One that is
 * preloaded, or in the executable, stands before us and needs no help.) */
extern struct rn_real rn_tool;
/* The same by the function's number. */
void *rn_tool_function(uint32_t number);
/* Whether rn_next has another one than MPI's. */
bool rn_real_hooked(uint32_t number);

/* Finds the functions. A function that the library does not have is NULL. */
void rn_real_resolve(void);

/* The program has brought the library of another MPI than the one that this tracer is for: from now
 * on its functions are the real ones, and nothing can be recorded. */
bool rn_real_is_other(void);

#endif
