/*
 * chain.h - the interposition chain of MPI and of the C library.
 *
 * The tracer defines the functions of api/mpi.api (MPI_X and PMPI_X) and of api/posix.api. A call
 * passes the links of the chain in a fixed order. It skips a link without a hook for the function.
 *
 *	trace             wrappers of MPI functions; hooks of malloc, mmap, pthread_create, dlsym
 *	record or replay  outcomes of MPI functions; times and random numbers of the C library
 *	next function     in the first object after the tracer that defines it: another preloaded
 *	                  tool, or the library itself
 *
 * Each link calls the following one through a table with one field per function. The table is
 * rn_next[link] for MPI (preload/next_mpi.h), and rn_libc() for the C library, whose functions have
 * hooks in one link each.
 *
 * Next functions are found in the tables of the dynamic linker (preload/loaded_object.h). Unlike
 *dlsym, the search allocates no memory and calls no function that another library interposes. The
 *hooks therefore work from the first instruction of a process, and inside the dynamic linker.
 */
#ifndef RN_PRELOAD_CHAIN_H
#define RN_PRELOAD_CHAIN_H

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* Declarations that export the hooks. */
#define NEXT(name, ret, number, decl) __attribute__((visibility("default"))) ret name decl;
#include "next_posix_calls.h"
#undef NEXT

struct rn_libc {
#define NEXT(name, ret, number, decl) ret(*name) decl;
#include "next_posix_calls.h"
#undef NEXT
};

extern struct rn_libc rn_chain_libc;
extern bool rn_chain_libc_known; /* atomic */

void rn_chain_find_libc(void);

/* The next functions of the hooks of the C library. */
static inline const struct rn_libc *rn_libc(void)
{
	if (__builtin_expect(!__atomic_load_n(&rn_chain_libc_known, __ATOMIC_ACQUIRE), 0))
		rn_chain_find_libc();
	return &rn_chain_libc;
}

/* The next function with this name, or NULL. */
void *rn_chain_find(const char *name);

#endif
