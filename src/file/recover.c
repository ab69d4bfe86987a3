/* recover.c - see recover.h. */
#include "file/recover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encode/sigs.h"
#include "encode/timing.h"
#include "file/part.h"
#include "file/part_times.h"
#include "file/section.h"
#include "file/writer.h"
#include "grammar/grammar.h"
#include "identity/comms.h"
#include "merge/markers.h"

/* Facts */

static bool get_number(const struct rn_meta *m, const char *key, uint64_t *out)
{
	const char *s = rn_meta_get(m, key);
	char *end;

	if (!s || *s < '0' || *s > '9')
		return false;
	errno = 0;
	*out = strtoull(s, &end, 10);
	return *end == 0 && errno == 0;
}

int rn_part_facts(const struct rn_meta *meta, struct rn_part_facts *out, struct rn_err *err)
{
	const char *complete = rn_meta_get(meta, "complete");

	if (!get_number(meta, "rank", &out->rank) || !get_number(meta, "ranks", &out->ranks) ||
	    !get_number(meta, "threads", &out->threads))
		return rn_err_set(err, RN_E_DATA, "does not say whose part it is");
	if (out->rank >= out->ranks || out->threads == 0 || out->ranks > RN_RECOVER_STREAMS ||
	    out->threads > RN_RECOVER_STREAMS / out->ranks)
		return rn_err_set(err, RN_E_DATA,
				  "rank %" PRIu64 " of %" PRIu64 " with %" PRIu64
				  " threads cannot be",
				  out->rank, out->ranks, out->threads);
	if (!get_number(meta, "lost", &out->lost))
		out->lost = 0;
	out->complete = !complete || strcmp(complete, "yes") == 0;
	return RN_OK;
}

static int read_meta(struct rn_container *c, struct rn_arena *mem, struct rn_meta *meta,
		     struct rn_err *err)
{
	const void *bytes;
	size_t len;
	int rc = rn_container_get(c, RN_SECTION_META, &bytes, &len, err);

	if (rc == RN_E_RANGE)
		return rn_err_set(err, RN_E_DATA, "section meta is missing");
	if (rc == RN_OK)
		rc = rn_meta_decode(mem, bytes, len, meta, err);
	if (rc == RN_E_DATA)
		rn_err_prefix(err, "section meta");
	return rc;
}

int rn_part_peek(const void *bytes, size_t len, struct rn_part_facts *out, struct rn_err *err)
{
	struct rn_container *c;
	struct rn_arena mem;
	struct rn_meta meta;
	int rc;

	rn_arena_init(&mem, SIZE_MAX);
	rc = rn_container_open(&mem, bytes, len, &c, err);
	if (rc == RN_OK)
		rc = read_meta(c, &mem, &meta, err);
	if (rc == RN_OK)
		rc = rn_part_facts(&meta, out, err);
	if (rc == RN_OK && !rn_container_has(c, RN_SECTION_PART))
		rc = rn_err_set(err, RN_E_DATA, "there is no part of a trace in it");
	rn_arena_free(&mem);
	return rc;
}

/* Lists of ranks */

static void end_range(struct rn_rank_text *t)
{
	char s[64];
	int n = snprintf(s, sizeof(s), "%s%" PRIu64, t->text.len ? "," : "", t->first);

	if (t->last > t->first)
		n += snprintf(s + n, sizeof(s) - (size_t)n, "-%" PRIu64, t->last);
	rn_buf_add(&t->text, s, (size_t)n);
}

static void name_ranks(struct rn_rank_text *t, uint64_t first, uint64_t last)
{
	if (t->n == 0 || t->last + 1 != first) {
		if (t->n)
			end_range(t);
		t->first = first;
	}
	t->last = last;
	t->n += last - first + 1;
}

const char *rn_rank_text(struct rn_rank_text *t)
{
	size_t len = t->text.len;

	if (t->n)
		end_range(t);
	rn_buf_byte(&t->text, 0);
	if (t->text.failed)
		return NULL;
	t->text.len = len; /* so that it can be asked for again */
	return (const char *)t->text.data;
}

/* The vocabulary: every part has what it uses of one that was the same for all ranks */

static bool same_func(const struct rn_func *a, const struct rn_func *b)
{
	if (strcmp(a->name, b->name) || a->nparams != b->nparams)
		return false;
	for (uint32_t i = 0; i < a->nparams; i++)
		if (strcmp(a->param[i], b->param[i]) || rn_func_dir(a, i) != rn_func_dir(b, i))
			return false;
	return true;
}

