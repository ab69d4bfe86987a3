/*
 * test_turns.c - posting order and completions by other threads, compared with the generated ones.
 */
#include "tap.h"

#include <string.h>

#include "analysis/thread_events.h"
#include "base/arena.h"
#include "base/err.h"
#include "encode/call_words.h"

#define THREADS 4
#define MOST    400 /* maximum number of ordinals of a thread */

static uint32_t function(const char *name)
{
	uint32_t i = 0;

	while (i < rn_mpi_vocab.funcs && strcmp(rn_mpi_vocab.func[i].name, name) != 0)
		i++;
	return i;
}

enum { RECEIVES, SENDS, ELSEWHERE, ENDED, WTIME, TESTS, SITES };

static struct rn_order_site site[SITES];

static void make_sites(void)
{
	const struct rn_order_site all[] = {
		[RECEIVES] = { RN_ORDER_RECEIVE_RUN, RN_ORDER_NO_FUNCTION, 1, 0 },
		[SENDS] = { RN_ORDER_SEND_RUN, RN_ORDER_NO_FUNCTION, 1, 0 },
		[ELSEWHERE] = { RN_ORDER_RECEIVE_RUN, RN_ORDER_NO_FUNCTION, 2, 0 },
		[ENDED] = { RN_ORDER_ADOPTION, RN_ORDER_NO_FUNCTION, 0, 0 },
		[WTIME] = { RN_ORDER_VALUE, function("MPI_Wtime"), 0, 0 },
		[TESTS] = { RN_ORDER_TEST, function("MPI_Test"), 0, 0 },
	};

	memcpy(site, all, sizeof(site));
}

/* The events of a thread. */
struct thread {
	struct rn_order_row row[MOST];
	int64_t value[MOST];
	struct rn_order_done done[MOST];
	size_t rows, values, dones;
	uint64_t begun[SITES];
};

static struct thread thread[THREADS];
static struct rn_plan_part part[THREADS];

static void says(struct thread *t, uint32_t at, int64_t v)
{
	t->row[t->rows++] = (struct rn_order_row){ at, 0, 1 };
	t->value[t->values++] = v;
}

static void make_parts(void)
{
	for (int i = 0; i < THREADS; i++) {
		struct thread *t = &thread[i];

		part[i] = (struct rn_plan_part){ .order = { .site = site,
							    .sites = SITES,
							    .row = t->row,
							    .rows = t->rows,
							    .value = t->value,
							    .values = t->values,
							    .done = t->done,
							    .dones = t->dones },
						 .born = true,
						 .birth = 10 * i };
	}
}

/* Turns that alternate between threads at random, among other events. */
static void test_turns(void)
{
	struct rn_plan_turn want[3 * MOST];
	const struct rn_plan_turn *got;
	struct rn_arena mem;
	size_t wants = 0, n;

	memset(thread, 0, sizeof(thread));
	for (uint32_t s = RECEIVES; s <= ELSEWHERE; s++) {
		int last = 0;

		for (uint64_t turn = 0; turn < 100; turn++) {
			int who = tap_rand() % 3 ? last : (int)(tap_rand() % THREADS);
			struct thread *t = &thread[who];

			says(t, WTIME, (int64_t)turn);
			if (who != last) {
				says(t, s, (int64_t)(turn - t->begun[s]));
				t->begun[s] = turn;
			}
			if (who != last || turn == 0)
				want[wants++] =
					(struct rn_plan_turn){ turn, site[s].comm,
							       s == SENDS ? RN_PLAN_SENDS
									  : RN_PLAN_RECEIVES,
							       (uint32_t)who, 0 };
			last = who;
		}
	}
	make_parts();
	rn_arena_init(&mem, SIZE_MAX);
	CHECK(rn_turns_take(&mem, part, THREADS, &got, &n) == RN_OK && n == wants);
	for (size_t i = 0; i < n && n == wants; i++)
		CHECK(memcmp(&got[i], &want[i], sizeof(*got)) == 0);
	for (int i = 0; i < THREADS; i++) {
		CHECK(part[i].order.rows == thread[i].rows && !part[i].match);
		CHECK(part[i].order.row == thread[i].row);
	}
	rn_arena_free(&mem);
}

/* Receives of thread 1, which has completed one of them itself. */
static void test_others(void)
{
	static const int64_t by_2[] = { -1 - 10, 3, 7, 8, 0, 5, 6, -1 - 99, 0, 1, 1, -1 - 10, 2 };
	static const int64_t by_3[] = { -1 - 10, 4, -1, 0 };
	static const struct rn_plan_match want[] = { { 5, 6, RN_PLAN_MATCHED, 0 },
						     { 1, 2, RN_PLAN_MATCHED, 1 },
						     { 0, 0, RN_PLAN_UNSEEN, 0 },
						     { 7, 8, RN_PLAN_MATCHED, 0 },
						     { -1, 0, RN_PLAN_CANCELLED, 0 } };
	const struct rn_plan_turn *turn;
	struct rn_arena mem;
	size_t n;

	memset(thread, 0, sizeof(thread));
	thread[1].row[thread[1].rows++] = (struct rn_order_row){ TESTS, 3, 1 };
	thread[1].done[thread[1].dones++] = (struct rn_order_done){ 0, 1, 1, 2, RN_ORDER_MATCHED };
	for (size_t i = 0; i < sizeof(by_2) / sizeof(*by_2); i++)
		says(&thread[2], ENDED, by_2[i]);
	for (size_t i = 0; i < sizeof(by_3) / sizeof(*by_3); i++)
		says(&thread[3], ENDED, by_3[i]);
	make_parts();
	rn_arena_init(&mem, SIZE_MAX);
	CHECK(rn_turns_take(&mem, part, THREADS, &turn, &n) == RN_OK && n == 0);
	CHECK(part[1].matches == 5 && memcmp(part[1].match, want, sizeof(want)) == 0);
	CHECK(part[1].order.rows == 1 && !part[0].match);
	says(&thread[0], ENDED, -1 - 10);
	says(&thread[0], ENDED, INT64_MAX);
	says(&thread[0], ENDED, 0);
	says(&thread[0], ENDED, 0);
	make_parts();
	CHECK(rn_turns_take(&mem, part, THREADS, &turn, &n) == RN_E_DATA);
	rn_arena_free(&mem);
}

static void test_no_memory(void)
{
	const struct rn_plan_turn *turn;
	int rc = RN_E_NOMEM;
	size_t n;

	memset(thread, 0, sizeof(thread));
	says(&thread[1], ENDED, -1 - 20);
	for (int64_t i = 0; i < 3; i++)
		says(&thread[1], ENDED, i);
	says(&thread[2], SENDS, 4);
	for (uint64_t k = 1; rc == RN_E_NOMEM && k < 100; k++) {
		struct rn_arena mem;

		make_parts();
		rn_arena_init(&mem, SIZE_MAX);
		mem.fail_at = k;
		rc = rn_turns_take(&mem, part, THREADS, &turn, &n);
		rn_arena_free(&mem);
	}
	CHECK(rc == RN_OK && n == 2);
}

int main(void)
{
	make_sites();
	for (int i = 0; i < 100; i++)
		test_turns();
	ok("whose turn it was");
	test_others();
	ok("what other threads saw done");
	test_no_memory();
	ok("every allocation fails once");
	return tap_done();
}
