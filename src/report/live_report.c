/* live_report.c - see live_report.h: text output: ranks by call, wait-for relation, verdict. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bisect.h"
#include "base/intern.h"
#include "base/notes.h"
#include "base/number_text.h"
#include "encode/call_words.h"
#include "model/metadata.h"
#include "read/output_form.h"
#include "recover/journal_read.h"
#include "recover/recover.h"
#include "report/live_report.h"

#define LINES_MAX 40  /* of the wait-for relation */
#define LASTING_S 2.0 /* seconds; a message is not in flight for so long */

static const char *duration(char text[32], double s)
{
	if (s < 1)
		snprintf(text, 32, "%.3f s", s < 0 ? 0 : s);
	else if (s < 60)
		snprintf(text, 32, "%.1f s", s);
	else if (s < 3600)
		snprintf(text, 32, "%d min %d s", (int)s / 60, (int)s % 60);
	else
		snprintf(text, 32, "%.0f h %d min", s / 3600 - 0.5, (int)(s / 60) % 60);
	return text;
}

/* ---- live positions ---- */

static const char *doing(char state)
{
	switch (state) {
	case 'R':
		return ", on the processor";
	case 'S':
		return ", asleep";
	case 'D':
		return ", waiting for a device or a file system";
	case 'T':
	case 't':
		return ", stopped by a signal or a debugger";
	default:
		return "";
	}
}

/* Describes the state of a thread, with the call in absolute or relative ranks. HOW_LONG is a
 * placeholder for the duration. Threads with equal texts share a line. */
#define HOW_LONG "\1"

/* Whether only outcomes are recorded (--only=order). The arguments of a call in flight are then
 * unknown; its function is known if the function can have an outcome. */
static bool has_order_only(const struct rn_stand *s)
{
	return s->now->off & RN_OFF_ORDER;
}

static const char *call_of(const struct rn_stand *s, bool relative)
{
	if (!s->any)
		return NULL;
	return has_order_only(s) ? s->need.function : relative ? s->need.relative : s->need.text;
}

static void describe(struct live *v, const struct rn_stand *s, bool relative)
{
	const struct rn_salvaged *p = s->sight->process;
	const char *call = call_of(s, relative);
	char state = v->process[s->sight->tag].state;

	if (v->running && !state) {
		rn_put(&v->out, p->ended ? "ended: " : "ended without a word");
		rn_put_safe(&v->out, p->ended ? p->ended : "");
		if (call)
			rn_putf(&v->out, "%s%s",
				s->kind == RN_STAND_CALL ? ", in " : "; its last call was ", call);
		return;
	}
	if (s->kind == RN_STAND_CALL) {
		rn_put(&v->out, call);
		if (s->now->outer)
			rn_putf(&v->out, " inside %s",
				rn_mpi_protos[RN_RAW_FUNCTION(s->now->outer[0])].name);
		rn_put(&v->out, HOW_LONG);
		rn_put(&v->out, state == 'T' || state == 't' ? doing(state) : "");
	} else if (s->kind == RN_STAND_POLL) {
		rn_putf(&v->out, "in a loop of %s", call);
	} else if (s->kind == RN_STAND_BUSY) {
		rn_putf(&v->out, "at work, lately in %s", call ? s->need.function : "MPI_Init");
	} else {
		rn_put(&v->out, has_order_only(s) ? "in no call that --only=order records" HOW_LONG
						  : "in no MPI call" HOW_LONG);
		rn_put(&v->out, doing(state));
		if (call)
			rn_putf(&v->out, "; the last %swas %s",
				s->now->off ? "that was recorded " : "", call);
	}
}

struct line {
	struct rn_rank_text ranks;
	uint32_t thread;
	size_t n;
	double least, most; /* seconds */
};

/* The lines of the report. `of[i]` is the line of stand i. */
struct lines {
	struct rn_sigs *text;
	struct line *line;
	uint32_t *of;
};

static bool find_line(struct live *v, struct rn_sigs *table, const struct rn_stand *s,
		      bool relative, uint32_t *id)
{
	size_t at = v->out.len;
	bool ok;

	describe(v, s, relative);
	rn_buf_add(&v->out, &s->thread, sizeof(s->thread));
	ok = !v->out.failed &&
	     rn_sigs_intern(table, v->out.data + at, v->out.len - at, id) == RN_OK;
	v->out.len = at;
	return ok;
}

/* Selects for each thread the text that more threads share. Relative ranks are used only if more
 * than two threads have the same text. */