static const char *copy_text(struct rn_arena *mem, const char *s)
{
	size_t n = strlen(s) + 1;
	char *copy = rn_new(mem, char, n);

	return copy ? memcpy(copy, s, n) : NULL;
}

static bool copy_func(struct rn_arena *mem, const struct rn_func *from, struct rn_func *to)
{
	const char **param = rn_new(mem, const char *, from->nparams);
	unsigned char *dir = rn_new(mem, unsigned char, from->nparams);

	*to = *from;
	to->name = copy_text(mem, from->name);
	if (!to->name || !param || !dir)
		return false;
	for (uint32_t i = 0; i < from->nparams; i++) {
		param[i] = copy_text(mem, from->param[i]);
		dir[i] = (unsigned char)rn_func_dir(from, i);
		if (!param[i])
			return false;
	}
	to->param = param;
	to->dir = dir;
	return true;
}

static int learn_func(struct rn_whole *w, const struct rn_func *f, struct rn_err *err)
{
	struct rn_func *known = &w->func[f->number], copy;

	if (known->name && !same_func(known, f))
		return rn_err_set(err, RN_E_DATA, "%s is another function in other parts", f->name);
	if (known->name)
		return RN_OK;
	if (!copy_func(&w->mem, f, &copy))
		return rn_err_nomem(err);
	*known = copy;
	return RN_OK;
}

static int learn_word(struct rn_whole *w, const struct rn_word *word, struct rn_err *err)
{
	const char **known = &w->word[word->number];

	if (*known && strcmp(*known, word->text))
		return rn_err_set(err, RN_E_DATA, "%s is another word in other parts", word->text);
	if (!*known)
		*known = copy_text(&w->mem, word->text);
	return *known ? RN_OK : rn_err_nomem(err);
}

/* What is learned from a part that is refused later is not used, and so not written. */
static int learn(struct rn_whole *w, const struct rn_vocab *v, struct rn_err *err)
{
	int rc = RN_OK;

	if (!w->func)
		w->func = rn_new(&w->mem, struct rn_func, RN_NUMBER_MAX + 1);
	if (!w->word)
		w->word = rn_new(&w->mem, const char *, RN_NUMBER_MAX + 1);
	if (!w->func || !w->word)
		return rn_err_nomem(err);
	for (uint32_t i = 0; i < v->funcs && rc == RN_OK; i++)
		rc = learn_func(w, &v->func[i], err);
	for (uint32_t i = 0; i < v->words && rc == RN_OK; i++)
		rc = learn_word(w, &v->word[i], err);
	return rc;
}

static int learned(struct rn_whole *w, struct rn_vocab *out)
{
	struct rn_func *f = rn_new(&w->mem, struct rn_func, RN_NUMBER_MAX + 1);
	struct rn_word *word = rn_new(&w->mem, struct rn_word, RN_NUMBER_MAX + 1);

	if (!f || !word)
		return RN_E_NOMEM;
	*out = (struct rn_vocab){ f, word, 0, 0 };
	for (uint32_t i = 0; i <= RN_NUMBER_MAX; i++) {
		if (w->func[i].name)
			f[out->funcs++] = w->func[i];
		if (w->word[i])
			word[out->words++] = (struct rn_word){ i, w->word[i] };
	}
	return RN_OK;
}

/* Adding */

void rn_whole_init(struct rn_whole *w, uint64_t ranks, uint64_t threads)
{
	*w = (struct rn_whole){ .ranks = ranks, .threads = threads };
	rn_arena_init(&w->mem, SIZE_MAX);
	rn_arena_init(&w->one, SIZE_MAX);
	rn_arena_init(&w->scratch, SIZE_MAX);
}

/* `n` streams without a call, from `first` on. */
static int silence(struct rn_arena *mem, uint64_t first, uint64_t n, struct rn_part *out)
{
	struct rn_sigs *sigs = rn_sigs_new(mem);
	struct rn_grammar *g = rn_grammar_new(mem, NULL);
	int rc = sigs && g ? rn_part_leaf(out, mem, first, sigs, g) : RN_E_NOMEM;

	if (rc == RN_OK) {
		out->group[0].ranks.run[0] = (struct rn_run){ first, n > 1, n };
		out->ranks = n;
		out->last = first + n - 1;
	}
	return rc;
}

