/*
 * real.c - finds the MPI library's functions.
 */
#include "intercept/real.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct rn_real rn_real, rn_tool;

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
	const char *missing = NULL;

	for (size_t i = 0; i < FUNCTIONS; i++) {
		void *f = dlsym(RTLD_NEXT, functions[i].name);
		void *mpi_x = dlsym(RTLD_NEXT, functions[i].name + 1);

		if (!f)
			missing = functions[i].name;
		memcpy((char *)&rn_real + functions[i].at, &f, sizeof(f));
		/* In the MPI library they are one function with two names. */
		if (f && mpi_x && mpi_x != f && !same_object(mpi_x, f))
			memcpy((char *)&rn_tool + functions[i].at, &mpi_x, sizeof(mpi_x));
	}
	return missing;
}

void *rn_tool_function(uint32_t number)
{
	void *f = NULL;

	for (size_t i = 0; i < FUNCTIONS; i++)
		if (functions[i].number == number)
			memcpy(&f, (char *)&rn_tool + functions[i].at, sizeof(f));
	return f;
}
