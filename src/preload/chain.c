/* chain.c - see chain.h. */
#include "preload/chain.h"

#include "preload/loaded_object.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

struct rn_libc rn_chain_libc;
bool rn_chain_libc_known;

static const struct {
	const char *name;
	size_t at;
} libc[] = {
#define NEXT(name, ret, number, decl) { #name, offsetof(struct rn_libc, name) },
#include "next_posix_calls.h"
#undef NEXT
};

/* The functions are in libraries that are loaded with the program and never unloaded. The search
 * ends there, before objects that may be unloaded, and therefore needs no lock. */
static void *find_in_libc(const char *name)
{
	const struct link_map *object = rn_object_ours()->l_next;
	void *f = NULL;

	for (; object && !f; object = object->l_next)
		f = rn_object_symbol(object, name);
	return f;
}

/* The first call is made before the process has a second thread. */
void rn_chain_find_libc(void)
{
	for (size_t i = 0; i < sizeof(libc) / sizeof(*libc); i++) {
		void *f = find_in_libc(libc[i].name);

		memcpy((char *)&rn_chain_libc + libc[i].at, &f, sizeof(f));
	}
	__atomic_store_n(&rn_chain_libc_known, true, __ATOMIC_RELEASE);
}

void *rn_chain_find(const char *name)
{
	const struct link_map *object = rn_object_next(rn_object_ours(), name);

	return object ? rn_object_symbol(object, name) : NULL;
}
