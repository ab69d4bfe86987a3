/* elf_deps.c - reads the headers of executables. See elf_deps.h. */
#include "launch/elf_deps.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "launch/spawn.h"

#define MOST_HEADERS 256  /* far more than any linker writes; a damaged file may claim 65535 */
#define MOST_DYNAMIC 1024 /* likewise */
#define LONGEST_NAME PATH_MAX

struct image {
	int fd;
	ElfW(Ehdr) head;
	ElfW(Phdr) seg[MOST_HEADERS];
	unsigned nseg;
};

static bool read_at(const struct image *im, uint64_t at, void *to, size_t n)
{
	return at <= INT64_MAX && pread(im->fd, to, n, (off_t)at) == (ssize_t)n;
}

/* A string of the file, cut off where the array ends. */
static bool read_string(const struct image *im, uint64_t at, char *to, size_t cap)
{
	ssize_t n = at <= INT64_MAX ? pread(im->fd, to, cap - 1, (off_t)at) : -1;

	if (n <= 0)
		return false;
	to[n] = 0;
	return true;
}

/* The header of this very program, which says what runs here. The linker defines it. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

static bool is_for_here(const ElfW(Ehdr) * head)
{
	return __ehdr_start.e_machine == head->e_machine &&
	       __ehdr_start.e_ident[EI_CLASS] == head->e_ident[EI_CLASS] &&
	       __ehdr_start.e_ident[EI_DATA] == head->e_ident[EI_DATA];
}

static bool read_segments(struct image *im)
{
	im->nseg = im->head.e_phnum < MOST_HEADERS ? im->head.e_phnum : MOST_HEADERS;
	return im->head.e_phentsize == sizeof(*im->seg) &&
	       read_at(im, im->head.e_phoff, im->seg, im->nseg * sizeof(*im->seg));
}

static const ElfW(Phdr) * find_segment(const struct image *im, uint32_t type)
{
	for (unsigned i = 0; i < im->nseg; i++)
		if (im->seg[i].p_type == type)
			return &im->seg[i];
	return NULL;
}

/* Where in the file an address of the program is; 0 (the ELF header) if nowhere. */
static uint64_t offset_of(const struct image *im, uint64_t address)
{
	for (unsigned i = 0; i < im->nseg; i++) {
		const ElfW(Phdr) *s = &im->seg[i];

		if (s->p_type == PT_LOAD && address >= s->p_vaddr &&
		    address - s->p_vaddr < s->p_filesz)
			return s->p_offset + (address - s->p_vaddr);
	}
	return 0;
}

static void add_name(struct elf *e, const char *name)
{
	rn_buf_add(&e->needed, name, strlen(name) + 1);
}

static void read_needed(const struct image *im, struct elf *e)
{
	const ElfW(Phdr) *s = find_segment(im, PT_DYNAMIC);
	ElfW(Dyn) dyn[MOST_DYNAMIC];
	size_t n = s ? s->p_filesz / sizeof(*dyn) : 0;
	uint64_t strings = 0;
	char name[LONGEST_NAME];

	n = n < MOST_DYNAMIC ? n : MOST_DYNAMIC;
	if (n == 0 || !read_at(im, s->p_offset, dyn, n * sizeof(*dyn)))
		return;
	for (size_t i = 0; i < n && dyn[i].d_tag != DT_NULL; i++)
		if (dyn[i].d_tag == DT_STRTAB)
			strings = offset_of(im, dyn[i].d_un.d_ptr);
	for (size_t i = 0; i < n && dyn[i].d_tag != DT_NULL && strings; i++)
		if (dyn[i].d_tag == DT_NEEDED &&
		    read_string(im, strings + dyn[i].d_un.d_val, name, sizeof(name)))
			add_name(e, name);
}

/* "#!/usr/bin/env python3" is run by python3. */
static void read_script(const struct image *im, struct elf *e)
{
	static const char blanks[] = " \t";
	char line[256], *word, *more;

	if (!read_string(im, 2, line, sizeof(line)))
		return;
	line[strcspn(line, "\n")] = 0;
	word = strtok_r(line, blanks, &more);
	if (word && strcmp(rn_base_name(word), "env") == 0) {
		do
			word = strtok_r(NULL, blanks, &more);
		while (word && (*word == '-' || strchr(word, '=')));
	}
	if (word)
		strcpy(e->loader, word);
}

static enum elf_kind read_kind(struct image *im, struct elf *e)
{
	const ElfW(Phdr) * s;
	unsigned char magic[2];

