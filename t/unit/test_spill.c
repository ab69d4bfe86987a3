/* test_spill.c - bytes that are written to a part file, and failures of writing. */
#include "journal/journal_file.h"
#include "tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FROM = 4144, BYTES = 6 << 20 }; /* FROM: file offset of the first byte, after the header */

static unsigned char all[BYTES], back[BYTES];

static int new_file(void)
{
	char path[] = "/tmp/rondo-test-spill.XXXXXX";
	int fd = mkstemp(path);

	unlink(path);
	return fd;
}

static void test_bytes(void)
{
	int fd = new_file();

	for (size_t i = 0; i < BYTES; i++)
		all[i] = (unsigned char)tap_rand();
	CHECK(rn_spill_write(fd, all, BYTES, FROM) == 0);
	CHECK(pread(fd, back, BYTES, FROM) == BYTES && memcmp(all, back, BYTES) == 0);
	CHECK(lseek(fd, 0, SEEK_END) == FROM + BYTES);
	close(fd);
}

/* Exceeding the file size limit is an error, and not a signal. */
static void test_errors(void)
{
	struct rlimit none, small;
	int fd = new_file();

	CHECK(rn_spill_write(-1, all, BYTES, FROM) == EBADF);
	CHECK(rn_spill_write(-1, all, 0, FROM) == 0);
	getrlimit(RLIMIT_FSIZE, &none);
	small = (struct rlimit){ BYTES / 2, none.rlim_max };
	setrlimit(RLIMIT_FSIZE, &small);
	CHECK(rn_spill_write(fd, all, BYTES, FROM) == EFBIG);
	setrlimit(RLIMIT_FSIZE, &none);
	CHECK(lseek(fd, 0, SEEK_END) <= BYTES / 2);
	close(fd);
}

int main(void)
{
	test_bytes();
	ok("bytes are in the file");
	test_errors();
	ok("an error is returned");
	return tap_done();
}
