/*
 * test_patterns.c - well-known communication patterns on 16, 64, 1024 and 65536 ranks: their
 * traces have nearly the same size.
 *
 * The calls of every rank are call words, as its tracer records them. They are processed as at the
 * end of a run: the rank parameters of all ranks are merged, a rank expression is selected for
 * each, and the resulting partial traces are merged and written. Grids are square.
 */
#include "tap.h"

#include "base/arena.h"
#include "base/buf.h"
#include "bench/rank_merge.h"
#include "bench/worded.h"
#include "encode/rank_expr.h"
#include "file/trace_writer.h"
#include "identity/comm_table.h"
#include "merge/partial_trace.h"
#include "merge/process_trace.h"
#include "model/payload.h"

#include <string.h>
#include <unistd.h>

#define STEPS     20
#define PROC_NULL (-2)
#define ROW       2u /* communicators, as handles of objects */
#define COLUMN    4u

/* A rank of the pattern. */
struct rank {
	struct worded w;
	int64_t rank, size, side; /* of the grid */
	int64_t row, column;
};

/* ---- calls as words ---- */

/* Function ids, looked up once. */
static uint32_t f_sendrecv, f_send, f_recv, f_split, f_bcast;
static uint32_t w_world, w_double, w_proc_null;

static void look_up(void)
{
	f_sendrecv = worded_function("MPI_Sendrecv");
	f_send = worded_function("MPI_Send");
	f_recv = worded_function("MPI_Recv");
	f_split = worded_function("MPI_Comm_split");
	f_bcast = worded_function("MPI_Bcast");
	w_world = worded_word("MPI_COMM_WORLD");
	w_double = worded_word("MPI_DOUBLE");
	w_proc_null = worded_word("MPI_PROC_NULL");
}

static void put(struct rank *r, int64_t value)
{
	worded_put(&r->w, value);
}

static void begin(struct rank *r, uint32_t func)
{
	worded_begin(&r->w, func);
}

static void put_name(struct rank *r, uint32_t constant)
{
	worded_constant(&r->w, constant);
}

static void put_data(struct rank *r, int64_t block)
{
	worded_data(&r->w, block, 0, 1024, w_double);
}

static void end(struct rank *r)
{
	uint32_t id;

	CHECK(worded_end(&r->w, &id) == RN_OK);
}

static void sendrecv(struct rank *r, int64_t to, int64_t from)
{
	begin(r, f_sendrecv);
	put_data(r, 0);
	put(r, to);
	put(r, 7);
	put_data(r, 1);
	put(r, from);
	put(r, 7);
	put_name(r, w_world);
	put(r, RN_STATUS_NOTHING);
	end(r);
}

static void sent(struct rank *r, int64_t to)
{
	begin(r, f_send);
	put_data(r, 0);
	put(r, to);
	put(r, 7);
	put_name(r, w_world);
	end(r);
}

static void received(struct rank *r, int64_t from)
{
	begin(r, f_recv);
	put_data(r, 1);
	put(r, from);
	put(r, 7);
	put_name(r, w_world);
	put(r, RN_STATUS_NOTHING);
	end(r);
}

static void split(struct rank *r, int64_t color, int64_t key, uint32_t comm)
{
	begin(r, f_split);
	put_name(r, w_world);
	put(r, color);
	put(r, key);
	put(r, comm);
	end(r);
}

static void bcast(struct rank *r, uint32_t comm)
{
	begin(r, f_bcast);
	put_data(r, 0);
	put(r, 0);
	put(r, comm);
	end(r);
}

/* ---- patterns ---- */

static int64_t at(const struct rank *r, int64_t row, int64_t column)
{
	if (row < 0 || row >= r->side || column < 0 || column >= r->side)
		return PROC_NULL;
	return row * r->side + column;
}

static void neighbour(struct rank *r)
{
	int64_t up = at(r, r->row - 1, r->column), down = at(r, r->row + 1, r->column);
	int64_t left = at(r, r->row, r->column - 1), right = at(r, r->row, r->column + 1);

	sendrecv(r, up, down);
	sendrecv(r, down, up);
	sendrecv(r, left, right);
	sendrecv(r, right, left);
}

