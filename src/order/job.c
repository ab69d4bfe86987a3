/* job.c - see job.h. */
#include "order/job.h"

#include "base/io.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool name_of(char path[PATH_MAX], const char *folder)
{
	int n = snprintf(path, PATH_MAX, "%s/job", folder);

	return n > 0 && n < PATH_MAX;
}

int rn_job_create(const char *folder, struct rn_err *err)
{
	struct rn_job empty = { .magic = RN_JOB_MAGIC };
	char path[PATH_MAX];

	if (!name_of(path, folder))
		return rn_err_set(err, RN_E_ARG, "%s: the name is too long", folder);
	gethostname(empty.host, sizeof(empty.host));
	return rn_io_replace(path, &empty, sizeof(empty), err);
}

struct rn_job *rn_job_map(const char *folder)
{
	struct rn_job *j = MAP_FAILED;
	char path[PATH_MAX];
	struct stat st;
	int fd = name_of(path, folder) ? open(path, O_RDWR | O_CLOEXEC) : -1;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && st.st_size == (off_t)sizeof(*j))
		j = mmap(NULL, sizeof(*j), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (j == MAP_FAILED)
		return NULL;
	if (j->magic == RN_JOB_MAGIC)
		return j;
	munmap(j, sizeof(*j));
	return NULL;
}

bool rn_job_diverges(struct rn_job *j, int rank)
{
	uint32_t none = 0;

	return __atomic_compare_exchange_n(&j->first, &none, (uint32_t)rank + 1, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void rn_job_tell(struct rn_job *j, const char *text)
{
	memcpy(j->text, text, strnlen(text, sizeof(j->text)));
	__atomic_store_n(&j->told, 1, __ATOMIC_RELEASE);
}

bool rn_job_told(const struct rn_job *j, char *text, size_t cap)
{
	if (!__atomic_load_n(&j->told, __ATOMIC_ACQUIRE))
		return false;
	snprintf(text, cap, "%.*s", (int)sizeof(j->text), j->text);
	return true;
}

bool rn_job_moves(struct rn_job *j)
{
	return __atomic_exchange_n(&j->moved, 1, __ATOMIC_RELAXED) == 0;
}

uint32_t rn_job_arrive(struct rn_job *j)
{
	return __atomic_add_fetch(&j->arrived, 1, __ATOMIC_RELAXED);
}

bool rn_job_is_near(const struct rn_job *j)
{
	char host[sizeof(j->host)] = "";

	gethostname(host, sizeof(host));
	return memcmp(host, j->host, sizeof(host)) == 0;
}

void rn_job_remove(const char *folder)
{
	char path[PATH_MAX];

	if (name_of(path, folder))
		unlink(path);
	rmdir(folder);
}