/* Where the next part is built: the first one is the beginning of the whole. */
static struct rn_arena *arena_for_part(struct rn_whole *w)
{
	return w->streams ? &w->one : &w->mem;
}

static int take(struct rn_whole *w, const struct rn_part *p)
{
	int rc = RN_OK;

	if (w->streams)
		rc = rn_part_merge(&w->part, p, &w->scratch);
	else
		w->part = *p;
	if (rc == RN_OK)
		w->streams = p->last + 1;
	return rc;
}

/* Streams up to `end` are there, without a call if they were not. */
static int pad(struct rn_whole *w, uint64_t end)
{
	struct rn_part p;
	int rc;

	if (w->streams == end)
		return RN_OK;
	rc = silence(arena_for_part(w), w->streams, end - w->streams, &p);
	return rc == RN_OK ? take(w, &p) : rc;
}

/* Metadata of the same run. */
static bool same_run(const struct rn_meta *a, const struct rn_meta *b)
{
	const char *x = rn_meta_get(a, "run"), *y = rn_meta_get(b, "run");

	return x && y ? strcmp(x, y) == 0 : x == y;
}

static int check_facts(const struct rn_whole *w, const struct rn_meta *meta,
		       const struct rn_part_facts *f, struct rn_err *err)
{
	if (f->ranks != w->ranks || f->threads > w->threads ||
	    (w->meta.n && !same_run(&w->meta, meta)))
		return rn_err_set(err, RN_E_DATA, "is of another run");
	if (f->rank < w->next)
		return rn_err_set(err, RN_E_ARG, "rank %" PRIu64 " is out of order", f->rank);
	return RN_OK;
}

static int read_comms(struct rn_whole *w, struct rn_container *c, uint64_t rank,
		      struct rn_comms **out, struct rn_err *err)
{
	const void *bytes;
	size_t len;
	int rc = rn_container_get(c, RN_SECTION_COMMS, &bytes, &len, err);

	if (rc == RN_OK)
		rc = rn_comms_decode(&w->one, bytes, len, out, err);
	if (rc == RN_OK && rn_comms_ranks(*out) > rank + 1)
		rc = rn_err_set(err, RN_E_DATA, "is about other ranks");
	if (rc == RN_E_DATA)
		rn_err_prefix(err, "section comms");
	return rc;
}

/* The communicators that the rank is in. */
static int add_comms(struct rn_whole *w, struct rn_container *c, uint64_t rank, struct rn_err *err)
{
	struct rn_comms *its;
	int rc = read_comms(w, c, rank, &its, err);

	if (rc < 0)
		return rc;
	if (!w->comms)
		w->comms = rn_comms_new(&w->mem);
	rc = w->comms ? rn_comms_merge(w->comms, its) : RN_E_NOMEM;
	if (rc == RN_E_ARG)
		return rn_err_set(err, RN_E_DATA, "section comms: is about other ranks");
	return rc < 0 ? rn_err_nomem(err) : RN_OK;
}

/* The statistics of a part, if it has any: *has. */
static int read_times(struct rn_whole *w, struct rn_container *c, const struct rn_part *p,
		      uint64_t rank, struct rn_times *out, bool *has, struct rn_err *err)
{
	const void *bytes;
	size_t len;
	int rc;

	*has = rn_container_has(c, RN_SECTION_TIMES);
	if (!*has)
		return RN_OK;
	rc = rn_container_get(c, RN_SECTION_TIMES, &bytes, &len, err);
	if (rc == RN_OK)
		rc = rn_part_times_load(&w->one, bytes, len, p->sigs, out, err);
	for (uint32_t i = 0; rc == RN_OK && i < out->clock.n; i++)
		if (RN_SEG_AT(&out->clock, struct rn_time_clock, i)->rank != rank)
			rc = rn_err_set(err, RN_E_DATA, "is about other ranks");
	if (rc == RN_E_DATA)
		rn_err_prefix(err, "section times");
	return rc;
}

/* After the part itself, which so has all of its signatures in the whole. */
static int add_times(struct rn_whole *w, const struct rn_times *its, const struct rn_sigs *sigs)
{
	if (!w->times) {
		w->times = rn_new(&w->mem, struct rn_times, 1);
		if (!w->times)
			return RN_E_NOMEM;
		rn_times_init(w->times, &w->mem, RN_TIME_SCALE_ONE);
	}
	return rn_part_times_add(w->times, w->part.sigs, its, sigs, &w->one);
}