static int64_t around(const struct rank *r, int64_t place)
{
	return (place + r->side) % r->side;
}

static void torus(struct rank *r)
{
	int64_t up = at(r, around(r, r->row - 1), r->column);
	int64_t down = at(r, around(r, r->row + 1), r->column);
	int64_t left = at(r, r->row, around(r, r->column - 1));
	int64_t right = at(r, r->row, around(r, r->column + 1));

	sendrecv(r, up, down);
	sendrecv(r, down, up);
	sendrecv(r, left, right);
	sendrecv(r, right, left);
}

static void wavefront(struct rank *r)
{
	received(r, at(r, r->row - 1, r->column));
	received(r, at(r, r->row, r->column - 1));
	sent(r, at(r, r->row + 1, r->column));
	sent(r, at(r, r->row, r->column + 1));
}

static void butterfly(struct rank *r)
{
	for (int64_t bit = 1; bit < r->size; bit *= 2)
		sendrecv(r, r->rank ^ bit, r->rank ^ bit);
}

static void transpose(struct rank *r)
{
	int64_t other = at(r, r->column, r->row);

	sendrecv(r, other, other);
}

static void split_grid(struct rank *r)
{
	split(r, r->row, r->rank, ROW);
	split(r, r->column, r->rank, COLUMN);
}

static void rows_and_columns(struct rank *r)
{
	bcast(r, ROW);
	bcast(r, COLUMN);
}

static const struct pattern {
	const char *name;
	void (*before)(struct rank *r);
	void (*step)(struct rank *r);
} patterns[] = {
	{ "neighbour exchange", NULL, neighbour },
	{ "neighbour exchange on a torus", NULL, torus },
	{ "rows and columns", split_grid, rows_and_columns },
	{ "transpose", NULL, transpose },
	{ "butterfly", NULL, butterfly },
	{ "wavefront", NULL, wavefront },
};

/* ---- data of the tracer other than calls ---- */

static const struct pattern *pattern;

/* ---- a run ---- */

/* Arenas of the rank that is processed; ranks are processed one after the other. */
static struct rn_arena rank_mem, rank_scratch;

static void run_rank(struct rank *r, int64_t rank, int64_t side)
{
	*r = (struct rank){ .rank = rank, .size = side * side, .side = side };
	r->row = rank / side;
	r->column = rank % side;
	CHECK(worded_init(&r->w, &rank_mem) == RN_OK);
	if (pattern->before)
		pattern->before(r);
	for (unsigned i = 0; i < STEPS; i++)
		pattern->step(r);
}

static void add_comm(struct rn_process_table *p, const struct rank *r, uint64_t word,
		     const char *name, int64_t me, int64_t first)
{
	struct rn_comm_entry e = { (uint64_t)me, (uint64_t)r->side, 0, (uint64_t)first + 1, 0 };
	struct rn_object o = { .number = word, .bytes = name, .complete = true, .entry = e };

	CHECK(rn_objects_add(&p->comms, &rank_mem, o) == RN_OK);
}

static struct rn_recorded recorded(struct rank *r, struct rn_recorded_stream *s)
{
	const struct rn_const_value nobody = { RN_K_rank, w_proc_null, PROC_NULL };
	struct rn_recorded rec = { .process = { .rank = r->rank, .size = r->size },
				   .stream = s,
				   .streams = 1 };

	CHECK(rn_process_set_constants(&rec.process, &rank_mem, &nobody, 1) == RN_OK);
	if (pattern->before) {
		add_comm(&rec.process, r, ROW, "comm:world.0", r->column, at(r, r->row, 0));
		add_comm(&rec.process, r, COLUMN, "comm:world.1", r->row, at(r, 0, r->column));
	}
	return rec;
}

/* Encodes some data of a rank. */
typedef void rank_fn(const struct rn_recorded *rec, void *arg, struct rn_buf *out);

static void pack_slots(const struct rn_recorded *rec, void *arg, struct rn_buf *out)
{
	struct rn_peers *p = rn_peers_new(&rank_mem);

	(void)arg;
	CHECK(rn_recorded_slots(rec, p) == RN_OK && rn_peers_encode(p, out) == RN_OK);
}

