/*
 * order_prog.h - what the programs share whose result depends on the order of messages (order_*.c).
 *
 *	order_X STEPS SEED ...
 *
 * Each ends with one line from rank 0, `hash=<hex> sum=<number>`. A rank's hash takes in what MPI
 * told it (sources, tags, indices, how many tests failed), in the order it was told; its sum adds
 * what arrived as it arrives, so that the rounding tells the order too. Both are put together by
 * rank. What a program makes up comes from SEED and its rank, so that a run whose messages come in
 * the same order prints the same line.
 *
 * DELAY=microseconds in the environment: sleeps of random length, at most this, wherever a program
 * sends or polls. They differ from run to run and have no influence but on timing; neither clock
 * nor process id is asked through a function that somebody may record and play back.
 *
 * A struct order belongs to one thread.
 */
#ifndef ORDER_PROG_H
#define ORDER_PROG_H

#include <mpi.h>

#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct order {
	int rank, size, steps;
	int partners;    /* how many ranks a rank receives from, in programs with partners */
	uint64_t random; /* state of what the program makes up */
	uint64_t hash;
	double sum;
};

/* splitmix64 */
static inline uint64_t order_mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static inline uint64_t order_next(uint64_t *state)
{
	return order_mix(*state += 0x9e3779b97f4a7c15u);
}

static inline int order_below(struct order *o, int n)
{
	return (int)(order_next(&o->random) % (unsigned)n);
}

/* Of many magnitudes and both signs: sums of a few are rounded differently in another order. */
static inline double order_value(struct order *o)
{
	int power = order_below(o, 40);
	double value = ldexp(1 + order_below(o, 1000000) / 3e6, power);

	return order_below(o, 2) ? -value : value;
}

static inline void order_fold(struct order *o, uint64_t what)
{
	o->hash = order_mix((o->hash << 7 | o->hash >> 57) ^ (what + 0x9e3779b97f4a7c15u));
}

/* A message was received: by the request with this index, and with this value in it. */
static inline void order_saw(struct order *o, int index, const MPI_Status *status, double value)
{
	order_fold(o, (uint64_t)index);
	order_fold(o, (uint64_t)status->MPI_SOURCE);
	order_fold(o, (uint64_t)status->MPI_TAG);
	o->sum += value;
}

/* Differs from run to run: for timing only. */
static inline uint64_t order_chance(void)
{
	static _Thread_local uint64_t state;
	struct timespec t;

	if (!state) {
		syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
		state = order_mix((uint64_t)t.tv_nsec ^ (uint64_t)syscall(SYS_gettid) << 32);
	}
	return order_next(&state);
}

static inline uint64_t order_most(void)
{
	const char *delay = getenv("DELAY");

	return delay ? strtoull(delay, NULL, 10) : 0;
}

static inline void order_sleep(uint64_t most)
{
	struct timespec t = { 0, (long)(order_chance() % (most * 1000) % 1000000000) };

	syscall(SYS_nanosleep, &t, NULL);
}

static inline void order_delay(void)
{
	uint64_t most = order_most();

	if (most && order_chance() % 4 == 0)
		order_sleep(most);
}

/* Called when a thread starts, so that threads make their first call in any order. */
static inline void order_stagger(void)
{
	if (order_most())
		order_sleep(20 * order_most());
}

/* Between polls: there may be fewer processors than ranks, but several polls may fail in a row. */
static inline void order_pause(void)
{
	if (order_chance() % 8)
		return;
	order_delay();
	sched_yield();
}

/* Rank i hears from its partners, those behind it, and sends to those before it. */
static inline int order_receiver(const struct order *o, int partner)
{
	return (o->rank + o->size - 1 - partner) % o->size;
}

static inline void order_seed(struct order *o, uint64_t seed)
{
	o->random = order_mix(seed << 20 ^ (uint64_t)o->rank);
	o->hash = 0;
	o->sum = 0;
}

/* MPI_Init for several threads at once; where there cannot be, the program ends with 77. */
static inline void order_init_threads(int *argc, char ***argv)
{
	int provided;

	MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
	if (provided < MPI_THREAD_MULTIPLE) {
		MPI_Finalize();
		exit(77);
	}
}

/* After MPI_Init. */
static inline void order_begin(struct order *o, int argc, char **argv, int steps)
{
	o->steps = argc > 1 ? atoi(argv[1]) : steps;
	MPI_Comm_rank(MPI_COMM_WORLD, &o->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &o->size);
	o->partners = o->size > 4 ? 4 : o->size - 1;
	order_seed(o, argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
}

/* Another's hash and sum behind one's own. */
static inline void order_join(struct order *o, const struct order *other)
{
	order_fold(o, other->hash);
	o->sum += other->sum;
}

/* All ranks' on rank 0, which gets true. */
static inline int order_gather(struct order *o)
{
	struct order *all = calloc((size_t)o->size, sizeof(*all));

	MPI_Gather(o, (int)sizeof(*o), MPI_BYTE, all, (int)sizeof(*o), MPI_BYTE, 0, MPI_COMM_WORLD);
	order_seed(o, 0);
	for (int i = 0; i < o->size; i++)
		order_join(o, &all[i]);
	free(all);
	return o->rank == 0;
}

/* The line, and MPI_Finalize. */
static inline int order_end(struct order *o)
{
	if (order_gather(o))
		printf("hash=%016llx sum=%.17g\n", (unsigned long long)o->hash, o->sum);
	fflush(stdout); /* launchers may end what has not exited yet */
	MPI_Finalize();
	return 0;
}

#endif