/* A part that is verified goes in: first what is missing before it. */
static int add_part(struct rn_whole *w, struct rn_container *c, const struct rn_part_facts *f,
		    struct rn_err *err)
{
	struct rn_part_place place = { f->rank * w->threads, f->threads };
	struct rn_vocab vocab = { 0 };
	struct rn_times times;
	struct rn_part p;
	bool timed = false;
	int rc = rn_part_get(c, arena_for_part(w), place, &vocab, &p, err);

	if (rc == RN_OK && p.ranks != f->threads)
		rc = rn_err_set(err, RN_E_DATA, "has %" PRIu64 " streams for %" PRIu64 " threads",
				p.ranks, f->threads);
	if (rc == RN_OK)
		rc = read_times(w, c, &p, f->rank, &times, &timed, err);
	if (rc == RN_OK)
		rc = learn(w, &vocab, err);
	if (rc == RN_OK && rn_container_has(c, RN_SECTION_COMMS))
		rc = add_comms(w, c, f->rank, err);
	if (rc < 0)
		return rc;
	rc = pad(w, place.first);
	if (rc == RN_OK)
		rc = take(w, &p);
	if (rc == RN_OK && timed)
		rc = add_times(w, &times, p.sigs);
	return rc < 0 ? rn_err_set(err, rc, "out of memory") : RN_OK;
}

static void note(struct rn_whole *w, const struct rn_part_facts *f)
{
	if (f->rank > w->next) {
		name_ranks(&w->missing, w->next, f->rank - 1);
		name_ranks(&w->incomplete, w->next, f->rank - 1);
	}
	if (!f->complete)
		name_ranks(&w->incomplete, f->rank, f->rank);
	w->lost += f->lost;
	w->next = f->rank + 1;
}

static int add(struct rn_whole *w, const void *bytes, size_t len, struct rn_err *err)
{
	struct rn_container *c;
	struct rn_part_facts f;
	struct rn_meta meta, kept = w->meta;
	int rc = rn_container_open(&w->one, bytes, len, &c, err);

	if (rc == RN_OK)
		rc = read_meta(c, &w->one, &meta, err);
	if (rc == RN_OK)
		rc = rn_part_facts(&meta, &f, err);
	if (rc == RN_OK)
		rc = check_facts(w, &meta, &f, err);
	if (rc == RN_OK && !kept.n)
		rc = read_meta(c, &w->mem, &kept, err);
	if (rc == RN_OK)
		rc = add_part(w, c, &f, err);
	if (rc < 0)
		return rc;
	w->meta = kept;
	note(w, &f);
	return RN_OK;
}

int rn_whole_add(struct rn_whole *w, const void *bytes, size_t len, struct rn_err *err)
{
	int rc = add(w, bytes, len, err);

	rn_arena_rewind(&w->one, (struct rn_arena_mark){ 0 });
	return rc;
}

/* Finishing */

static int count_calls(struct rn_whole *w, const struct rn_streams *s)
{
	struct rn_markers markers;
	struct rn_vocab vocab;
	int rc = learned(w, &vocab);

	if (rc == RN_OK) {
		markers = rn_markers_of(&vocab);
		rc = rn_markers_calls(&markers, s, &w->scratch, &w->calls);
	}
	return rc;
}

int rn_whole_finish(struct rn_whole *w, struct rn_streams *s, struct rn_err *err)
{
	int rc;

	if (w->next == 0)
		return rn_err_set(err, RN_E_ARG, "there is no part");
	if (w->next < w->ranks) {
		name_ranks(&w->missing, w->next, w->ranks - 1);
		name_ranks(&w->incomplete, w->next, w->ranks - 1);
		w->next = w->ranks;
	}
	rc = pad(w, w->ranks * w->threads);
	if (rc == RN_OK)
		rc = rn_part_finish(&w->part, &w->mem, &w->scratch, s);
	if (rc == RN_OK)
		rc = count_calls(w, s);
	return rc < 0 ? rn_err_set(err, rc, "the parts cannot be merged (out of memory?)") : RN_OK;
}

#define FACTS_MAX 4    /* entries that we add */
#define LIST_MAX  8000 /* bytes; a longer list of ranks is cut */

