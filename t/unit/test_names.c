/*
 * test_names.c - a call whose words make no sense costs its arguments, and nothing else.
 *
 * names.c is compiled into this test without MPI: the only communicator is the world.
 */
#include "tap.h"

#include <string.h>

#define RN_INTERCEPT_COMM_H /* ours needs no MPI */
#include <stdint.h>
struct rn_comm {
	const char *name;
	int rank;
	struct {
		int n;
	} local, remote;
};
static const struct rn_comm *rn_comm_get(uint32_t word)
{
	static const struct rn_comm world = { "MPI_COMM_WORLD", 1, { 4 }, { 0 } };

	(void)word;
	return &world;
}

#include "base/buf.h"
#include "base/varint.h"
#include "intercept/names.c"

struct rn_tracer rn_tracer = { .world_rank = 1, .world_size = 4 };

int64_t rn_constant(enum rn_param_kind kind, int64_t value)
{
	(void)kind;
	(void)value;
	return -1;
}

static uint64_t number(const char *name)
{
	for (uint32_t i = 0; i < rn_mpi_vocab.funcs; i++)
		if (strcmp(rn_mpi_vocab.func[i].name, name) == 0)
			return rn_mpi_vocab.func[i].number;
	CHECK(!"a function of that name");
	return 0;
}

/* The call was made so often. */
static void add_call(struct rn_stream *t, const uint64_t *w, uint32_t n, unsigned times)
{
	struct rn_sig *s = rn_new(&t->mem, struct rn_sig, 1);

	CHECK(s && rn_seg_reserve(&t->sig, &t->mem, 1));
	s->w = w;
	s->n = n;
	s->id = t->sig.n;
	*RN_SEG_AT(&t->sig, struct rn_sig *, t->sig.n) = s;
	t->sig.n++;
	while (times--)
		rn_times_add(&t->times, s->id, 10, 10);
}

static void begin_stream(struct rn_stream *t)
{
	rn_arena_init(&t->mem, SIZE_MAX);
	rn_seg_init(&t->sig, sizeof(struct rn_sig *));
	rn_times_init(&t->times, &t->mem, RN_TIME_SCALE_ONE);
	t->texts = rn_sigs_new(&t->mem);
	t->blobs = rn_sigs_new(&t->mem);
}

static struct rn_choices *no_choices(struct rn_arena *mem, struct rn_stream *t)
{
	struct rn_peers *peers = rn_peers_new(mem);
	struct rn_choices *choices = NULL;
	struct rn_buf b = { 0 };

	CHECK(rn_names_slots(t, peers) == RN_OK);
	CHECK(rn_choices_encode(peers, &b) == RN_OK);
	CHECK(rn_choices_decode(mem, b.data, b.len, &choices, NULL) == RN_OK);
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

static void test_senseless(void)
{
	static struct rn_stream t;
	const uint64_t good[] = { number("MPI_Finalize"), 0 };
	const uint64_t few[] = { number("MPI_Barrier") };
	const uint64_t many[] = { number("MPI_Finalize"), 0, 0, 0 };
	struct rn_choices *choices;
	struct rn_arena mem;
	struct rn_sigs *out;
	uint32_t map[3];
	uint64_t lost = 0;

	rn_arena_init(&mem, SIZE_MAX);
	begin_stream(&t);
	add_call(&t, good, 2, 1);
	add_call(&t, few, 1, 5);
	add_call(&t, many, 4, 2);
	choices = no_choices(&mem, &t);
	out = rn_sigs_new(&mem);
	CHECK(rn_names_write(&t, choices, rn_comms_new(&mem), out, map, &lost) == RN_OK);
	CHECK(lost == 7);
	CHECK(function_of(out, map[0]) == good[0]);
	CHECK(function_of(out, map[1]) == few[0]);
	CHECK(function_of(out, map[2]) == many[0] && map[2] != map[0]);
	rn_arena_free(&t.mem);
	rn_arena_free(&mem);
}

int main(void)
{
	test_senseless();
	ok("a call that cannot be written leaves its function, and is counted");
	return tap_done();
}
