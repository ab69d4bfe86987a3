/*
 * caller_filter.h - is a call the program's own, or the MPI library's?
 *
 * MPI libraries call their own MPI_X and PMPI_X (collective I/O, Fortran bindings), and all of
 * those calls come to us. What tells them apart is where they come from: the return address, whose
 * object is looked up once and remembered.
 *
 *   from the program or any library of its
 *	recorded
 *   from us
 *	not recorded
 *   from a Fortran binding
 *	recorded when it is the binding of this very function: mpi_send_ calling MPI_Send
 *   from the C++ bindings
 *	recorded when it is one of their functions that calls, not when they are being loaded
 *   from inside the MPI library
 *	not recorded, if the instruction before the return address is a direct call; else the
 *	library has called the program back, and that has ended in a jump to us: recorded
 *
 * What an object is, preload/loaded_object.h tells.
 */
#ifndef RN_TRACE_CALLER_FILTER_H
#define RN_TRACE_CALLER_FILTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RN_SITES 2048u

extern _Atomic uint64_t rn_caller_cache[RN_SITES];

enum rn_site {
	RN_SITE_PASSES,  /* it is not recorded */
	RN_SITE_RECORDS, /* it is */
	RN_SITE_LIGHT,   /* its outcome is, if anything (bypass.h) */
	RN_SITE_TOOL,    /* the call is not recorded, and goes to another tool (rn_tool) */
};

enum rn_site rn_site_decide(uintptr_t from, uint32_t function, uint32_t at);

/* Addresses have 47 bits and functions fewer than 1024, so both and the answer fit a word, which is
 * read and written as a whole. */
static inline enum rn_site rn_site(uintptr_t from, uint32_t function)
{
	uint64_t key = (uint64_t)from << 12 | (uint64_t)function << 2;
	uint32_t at = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 53);
	uint64_t known = atomic_load_explicit(&rn_caller_cache[at], memory_order_acquire);
	uint64_t answer = known ^ key; /* less than 4 if the word is the one of this key */

	if (__builtin_expect(answer == RN_SITE_RECORDS, 1))
		return RN_SITE_RECORDS;
	return answer < 4 ? (enum rn_site)answer : rn_site_decide(from, function, at);
}

/* Whether the call goes to another tool. Not inline, because wrappers ask only if there is a tool.
 */
bool rn_site_is_for_tool(uintptr_t from, uint32_t function);

/* Forgets everything: an object was unloaded, and another may take its addresses. */
void rn_site_forget(void);

#endif
