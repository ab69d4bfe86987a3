/*
 * real.c - finds the MPI library's functions.
 */
#include "intercept/real.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct rn_real rn_real;

static const struct {
	const char *name;
	size_t at;
} functions[] = {
#define REAL(name, ret, n, decl) { "P" #name, offsetof(struct rn_real, name) },
#include "real_calls.h"
#undef REAL
};

const char *rn_real_resolve(void)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *f = dlsym(RTLD_NEXT, functions[i].name);

		if (!f)
			return functions[i].name;
		memcpy((char *)&rn_real + functions[i].at, &f, sizeof(f));
	}
	return NULL;
}