static bool choose_lines(struct live *v, struct lines *l)
{
	const struct rn_standstill *st = &v->standstill;
	uint32_t *way[2], *count = rn_new(&v->mem, uint32_t, 2 * st->stands + 1);

	l->text = rn_sigs_new(&v->mem);
	l->of = rn_new(&v->mem, uint32_t, st->stands + 1);
	l->line = rn_new(&v->mem, struct line, 2 * st->stands + 1);
	way[0] = rn_new(&v->mem, uint32_t, st->stands + 1);
	way[1] = rn_new(&v->mem, uint32_t, st->stands + 1);
	if (!count || !l->text || !l->of || !l->line || !way[0] || !way[1])
		return false;
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < st->stands; i++) {
			if (!find_line(v, l->text, &st->stand[i], k, &way[k][i]))
				return false;
			count[way[k][i]] += k == 0 || way[1][i] != way[0][i];
		}
	for (size_t i = 0; i < st->stands; i++) {
		uint32_t many = count[way[1][i]];

		l->of[i] = way[many > 2 && many > count[way[0][i]]][i];
	}
	/* A thread that is the only one with its relative text gets its absolute text. */
	memset(count, 0, 2 * st->stands * sizeof(*count));
	for (size_t i = 0; i < st->stands; i++)
		count[l->of[i]]++;
	for (size_t i = 0; i < st->stands; i++)
		if (count[l->of[i]] == 1)
			l->of[i] = way[0][i];
	return true;
}

static void add_to_line(const struct live *v, struct line *l, const struct rn_stand *s)
{
	double d = live_seconds(v, s);

	rn_rank_text_add(&l->ranks, s->rank, s->rank);
	l->thread = s->thread;
	if (l->n++ == 0)
		l->least = l->most = d;
	l->least = d < l->least ? d : l->least;
	l->most = d > l->most ? d : l->most;
}

/* Appends the list of ranks and frees it. */
static void put_ranks(struct live *v, struct rn_rank_text *t)
{
	const char *list = rn_rank_text(t);

	rn_putf(&v->out, "rank%s ", rn_plural(t->n));
	rn_put(&v->out, list ? list : "?");
	rn_buf_free(&t->text);
}

static void put_how_long(struct live *v, const struct line *l)
{
	char a[32], b[32];

	if (l->least >= 0 && l->most - l->least > 0.1 && l->most > 1.05 * l->least)
		rn_putf(&v->out, " for %s to %s", duration(a, l->least), duration(b, l->most));
	else if (l->least >= 0)
		rn_putf(&v->out, " for %s", duration(a, l->least));
}

static void put_line(struct live *v, struct line *l, const char *text, size_t len)
{
	const char *at;

	len -= sizeof(l->thread);
	at = memchr(text, *HOW_LONG, len);
	rn_put(&v->out, "  ");
	put_ranks(v, &l->ranks);
	if (l->thread)
		rn_putf(&v->out, " thread %" PRIu32, l->thread);
	rn_put(&v->out, ": ");
	rn_buf_add(&v->out, text, at ? (size_t)(at - text) : len);
	if (at) {
		put_how_long(v, l);
		rn_buf_add(&v->out, at + 1, len - (size_t)(at + 1 - text));
	}
	rn_put(&v->out, "\n");
}

static void put_missing(struct live *v)
{
	struct rn_rank_text none = { 0 };

	for (uint64_t r = 0; r < v->standstill.ranks; r++)
		if (!v->standstill.sight[r])
			rn_rank_text_add(&none, r, r);
	if (none.n) {
		rn_put(&v->out, "  ");
		put_ranks(v, &none);
		rn_put(&v->out,
		       ": not here; the file of their node is elsewhere, or there is none\n");
	}
}

static bool put_where(struct live *v)
{
	const struct rn_standstill *st = &v->standstill;
	struct lines l = { 0 };

	if (!choose_lines(v, &l))
		return false;
	for (size_t i = 0; i < st->stands; i++)
		add_to_line(v, &l.line[l.of[i]], &st->stand[i]);
	for (size_t i = 0; i < st->stands; i++) {
		struct line *line = &l.line[l.of[i]];
		size_t len;
		const char *text = rn_sigs_get(l.text, l.of[i], &len);

		if (line->n)
			put_line(v, line, text, len);
		line->n = 0;
	}
	put_missing(v);
	return true;
}

/* ---- wait-for relation ---- */

/* The first thread of a rank; NULL if the rank is in no sample. */
static const struct rn_stand *first_of(const struct live *v, uint64_t rank)
{
	const struct rn_stand *all = v->standstill.stand;
	struct rn_bisect b = { 0, v->standstill.stands, 0 };

	while (rn_bisect_next(&b))
		rn_bisect_go(&b, all[b.mid].rank < rank);
	return b.lo < v->standstill.stands && all[b.lo].rank == rank ? &all[b.lo] : NULL;
}

static bool is_last(const struct live *v, const struct rn_stand *s)
{
	return s + 1 == v->standstill.stand + v->standstill.stands || s[1].rank != s->rank;
}

