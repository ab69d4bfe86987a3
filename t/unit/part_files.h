/*
 * part_files.h - writes journals (journal/journal_file.h) as the tracer would.
 *
 * Each rank makes the calls of add_ith and then ends in one of several ways (enum ending). If
 * `every` is not 0, a segment has that number of calls.
 */
#ifndef RN_T_PART_FILES_H
#define RN_T_PART_FILES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/intern.h"
#include "encode/call_words.h"
#include "encode/elastic_slots.h"
#include "encode/process_table.h"
#include "encode/time_stats.h"
#include "grammar/grammar.h"
#include "journal/journal_file.h"
#include "read/trace.h"
#include "read/trace_check.h"
#include "recover/recover.h"
#include "rules/rules.h"
#include "series/units.h"

#define RUN 0x1234u

/* Entries of a ring, and bytes of an area. A file that includes this one may define smaller
 * values. */
#ifndef PLACES
#define PLACES 64u
#endif
#ifndef AREA
#define AREA ((size_t)1 << 16)
#endif
/* The number of calls of a stream whose functions are stored. */
#define CALLS_KNOWN 512u

/* ---- a private directory ---- */

static char private_dir[200];
static pid_t private_dir_owner;

static void remove_private_dir(void)
{
	if (getpid() == private_dir_owner)
		rmdir(private_dir);
}

/* Returns the path of a file in a private directory, which journals require. The directory is
 * removed when the process that created it exits. Child processes share it. */
static inline const char *private_path(const char *in, const char *what)
{
	static char path[sizeof(private_dir) + 64];

	if (!private_dir[0]) {
		snprintf(private_dir, sizeof(private_dir), "%.150s/rondo-part.XXXXXX",
			 in ? in : "/tmp");
		if (!mkdtemp(private_dir))
			abort();
		private_dir_owner = getpid();
		atexit(remove_private_dir);
	}
	snprintf(path, sizeof(path), "%s/%.60s", private_dir, what);
	return path;
}

/* The memory of a stream. */
struct memory {
	struct rn_live live;
	uint64_t buffer[512];
};

struct stream {
	struct memory *m;
	struct rn_arena mem;
	struct rn_sigs *words, *texts;
	struct rn_grammar *grammar;
	struct rn_times times;
	struct rn_log log;
	struct rn_extent *area[2];
	uint32_t *ring;
	uint64_t sealed_at;
	struct rn_holes *holes; /* of the elastic call; NULL: not made yet */
	uint32_t elastic;       /* the id of that call */
	int64_t *values;        /* ring of its elastic values; all since the checkpoint */
	uint64_t values_at, pieces;
	uint64_t segment, every; /* calls per segment; 0: one segment */
	uint32_t shape[3], shapes;
	uint32_t function[CALLS_KNOWN], functions; /* of the first CALLS_KNOWN calls */
};

/* The id of the writing process; 0: the id of this process. */
static uint32_t part_process;

static uint32_t function(const char *name)
{
	for (uint32_t i = 0; i < rn_mpi_vocab.funcs; i++)
		if (strcmp(rn_mpi_vocab.func[i].name, name) == 0)
			return i;
	abort();
}

static uint32_t word(const char *name)
{
	return (uint32_t)rn_vocab_find(&rn_mpi_vocab, name);
}

static uint64_t world(void)
{
	return (uint64_t)word("MPI_COMM_WORLD") << 1 | 1;
}

static void must(bool good)
{
	if (!good)
		abort();
}

static struct rn_extent *claim(struct rn_spill *s, enum rn_extent_kind kind, uint32_t stream,
			       size_t bytes, void *at)
{
	struct rn_mapped m;

	must(rn_spill_claim(s, kind, stream, bytes, at, &m) == 0);
	return m.at;
}

static void put_series(const struct rn_series *s, struct rn_buf *out)
{
	struct rn_arena mem, scratch;
	struct rn_units *u;

	rn_arena_init(&mem, SIZE_MAX);
	rn_arena_init(&scratch, SIZE_MAX);
	must(rn_units_seal_quickly(&mem, &scratch, s, &u) == RN_OK);
	must(rn_units_encode_quickly(u, 0, out) == RN_OK);
	rn_arena_free(&mem);
	rn_arena_free(&scratch);
}

