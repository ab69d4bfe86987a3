/*
 * loaded_object.c - see loaded_object.h.
 */
#include "preload/loaded_object.h"

#include "base/mpi_detect.h"
#include "preload/next_mpi.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

const struct link_map *rn_object_at(uintptr_t address)
{
	struct link_map *object;
	Dl_info where;

	return dladdr1((void *)address, &where, (void **)&object, RTLD_DL_LINKMAP) ? object : NULL;
}

/* ---- symbols ---- */

struct symbols {
	const ElfW(Sym) * symbol;
	const char *strings;
	size_t size;           /* bytes of the strings */
	const uint32_t *hash;  /* GNU hash: number of buckets, first hashed symbol, words of the
				  filter, shift */
	const uint32_t *chain; /* SysV hash: number of buckets, number of symbols */
};

/* Returns the value with this tag in the dynamic section, or 0. */
static ElfW(Addr) value_of(const struct link_map *object, ElfW(Sxword) tag)
{
	for (const ElfW(Dyn) *d = object->l_ld; d->d_tag != DT_NULL; d++)
		if (d->d_tag == tag)
			return d->d_un.d_val;
	return 0;
}

/* The table with this tag, or NULL. The loader may have left addresses as they are in the file. */
static const void *table_of(const struct link_map *object, ElfW(Sxword) tag)
{
	ElfW(Addr) at = value_of(object, tag);

	return (const void *)(at && at < object->l_addr ? at + object->l_addr : at);
}

static bool find_symbols(const struct link_map *object, struct symbols *s)
{
	*s = (struct symbols){ .symbol = table_of(object, DT_SYMTAB),
			       .strings = table_of(object, DT_STRTAB),
			       .size = value_of(object, DT_STRSZ),
			       .hash = table_of(object, DT_GNU_HASH),
			       .chain = table_of(object, DT_HASH) };
	return s->symbol && s->strings;
}

/* Replaces strcmp, because the strcmp of a sanitizer fails before the sanitizer is initialized. */
static bool are_equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static bool is(const struct symbols *s, size_t i, const char *name, bool defined)
{
	return (s->symbol[i].st_shndx != SHN_UNDEF) == defined && s->symbol[i].st_name < s->size &&
	       are_equal(s->strings + s->symbol[i].st_name, name);
}

/* Returns the index of the symbol by a search of all symbols; 0 if it is not defined. */
static size_t among(const struct symbols *s, const char *name)
{
	for (size_t i = 1; s->chain && i < s->chain[1]; i++)
		if (is(s, i, name, true))
			return i;
	return 0;
}

/* Returns the index of the symbol by the GNU hash table; 0 if it is not defined. The bucket
 * contains the first symbol with its hashes; the last one has an odd hash. */
static size_t in_hash(const struct symbols *s, const char *name)
{
	uint32_t h = 5381, buckets = s->hash[0], first = s->hash[1], i;
	const uint32_t *bucket = s->hash + 4 + s->hash[2] * (sizeof(ElfW(Addr)) / 4);

	for (const char *c = name; *c; c++)
		h = h * 33 + (unsigned char)*c;
	i = buckets ? bucket[h % buckets] : 0;
	for (; i && i >= first; i++) {
		uint32_t hash = bucket[buckets + i - first];

		if ((hash | 1) == (h | 1) && is(s, i, name, true))
			return i;
		if (hash & 1)
			break;
	}
	return 0;
}

/* The value of an indirect function is a resolver, which returns the address. */
static void *address_of(const struct link_map *object, const ElfW(Sym) * symbol)
{
	void *at = (void *)(object->l_addr + symbol->st_value);

	return ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC ? ((void *(*)(void))at)() : at;
}

void *rn_object_symbol(const struct link_map *object, const char *name)
{
	struct symbols s;
	size_t i;

	if (!find_symbols(object, &s))
		return NULL;
	i = s.hash ? in_hash(&s, name) : among(&s, name);
	return i ? address_of(object, &s.symbol[i]) : NULL;
}

