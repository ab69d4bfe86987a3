/*
 * stub_libc.c - functions of the C library, for the stub only.
 *
 * Sanitizers replace functions of the C library. The replacements fail if they are called before
 * the sanitizer is initialized, and the stub runs before that. The definitions in this file are
 * hidden: the stub calls them, and the program does not see them.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Opens existing files only: there is no mode argument. */
int openat(int dir, const char *path, int flags, ...)
{
	return (int)syscall(SYS_openat, dir, path, flags);
}

int open(const char *path, int flags, ...)
{
	return openat(AT_FDCWD, path, flags);
}

int close(int fd)
{
	return (int)syscall(SYS_close, fd);
}

int fstat(int fd, struct stat *st)
{
	return (int)syscall(SYS_fstat, fd, st);
}

/* Supports only commands without an argument. */
int fcntl(int fd, int command, ...)
{
	return (int)syscall(SYS_fcntl, fd, command);
}

ssize_t pread(int fd, void *bytes, size_t n, off_t at)
{
	return syscall(SYS_pread64, fd, bytes, n, at);
}

uid_t geteuid(void)
{
	return (uid_t)syscall(SYS_geteuid);
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *p = a, *q = b;

	for (; n && *p == *q; n--, p++, q++)
		;
	return n ? *p - *q : 0;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	const char *s = from;

	for (char *d = to; n; n--)
		*d++ = *s++;
	return to;
}

size_t strlen(const char *s)
{
	const char *end = s;

	while (*end)
		end++;
	return (size_t)(end - s);
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n && *a && *a == *b; n--, a++, b++)
		;
	return n ? (unsigned char)*a - (unsigned char)*b : 0;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, (size_t)-1);
}

char *strchr(const char *s, int c)
{
	for (; *s != (char)c; s++)
		if (!*s)
			return NULL;
	return (char *)s;
}

char *strrchr(const char *s, int c)
{
	const char *last = NULL;

	for (; (s = strchr(s, c)); s++) {
		last = s;
		if (!*s)
			break;
	}
	return (char *)last;
}

size_t strspn(const char *s, const char *accept)
{
	size_t n = 0;

	while (s[n] && strchr(accept, s[n]))
		n++;
	return n;
}

size_t strcspn(const char *s, const char *reject)
{
	size_t n = 0;

	while (s[n] && !strchr(reject, s[n]))
		n++;
	return n;
}

char *strstr(const char *s, const char *part)
{
	size_t n = strlen(part);

	while (strncmp(s, part, n) != 0)
		if (!*s++)
			return NULL;
	return (char *)s;
}
