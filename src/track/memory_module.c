/*
 * memory_module.c - see memory.h: the modules of the program, as loaded by the dynamic linker.
 *
 * A module that is unloaded and loaded again retains its id. Its block is in the set while it is
 * loaded. The linker counts loads and unloads; the modules are read only if the counts have
 * changed.
 */
#include "track/memory_impl.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"

struct module {
	struct rn_mem_module of;
	struct rn_mem_block *block; /* NULL while the module is not loaded */
	uint64_t seen;              /* the last sweep that found it */
};

static struct rn_seg modules = { .size = sizeof(struct module) }; /* protected by the lock */

/* Protected by the linker's lock. */
static uint64_t adds, subs, sweeps;
static bool stale; /* atomic: sweep even if the counts are unchanged */

struct sweep {
	uint64_t number; /* 0: not begun, or not necessary */
	bool begun;
};

static struct module *module_at(uint32_t i)
{
	return RN_SEG_AT(&modules, struct module, i);
}

static void *copy(const void *bytes, size_t n)
{
	void *to = rn_alloc(&rn_mem.mem, 1, 1, n);

	return to ? memcpy(to, bytes, n) : NULL;
}

/* ---- data of a module from the linker ---- */

static bool range_of(const struct dl_phdr_info *info, uintptr_t *lo, uintptr_t *hi)
{
	*lo = UINTPTR_MAX;
	*hi = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		uintptr_t a = info->dlpi_addr + h->p_vaddr;

		if (h->p_type != PT_LOAD)
			continue;
		*lo = a < *lo ? a : *lo;
		*hi = a + h->p_memsz > *hi ? a + h->p_memsz : *hi;
	}
	return *lo < *hi;
}

/* Finds the build id in a note: three words (length of name, length of contents, type), name and
 * contents, both padded to words. */
static const unsigned char *build_id_in(const unsigned char *note, size_t left, size_t *len)
{
	while (left >= sizeof(ElfW(Nhdr))) {
		ElfW(Nhdr) h;
		size_t name, desc;

		memcpy(&h, note, sizeof(h));
		name = ((size_t)h.n_namesz + 3) & ~(size_t)3;
		desc = ((size_t)h.n_descsz + 3) & ~(size_t)3;
		if (left - sizeof(h) < name || left - sizeof(h) - name < desc)
			return NULL;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
		    memcmp(note + sizeof(h), "GNU", 4) == 0) {
			*len = h.n_descsz;
			return note + sizeof(h) + name;
		}
		note += sizeof(h) + name + desc;
		left -= sizeof(h) + name + desc;
	}
	return NULL;
}

/* Returns whether a note is in memory; others cannot be read. */
static bool is_loaded(const struct dl_phdr_info *info, const ElfW(Phdr) * part)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		if (h->p_type == PT_LOAD && part->p_vaddr >= h->p_vaddr &&
		    part->p_memsz <= h->p_filesz &&
		    part->p_vaddr - h->p_vaddr <= h->p_filesz - part->p_memsz)
			return true;
	}
	return false;
}

static const unsigned char *build_id_of(const struct dl_phdr_info *info, size_t *len)
{
	const unsigned char *id = NULL;

	for (int i = 0; !id && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		if (h->p_type == PT_NOTE && is_loaded(info, h))
			id = build_id_in((const unsigned char *)info->dlpi_addr + h->p_vaddr,
					 h->p_memsz, len);
	}
	return id;
}

/* Returns the path of a module. The linker's name of the program itself is "". */
static const char *path_of(const struct dl_phdr_info *info, char *room, size_t n)
{
	ssize_t len;

	if (info->dlpi_name && *info->dlpi_name)
		return info->dlpi_name;
	len = readlink("/proc/self/exe", room, n - 1);
	room[len > 0 ? len : 0] = '\0';
	return room;
}

/* ---- the table ---- */

/* Returns the label of a new module, or NULL without memory. */
static const char *label_of(const char *name)
{
	size_t n = strlen(name) + sizeof("#4294967295");
	uint32_t same = 1;
	char *label;

	for (uint32_t i = 0; i < modules.n; i++)
		same += strcmp(module_at(i)->of.name, name) == 0;
	if (same == 1)
		return name;
	label = rn_alloc(&rn_mem.mem, 1, 1, n);
	if (label)
		snprintf(label, n, "%s#%u", name, same);
	return label;
}

