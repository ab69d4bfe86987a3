/*
 * next_mpi.h - table of the MPI library's functions.
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

/* Type of the list of partitions in MPI_Pready_list; MPICH 4.0 declares it without const. */
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
#define RN_HOOK(link, name, hook)                                           \
	((void)sizeof(rn_real.name == (hook)), /* checks the hook's type */ \
	 rn_link_insert(link, offsetof(struct rn_real, name), (void *)(hook)))

/* The object that defines these functions. */
extern const struct link_map *rn_real_library;

/* MPI_X of another tool, if a library of the program between the tracer and MPI defines it; else
 * NULL. Calls of MPI_X are forwarded to it without being recorded, and are recorded when it
 * calls PMPI_X. A tool that is preloaded, or in the executable, precedes the tracer and needs no
 * entry. */
extern struct rn_real rn_tool;
/* Returns the function of rn_tool with this number. */
void *rn_tool_function(uint32_t number);
/* Whether a link has a hook for the function. */
bool rn_real_hooked(uint32_t number);

/* Finds the functions. A function that the library lacks is NULL. */
void rn_real_resolve(void);

/* Whether the program has loaded the library of another MPI than the tracer's. If so, rn_real
 * refers to that library from then on, and nothing can be recorded. */
bool rn_real_is_other(void);

#endif
