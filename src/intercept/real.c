/*
 * real.c - finds the MPI library's functions.
 */
#include "intercept/real.h"

#include "base/which_mpi.h"
#include "intercept/loader.h"
#include "intercept/object.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

struct rn_real rn_real, rn_next, rn_tool;
const struct link_map *rn_real_library;

static const struct {
	const char *name;
	size_t at;
	uint32_t number;
} functions[] = {
#define REAL(name, ret, n, decl) { "P" #name, offsetof(struct rn_real, name), n },
#include "real_calls.h"
#undef REAL
};

#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static bool same_object(void *a, void *b)
{
	Dl_info one, other;

	return dladdr(a, &one) && dladdr(b, &other) && one.dli_fbase == other.dli_fbase;
}

const char *rn_real_resolve(void)
{
	rn_dlsym *real_dlsym = rn_loader_dlsym();
	const char *missing = NULL;

	for (size_t i = 0; i < FUNCTIONS; i++) {
		void *f = real_dlsym(RTLD_NEXT, functions[i].name);
		void *mpi_x = real_dlsym(RTLD_NEXT, functions[i].name + 1);

		if (!f)
			missing = functions[i].name;
		memcpy((char *)&rn_real + functions[i].at, &f, sizeof(f));
		/* In the MPI library they are one function with two names. */
		if (f && mpi_x && mpi_x != f && !same_object(mpi_x, f))
			memcpy((char *)&rn_tool + functions[i].at, &mpi_x, sizeof(mpi_x));
	}
	rn_next = rn_real;
	rn_real_library = rn_object_at((uintptr_t)rn_real.MPI_Init);
	return missing;
}

#ifdef OPEN_MPI
#define OTHER RN_MPI_MPICH
#else
#define OTHER RN_MPI_OMPI
#endif

static int find_other(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct link_map **found = arg;

	(void)size;
	if (rn_mpi_of_library(info->dlpi_name) != OTHER)
		return 0;
	*found = rn_object_at((uintptr_t)info->dlpi_phdr);
	return *found && rn_object_symbol(*found, "PMPI_Init");
}

bool rn_real_is_other(void)
{
	const struct link_map *other = NULL;

	if (!dl_iterate_phdr(find_other, &other))
		return false;
	for (size_t i = 0; i < FUNCTIONS; i++) {
		void *f = rn_object_symbol(other, functions[i].name);

		memcpy((char *)&rn_real + functions[i].at, &f, sizeof(f));
	}
	rn_next = rn_real;
	return true;
}

static void *function_of(const struct rn_real *table, uint32_t number)
{
	void *f = NULL;

	for (size_t i = 0; i < FUNCTIONS; i++)
		if (functions[i].number == number)
			memcpy(&f, (const char *)table + functions[i].at, sizeof(f));
	return f;
}

void *rn_tool_function(uint32_t number)
{
	return function_of(&rn_tool, number);
}

bool rn_real_hooked(uint32_t number)
{
	return function_of(&rn_next, number) != function_of(&rn_real, number);
}
