/*
 * faults.c - Linked into a test program: makes system calls and allocations of the tracer fail.
 *
 *	RONDO_FAULT="KIND HOW N ERRNO RANK"
 *
 *	KIND    disk     functions that create, fill, rename or find files
 *	        memory   functions that allocate memory
 *	HOW     one      the N-th call fails, counted from 1
 *	        on       the N-th call and all later calls fail
 *	ERRNO   the error, as a number
 *	RANK    the rank whose calls fail; -1: all ranks
 *
 * A call comes from the tracer if its return address is in the tracer. Writes to standard error
 * never fail. The functions of an executable take precedence over those of all libraries. Therefore
 * they receive the calls of the tracer, also of its own malloc and mmap, and forward them to the
 * function that would have been called without them.
 *
 * When a call has failed, the directory RONDO_FAULT_FIRED contains a file whose name is the process
 * id and the name of the function.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { DISK, MEMORY };

static struct {
	bool known;
	enum kind kind;
	bool on; /* all later calls fail, too */
	long n;
	int error;
} fault;

/* The address ranges of the tracer and of the library that compresses for it. */
static struct {
	uintptr_t from, to;
} range[4];
static unsigned ranges;
static long seen; /* atomic */

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	if (!strstr(info->dlpi_name, "/librondo-") && !strstr(info->dlpi_name, "/libzstd."))
		return 0;
	for (int i = 0; i < info->dlpi_phnum && ranges < 4; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		range[ranges].from = info->dlpi_addr + p->p_vaddr;
		range[ranges++].to = info->dlpi_addr + p->p_vaddr + p->p_memsz;
	}
	return 0;
}

static int own_rank(void)
{
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");

	rank = rank ? rank : getenv("PMI_RANK");
	return rank ? atoi(rank) : 0;
}

static void look_up(void)
{
	const char *s = getenv("RONDO_FAULT");
	char kind[16], how[16];
	int rank;

	if (s && sscanf(s, "%15s %15s %ld %d %d", kind, how, &fault.n, &fault.error, &rank) == 5 &&
	    (rank < 0 || rank == own_rank())) {
		fault.kind = strcmp(kind, "disk") == 0 ? DISK : MEMORY;
		fault.on = strcmp(how, "on") == 0;
	} else {
		fault.n = 0;
	}
	dl_iterate_phdr(look_at, NULL);
}

static void tell(const char *function)
{
	const char *folder = getenv("RONDO_FAULT_FIRED");
	char path[4096];
	int fd;

	if (!folder)
		return;
	snprintf(path, sizeof(path), "%s/%ld-%s", folder, (long)getpid(), function);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd >= 0)
		syscall(SYS_close, fd);
}

static bool is_tracer(const void *caller)
{
	for (unsigned i = 0; i < ranges; i++)
		if ((uintptr_t)caller >= range[i].from && (uintptr_t)caller < range[i].to)
			return true;
	return false;
}

/* Returns whether the call with this return address must fail, and sets errno if so. */
static bool fails(enum kind kind, const char *function, const void *caller)
{
	int saved = errno;
	long i;

	if (!fault.known) {
		fault.known = true;
		look_up();
	}
	errno = saved;
	if (fault.n == 0 || kind != fault.kind || !is_tracer(caller))
		return false;
	i = __atomic_add_fetch(&seen, 1, __ATOMIC_RELAXED);
	if (i < fault.n || (i > fault.n && !fault.on))
		return false;
	tell(function);
	errno = fault.error;
	return true;
}

#define FAILS(kind, function) fails(kind, function, __builtin_return_address(0))