	if (read_at(im, 0, magic, 2) && magic[0] == '#' && magic[1] == '!') {
		read_script(im, e);
		return ELF_SCRIPT;
	}
	if (!read_at(im, 0, &im->head, sizeof(im->head)) ||
	    memcmp(im->head.e_ident, ELFMAG, SELFMAG) != 0)
		return ELF_OTHER;
	if (!is_for_here(&im->head))
		return ELF_FOREIGN;
	if (!read_segments(im))
		return ELF_OTHER;
	s = find_segment(im, PT_INTERP);
	if (!s)
		return ELF_STATIC;
	if (!read_string(im, s->p_offset, e->loader, sizeof(e->loader)))
		return ELF_OTHER;
	read_needed(im, e);
	return ELF_DYNAMIC;
}

int elf_read(const char *path, struct elf *e, struct rn_err *err)
{
	struct image im = { .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };

	*e = (struct elf){ .kind = ELF_OTHER };
	/* A program need not be readable to be run. */
	if (im.fd < 0)
		return errno == EACCES ? RN_OK : rn_err_sys(err, "open %s", path);
	e->kind = read_kind(&im, e);
	close(im.fd);
	return RN_OK;
}

/* Whether a defined symbol's name begins so; `names` is where the file has its strings. */
static bool defines(const struct image *im, const ElfW(Shdr) * symbols, uint64_t names,
		    const char *begin)
{
	ElfW(Sym) s[64];
	char name[64];
	size_t n;

	for (uint64_t at = 0; at < symbols->sh_size; at += n * sizeof(*s)) {
		n = (symbols->sh_size - at) / sizeof(*s);
		n = n < 64 ? n : 64;
		if (n == 0 || !read_at(im, symbols->sh_offset + at, s, n * sizeof(*s)))
			return false;
		for (size_t i = 0; i < n; i++)
			if (s[i].st_shndx != SHN_UNDEF &&
			    read_string(im, names + s[i].st_name, name, sizeof(name)) &&
			    rn_begins(name, begin))
				return true;
	}
	return false;
}

static bool read_section(const struct image *im, unsigned i, ElfW(Shdr) * s)
{
	return i < im->head.e_shnum &&
	       read_at(im, im->head.e_shoff + (uint64_t)i * sizeof(*s), s, sizeof(*s));
}

bool elf_defines(const char *path, const char *begin)
{
	struct image im = { .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };
	ElfW(Shdr) s, strings;
	bool found = false;

	if (im.fd < 0)
		return false;
	if (read_at(&im, 0, &im.head, sizeof(im.head)) &&
	    memcmp(im.head.e_ident, ELFMAG, SELFMAG) == 0 && im.head.e_shentsize == sizeof(s))
		for (unsigned i = 0; read_section(&im, i, &s) && !found; i++)
			found = s.sh_type == SHT_DYNSYM && read_section(&im, s.sh_link, &strings) &&
				defines(&im, &s, strings.sh_offset, begin);
	close(im.fd);
	return found;
}

void elf_free(struct elf *e)
{
	rn_buf_free(&e->needed);
}

const char *elf_next(const struct elf *e, const char *name)
{
	const char *begin = (const char *)e->needed.data, *end = begin + e->needed.len;

	name = name ? name + strlen(name) + 1 : begin;
	return e->needed.failed || name == end ? NULL : name;
}

bool elf_needs(const struct elf *e, const char *begin)
{
	for (const char *name = elf_next(e, NULL); name; name = elf_next(e, name))
		if (rn_begins(rn_base_name(name), begin))
			return true;
	return false;
}

enum rn_mpi elf_mpi(const struct elf *e)
{
	enum rn_mpi mpi = RN_MPI_NONE;

	for (const char *name = elf_next(e, NULL); name && !mpi; name = elf_next(e, name))
		mpi = rn_mpi_of_library(name);
	return mpi;
}

/* The loader prints "	NAME => PATH (ADDRESS)" or "	PATH (ADDRESS)". */
bool elf_mpi_deep(const char *path, const struct elf *e, enum rn_mpi *mpi)
{
	char *argv[] = { (char *)e->loader, "--list", (char *)path, NULL };
	struct rn_buf out = { 0 };
	bool listed = capture(argv, &out);
	char *name, *rest = NULL;

	*mpi = RN_MPI_NONE;
	rn_buf_byte(&out, 0);
	listed &= rn_buf_status(&out) == RN_OK;
	name = listed ? strtok_r((char *)out.data, "\n\t ", &rest) : NULL;
	for (; name && !*mpi; name = strtok_r(NULL, "\n\t ", &rest))
		*mpi = rn_mpi_of_library(name);
	rn_buf_free(&out);
	return listed;
}