static void put_grammar(const struct rn_grammar *g, struct rn_buf *out)
{
	struct rn_arena scratch;

	rn_arena_init(&scratch, SIZE_MAX);
	must(rn_rules_encode_grammar(g, &scratch, out) == RN_OK);
	rn_arena_free(&scratch);
}

/* Writes the elastic values after the grammar. At every other checkpoint the values so far go to
 * the log instead. */
static void save_values(struct rn_spill *spill, struct stream *s, struct rn_extent *area,
			struct rn_seal *to)
{
	size_t at = sizeof(*area) + to->grammar;
	struct rn_buf b = rn_buf_over((char *)area + at, AREA - at), piece = { 0 };
	const struct rn_fact_values f = { s->elastic, 0 };
	struct rn_extent *tail;

	if (!s->holes)
		return;
	if (to->number % 2) {
		put_series(s->holes->series[0], &piece);
		must(rn_log_add(&s->log, RN_FACT_VALUES, &f, sizeof(f), piece.data, piece.len) ==
		     0);
		must(rn_holes_cut(s->holes, &s->mem, 0));
		rn_buf_free(&piece);
		s->pieces++;
	}
	rn_buf_u64(&b, s->elastic);
	put_series(s->holes->series[0], &b);
	tail = claim(spill, RN_EXTENT_TAIL, s->log.stream, sizeof(*tail) + PLACES * sizeof(int64_t),
		     NULL);
	to->calls.bytes += b.len;
	to->values_from = s->values_at;
	to->values_tail = tail->number;
	to->values_places = PLACES;
	to->pieces = s->pieces;
	s->values = (int64_t *)(tail + 1);
}

static void seal(struct rn_spill *spill, struct stream *s)
{
	uint64_t which = !s->m->live.sealed;
	struct rn_seal *to = &s->m->live.seal[which];
	struct rn_extent *area = claim(spill, RN_EXTENT_AREA, s->log.stream, AREA, NULL), *tail;
	struct rn_extent *times = claim(spill, RN_EXTENT_AREA, s->log.stream, AREA, NULL);
	struct rn_buf b = rn_buf_over(area + 1, AREA - sizeof(*area));

	tail = claim(spill, RN_EXTENT_TAIL, s->log.stream,
		     sizeof(*tail) + PLACES * sizeof(uint32_t), NULL);
	put_grammar(s->grammar, &b);
	*to = (struct rn_seal){ .number = s->m->live.seal[!which].number + 1,
				.upto = s->m->live.calls,
				.calls = { .page = area->number, .bytes = b.len },
				.grammar = b.len,
				.tail = tail->number,
				.places = PLACES,
				.segment = s->segment };
	save_values(spill, s, area, to);
	b = rn_buf_over(times + 1, AREA - sizeof(*times));
	must(rn_times_save(&s->times, &b) == RN_OK);
	to->times = (struct rn_snapshot){ times->number, b.len, rn_area_sum(times, b.data, b.len) };
	to->calls.sum = rn_area_sum(area, area + 1, to->calls.bytes);
	to->sum = rn_seal_sum(area, to);
	s->ring = (uint32_t *)(tail + 1);
	s->sealed_at = s->m->live.calls;
	s->m->live.sealed = which;
}

static void start_tables(struct stream *s)
{
	s->words = rn_sigs_new(&s->mem);
	s->texts = rn_sigs_new(&s->mem);
	s->grammar = rn_grammar_new(&s->mem, NULL);
	s->holes = NULL;
	s->pieces = 0;
	rn_times_init(&s->times, &s->mem, 3 * RN_TIME_SCALE_ONE);
}

/* The file contains addresses of a stream's memory. The kernel usually honors the requested
 * address, and the file is then the same in every process. */