/* Returns the function of this name from the libraries. */
#define NEXT(name)                     \
	static __typeof__(&name) next; \
	if (!next)                     \
		next = (__typeof__(&name))next_of(#name);

/* The lookup of malloc must not allocate memory. */
static __thread bool looking;

static void *next_of(const char *name)
{
	void *f;

	looking = true;
	f = dlsym(RTLD_NEXT, name);
	looking = false;
	return f;
}

/* ---- memory ---- */

void *malloc(size_t n)
{
	NEXT(malloc)
	if (looking || FAILS(MEMORY, "malloc"))
		return NULL;
	return next(n);
}

void *calloc(size_t n, size_t size)
{
	NEXT(calloc)
	if (looking || FAILS(MEMORY, "calloc"))
		return NULL;
	return next(n, size);
}

void *realloc(void *p, size_t n)
{
	NEXT(realloc)
	if (FAILS(MEMORY, "realloc"))
		return NULL;
	return next(p, n);
}

char *strdup(const char *s)
{
	NEXT(strdup)
	return FAILS(MEMORY, "strdup") ? NULL : next(s);
}

char *strndup(const char *s, size_t n)
{
	NEXT(strndup)
	return FAILS(MEMORY, "strndup") ? NULL : next(s, n);
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	NEXT(mmap)
	return FAILS(MEMORY, "mmap") ? MAP_FAILED : next(at, n, prot, flags, fd, offset);
}

void *mremap(void *p, size_t n, size_t new_n, int flags, ...)
{
	va_list args;
	void *at;

	NEXT(mremap)
	va_start(args, flags);
	at = flags & MREMAP_FIXED ? va_arg(args, void *) : NULL;
	va_end(args);
	return FAILS(MEMORY, "mremap") ? MAP_FAILED : next(p, n, new_n, flags, at);
}

/* ---- files ---- */

static int mode_of(int flags, va_list args)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, int) : 0;
}

int open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	NEXT(open)
	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return FAILS(DISK, "open") ? -1 : next(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
	va_list args;
	int mode;

	NEXT(openat)
	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return FAILS(DISK, "openat") ? -1 : next(folder, path, flags, mode);
}

DIR *opendir(const char *path)
{
	NEXT(opendir)
	return FAILS(DISK, "opendir") ? NULL : next(path);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
	NEXT(write)
	return fd != STDERR_FILENO && FAILS(DISK, "write") ? -1 : next(fd, bytes, n);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	NEXT(pwrite)
	return FAILS(DISK, "pwrite") ? -1 : next(fd, bytes, n, at);
}

ssize_t pwritev(int fd, const struct iovec *pieces, int n, off_t at)
{
	NEXT(pwritev)
	return FAILS(DISK, "pwritev") ? -1 : next(fd, pieces, n, at);
}

int ftruncate(int fd, off_t n)
{
	NEXT(ftruncate)
	return FAILS(DISK, "ftruncate") ? -1 : next(fd, n);
}

/* posix_fallocate returns the error number and does not change errno. */
int posix_fallocate(int fd, off_t at, off_t n)
{
	int saved = errno;

	NEXT(posix_fallocate)
	if (FAILS(DISK, "posix_fallocate")) {
		errno = saved;
		return fault.error;
	}
	return next(fd, at, n);
}

int fallocate(int fd, int mode, off_t at, off_t n)
{
	NEXT(fallocate)
	return FAILS(DISK, "fallocate") ? -1 : next(fd, mode, at, n);
}

int fsync(int fd)
{
	NEXT(fsync)
	return FAILS(DISK, "fsync") ? -1 : next(fd);
}

int mkdir(const char *path, mode_t mode)
{
	NEXT(mkdir)
	return FAILS(DISK, "mkdir") ? -1 : next(path, mode);
}

int link(const char *from, const char *to)
{
	NEXT(link)
	return FAILS(DISK, "link") ? -1 : next(from, to);
}

int rename(const char *from, const char *to)
{
	NEXT(rename)
	return FAILS(DISK, "rename") ? -1 : next(from, to);
}

int renameat(int a, const char *from, int b, const char *to)
{
	NEXT(renameat)
	return FAILS(DISK, "renameat") ? -1 : next(a, from, b, to);
}

int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
	NEXT(renameat2)
	return FAILS(DISK, "renameat2") ? -1 : next(a, from, b, to, flags);
}
