/* test_spill.c - pieces of a part file that are gathered and written; and when that fails. */
#include "base/buf.h"
#include "file/spill.h"
#include "tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FROM = 4144, BYTES = 6 << 20 }; /* where they go: behind a head; more than is gathered */

static unsigned char all[BYTES], back[BYTES];

static int new_file(void)
{
	char path[] = "/tmp/rondo-test-spill.XXXXXX";
	int fd = mkstemp(path);

	unlink(path);
	return fd;
}

/* Of all lengths; short ones do not stay where they were. */
static size_t next_length(size_t left)
{
	static const size_t most[] = { 1, RN_BUF_SHORT, RN_BUF_SHORT + 1, 5000, 70000 };
	size_t n = (size_t)(tap_rand() % (most[tap_rand() % 5] + 1));

	return n < left ? n : left;
}

static void add_all(struct rn_buf *b)
{
	for (size_t at = 0, n; at < BYTES; at += n) {
		unsigned char passing[RN_BUF_SHORT];

		n = next_length(BYTES - at);
		if (n <= sizeof(passing))
			rn_buf_add(b, memcpy(passing, all + at, n), n);
		else
			rn_buf_add(b, all + at, n);
		memset(passing, 0, sizeof(passing));
	}
}

static void test_pieces(void)
{
	struct rn_spill_writer w;
	struct rn_buf b = rn_buf_to(rn_spill_writer_add, &w);
	int fd = new_file();
	uint64_t sum;

	for (size_t i = 0; i < BYTES; i++)
		all[i] = (unsigned char)tap_rand();
	/* Whatever was there before: the seed of what follows, too. */
	memset(&w, 0, sizeof(w));
	w.sum.state.seed = 7;
	rn_spill_writer_begin(&w, fd, FROM, 7);
	add_all(&b);
	CHECK(rn_spill_writer_end(&w, &sum) == 0 && b.len == BYTES);
	CHECK(sum == rn_hash_seeded(all, BYTES, 7));
	CHECK(pread(fd, back, BYTES, FROM) == BYTES && memcmp(all, back, BYTES) == 0);
	CHECK(lseek(fd, 0, SEEK_END) == FROM + BYTES);
	close(fd);
}

static void test_nothing(void)
{
	struct rn_spill_writer w;
	uint64_t sum;

	rn_spill_writer_begin(&w, -1, 0, 7);
	CHECK(rn_spill_writer_end(&w, &sum) == 0);
	CHECK(rn_spill_writer_add(&w, all, 0) && rn_spill_writer_end(&w, &sum) == EBADF);
}

/* An error is there at the end, whatever comes behind it; a file that may not become so large is
 * one, and not a signal. */
static void test_errors(void)
{
	struct rlimit none, small;
	struct rn_spill_writer w;
	struct rn_buf b = rn_buf_to(rn_spill_writer_add, &w);
	int fd = new_file();
	uint64_t sum;

	rn_spill_writer_begin(&w, -1, FROM, 7);
	add_all(&b);
	CHECK(rn_buf_status(&b) < 0 && rn_spill_writer_end(&w, &sum) == EBADF);

	getrlimit(RLIMIT_FSIZE, &none);
	small = (struct rlimit){ BYTES / 2, none.rlim_max };
	setrlimit(RLIMIT_FSIZE, &small);
	b = rn_buf_to(rn_spill_writer_add, &w);
	rn_spill_writer_begin(&w, fd, FROM, 7);
	add_all(&b);
	CHECK(rn_spill_writer_end(&w, &sum) == EFBIG);
	setrlimit(RLIMIT_FSIZE, &none);
	CHECK(lseek(fd, 0, SEEK_END) <= BYTES / 2);
	close(fd);
}

int main(void)
{
	test_pieces();
	ok("pieces of all lengths are in the file, one behind the other, and summed up");
	test_nothing();
	ok("no piece is no system call");
	test_errors();
	ok("an error stays");
	return tap_done();
}