static void *stream_memory(size_t bytes)
{
	static uintptr_t next = (uintptr_t)1 << 45;
	void *m = mmap((void *)next, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	must(m != MAP_FAILED);
	next += (uintptr_t)1 << 20;
	return m;
}

static void start_stream(struct rn_spill *spill, struct stream *s, uint32_t number, uint64_t every)
{
	memset(s, 0, sizeof(*s));
	s->every = every;
	s->m = stream_memory(sizeof(*s->m));
	s->m->live.buffer = s->m->live.top = (uint64_t)(uintptr_t)s->m->buffer;
	s->m->live.limit = UINT64_MAX;
	s->m->live.expected = RN_LIVE_HERE;
	rn_arena_init(&s->mem, SIZE_MAX);
	start_tables(s);
	s->log = (struct rn_log){ .spill = spill, .stream = number };
	claim(spill, RN_EXTENT_LIVE, number, sizeof(*s->m), s->m);
	seal(spill, s);
}

static uint32_t function_of(const struct stream *s, uint32_t id)
{
	size_t len;
	uint64_t head = 0;

	if (id < rn_sigs_count(s->words))
		memcpy(&head, rn_sigs_get(s->words, id, &len), sizeof(head));
	return RN_RAW_FUNCTION(head);
}

static void add_number(struct rn_spill *spill, struct stream *s, uint32_t id)
{
	must(rn_grammar_append(s->grammar, id) == RN_OK);
	if (s->functions < CALLS_KNOWN)
		s->function[s->functions++] = function_of(s, id);
	s->ring[s->m->live.calls % PLACES] = id;
	s->m->live.calls++;
	if (s->m->live.calls - s->sealed_at == PLACES)
		seal(spill, s);
}

static void add_call(struct rn_spill *spill, struct stream *s, const uint64_t *w, size_t n)
{
	uint32_t before = rn_sigs_count(s->words), id;

	must(rn_sigs_intern(s->words, w, n * sizeof(*w), &id) == RN_OK);
	if (id == before)
		must(rn_log_add(&s->log, RN_FACT_CALL, w, n * sizeof(*w), NULL, 0) == 0);
	rn_times_add(&s->times, id, 1000, 7);
	add_number(spill, s, id);
}

/* Adds a call with `tag` in its elastic slot. If it is `lost`, as when memory is exhausted, only
 * the elastic value is stored, and the call is not recorded. */
static void add_elastic(struct rn_spill *spill, struct stream *s, uint64_t tag, bool lost)
{
	const uint64_t w[] = { function("MPI_Iprobe"), 0, RN_RAW_HOLE, world(), 0,
			       RN_STATUS_NOTHING,      0 };
	int64_t number = (int64_t)tag;

	if (!s->holes) {
		must(rn_sigs_intern(s->words, w, sizeof(w), &s->elastic) == RN_OK);
		must(rn_log_add(&s->log, RN_FACT_ELASTIC, w, sizeof(w), NULL, 0) == 0);
		s->holes = rn_holes_new(&s->mem, w, sizeof(w) / sizeof(*w));
		must(s->holes != NULL);
		seal(spill, s);
	}
	s->values[s->values_at % PLACES] = number;
	must(rn_holes_append_numbers(s->holes, &number) == RN_OK);
	if (lost)
		return;
	s->values_at++;
	rn_times_add(&s->times, s->elastic, 1000, 7);
	add_number(spill, s, s->elastic);
}

__attribute__((unused)) static void end_segment(struct rn_spill *spill, struct stream *s)
{
	const struct rn_seal *last;

	seal(spill, s);
	last = &s->m->live.seal[s->m->live.sealed];
	must(rn_log_add(&s->log, RN_FACT_SEGMENT, last, sizeof(*last), NULL, 0) == 0);
	start_tables(s);
}

/* Starts a new segment of the stream if call i is the first of one. */
__attribute__((unused)) static void next_segment(struct rn_spill *spill, struct stream *s,
						 uint64_t i)
{
	if (!s->every || i == 0 || i % s->every)
		return;
	end_segment(spill, s);
	s->segment++;
	seal(spill, s);
}

/* Returns the id of a string in this segment. */
__attribute__((unused)) static uint64_t text(struct stream *s, const char *bytes)
{
	uint32_t before = rn_sigs_count(s->texts), id;

	must(rn_sigs_intern(s->texts, bytes, strlen(bytes), &id) == RN_OK);
	if (id == before)
		must(rn_log_add(&s->log, RN_FACT_TEXT, bytes, strlen(bytes), NULL, 0) == 0);
	return id;
}

/* Adds a call that creates a request, which is one of three, and a call that waits for it. As in
 * the tracer, a call that is new in its segment is a new creator. */
__attribute__((unused)) static void add_request(struct rn_spill *spill, struct stream *s,
						uint64_t which)
{
	const uint64_t begin[] = { function("MPI_Ibarrier"), world(), 2, which };
	uint64_t wait[] = { function("MPI_Wait"), 0, RN_STATUS_NOTHING, 0 };
	uint64_t call = rn_sigs_count(s->words);

	add_call(spill, s, begin, 4);
	if (rn_sigs_count(s->words) > call) {
		must(rn_log_add(&s->log, RN_FACT_SHAPE, &call, sizeof(call), NULL, 0) == 0);
		s->shape[which] = s->shapes++;
	}
	wait[1] = RN_RAW_REQUEST(0, s->shape[which], 0) | RN_RAW_GONE;
	add_call(spill, s, wait, 4);
}

static void add_text(struct rn_spill *spill, struct stream *s, uint64_t i)
{
	char name[32];
	uint64_t w[] = { function("MPI_Comm_set_name"), world(), 0, 0 };

	snprintf(name, sizeof(name), "name %d", (int)(i * 7 % 100));
	w[2] = text(s, name);
	add_call(spill, s, w, 4);
}

/* Adds call i of each rank: barriers, and occasionally an error code not seen before. */
static void add_ith(struct rn_spill *spill, struct stream *s, uint64_t i)
{
	uint64_t barrier[] = { function("MPI_Barrier"), world(), 0 };
	uint64_t other[] = { function("MPI_Initialized"), i / 5 % 2, 0 };

	barrier[2] = i % 7 ? 0 : i;
	barrier[0] = RN_RAW_HEAD(barrier[0], i % 3); /* stack 2 does not exist */
	if (i % 5)
		add_call(spill, s, barrier, 3);
	else
		add_call(spill, s, other, 3);
}

/* Like add_ith, but also adds elastic calls, requests and strings, which each segment must
 * define again. The elastic value added at the end of a segment is lost, and no call uses it. */
static void add_rich(struct rn_spill *spill, struct stream *s, uint64_t i)
{
	if (i % 3 == 2)
		add_elastic(spill, s, i * 7, false);
	if (s->holes && s->every && (i + 1) % s->every == 0)
		add_elastic(spill, s, 0, true);
	if (i % 11 == 0)
		add_request(spill, s, i * 5 / 11 % 3);
	else if (i % 4 == 0)
		add_text(spill, s, i);
	else
		add_ith(spill, s, i);
}

static const struct rn_fact_clock clock_of_rank = { -12345, 6 };

static void add_facts(struct rn_log *log, int64_t rank, int64_t ranks)
{
	struct rn_fact_world w = { rank, ranks, 3 * RN_TIME_SCALE_ONE, 5, 99 };
	struct rn_const_value c = { RN_K_comm, word("MPI_COMM_WORLD"), 77 };
	static const char program[] = "program\0prog";
	static const unsigned char stack[] = { 1, 1, 'm', 0, 0, 16 }; /* m+0x10 */
	const uint64_t one = 1;

	must(rn_log_add(log, RN_FACT_CONSTANT, &c, sizeof(c), NULL, 0) == 0);
	must(rn_log_add(log, RN_FACT_META, program, sizeof(program), NULL, 0) == 0);
	must(rn_log_add(log, RN_FACT_SITE, &one, sizeof(one), stack, sizeof(stack)) == 0);
	must(rn_log_add(log, RN_FACT_WORLD, &w, sizeof(w), NULL, 0) == 0);
	must(rn_log_add(log, RN_FACT_CLOCK, &clock_of_rank, sizeof(clock_of_rank), NULL, 0) == 0);
}

/* Stores the words of a call in flight, after those of other calls in flight. */
static void enter(struct stream *s, const uint64_t *w, size_t n)
{
	uint64_t *base = (uint64_t *)(uintptr_t)s->m->live.top;

	memcpy(base, w, n * sizeof(*w));
	base[n] = 0;
	base[n + 1] = (uint64_t)(uintptr_t)base;
	s->m->live.top = (uint64_t)(uintptr_t)(base + n + 2);
}

/* Records a call in flight that is the expected one. Its signature has the n words and one more.
 * The words stored in the file are different. */
static void enter_expected(struct stream *s, const uint64_t *w, size_t n)
{
	const uint64_t other[4] = { 0, 1, 2, 3 };
	uint32_t before = rn_sigs_count(s->words), id;

	must(rn_sigs_intern(s->words, w, (n + 1) * sizeof(*w), &id) == RN_OK);
	if (id == before)
		must(rn_log_add(&s->log, RN_FACT_CALL, w, (n + 1) * sizeof(*w), NULL, 0) == 0);
	enter(s, other, n);
	s->m->live.expected = id;
}

enum ending { IN_NOTHING, IN_BARRIER, IN_NESTED, IN_EXPECTED, SAID_SO, IN_NEW_SEGMENT, INVALID };

/* Completes a request whose creator exists only in the table of calls. */
static void wait_for_nothing(struct rn_spill *spill, struct stream *s)
{
	const uint64_t begin[] = { function("MPI_Ibarrier"), world(), 2, 0 };
	const uint64_t wait[] = { function("MPI_Wait"), RN_RAW_REQUEST(0, 0, 0) | RN_RAW_GONE,
				  RN_STATUS_NOTHING, 0 };
	uint32_t id;
	uint64_t call;

	must(rn_sigs_intern(s->words, begin, sizeof(begin), &id) == RN_OK);
	call = id;
	must(rn_log_add(&s->log, RN_FACT_CALL, begin, sizeof(begin), NULL, 0) == 0);
	must(rn_log_add(&s->log, RN_FACT_SHAPE, &call, sizeof(call), NULL, 0) == 0);
	add_call(spill, s, wait, 4);
	seal(spill, s);
}

static void end_so(struct rn_spill *spill, struct rn_log *shared, struct stream *s, enum ending how)
{
	const uint64_t outer[] = { function("MPI_Comm_free"), world() };
	const uint64_t marker[] = { function("rondo_enter"), 0 };
	const uint64_t inner[] = { function("MPI_Barrier"), world(), 0 };

	if (how == INVALID)
		wait_for_nothing(spill, s);
	if (how == SAID_SO)
		must(rn_log_add(shared, RN_FACT_END, &(struct rn_fact_end){ 0 },
				sizeof(struct rn_fact_end), "exit", 4) == 0);
	if (how == IN_NEW_SEGMENT) { /* the stream has not begun it */
		end_segment(spill, s);
		text(s, "new");
		return;
	}
	if (how == IN_NESTED) {
		enter(s, outer, 2);
		add_call(spill, s, marker, 2);
	}
	if (how == IN_BARRIER || how == IN_NESTED)
		enter(s, inner, 2);
	if (how == IN_EXPECTED)
		enter_expected(s, inner, 2);
}

/* Opens the journal for the process that writes (part_process). */
static void open_part(struct rn_spill *spill, const char *path)
{
	must(rn_spill_open(spill, path, RUN) == 0);
	if (part_process)
		spill->process = part_process;
}

/* Writes the journal of a rank. With `every`, it makes more kinds of calls, in segments of that
 * many calls. */
__attribute__((unused)) static void be_a_rank(const char *path, int64_t rank, int64_t ranks,
					      uint32_t threads, uint64_t calls, uint64_t every,
					      enum ending how)
{
	static struct stream s[8];
	struct rn_spill spill;
	struct rn_log shared = { .spill = &spill, .stream = RN_EXTENT_SHARED };

	open_part(&spill, path);
	add_facts(&shared, rank, ranks);
	for (uint32_t k = 0; k < threads; k++) {
		start_stream(&spill, &s[k], k, every);
		for (uint64_t i = 0; i < calls; i++) {
			next_segment(&spill, &s[k], i);
			if (every)
				add_rich(&spill, &s[k], i);
			else
				add_ith(&spill, &s[k], i);
		}
		end_so(&spill, &shared, &s[k], how);
	}
	rn_spill_close(&spill, false);
}

/* Writes a trace that passes the check, as `rondo recover` does: tries the values of enum
 * rn_recover_sealed in turn. Returns the error of the last attempt if no trace passes. */
__attribute__((unused)) static int recover_valid(const void *bytes, size_t len, const char *path,
						 struct rn_recovered *r, struct rn_err *err)
{
	const struct rn_node_file file = { .bytes = bytes, .len = len };
	enum rn_recover_sealed sealed = RN_RECOVER_INVALID;
	struct rn_trace t;
	int rc;

	*r = (struct rn_recovered){ 0 };
	do {
		rn_recovered_free(r);
		rc = rn_recover(&file, 1, sealed, path, r, err);
		if (rc == RN_OK)
			rc = rn_trace_open(&t, path, err);
		if (rc == RN_OK) {
			rc = rn_trace_check(&t, err);
			rn_trace_close(&t);
		}
	} while (rc == RN_E_DATA && sealed++ < RN_RECOVER_SEALED);
	return rc;
}

#endif
