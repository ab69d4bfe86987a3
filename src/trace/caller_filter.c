/* caller_filter.c - see caller_filter.h. */
#include "trace/caller_filter.h"

#include "base/errno_guard.h"
#include "encode/call_words.h"
#include "preload/loaded_object.h"
#include "preload/next_mpi.h"
#include "trace/bypass.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

_Atomic uint64_t rn_caller_cache[RN_SITES];

/* Whether the rest of a name is empty or a suffix of a Fortran binding. */
static bool ends_binding(const char *s)
{
	static const char *const ends[] = { "_cdesc", "_f08ts", "_f08", "_f", "_" };

	for (size_t i = 0; *s && i < sizeof(ends) / sizeof(*ends); i++)
		if (strncasecmp(s, ends[i], strlen(ends[i])) == 0)
			return ends_binding(s + strlen(ends[i]));
	return !*s;
}

/* Whether the symbol is a Fortran binding of the function. mpi_send_, pmpi_send__, ompi_send_f,
 * MPI_SEND, mpi_send_f08_ and MPIR_Send_cdesc all bind MPI_Send. */
static bool binds(const char *symbol, const char *function)
{
	const char *name = strchr(function, '_') + 1;

	symbol += strspn(symbol, "poPO");
	if (strncasecmp(symbol, "mpi_", 4) == 0)
		symbol += 4;
	else if (strncasecmp(symbol, "mpir_", 5) == 0)
		symbol += 5;
	else
		return false;
	return strncasecmp(symbol, name, strlen(name)) == 0 && ends_binding(symbol + strlen(name));
}

/* Whether the instruction before the return address is a direct call. On x86: E8 and four bytes. On
 * other machines this cannot be determined, and the call is assumed to be the library's own. */
static bool direct_call(uintptr_t from)
{
#if defined(__x86_64__)
	return *(const unsigned char *)(from - 5) == 0xe8;
#else
	(void)from;
	return true;
#endif
}

/* Returns the exported function that contains the address, or NULL. */
static const char *symbol_at(uintptr_t from)
{
	const ElfW(Sym) * symbol;
	Dl_info where;

	if (!dladdr1((void *)from, &where, (void **)&symbol, RTLD_DL_SYMENT) || !where.dli_sname ||
	    !symbol || from - (uintptr_t)where.dli_saddr > symbol->st_size)
		return NULL;
	return where.dli_sname;
}

/* Whether the call is the program's own. Calls of the C++ bindings outside their functions are made
 * while they are loaded. */
static bool is_own(uintptr_t from, uint32_t function)
{
	const struct link_map *object = rn_object_at(from);
	const char *symbol;

	switch (object ? rn_object_kind(object) : RN_OBJECT_PROGRAM) {
	case RN_OBJECT_TRACER:
		return false;
	case RN_OBJECT_MPI:
		return !direct_call(from);
	case RN_OBJECT_FORTRAN:
		symbol = symbol_at(from);
		return !symbol || binds(symbol, rn_mpi_protos[function].name);
	case RN_OBJECT_CXX:
		return symbol_at(from) != NULL;
	default:
		return true;
	}
}

/* Whether the call is forwarded to another tool. MPI_X and PMPI_X are one function here, so the
 * caller's imports decide which of them it calls. A caller that imports both, or neither (dlsym),
 * is assumed to call MPI_X. */
static bool is_for_tool(uintptr_t from, uint32_t function)
{
	void *tool = rn_tool_function(function);
	const char *name = rn_mpi_protos[function].name;
	const struct link_map *object = tool ? rn_object_at(from) : NULL;
	char p_name[128];

	if (!object || object == rn_object_at((uintptr_t)tool))
		return false;
	snprintf(p_name, sizeof(p_name), "P%s", name);
	return !rn_object_imports(object, p_name) || rn_object_imports(object, name);
}

static enum rn_site decide(uintptr_t from, uint32_t function)
{
	if (!is_own(from, function))
		return RN_SITE_PASSES;
	if (is_for_tool(from, function))
		return RN_SITE_TOOL;
	return rn_light_way(function) == RN_LIGHT_NOT ? RN_SITE_RECORDS : RN_SITE_LIGHT;
}

/* Number of adjacent entries that are searched, so that callers with equal hashes are not decided
 * again each time. */
#define NEAR 8u

enum rn_site rn_site_decide(uintptr_t from, uint32_t function, uint32_t at)
{
	uint64_t key = (uint64_t)from << 12 | (uint64_t)function << 2;
	RN_ERRNO_GUARD;
	uint32_t free = at;
	enum rn_site answer;

	for (uint32_t i = 0; i < NEAR; i++) {
		uint32_t near = (at + i) % RN_SITES;
		uint64_t known = atomic_load_explicit(&rn_caller_cache[near], memory_order_acquire);

		if ((known & ~(uint64_t)3) == key)
			return (enum rn_site)(known & 3);
		if (!known) {
			free = near;
			break;
		}
	}
	answer = decide(from, function);
	atomic_store_explicit(&rn_caller_cache[free], key | (uint64_t)answer, memory_order_release);
	return answer;
}

bool rn_site_is_for_tool(uintptr_t from, uint32_t function)
{
	return rn_site(from, function) == RN_SITE_TOOL;
}

void rn_site_forget(void)
{
	for (uint32_t i = 0; i < RN_SITES; i++)
		atomic_store_explicit(&rn_caller_cache[i], 0, memory_order_relaxed);
}
