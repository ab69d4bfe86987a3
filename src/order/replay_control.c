/* replay_control.c - see replay_control.h. */
#include "order/replay_control.h"

#include "base/io.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SLOTS_MAX ((uint64_t)1 << 20)

static bool name_of(char path[PATH_MAX], const char *folder)
{
	int n = snprintf(path, PATH_MAX, "%s/job", folder);

	return n > 0 && n < PATH_MAX;
}

static size_t size_of(uint64_t slots)
{
	return sizeof(struct rn_job) + slots * sizeof(struct rn_job_rank);
}

int rn_job_create(const char *folder, uint64_t ranks, struct rn_err *err)
{
	uint32_t slots = ranks < SLOTS_MAX ? (uint32_t)ranks : 0;
	struct rn_job *empty;
	char path[PATH_MAX];
	int rc;

	if (!name_of(path, folder))
		return rn_err_set(err, RN_E_ARG, "%s: the name is too long", folder);
	empty = calloc(1, size_of(slots));
	if (!empty)
		return rn_err_set(err, RN_E_NOMEM, "out of memory");
	empty->magic = RN_JOB_MAGIC;
	empty->slots = slots;
	gethostname(empty->host, sizeof(empty->host));
	rc = rn_io_replace(path, empty, size_of(slots), err);
	free(empty);
	return rc;
}

struct rn_job *rn_job_map(const char *folder)
{
	char path[PATH_MAX];
	size_t len;
	struct rn_job *j = name_of(path, folder) ? rn_io_map(path, true, &len) : NULL;

	if (!j || (len >= sizeof(*j) && j->magic == RN_JOB_MAGIC && len == size_of(j->slots)))
		return j;
	munmap(j, len);
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
