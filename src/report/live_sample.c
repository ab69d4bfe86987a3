/* live_sample.c - see live_report.h: samples the journals and processes of a running program. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/tick_clock.h"
#include "recover/journal_read.h"
#include "recover/recover.h"
#include "report/live_report.h"

#define MOMENT_MS 200

/* ---- processes ---- */

/* Reads the state and the start time of a process, in clock ticks since boot. */
static bool read_stat(uint32_t pid, char *state, unsigned long long *started)
{
	char path[64], text[1024], *p;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	p = strrchr(text, ')'); /* the name before it can contain any character */
	return p && sscanf(p + 1,
			   " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			   "%*d %*d %llu",
			   state, started) == 2;
}

/* The state of the process; 0 if it has ended, or if its id belongs to a process that started
 * later. */
static char process_state(const struct rn_salvaged *p)
{
	uint64_t booted = rn_clock_read(CLOCK_REALTIME) - rn_clock_read(CLOCK_BOOTTIME);
	unsigned long long started;
	char state;

	if (!read_stat(p->process, &state, &started) || state == 'Z' || state == 'X')
		return 0;
	started = started * 1000 / (unsigned long long)sysconf(_SC_CLK_TCK);
	return booted / 1000000 + started > p->world.time / 1000000 + 1000 ? 0 : state;
}

static bool is_here(const struct rn_node_file *f)
{
	char name[RN_SPILL_NAME];

	rn_spill_name(0, name);
	return strcmp(strchr(name, '-') + 1, f->host) == 0;
}

/* Whether a process has the file open, on any host. Called only if no process is known to have it,
 * so that the lock attempt blocks no process. */
static bool is_locked(const struct rn_node_file *f)
{
	if (flock(f->fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK;
	flock(f->fd, LOCK_UN);
	return false;
}

/* Determines which processes of a file are running. Process ids of other hosts and of containers
 * are meaningless here. If no process of the file is visible, the lock of the file is tested
 * instead. */
static void find_states(struct live *v, const struct rn_node_file *f)
{
	bool any = false, here = is_here(f);

	for (size_t i = 0; i < v->n; i++)
		if (v->process[i].file == f) {
			v->process[i].here = here;
			v->process[i].state = here ? process_state(v->sight[i].process) : 0;
			any |= v->process[i].state != 0;
		}
	if (!any && is_locked(f)) {
		any = true;
		for (size_t i = 0; i < v->n; i++)
			if (v->process[i].file == f && !v->sight[i].process->ended)
				v->process[i].state = '?';
	}
	v->running |= any;
}

/* ---- samples ---- */

static int see_file(struct live *v, size_t i, struct rn_salvage *out, struct rn_err *err)
{
	int rc = rn_salvage(&v->mem, v->file[i].bytes, v->file[i].len, RN_SALVAGE_NOW, out, err);

	if (rc < 0)
		rn_err_prefix(err, "%s", strrchr(v->file[i].path, '/') + 1);
	return rc;
}

static struct rn_salvage *see_files(struct live *v, int *rc, struct rn_err *err)
{
	struct rn_salvage *s = rn_new(&v->mem, struct rn_salvage, v->files + 1);

	*rc = s ? RN_OK : rn_err_nomem(err);
	for (size_t i = 0; i < v->files && *rc == RN_OK; i++)
		*rc = see_file(v, i, &s[i], err);
	v->ticks = rn_clock_now();
	v->ns = rn_clock_read(CLOCK_REALTIME);
	return s;
}

static bool list_processes(struct live *v, const struct rn_salvage *s)
{
	size_t n = 0;

	for (size_t i = 0; i < v->files; i++)
		n += s[i].n;
	v->sight = rn_new(&v->mem, struct rn_sight, n + 1);
	v->process = rn_new(&v->mem, struct live_process, n + 1);
	if (!v->sight || !v->process)
		return false;
	for (size_t i = 0; i < v->files; i++)
		for (uint32_t k = 0; k < s[i].n; k++) {
			v->process[v->n].file = &v->file[i];
			v->sight[v->n] = (struct rn_sight){ .process = &s[i].process[k],
							    .tag = (uint32_t)v->n };
			v->n++;
		}
	for (size_t i = 0; i < v->files; i++)
		find_states(v, &v->file[i]);
	return true;
}

/* Stores the position of each process in the first sample. The order of the processes in a file is
 * constant. */
static void compare_with(struct live *v, const struct rn_salvage *first)
{
	for (size_t i = 0; i < v->n; i++) {
		size_t f = (size_t)(v->process[i].file - v->file);

		for (uint32_t k = 0; k < first[f].n; k++) {
			const struct rn_salvaged *was = &first[f].process[k];

			if (was->process != v->sight[i].process->process)
				continue;
			v->sight[i].before = was->now;
			v->sight[i].before_n = was->recorded.streams;
		}
	}
}

/* If no process is running, only processes that ended regularly count as gone. The others are
 * analyzed as if they were still in their last position. */
static void find_gone(struct live *v)
{
	for (size_t i = 0; i < v->n; i++)
		v->sight[i].gone =
			v->running ? v->process[i].state == 0 : v->sight[i].process->ended != NULL;
}

int live_look(struct live *v, struct rn_err *err)
{
	static const struct timespec moment = { 0, MOMENT_MS * 1000000 };
	const struct rn_salvage *first, *second;
	int rc;

	rn_clock_start();
	first = see_files(v, &rc, err);
	if (rc < 0)
		return rc;
	nanosleep(&moment, NULL);
	second = see_files(v, &rc, err);
	if (rc < 0)
		return rc;
	if (!list_processes(v, second))
		return rn_err_nomem(err);
	if (v->n == 0)
		return rn_err_set(err, RN_E_DATA, "no process has said who it is");
	if (v->running)
		compare_with(v, first);
	find_gone(v);
	return rn_standstill(v->sight, v->n, &v->mem, &v->standstill, err);
}

/* ---- times ---- */

/* Seconds since `ticks`; negative: unknown. */
static double seconds_since(const struct live *v, const struct rn_stand *s, uint64_t ticks)
{
	const struct rn_fact_world *w = &s->sight->process->world;
	const struct live_process *p = &v->process[s->sight->tag];
	double scale = (double)w->scale / 4294967296.0 / 1e9;

	if (!v->running || !p->state || ticks < w->started)
		return -1;
	if (p->here)
		return ticks <= v->ticks ? (double)(v->ticks - ticks) * scale : -1;
	return ((double)(int64_t)(v->ns - w->time)) / 1e9 - (double)(ticks - w->started) * scale;
}

double live_seconds(const struct live *v, const struct rn_stand *s)
{
	switch (s->kind) {
	case RN_STAND_CALL:
		return seconds_since(v, s, s->now->entered);
	case RN_STAND_FREE:
		return s->now->off ? -1 : seconds_since(v, s, s->now->left);
	default:
		return -1;
	}
}
