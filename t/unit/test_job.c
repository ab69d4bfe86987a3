/*
 * test_job.c - exactly one of many processes diverges first; invalid job files are refused; and no
 * file remains.
 */
#include "order/replay_control.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/rondo-test-job.XXXXXX";

static void fill(const void *bytes, size_t len)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/job", folder);
	f = fopen(path, "w");
	CHECK(f && fwrite(bytes, 1, len, f) == len);
	fclose(f);
}

static void test_first(void)
{
	enum { RANKS = 8 };
	struct rn_job *j;
	char text[2048];
	int firsts = 0, status;

	CHECK(rn_job_create(folder, RANKS, NULL) == RN_OK);
	j = rn_job_map(folder);
	CHECK(j && j->slots == RANKS && j->rank[RANKS - 1].pid == 0);
	CHECK(j && rn_job_first(j) == -1 && !rn_job_told(j, text, sizeof(text)));
	CHECK(rn_job_is_near(j));
	for (int rank = 0; rank < RANKS; rank++)
		if (fork() == 0)
			_exit(rn_job_diverges(rn_job_map(folder), rank));
	for (int i = 0; i < RANKS; i++) {
		wait(&status);
		firsts += WEXITSTATUS(status);
	}
	CHECK(firsts == 1 && rn_job_first(j) >= 0 && rn_job_first(j) < RANKS);
	CHECK(rn_job_moves(j) && !rn_job_moves(j));
	for (uint32_t i = 1; i < 5; i++)
		CHECK(rn_job_arrive(j) == i);
	munmap(j, sizeof(*j) + j->slots * sizeof(j->rank[0]));
}

static void test_text(void)
{
	struct rn_job *j = rn_job_map(folder);
	char text[2048], long_one[1500] = "";

	memset(long_one, 'x', sizeof(long_one) - 1);
	rn_job_tell(j, "short");
	CHECK(rn_job_told(j, text, sizeof(text)) && strcmp(text, "short") == 0);
	rn_job_tell(j, long_one);
	CHECK(rn_job_told(j, text, sizeof(text)) && strlen(text) == sizeof(j->text));
	j->host[0] ^= 1;
	CHECK(!rn_job_is_near(j));
	munmap(j, sizeof(*j) + j->slots * sizeof(j->rank[0]));
}

static void test_none(void)
{
	struct rn_job bad = { .magic = 1 };

	fill(&bad, sizeof(bad));
	CHECK(!rn_job_map(folder));
	bad = (struct rn_job){ .magic = RN_JOB_MAGIC, .slots = 1 };
	fill(&bad, sizeof(bad));
	CHECK(!rn_job_map(folder));
	fill(&bad, 8);
	CHECK(!rn_job_map(folder));
	CHECK(!rn_job_map("/nowhere"));
	CHECK(rn_job_create("/nowhere", 1, NULL) < 0);
	rn_job_remove(folder);
	CHECK(access(folder, F_OK) < 0);
}

int main(void)
{
	CHECK(mkdtemp(folder));
	test_first();
	ok("one is the first");
	test_text();
	ok("and tells");
	test_none();
	ok("what is no job");
	return tap_done();
}
