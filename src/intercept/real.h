/*
 * real.h - the MPI library's own functions, behind ours.
 *
 * We define MPI_X and PMPI_X, so every call of either ends in our wrapper; the library's functions
 * are found once, by dlsym(RTLD_NEXT, "PMPI_X"), and called through this table.
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
#define REAL(name, ret, n, decl) ret(*name) decl;
#include "real_calls.h"
#undef REAL
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

/* Finds them all. NULL, or the name of one that is not there. */
const char *rn_real_resolve(void);

/* The program has brought the library of another MPI than the one that this tracer is for: from now
 * on its functions are the real ones, and nothing can be recorded. */
bool rn_real_is_other(void);

#endif