static bool defines(const struct link_map *object, const char *name)
{
	return rn_object_symbol(object, name) != NULL;
}

struct search {
	const struct link_map *object;
	const char *name;
};

/* Called once, with the list of objects locked. */
static int find_next(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;

	(void)info;
	(void)size;
	s->object = s->object ? s->object->l_next : _r_debug.r_map;
	while (s->object && !defines(s->object, s->name))
		s->object = s->object->l_next;
	return 1;
}

const struct link_map *rn_object_next(const struct link_map *object, const char *name)
{
	struct search s = { object, name };

	dl_iterate_phdr(find_next, &s);
	return s.object;
}

/* Searches the relocations. The number of symbols is not known, because no hash table has the
 * undefined ones. An imported symbol always has a relocation. */
bool rn_object_imports(const struct link_map *object, const char *name)
{
	static const ElfW(Sxword)
		uses[][2] = { { DT_RELA, DT_RELASZ }, { DT_JMPREL, DT_PLTRELSZ } };
	struct symbols s;

	if (!find_symbols(object, &s))
		return false;
	for (int k = 0; k < 2; k++) {
		const ElfW(Rela) *entry = table_of(object, uses[k][0]);
		size_t n = value_of(object, uses[k][1]) / sizeof(*entry);

		/* The first entries of DT_RELA have no symbol. */
		for (size_t i = k ? 0 : value_of(object, DT_RELACOUNT); i < n; i++)
			if (is(&s, ELF64_R_SYM(entry[i].r_info), name, false))
				return true;
	}
	return false;
}

/* ---- kinds ---- */

/* Whether the object is a component of Open MPI, which loads mca_KIND_NAME.so and looks up
 * mca_KIND_NAME_component in it. */
static bool is_component(const struct link_map *object)
{
	const char *name = rn_base_name(object->l_name);
	char symbol[256];

	if (!rn_begins(name, "mca_"))
		return false;
	snprintf(symbol, sizeof(symbol), "%.*s_component", (int)strcspn(name, "."), name);
	return defines(object, symbol);
}

/* Whether the object defines MPI_Init for Fortran: under the names that compilers use, or under the
 * name that the mpi_f08 modules of Open MPI and MPICH call. */
static bool binds_fortran(const struct link_map *object)
{
	static const char *const init[] = { "mpi_init_", "mpi_init__",    "mpi_init",
					    "MPI_INIT",  "mpi_init_f08_", NULL };

	for (int i = 0; init[i]; i++)
		if (defines(object, init[i]))
			return true;
	return false;
}

/* The objects before the tracer in the list are loaded with the program and never unloaded. */
const struct link_map *rn_object_ours(void)
{
	static const struct link_map *ours; /* several threads compute the same value */
	const struct link_map *known = __atomic_load_n(&ours, __ATOMIC_RELAXED);

	if (!known) {
		for (known = _r_debug.r_map; known->l_ld != _DYNAMIC; known = known->l_next)
			;
		__atomic_store_n(&ours, known, __ATOMIC_RELAXED);
	}
	return known;
}

enum rn_object_kind rn_object_kind(const struct link_map *object)
{
	if (object == rn_object_ours())
		return RN_OBJECT_TRACER;
	if (object == rn_real_library || is_component(object))
		return RN_OBJECT_MPI;
	/* A tool can define both mpi_init_ and MPI_Init; and a program may be linked statically
	 * with bindings. */
	if (!*object->l_name || defines(object, "MPI_Init"))
		return RN_OBJECT_PROGRAM;
	if (defines(object, "_ZN3MPI4InitERiRPPc")) /* MPI::Init(int &, char **&) */
		return RN_OBJECT_CXX;
	return binds_fortran(object) ? RN_OBJECT_FORTRAN : RN_OBJECT_PROGRAM;
}
