/* reports.c - see reports.h. */
#include "launch/reports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mpi_detect.h"
#include "base/tracer_env.h"

#define DIGITS 16

/* Stores the rest of the line if the line begins with the word and no earlier line did. */
static void copy_rest(const char *line, const char *word, char *to, size_t cap)
{
	if (rn_begins(line, word) && !*to)
		snprintf(to, cap, "%s", line + strlen(word));
}

static struct run_reports *find_run(struct reports *r, uint64_t number)
{
	struct run_reports *run;

	for (size_t i = 0; i < r->runs; i++)
		if (r->run[i].run == number)
			return &r->run[i];
	run = realloc(r->run, (r->runs + 1) * sizeof(*run));
	if (!run)
		return NULL;
	r->run = run;
	run += r->runs++;
	*run = (struct run_reports){ .run = number };
	return run;
}

/* Parses "KEPT LOST". */
static void count_late(struct run_reports *run, const char *text)
{
	char *end;

	run->kept += strtoull(text, &end, 10);
	run->late += strtoull(end, NULL, 10);
	run->late_ranks++;
}

static void read_run_line(struct run_reports *run, const char *word, const char *text)
{
	const struct {
		const char *word;
		char *to;
	} texts[] = {
		{ RN_TAG_SPOOL, run->spool },         { RN_TAG_TRACED, run->traced },
		{ RN_TAG_PARTS, run->parts },         { RN_TAG_UNMERGED, run->unmerged },
		{ RN_TAG_UNSPILLED, run->unspilled }, { RN_TAG_UNOPENED, run->unspilled },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (strcmp(word, texts[i].word) == 0 && !*texts[i].to)
			snprintf(texts[i].to, PATH_MAX, "%s", text);
	run->failed |= strcmp(word, RN_TAG_FAILED) == 0;
	run->unopened |= strcmp(word, RN_TAG_UNOPENED) == 0;
	run->ended |= strcmp(word, RN_TAG_ENDED) == 0;
	if (strcmp(word, RN_TAG_LATE) == 0)
		count_late(run, text);
}

/* Parses "WORD RUN TEXT". Ignores lines of another form. */
static void read_line(struct reports *r, char *line)
{
	char *number = strchr(line, ' '), *text;
	struct run_reports *run;

	if (!number)
		return;
	number++;
	text = number + strspn(number, "0123456789abcdef");
	if (text - number != DIGITS || *text != ' ')
		return;
	run = find_run(r, strtoull(number, NULL, 16));
	number[-1] = 0;
	if (run)
		read_run_line(run, line, text + 1);
}

static void read_lines(struct reports *r, char *line, const char *end)
{
	for (char *next; line < end && (next = memchr(line, '\n', (size_t)(end - line)));
	     line = next + 1) {
		*next = 0;
		r->ranked |=
			rn_begins(line, RN_TAG_RANK " ") || rn_begins(line, RN_TAG_STARTED " ");
		copy_rest(line, RN_TAG_LAUNCHER " ", r->launcher, sizeof(r->launcher));
		copy_rest(line, RN_TAG_RANK " ", r->rank, sizeof(r->rank));
		copy_rest(line, RN_TAG_STARTED " ", r->started, sizeof(r->started));
		copy_rest(line, RN_TAG_UNTRACED " ", r->untraced, sizeof(r->untraced));
		read_line(r, line);
	}
}

void reports_read(int status, struct reports *out)
{
	struct rn_buf b = { 0 };
	struct stat st;
	ssize_t n = 0;

	*out = (struct reports){ .gone = fstat(status, &st) < 0 || st.st_nlink == 0 };
	do {
		char *at = (char *)rn_buf_reserve(&b, 65536);

		n = at ? pread(status, at, 65536, (off_t)b.len) : 0;
		b.len += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	if (b.len)
		read_lines(out, (char *)b.data, (char *)b.data + b.len);
	rn_buf_free(&b);
}

void reports_free(struct reports *r)
{
	free(r->run);
	*r = (struct reports){ 0 };
}