/* A blocked thread of the rank; without one, the first thread. */
static const struct rn_stand *stand_of(const struct live *v, uint64_t rank)
{
	const struct rn_stand *first = first_of(v, rank), *s = first;

	while (s && !s->set && !is_last(v, s))
		s++;
	return s && s->set ? s : first;
}

/* A thread in no call may still make the call that other ranks wait for. */
static bool has_free_thread(const struct live *v, uint64_t rank)
{
	const struct rn_stand *s = first_of(v, rank);

	while (s && s->kind != RN_STAND_FREE && !is_last(v, s))
		s++;
	return s && s->kind == RN_STAND_FREE;
}

static void put_doing(struct live *v, uint64_t rank)
{
	const struct rn_stand *s = stand_of(v, rank);
	char text[32];
	double d = s ? live_seconds(v, s) : -1;

	if (!s)
		rn_put(&v->out, "not here");
	else if (s->sight->gone)
		rn_put(&v->out, "ended");
	else if (s->kind == RN_STAND_CALL)
		rn_putf(&v->out, "in %s", s->need.function);
	else if (s->kind == RN_STAND_POLL)
		rn_putf(&v->out, "in a loop of %s", s->need.function);
	else if (s->kind == RN_STAND_BUSY)
		rn_put(&v->out, "at work");
	else
		rn_put(&v->out, "in no MPI call");
	if (d >= 0 && s->kind == RN_STAND_FREE)
		rn_putf(&v->out, " for %s", duration(text, d));
}

static void put_set(struct live *v, const struct rn_wait_set *set)
{
	struct rn_rank_text t = { 0 };

	for (uint64_t i = 0; i < set->n; i++)
		rn_rank_text_add(&t, set->rank[i], set->rank[i]);
	rn_put(&v->out, set->all ? "" : "one or more of ");
	put_ranks(v, &t);
	for (uint64_t i = 0; i < set->n && set->n <= 3; i++) {
		if (set->n > 1)
			rn_putf(&v->out, "%s%" PRIu64 " ", i ? ", " : ": ", set->rank[i]);
		rn_put(&v->out, set->n > 1 ? "" : ", ");
		put_doing(v, set->rank[i]);
	}
}

static bool same_set(const struct rn_wait_set *a, const struct rn_wait_set *b)
{
	return a == b || (a && b && a->all == b->all && a->n == b->n &&
			  memcmp(a->rank, b->rank, a->n * sizeof(*a->rank)) == 0);
}

/* Ranks that wait for the same set share a line, even if they are not consecutive. */
static bool put_waits(struct live *v)
{
	const struct rn_standstill *st = &v->standstill;
	bool *done = rn_new(&v->mem, bool, st->ranks + 1);
	uint64_t lines = 0, left = 0;

	for (uint64_t r = 0; done && r < st->ranks; r++) {
		struct rn_rank_text t = { 0 };

		if (done[r] || !st->waiter[r].set)
			continue;
		if (lines++ >= LINES_MAX) {
			left++;
			continue;
		}
		for (uint64_t k = r; k < st->ranks; k++)
			if (!done[k] && same_set(st->waiter[k].set, st->waiter[r].set)) {
				done[k] = true;
				rn_rank_text_add(&t, k, k);
			}
		rn_put(&v->out, lines == 1 ? "who waits for whom\n  " : "  ");
		put_ranks(v, &t);
		rn_put(&v->out, t.n == 1 ? " waits for " : " wait for ");
		put_set(v, st->waiter[r].set);
		rn_put(&v->out, "\n");
	}
	if (left)
		rn_putf(&v->out, "  and %" PRIu64 " more rank%s (--json has all)\n", left,
			rn_plural(left));
	return done != NULL;
}

/* ---- verdict ---- */

#define CIRCLE_SHOWN 16u

/* Seconds for which all ranks of the cycle have been in their calls; negative: unknown. */
static double circle_lasts(const struct live *v)
{
	double least = -1;

	for (uint64_t i = 0; i < v->standstill.verdict.circle_n; i++) {
		const struct rn_stand *s = stand_of(v, v->standstill.verdict.circle[i]);
		double d = s ? live_seconds(v, s) : -1;

		least = d >= 0 && (least < 0 || d < least) ? d : least;
	}
	return least;
}

static void put_circle(struct live *v)
{
	const struct rn_verdict *x = &v->standstill.verdict;
	double d = circle_lasts(v);
	bool threads = false;

	for (uint64_t i = 0; i < x->circle_n; i++)
		threads |= has_free_thread(v, x->circle[i]);
	rn_put(&v->out, threads                   ? "a deadlock, if no other thread helps: "
			: d >= 0 && d < LASTING_S ? "a deadlock, if it lasts: "
						  : "deadlock: ");
	for (uint64_t i = 0; i < x->circle_n && i < CIRCLE_SHOWN; i++)
		rn_putf(&v->out, "%" PRIu64 " -> ", x->circle[i]);
	if (x->circle_n > CIRCLE_SHOWN)
		rn_putf(&v->out, "... (%" PRIu64 " ranks) -> ", x->circle_n);
	rn_putf(&v->out, "%" PRIu64 "\n", x->circle[0]);
}

