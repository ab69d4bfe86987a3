/*
 * next_mpi.h - the MPI library's own functions, behind ours.
 *
 * The tracer defines MPI_X and PMPI_X, so every call of either reaches the wrapper. The library's
 * functions are found once, as the next functions of PMPI_X (chain.h). The tracer calls them
 * through this table.
 */
#ifndef RN_PRELOAD_NEXT_MPI_H
#define RN_PRELOAD_NEXT_MPI_H

#include <stdbool.h>
#include <stddef.h>
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

/* The links between the wrappers and MPI, in the order in which a call passes them. A link may have
 * hooks for some functions. */
enum rn_link {
	RN_LINK_TRACE,    /* wrappers (wrapper_macros.h) */
	RN_LINK_CHECK,    /* compares calls with the recording (replay_call_check.c) */
	RN_LINK_REQUESTS, /* tracks request handles that MPI_Start changes (request_names.h);
			   * divides a long MPI_Startall into several */
	RN_LINK_OUTCOME,  /* records or replays outcomes (record.h, replay_cursor.h) */
	RN_LINKS
};

/* rn_next[link].MPI_X is the next function of the link: a hook of a later link, or the function of
 * MPI. The table of the last link is equal to rn_real. */
extern struct rn_real rn_next[RN_LINKS];

/* Inserts a hook. Its position in the chain does not depend on the order of insertion. */
void rn_link_insert(enum rn_link link, size_t at, void *hook);
#define RN_HOOK(link, name, hook)                          \
	((void)sizeof(rn_real.name == (hook)), /* types */ \
	 rn_link_insert(link, offsetof(struct rn_real, name), (void *)(hook)))

/* Where they are. */
extern const struct link_map *rn_real_library;

/* Another tool's MPI_X, where a library of the program has one between us and MPI; else NULL. Calls
 * of MPI_X are given to it, unrecorded, and are recorded when it goes on to PMPI_X. (One that is
 * preloaded, or in the executable, stands before us and needs no help.) */
extern struct rn_real rn_tool;
/* The same by the function's number. */
void *rn_tool_function(uint32_t number);
/* Whether a link has a hook for the function. */
bool rn_real_hooked(uint32_t number);

/* Finds the functions. A function that the library lacks is NULL. */
void rn_real_resolve(void);

/* The program has brought the library of another MPI than the one that this tracer is for: from now
 * on its functions are the real ones, and nothing can be recorded. */
bool rn_real_is_other(void);

#endif
