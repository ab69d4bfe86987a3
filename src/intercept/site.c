/*
 * site.c - looks at the object that a call came from.
 */
#include "intercept/site.h"

#include "encode/raw.h"
#include "intercept/config.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

_Atomic uint64_t rn_sites[RN_SITES];

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool begins(const char *s, const char *const *with)
{
	for (; *with; with++)
		if (strncmp(s, *with, strlen(*with)) == 0)
			return true;
	return false;
}

static bool is_fortran_binding(const char *object)
{
	static const char *const names[] = { "libmpi_mpifh.", "libmpi_usempi", "libmpichfort.",
					     "libmpifort.", NULL };

	return begins(object, names);
}

static bool is_mpi(const char *object)
{
	static const char *const names[] = {
		"libmpi.",    "libmpich.",    "libmpi_", "libopen-rte", "libopen-pal", "mca_",
		"libmca_",    "libucp.",      "libucs.", "libuct.",     "libucm.",     "libpmix.",
		"libfabric.", "libmpichcxx.", "libpmpi", NULL
	};

	return begins(object, names);
}

/* mpi_send_, pmpi_send__, ompi_send_f, MPI_SEND, mpi_send_f08_, MPIR_Send_cdesc: all are "send". */
static bool binds(const char *symbol, const char *function)
{
	static const char *const ends[] = { "_cdesc", "_f08ts", "_f08", "_f", "_", NULL };
	char s[128];
	size_t n = 0;
	bool cut = true;

	for (; symbol[n] && n < sizeof(s) - 1; n++)
		s[n] = (char)tolower((unsigned char)symbol[n]);
	s[n] = '\0';
	while (cut) {
		cut = false;
		for (int i = 0; ends[i]; i++) {
			size_t m = strlen(ends[i]);

			if (n > m && strcmp(s + n - m, ends[i]) == 0) {
				s[n -= m] = '\0';
				cut = true;
				break;
			}
		}
	}
	symbol = s + strspn(s, "po");
	if (strncmp(symbol, "mpi", 3) != 0)
		return false;
	symbol += strncmp(symbol, "mpir_", 5) == 0 ? 5 : 4;
	return strcasecmp(symbol, strchr(function, '_') + 1) == 0;
}

/* On x86: E8 and four bytes. Elsewhere there is no telling, and the library is believed. */
static bool direct_call(uintptr_t from)
{
#if defined(__x86_64__)
	return *(const unsigned char *)(from - 5) == 0xe8;
#else
	(void)from;
	return true;
#endif
}

/* The function that an address is in, if it is one that the object shows. */
static const char *symbol_at(uintptr_t from)
{
	const ElfW(Sym) * symbol;
	Dl_info where;

	if (!dladdr1((void *)from, &where, (void **)&symbol, RTLD_DL_SYMENT) || !where.dli_sname ||
	    !symbol || from - (uintptr_t)where.dli_saddr > symbol->st_size)
		return NULL;
	return where.dli_sname;
}

static bool decide(uintptr_t from, uint32_t function)
{
	static char own;
	Dl_info where, us;
	const char *object, *symbol;

	if (!rn_config_wants_call(rn_mpi_protos[function].name))
		return false;
	if (!dladdr((void *)from, &where) || !where.dli_fname)
		return true;
	if (dladdr(&own, &us) && us.dli_fbase == where.dli_fbase)
		return false;
	object = base_name(where.dli_fname);
	if (is_fortran_binding(object)) {
		symbol = symbol_at(from);
		return !symbol || binds(symbol, rn_mpi_protos[function].name);
	}
	return !is_mpi(object) || !direct_call(from);
}

/* Places near its own, so that two calls with one place are not decided again and again. */
#define NEAR 8u

bool rn_site_decide(uintptr_t from, uint32_t function, uint32_t at)
{
	uint64_t key = (uint64_t)from << 11 | (uint64_t)function << 1;
	int saved = errno;
	uint32_t free = at;
	bool yes;

	for (uint32_t i = 0; i < NEAR; i++) {
		uint32_t near = (at + i) % RN_SITES;
		uint64_t known = atomic_load_explicit(&rn_sites[near], memory_order_relaxed);

		if ((known & ~(uint64_t)1) == key)
			return known & 1;
		if (!known) {
			free = near;
			break;
		}
	}
	yes = decide(from, function);
	atomic_store_explicit(&rn_sites[free], key | (uint64_t)yes, memory_order_relaxed);
	errno = saved;
	return yes;
}

void rn_site_forget(void)
{
	for (uint32_t i = 0; i < RN_SITES; i++)
		atomic_store_explicit(&rn_sites[i], 0, memory_order_relaxed);
}