static bool new_module(const struct dl_phdr_info *info, const char *path, uint32_t *i)
{
	struct rn_mem_module m = { .path = copy(path, strlen(path) + 1) };
	const unsigned char *id = build_id_of(info, &m.build_id_len);

	if (!m.path || !rn_seg_reserve(&modules, &rn_mem.mem, 1))
		return false;
	m.name = strrchr(m.path, '/');
	m.name = m.name ? m.name + 1 : m.path;
	m.label = label_of(m.name);
	if (!m.label)
		return false;
	m.build_id = id ? copy(id, m.build_id_len) : NULL;
	m.build_id_len = m.build_id ? m.build_id_len : 0;
	*i = RN_SEG_PUT(&modules, struct module, (struct module){ .of = m });
	return true;
}

/* Finds a module of this path that is not recorded as loaded. */
static bool find_unloaded(const char *path, uint32_t *i)
{
	for (*i = 0; *i < modules.n; ++*i)
		if (!module_at(*i)->block && strcmp(module_at(*i)->of.path, path) == 0)
			return true;
	return false;
}

static void unload(struct rn_mem_block *b)
{
	module_at(b->id)->block = NULL;
	rn_mem_set_remove(&rn_mem.modules, b);
	rn_mem_block_gone(b);
}

static void load(const struct dl_phdr_info *info, uint64_t sweep, uintptr_t lo, uintptr_t hi)
{
	char room[4096];
	const char *path = path_of(info, room, sizeof(room));
	struct rn_mem_block *b = rn_mem_set_find(rn_mem.modules, lo);
	uint32_t i;

	if (b && b->lo == lo && b->hi == hi && strcmp(module_at(b->id)->of.path, path) == 0) {
		module_at(b->id)->seen = sweep;
		return;
	}
	while ((b = rn_mem_set_overlap(rn_mem.modules, lo, hi)))
		unload(b);
	if (!find_unloaded(path, &i) && !new_module(info, path, &i))
		return;
	b = rn_mem_block_new(lo, hi, RN_MEM_STATIC);
	if (!b)
		return;
	b->id = i;
	b->origin = info->dlpi_addr;
	rn_mem_set_insert(&rn_mem.modules, b);
	module_at(i)->block = b;
	module_at(i)->seen = sweep;
}

static void unload_unseen(uint64_t sweep)
{
	for (uint32_t i = 0; i < modules.n; i++)
		if (module_at(i)->block && module_at(i)->seen < sweep)
			unload(module_at(i)->block);
}

/* ---- sweeping ---- */

/* Begins the sweep at the first module, if the linker's counts have changed. The linker's lock is
 * held, so the sweeps of several threads are serialized. */
static bool begin(struct sweep *s, const struct dl_phdr_info *info, size_t size)
{
	bool counts = size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs);

	s->begun = true;
	if (!__atomic_exchange_n(&stale, false, __ATOMIC_RELAXED) && sweeps && counts &&
	    info->dlpi_adds == adds && info->dlpi_subs == subs)
		return false;
	if (counts) {
		adds = info->dlpi_adds;
		subs = info->dlpi_subs;
	}
	s->number = ++sweeps;
	return true;
}

static int see(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct sweep *s = arg;
	uintptr_t lo, hi;

	if (!s->begun && !begin(s, info, size))
		return 1;
	if (range_of(info, &lo, &hi) && rn_mem_enter()) {
		load(info, s->number, lo, hi);
		rn_mem_leave();
	}
	return 0;
}

void rn_mem_modules_refresh(void)
{
	struct sweep s = { 0 };

	dl_iterate_phdr(see, &s);
	if (!s.number || !rn_mem_enter())
		return;
	unload_unseen(s.number);
	rn_mem_leave();
}

void rn_mem_modules_changed(void)
{
	__atomic_store_n(&stale, true, __ATOMIC_RELAXED);
	rn_mem_modules_refresh();
}

struct rn_mem_module rn_mem_module(uint32_t id)
{
	struct rn_mem_module m = { 0 };

	if (rn_mem_enter()) {
		if (id < modules.n)
			m = module_at(id)->of;
		rn_mem_leave();
	}
	return m;
}