/* Keys that a part has for itself, or that are written anew. */
static bool of_part(const char *key)
{
	static const char *const keys[] = { "rank", "ranks",    "threads",
					    "lost", "complete", "incomplete" };

	for (unsigned i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

/* The ranks that are not complete; a list that is too long for a value is cut. */
static const char *incomplete_ranks(struct rn_whole *w)
{
	const char *list = rn_rank_text(&w->incomplete);
	size_t n = LIST_MAX + 8;
	char *s = rn_new(&w->mem, char, n);

	if (!list || !s)
		return NULL;
	snprintf(s, n, "%.*s%s", LIST_MAX, list, strlen(list) > LIST_MAX ? "..." : "");
	return s;
}

static int whole_meta(struct rn_whole *w, struct rn_meta *out)
{
	struct rn_meta_entry *e = rn_new(&w->mem, struct rn_meta_entry, w->meta.n + FACTS_MAX);
	const char *list = incomplete_ranks(w);
	char *threads = rn_new(&w->mem, char, 24), *why = rn_new(&w->mem, char, LIST_MAX + 64);
	char *lost = rn_new(&w->mem, char, 24);

	if (!e || !list || !threads || !why || !lost)
		return RN_E_NOMEM;
	*out = (struct rn_meta){ e, 0 };
	for (uint32_t i = 0; i < w->meta.n; i++)
		if (!of_part(w->meta.entry[i].key))
			e[out->n++] = w->meta.entry[i];
	snprintf(threads, 24, "%" PRIu64, w->threads);
	snprintf(why, LIST_MAX + 64, "no: calls of ranks %s are missing", list);
	if (w->threads > 1)
		e[out->n++] = (struct rn_meta_entry){ "threads", threads };
	e[out->n++] = (struct rn_meta_entry){ "complete", *list ? why : "yes" };
	if (*list)
		e[out->n++] = (struct rn_meta_entry){ "incomplete", list };
	snprintf(lost, 24, "%" PRIu64, w->lost);
	if (w->lost)
		e[out->n++] = (struct rn_meta_entry){ "lost", lost };
	return RN_OK;
}

static int put_comms(const struct rn_whole *w, struct rn_container_writer *out, struct rn_err *err)
{
	struct rn_buf b = { 0 };
	int rc;

	if (!w->comms)
		return RN_OK;
	rc = rn_comms_tidy(w->comms);
	if (rc == RN_OK)
		rc = rn_comms_encode(w->comms, &b);
	if (rc < 0)
		rn_err_set(err, rc, "section comms cannot be made");
	else
		rc = rn_container_add(out, RN_SECTION_COMMS, b.data, b.len, err);
	rn_buf_free(&b);
	return rc;
}

static int put_times(struct rn_whole *w, const struct rn_streams *s,
		     struct rn_container_writer *out, struct rn_err *err)
{
	struct rn_buf b = { 0 };
	int rc;

	if (!w->times)
		return RN_OK;
	rc = rn_part_times_finish(w->times, w->part.sigs, s, &w->scratch, &b);
	if (rc < 0)
		rn_err_set(err, rc, "section times cannot be made");
	else
		rc = rn_container_add(out, RN_SECTION_TIMES, b.data, b.len, err);
	rn_buf_free(&b);
	return rc;
}

int rn_whole_write(struct rn_whole *w, const struct rn_streams *s, const char *path,
		   struct rn_err *err)
{
	struct rn_container_writer out = { 0 };
	struct rn_vocab vocab;
	struct rn_meta meta;
	int rc = learned(w, &vocab);

	if (rc == RN_OK)
		rc = whole_meta(w, &meta);
	if (rc < 0)
		return rn_err_nomem(err);
	rc = rn_trace_sections(&out, s, &vocab, &meta, err);
	if (rc == RN_OK)
		rc = put_comms(w, &out, err);
	if (rc == RN_OK)
		rc = put_times(w, s, &out, err);
	if (rc == RN_OK)
		rc = rn_container_write(&out, path, err);
	rn_container_writer_free(&out);
	return rc;
}

void rn_whole_free(struct rn_whole *w)
{
	rn_arena_free(&w->mem);
	rn_arena_free(&w->one);
	rn_arena_free(&w->scratch);
	rn_buf_free(&w->missing.text);
	rn_buf_free(&w->incomplete.text);
}