static void pack_bundle(const struct rn_recorded *rec, void *arg, struct rn_buf *out)
{
	struct rn_arena_mark mark = rn_arena_mark(&rank_scratch);
	struct rn_bundle b;

	CHECK(rn_recorded_bundle(rec, arg, 1, &rank_mem, &rank_scratch, &b) == RN_OK);
	CHECK(b.tally.lost == 0 && rn_bundle_encode(&b, out) == RN_OK);
	rn_arena_rewind(&rank_scratch, mark);
}

static void pack_rank(int64_t rank, int64_t side, rank_fn *fn, void *arg, struct rn_buf *out)
{
	struct rn_arena_mark mark = rn_arena_mark(&rank_mem);
	struct rn_recorded_stream s = { 0 };
	struct rn_recorded rec;
	struct rank r;

	run_rank(&r, rank, side);
	rec = recorded(&r, &s);
	s.calls = worded_calls(&r.w, &rec.process);
	s.grammar = r.w.g;
	rn_buf_clear(out);
	fn(&rec, arg, out);
	rn_arena_rewind(&rank_mem, mark);
}

static struct rn_choices *choose(int64_t side, struct rn_arena *mem)
{
	struct rn_peers *all = rn_peers_new(mem);
	struct rn_choices *choices = NULL;
	struct rn_buf b = { 0 };

	for (int64_t rank = 0; rank < side * side; rank++) {
		pack_rank(rank, side, pack_slots, NULL, &b);
		CHECK(rn_peers_absorb(all, b.data, b.len, NULL) == RN_OK);
	}
	rn_buf_clear(&b);
	CHECK(rn_choices_encode(all, &b) == RN_OK);
	CHECK(rn_choices_decode(mem, b.data, b.len, &choices, NULL) == RN_OK);
	rn_buf_free(&b);
	return choices;
}

static char path[] = "/tmp/rondo-patterns.XXXXXX";

static uint64_t bytes_of(int64_t side)
{
	const struct rn_meta meta = { 0 };
	struct rn_arena mem, scratch;
	struct rn_choices *choices;
	struct rn_written file;
	struct rn_buf b = { 0 };
	struct rn_bundle all;
	struct rn_err err = { 0 };

	rn_arena_init(&mem, SIZE_MAX);
	rn_arena_init(&scratch, SIZE_MAX);
	choices = choose(side, &mem);
	CHECK(rn_bundle_init(&all, &mem, false) == RN_OK);
	for (int64_t rank = 0; rank < side * side; rank++) {
		pack_rank(rank, side, pack_bundle, choices, &b);
		if (!CHECK(rn_bundle_absorb(&all, b.data, b.len, &scratch, &err) == RN_OK))
			diag("%s", err.text);
	}
	CHECK(rank_merge_bundle(&all, &meta, path, &file, NULL) == RN_OK);
	unlink(path); /* otherwise it would be kept as an old trace */
	rn_buf_free(&b);
	rn_arena_free(&scratch);
	rn_arena_free(&mem);
	return file.bytes;
}

int main(void)
{
	int fd = mkstemp(path);

	look_up();
	rn_arena_init(&rank_mem, SIZE_MAX);
	rn_arena_init(&rank_scratch, SIZE_MAX);
	CHECK(fd >= 0);
	close(fd);
	unlink(path);
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		static const int64_t side[] = { 4, 8, 32, 256 };
		uint64_t bytes[4], least = UINT64_MAX, most = 0;

		pattern = &patterns[i];
		for (size_t k = 0; k < sizeof(side) / sizeof(*side); k++) {
			bytes[k] = bytes_of(side[k]);
			least = bytes[k] < least ? bytes[k] : least;
			most = bytes[k] > most ? bytes[k] : most;
		}
		CHECK(most * 100 <= least * 120);
		ok("%s: %llu, %llu, %llu, %llu bytes on 16, 64, 1024, 65536 ranks", pattern->name,
		   (unsigned long long)bytes[0], (unsigned long long)bytes[1],
		   (unsigned long long)bytes[2], (unsigned long long)bytes[3]);
	}
	rn_arena_free(&rank_mem);
	rn_arena_free(&rank_scratch);
	return tap_done();
}
