/*
 * test_journal_repair.c - journals of two ranks in which one byte is changed. Both ranks are in the
 * trace. At most the calls of one snapshot, or the calls after it, are missing.
 */
#include "tap.h"

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "journal/byte_locator.h"
#include "model/merged_streams.h"
#include "recover/journal_repair.h"
#include "part_files.h"

#define RANKS     2u
#define CALLS     700u
#define MOST_LOST (4 * PLACES)

static unsigned changed; /* number of changes that lost calls */

static const char *temporary(const char *what)
{
	return private_path(getenv("TMPDIR"), what);
}

/* Writes the journal of two ranks, each in its own process, and reads it. */
static void part_of_two(uint64_t every, enum ending how, struct rn_buf *out)
{
	char path[300];

	snprintf(path, sizeof(path), "%s", temporary("part"));
	for (int64_t rank = 0; rank < RANKS; rank++) {
		pid_t pid = fork();

		if (pid == 0) {
			be_a_rank(path, rank, RANKS, 1, CALLS, every, how);
			_exit(0);
		}
		CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid);
	}
	CHECK(rn_io_read(path, out, NULL) == RN_OK);
	unlink(path);
}

struct result {
	bool valid; /* a trace was written and passed the check */
	uint32_t damaged;
	uint64_t calls[RANKS];
};

/* Recovers a trace from a copy of the bytes. */
static struct result recover(const struct rn_buf *b)
{
	unsigned char *copy = malloc(b->len);
	struct result x = { 0 };
	struct rn_recovered r;
	struct rn_err err = { 0 };
	struct rn_trace t;
	uint32_t group;

	must(copy != NULL);
	memcpy(copy, b->data, b->len);
	rn_journal_repair(copy, b->len, RUN);
	x.valid = recover_valid(copy, b->len, temporary("trace"), &r, &err) == RN_OK;
	x.damaged = r.damaged;
	if (x.valid && CHECK(rn_trace_open(&t, temporary("trace"), &err) == RN_OK)) {
		for (uint64_t i = 0; i < RANKS; i++)
			if (rn_streams_find(&t.streams, i, &group) == RN_OK)
				x.calls[i] = rn_streams_length(&t.streams, group);
		rn_trace_close(&t);
	}
	rn_recovered_free(&r);
	unlink(temporary("trace"));
	free(copy);
	return x;
}

/* Chooses a byte that is not 0 or, in one of four cases, any byte. */
static size_t choose_byte(const struct rn_buf *b)
{
	size_t at = tap_below(b->len);

	if (tap_below(4))
		while (!b->data[at])
			at = (at + 1) % b->len;
	return at;
}

/* Changes one byte and checks the loss: at most one rank loses calls, and it loses at most one
 * segment or the calls since the last checkpoint but one. */
static void change_byte(struct rn_buf *b, const struct result *good)
{
	size_t at = choose_byte(b);
	unsigned char old = b->data[at];
	struct result x;

	b->data[at] = (unsigned char)(old ^ (1 + tap_below(255)));
	x = recover(b);
	if (!CHECK(x.valid && x.calls[0] + MOST_LOST >= good->calls[0] &&
		   x.calls[1] + MOST_LOST >= good->calls[1] &&
		   (x.calls[0] == good->calls[0] || x.calls[1] == good->calls[1])))
		diag("byte %zu, 0x%02x -> 0x%02x: %" PRIu64 " and %" PRIu64 " calls", at, old,
		     b->data[at], x.calls[0], x.calls[1]);
	changed += x.calls[0] != good->calls[0] || x.calls[1] != good->calls[1];
	b->data[at] = old;
}

static void test_changes(uint64_t every, enum ending how, unsigned changes)
{
	struct rn_buf b = { 0 };
	struct result good;

	part_of_two(every, how, &b);
	good = recover(&b);
	CHECK(good.valid && good.damaged == 0 && good.calls[0] >= CALLS && good.calls[1] >= CALLS);
	for (unsigned i = 0; i < changes; i++)
		change_byte(&b, &good);
	rn_buf_free(&b);
}

static void test_locate(void)
{
	unsigned char bytes[1000];
	size_t at;
	unsigned char value;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)tap_below(256);
	for (size_t i = 0; i < sizeof(bytes); i++) {
		struct rn_locator l = { 0, 0 };
		unsigned char old = bytes[i];

		rn_locator_add(&l, bytes, i / 2);
		rn_locator_add(&l, bytes + i / 2, sizeof(bytes) - i / 2);
		CHECK(!rn_locate(bytes, sizeof(bytes), rn_locator_end(&l), &at, &value));
		bytes[i] = (unsigned char)(old ^ (1 + tap_below(255)));
		CHECK(rn_locate(bytes, sizeof(bytes), rn_locator_end(&l), &at, &value) && at == i &&
		      value == old);
		bytes[i] = old;
	}
}

int main(void)
{
	test_locate();
	ok("a changed byte is located");
	test_changes(0, IN_NESTED, 150);
	ok("a changed byte of a part file costs no rank");
	test_changes(70, IN_BARRIER, 150);
	ok("a changed byte of a stream in segments costs at most one segment");
	test_changes(UINT64_MAX, IN_EXPECTED, 150);
	ok("a changed byte of elastic values costs no rank");
	CHECK(changed < 45);
	ok("nine of ten changed bytes cost no call");
	return tap_done();
}
