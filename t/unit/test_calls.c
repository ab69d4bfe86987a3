/*
 * test_calls.c - a call with invalid call words loses its arguments and nothing else.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/varint.h"
#include "encode/process_table.h"
#include "encode/rank_expr.h"
#include "encode/template.h"
#include "encode/time_stats.h"
#include "identity/comm_table.h"
#include "merge/canonicalize.h"
#include "model/elastic_values.h"
#include "tap.h"

#include <string.h>

static const struct rn_process_table process = { .rank = 1, .size = 4 };

static uint64_t number(const char *name)
{
	for (uint32_t i = 0; i < rn_mpi_vocab.funcs; i++)
		if (strcmp(rn_mpi_vocab.func[i].name, name) == 0)
			return rn_mpi_vocab.func[i].number;
	CHECK(!"a function of that name");
	return 0;
}

struct stream {
	struct rn_arena mem;
	struct rn_sigs *words;
	struct rn_times times;
	struct rn_seg holes;
	struct rn_stream_calls calls;
};

static void begin_stream(struct stream *s)
{
	rn_arena_init(&s->mem, SIZE_MAX);
	rn_times_init(&s->times, &s->mem, RN_TIME_SCALE_ONE);
	s->words = rn_sigs_new(&s->mem);
	s->calls = (struct rn_stream_calls){
		&process, s->words, rn_sigs_new(&s->mem), rn_sigs_new(&s->mem), &s->times, &s->holes
	};
	rn_seg_init(&s->holes, sizeof(struct rn_holes *));
}

/* Adds a call that was made `times` times. */
static void add_call(struct stream *s, const uint64_t *w, size_t n, unsigned times)
{
	uint32_t id;

	CHECK(rn_sigs_intern(s->words, w, n * sizeof(*w), &id) == RN_OK);
	while (times--)
		rn_times_add(&s->times, id, 10, 10);
}

static struct rn_choices *no_choices(struct stream *s)
{
	struct rn_peers *peers = rn_peers_new(&s->mem);
	struct rn_choices *choices = NULL;
	struct rn_buf b = { 0 };

	CHECK(rn_canonical_collect(&s->calls, peers) == RN_OK);
	CHECK(rn_choices_encode(peers, &b) == RN_OK);
	CHECK(rn_choices_decode(&s->mem, b.data, b.len, &choices, NULL) == RN_OK);
	rn_buf_free(&b);
	return choices;
}

static uint64_t function_of(const struct rn_sigs *sigs, uint32_t id)
{
	size_t len;
	const void *bytes = rn_sigs_get(sigs, id, &len);
	struct rn_reader in = rn_reader(bytes, len);

	CHECK(rn_call_valid(bytes, len, &rn_mpi_vocab));
	return rn_get_u64(&in);
}

/* Converts all calls to signatures. Returns how many calls were lost. */
static uint64_t write_calls(struct stream *s, struct rn_sigs **sigs, uint32_t *map)
{
	struct rn_values values;
	uint64_t lost = 0;
	struct rn_canonical_out out = { .tables = rn_comms_new(&s->mem),
					.sigs = rn_sigs_new(&s->mem),
					.map = map,
					.values = &values,
					.lost = &lost };

	CHECK(rn_values_init(&values, &s->mem) == RN_OK);
	CHECK(rn_canonical_write(&s->calls, no_choices(s), &out) == RN_OK);
	*sigs = out.sigs;
	return lost;
}

static void test_senseless(void)
{
	const uint64_t good[] = { number("MPI_Finalize"), 0 };
	const uint64_t few[] = { number("MPI_Barrier") };
	const uint64_t many[] = { number("MPI_Finalize"), 0, 0, 0 };
	const uint64_t wild[] = { UINT64_MAX, 3 };
	struct stream s;
	struct rn_sigs *out;
	uint32_t map[4];

	begin_stream(&s);
	add_call(&s, good, 2, 1);
	add_call(&s, few, 1, 5);
	add_call(&s, many, 4, 2);
	add_call(&s, wild, 2, 3);
	CHECK(write_calls(&s, &out, map) == 10);
	CHECK(function_of(out, map[0]) == good[0]);
	CHECK(function_of(out, map[1]) == few[0]);
	CHECK(function_of(out, map[2]) == many[0] && map[2] != map[0]);
	CHECK(function_of(out, map[3]) == 0);
	rn_arena_free(&s.mem);
}

/* Strings, arrays and communicators that do not exist. */
static void test_missing(void)
{
	const uint64_t text[] = { number("MPI_Info_delete"), 2, 77, 0 };
	struct stream s;
	struct rn_sigs *out;
	uint32_t map[1];

	begin_stream(&s);
	add_call(&s, text, 4, 1);
	CHECK(write_calls(&s, &out, map) == 0);
	CHECK(function_of(out, map[0]) == text[0]);
	rn_arena_free(&s.mem);
}

int main(void)
{
	test_senseless();
	ok("a call that cannot be written leaves its function, and is counted");
	test_missing();
	ok("what words refer to need not be there");
	return tap_done();
}