static void put_list(struct live *v, const uint64_t *rank, uint64_t n, bool gone)
{
	struct rn_rank_text t = { 0 };

	for (uint64_t i = 0; i < n; i++)
		if (v->standstill.waiter[rank[i]].gone == gone)
			rn_rank_text_add(&t, rank[i], rank[i]);
	put_ranks(v, &t);
}

static uint64_t count_gone(const struct live *v)
{
	const struct rn_verdict *x = &v->standstill.verdict;
	uint64_t n = 0;

	for (uint64_t i = 0; i < x->root_n; i++)
		n += v->standstill.waiter[x->root[i]].gone;
	return n;
}

static void put_verdict(struct live *v)
{
	const struct rn_verdict *x = &v->standstill.verdict;
	uint64_t gone = count_gone(v);

	if (x->circle_n)
		put_circle(v);
	if (gone && x->stuck_n && !x->circle_n) {
		rn_put(&v->out, "without end: ");
		put_list(v, x->stuck, x->stuck_n, false);
		rn_put(&v->out, x->stuck_n == 1 ? " waits for " : " wait for ");
		put_list(v, x->root, x->root_n, true);
		rn_put(&v->out, gone == 1 ? ", which has ended\n" : ", which have ended\n");
	} else if (x->root_n > gone) {
		rn_put(&v->out, "all that wait, wait in the end for ");
		put_list(v, x->root, x->root_n, false);
		if (x->root_n - gone == 1)
			for (uint64_t i = 0; i < x->root_n; i++)
				if (!v->standstill.waiter[x->root[i]].gone) {
					rn_put(&v->out, ", ");
					put_doing(v, x->root[i]);
				}
		rn_put(&v->out, "\n");
	} else if (!x->waiting && v->standstill.stands && has_order_only(&v->standstill.stand[0])) {
		rn_put(&v->out, "who waits for whom is not recorded with --only=order\n");
	} else if (!x->waiting) {
		rn_put(&v->out, v->running ? "nobody is known to wait for anybody\n"
					   : "nobody was known to wait for anybody\n");
	}
}

/* The rank to inspect first: a rank of the cycle, otherwise a rank that others wait for, otherwise
 * the first running rank. */
static uint64_t suspect(const struct live *v)
{
	const struct rn_verdict *x = &v->standstill.verdict;

	if (x->circle_n)
		return x->circle[0];
	for (uint64_t i = 0; i < x->root_n; i++)
		if (v->standstill.sight[x->root[i]] && !v->standstill.waiter[x->root[i]].gone)
			return x->root[i];
	for (uint64_t r = 0; r < v->standstill.ranks; r++)
		if (v->standstill.sight[r] && !v->standstill.waiter[r].gone)
			return r;
	return v->standstill.ranks;
}

static void put_next(struct live *v)
{
	uint64_t r = suspect(v);
	const struct rn_sight *s = r < v->standstill.ranks ? v->standstill.sight[r] : NULL;
	char folder[RN_TEXT_PATH];

	rn_text_path(v->folder, folder, sizeof(folder));
	if (!v->running || !s) {
		rn_putf(&v->out, "try: rondo recover %s\n", folder);
		return;
	}
	rn_putf(&v->out, "try: gdb -p %" PRIu32 " (rank %" PRIu64 " on ", s->process->process, r);
	rn_put_safe(&v->out, v->process[s->tag].file->host);
	rn_putf(&v->out, "), or rondo recover %s -o now.rondo\n", folder);
}

bool live_put_text(struct live *v)
{
	const char *program = rn_meta_value(&v->sight[0].process->meta, RN_META_PROGRAM);
	const char *mpi = rn_meta_value(&v->sight[0].process->meta, RN_META_MPI);

	rn_putf(&v->out, "%s: ", v->folder);
	rn_put_safe(&v->out, program ? program : "a program");
	rn_putf(&v->out, ", %" PRIu64 " rank%s, %zu host%s, ", v->standstill.ranks,
		v->standstill.ranks == 1 ? "" : "s", v->files, v->files == 1 ? "" : "s");
	rn_put_safe(&v->out, mpi ? mpi : "MPI");
	rn_put(&v->out,
	       v->running ? "\n" : "; none of it runs any more, so this is where it stopped\n");
	if (!put_where(v) || !put_waits(v))
		return false;
	put_verdict(v);
	put_next(v);
	return true;
}
