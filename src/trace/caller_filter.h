/*
 * caller_filter.h - decides whether a call was made by the program or by the MPI library.
 *
 * MPI libraries call their own MPI_X and PMPI_X (collective I/O, Fortran bindings), and the
 * wrappers receive all of those calls. The return address distinguishes them: its object is looked
 * up once and the result is cached.
 *
 *   from the program or any of its libraries
 *       recorded
 *   from the tracer
 *       not recorded
 *   from a Fortran binding
 *       recorded if it is the binding of this function: mpi_send_ calling MPI_Send
 *   from the C++ bindings
 *       recorded if one of their functions makes the call; not recorded while they are loaded
 *   from the MPI library
 *       not recorded if the instruction before the return address is a direct call. Otherwise
 *       the library has called the program back, and the callback ended in a jump to the
 *       wrapper: recorded
 *
 * preload/loaded_object.h determines the kind of an object.
 */
#ifndef RN_TRACE_CALLER_FILTER_H
#define RN_TRACE_CALLER_FILTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RN_SITES 2048u

extern _Atomic uint64_t rn_caller_cache[RN_SITES];

enum rn_site {
	RN_SITE_PASSES,  /* the call is not recorded */
	RN_SITE_RECORDS, /* the call is recorded */
	RN_SITE_LIGHT,   /* at most the outcome is recorded (bypass.h) */
	RN_SITE_TOOL,    /* not recorded; the call is forwarded to another tool (rn_tool) */
};

enum rn_site rn_site_decide(uintptr_t from, uint32_t function, uint32_t at);

/* Addresses have 47 bits and function numbers are below 1024. So the address, the function and the
 * result fit into one word, which is read and written atomically. */
static inline enum rn_site rn_site(uintptr_t from, uint32_t function)
{
	uint64_t key = (uint64_t)from << 12 | (uint64_t)function << 2;
	uint32_t at = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 53);
	uint64_t known = atomic_load_explicit(&rn_caller_cache[at], memory_order_acquire);
	uint64_t answer = known ^ key; /* below 4 if the cached word has this key */

	if (__builtin_expect(answer == RN_SITE_RECORDS, 1))
		return RN_SITE_RECORDS;
	return answer < 4 ? (enum rn_site)answer : rn_site_decide(from, function, at);
}

/* Whether the call is forwarded to another tool. Not inline, because wrappers call it only if there
 * is such a tool. */
bool rn_site_is_for_tool(uintptr_t from, uint32_t function);

/* Clears the cache after an object was unloaded, because another object may be loaded at its
 * addresses. */
void rn_site_forget(void);

#endif
