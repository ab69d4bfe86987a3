/* elf_deps.c - reads the headers of executables. See elf_deps.h. */
#include "launch/elf_deps.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "launch/spawn.h"

#define MOST_ENTRIES 1024 /* read from the dynamic section; a damaged file may have more */

/* Reads a string of the file, and truncates it to the size of the array. */
static bool read_string(int fd, uint64_t at, char *to, size_t cap)
{
	ssize_t n = at <= INT64_MAX ? pread(fd, to, cap - 1, (off_t)at) : -1;

	if (n <= 0)
		return false;
	to[n] = 0;
	return true;
}

/* The ELF header of this program, defined by the linker. It contains the machine architecture. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

static bool is_for_here(const GElf_Ehdr *head)
{
	return __ehdr_start.e_machine == head->e_machine &&
	       __ehdr_start.e_ident[EI_CLASS] == head->e_ident[EI_CLASS] &&
	       __ehdr_start.e_ident[EI_DATA] == head->e_ident[EI_DATA];
}

/* Returns the contents of the first section of a type, or NULL. */
static Elf_Data *find_section(Elf *file, uint32_t type, GElf_Shdr *section)
{
	Elf_Scn *s = NULL;

	while ((s = elf_nextscn(file, s)))
		if (gelf_getshdr(s, section) && section->sh_type == type)
			return elf_getdata(s, NULL);
	return NULL;
}

static void read_needed(Elf *file, struct elf *e)
{
	GElf_Shdr section;
	Elf_Data *data = find_section(file, SHT_DYNAMIC, &section);
	GElf_Dyn d;

	for (int i = 0; data && i < MOST_ENTRIES && gelf_getdyn(data, i, &d); i++) {
		const char *name = d.d_tag == DT_NEEDED
					   ? elf_strptr(file, section.sh_link, d.d_un.d_val)
					   : NULL;

		if (d.d_tag == DT_NULL)
			break;
		if (name && strlen(name) < PATH_MAX)
			rn_buf_add(&e->needed, name, strlen(name) + 1);
	}
}

/* For "#!/usr/bin/env python3", the interpreter is python3. */
static void read_script(int fd, struct elf *e)
{
	static const char blanks[] = " \t";
	char line[256], *word, *more;

	if (!read_string(fd, 2, line, sizeof(line)))
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

/* Reads the program headers. A program without a dynamic loader is static. */
static enum elf_kind read_segments(int fd, Elf *file, struct elf *e)
{
	GElf_Phdr s;
	size_t n;

	if (elf_getphdrnum(file, &n) < 0 || n == 0)
		return ELF_OTHER;
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(file, (int)i, &s))
			return ELF_OTHER;
		if (s.p_type == PT_INTERP)
			return read_string(fd, s.p_offset, e->loader, sizeof(e->loader))
				       ? ELF_DYNAMIC
				       : ELF_OTHER;
	}
	return ELF_STATIC;
}

static enum elf_kind read_elf(int fd, Elf *file, struct elf *e)
{
	enum elf_kind kind;
	GElf_Ehdr head;

	if (!file || !gelf_getehdr(file, &head))
		return ELF_OTHER;
	if (!is_for_here(&head))
		return ELF_FOREIGN;
	kind = read_segments(fd, file, e);
	if (kind == ELF_DYNAMIC)
		read_needed(file, e);
	return kind;
}

static Elf *begin_elf(int fd)
{
	elf_version(EV_CURRENT);
	return elf_begin(fd, ELF_C_READ, NULL);
}

int elf_read(const char *path, struct elf *e, struct rn_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char magic[3];
	Elf *file;

	*e = (struct elf){ .kind = ELF_OTHER };
	/* A program can be executable without being readable. */
	if (fd < 0)
		return errno == EACCES ? RN_OK : rn_err_sys(err, "open %s", path);
	if (read_string(fd, 0, magic, sizeof(magic)) && strcmp(magic, "#!") == 0) {
		e->kind = ELF_SCRIPT;
		read_script(fd, e);
	} else {
		file = begin_elf(fd);
		e->kind = read_elf(fd, file, e);
		elf_end(file);
	}
	close(fd);
	return RN_OK;
}

bool elf_defines(const char *path, const char *begin)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	Elf *file = fd >= 0 ? begin_elf(fd) : NULL;
	GElf_Shdr section;
	Elf_Data *data = file ? find_section(file, SHT_DYNSYM, &section) : NULL;
	bool found = false;
	GElf_Sym s;

	for (int i = 0; data && !found && gelf_getsym(data, i, &s); i++) {
		const char *name = s.st_shndx != SHN_UNDEF
					   ? elf_strptr(file, section.sh_link, s.st_name)
					   : NULL;

		found = name && rn_begins(name, begin);
	}
	elf_end(file);
	if (fd >= 0)
		close(fd);
	return found;
}

void elf_free(struct elf *e)
{
	rn_buf_free(&e->needed);
}

const char *elf_library(const struct elf *e, const char *name)
{
	const char *begin = (const char *)e->needed.data, *end = begin + e->needed.len;

	name = name ? name + strlen(name) + 1 : begin;
	return e->needed.failed || name == end ? NULL : name;
}

bool elf_needs(const struct elf *e, const char *begin)
{
	for (const char *name = elf_library(e, NULL); name; name = elf_library(e, name))
		if (rn_begins(rn_base_name(name), begin))
			return true;
	return false;
}

enum rn_mpi elf_mpi(const struct elf *e)
{
	enum rn_mpi mpi = RN_MPI_NONE;

	for (const char *name = elf_library(e, NULL); name && !mpi; name = elf_library(e, name))
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
