/* process_log.c - see process_log.h. */
#include "runtime/process_log.h"

#include "base/errno_guard.h"
#include "base/private_dir.h"
#include "base/tracer_env.h"
#include "encode/process_table.h"
#include "runtime/message.h"
#include "runtime/status_line.h"
#include "runtime/tracer_config.h"
#include "runtime/tracer_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXTENT_MORE ((size_t)16 << 20) /* bytes of an extent beyond twice the memory limit */
#define OPEN_TRIES  10

struct rn_process_log rn_process_log;

/* ---- errors ---- */

/* Whether this process reports the error: the first one of the node. Without a file, rank 0 reports
 * it, or every rank to its own watcher. */
static bool is_first_error(void)
{
	struct rn_process_log *p = &rn_process_log;

	if (__atomic_exchange_n(&p->failed, true, __ATOMIC_RELAXED))
		return false;
	if (!p->file.head)
		return rn_tracer.world_rank == 0 || rn_status_has_watcher();
	return !__atomic_exchange_n(&p->file.head->warned, 1, __ATOMIC_RELAXED);
}

/* Reports to the waiting command if there is one: if the run ends normally, nothing is lost. */
static void warn(const char *path, int error, const char *event)
{
	char text[RN_SPOOL_PATH + 256];

	snprintf(text, sizeof(text), "%s: %s", path, strerror(error));
	if (rn_config.status[0])
		rn_status_append(rn_process_log.file.head ? RN_TAG_UNSPILLED : RN_TAG_UNOPENED,
				 text);
	else
		rn_say("%s; if the %s, what comes now is lost", text, event);
}

void rn_process_log_fail(int error)
{
	const struct rn_process_log *p = &rn_process_log;

	if (is_first_error())
		warn(p->file.path[0] ? p->file.path : p->folder.files, error, "program is killed");
}

void rn_process_log_copy_failed(int error)
{
	struct rn_process_log *p = &rn_process_log;

	p->folder.in_memory = false;
	if (!__atomic_exchange_n(&p->file.head->warned, 1, __ATOMIC_RELAXED))
		warn(p->copies.path, error, "node fails");
}

/* ---- records ---- */

void rn_process_log_add(enum rn_fact type, const void *a, size_t an, const void *b, size_t bn)
{
	RN_ERRNO_GUARD;
	int rc = 0;

	rn_spin_lock(&rn_process_log.lock);
	if (rn_process_log.file.head && rn_process_log.log.spill)
		rc = rn_log_add(&rn_process_log.log, type, a, an, b, bn);
	rn_spin_unlock(&rn_process_log.lock);
	if (rc)
		rn_process_log_fail(rc);
}

void rn_process_log_meta(const char *key, const char *value)
{
	rn_process_log_add(RN_FACT_META, key, strlen(key) + 1, value, strlen(value) + 1);
}

void rn_process_log_comm(const struct rn_object *comm)
{
	struct rn_fact_comm f = { .word = comm->number, .complete = comm->complete };

	if (comm->complete)
		f.entry = comm->entry;
	rn_process_log_add(RN_FACT_COMM, &f, sizeof(f), comm->bytes, strlen(comm->bytes));
}

void rn_process_log_stack(uint64_t number, const void *bytes, size_t len)
{
	rn_process_log_add(RN_FACT_SITE, &number, sizeof(number), bytes, len);
}

void rn_process_log_clock(int64_t offset, int64_t drift)
{
	struct rn_fact_clock c = { offset, drift };

	if (offset || drift)
		rn_process_log_add(RN_FACT_CLOCK, &c, sizeof(c), NULL, 0);
}

struct rn_log_end rn_process_log_end(void)
{
	struct rn_log_end end;

	rn_spin_lock(&rn_process_log.lock);
	end = rn_log_end(&rn_process_log.log);
	rn_spin_unlock(&rn_process_log.lock);
	return end;
}

/* ---- the file ---- */

static bool join(char path[PATH_MAX], const char *in, const char *name)
{
	return snprintf(path, PATH_MAX, "%s/%s", in, name) < PATH_MAX;
}

static int find_file(uint64_t run, char path[PATH_MAX])
{
	struct rn_process_log *p = &rn_process_log;
	char name[RN_SPILL_NAME];

	rn_journal_folder_find(&p->folder, rn_config.output, rn_config.spill);
	rn_spill_name(run, name);
	if (!join(path, p->folder.files, name) || !join(p->copies.path, p->folder.path, name))
		return ENAMETOOLONG;
	p->copies.of = &p->file;
	return 0;
}

/* Another run that is ending may remove the directory while it is empty. `alone`: no other run may
 * use the directory. */
static int open_file(uint64_t run, bool alone)
{
	struct rn_process_log *p = &rn_process_log;
	char path[PATH_MAX];
	int rc = find_file(run, path), found = ENOENT;

	for (int tries = 0; tries < OPEN_TRIES && rc == 0 && found == ENOENT; tries++) {
		int lock = -1;

		rc = alone ? rn_journal_folder_lock(&p->folder, &lock)
			   : rn_journal_folder_make(&p->folder);
		if (rc == 0)
			found = rn_spill_open(&p->file, path, run);
		if (lock >= 0)
			close(lock);
	}
	return rc ? rc : found;
}

int rn_process_log_reserve(uint64_t run)
{
	RN_ERRNO_GUARD;
	int rc = open_file(run, true);

	return rc;
}

bool rn_process_log_open(uint64_t run)
{
	struct rn_process_log *p = &rn_process_log;
	RN_ERRNO_GUARD;
	int rc = p->file.head ? 0 : open_file(run, false);

	if (rc) {
		rn_process_log_fail(rc);
		rn_private_dir_remove(p->folder.files);
	} else {
		p->log = (struct rn_log){ .spill = &p->file, .stream = RN_EXTENT_SHARED };
		p->file.extent_max = 2 * rn_config.memory + EXTENT_MORE;
		__atomic_fetch_add(&p->file.head->processes, 1, __ATOMIC_RELAXED);
	}
	return rc == 0;
}

const char *rn_process_log_folder(void)
{
	return rn_process_log.folder.path;
}

bool rn_process_log_is_first(void)
{
	struct rn_spill_head *head = rn_process_log.file.head;

	return !head || !__atomic_exchange_n(&head->told, 1, __ATOMIC_RELAXED);
}

bool rn_process_log_is_whole(void)
{
	return rn_process_log.file.head && !rn_process_log.failed;
}

void rn_process_log_close(bool keep)
{
	struct rn_process_log *p = &rn_process_log;
	RN_ERRNO_GUARD;

	if (p->file.head) {
		bool copied = p->file.head->copied, remove = rn_spill_leave(&p->file, keep);

		rn_spill_close(&p->file, remove);
		if (remove && copied)
			rn_spill_remove(p->copies.path);
		if (remove)
			rn_journal_folder_remove(&p->folder);
	}
}

void rn_process_log_drop(void)
{
	if (rn_process_log.file.path[0])
		rn_spill_remove(rn_process_log.file.path);
	rn_journal_folder_remove(&rn_process_log.folder);
}
