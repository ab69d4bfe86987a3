/*
 * next_mpi.c - finds the MPI library's functions.
 */
#include "preload/next_mpi.h"

#include "base/mpi_detect.h"
#include "preload/chain.h"
#include "preload/loaded_object.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

struct rn_real rn_real, rn_next[RN_LINKS], rn_tool;
const struct link_map *rn_real_library;

static const struct {
	const char *name;
	size_t at;
	uint32_t number;
} functions[] = {
#define NEXT(name, ret, number, decl) { "P" #name, offsetof(struct rn_real, name), number },
#include "next_mpi_calls.h"
#undef NEXT
};

#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static void set(struct rn_real *table, size_t i, void *f)
{
	memcpy((char *)table + functions[i].at, &f, sizeof(f));
}

static void start_chain(void)
{
	for (int link = 0; link < RN_LINKS; link++)
		rn_next[link] = rn_real;
}

void rn_link_insert(enum rn_link link, size_t at, void *hook)
{
	char *next = (char *)&rn_next[link] + at, *before;

	for (int i = 0; i < (int)link; i++) {
		before = (char *)&rn_next[i] + at;
		if (memcmp(before, next, sizeof(hook)) == 0)
			memcpy(before, &hook, sizeof(hook));
	}
}

void rn_real_resolve(void)
{
	for (size_t i = 0; i < FUNCTIONS; i++) {
		void *f = rn_chain_find(functions[i].name);
		void *mpi_x = rn_chain_find(functions[i].name + 1);

		set(&rn_real, i, f);
		/* In the MPI library, both names refer to one function. */
		if (f && mpi_x && mpi_x != f &&
		    rn_object_at((uintptr_t)mpi_x) != rn_object_at((uintptr_t)f))
			set(&rn_tool, i, mpi_x);
	}
	start_chain();
	rn_real_library = rn_object_at((uintptr_t)rn_real.MPI_Init);
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
	for (size_t i = 0; i < FUNCTIONS; i++)
		set(&rn_real, i, rn_object_symbol(other, functions[i].name));
	start_chain();
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
	return function_of(&rn_next[RN_LINK_TRACE], number) != function_of(&rn_real, number);
}
