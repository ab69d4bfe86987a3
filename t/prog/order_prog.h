/*
 * order_prog.h - Functions shared by the programs whose result depends on message order
 * (order_*.c).
 *
 *	order_X STEPS SEED ...
 *
 * Each program ends with one line from rank 0, `hash=<hex> sum=<number>`. The hash of a rank covers
 * the results that MPI returned (sources, tags, indices, number of failed tests), in the order in
 * which they were returned. Its sum adds the received values in order of arrival, so that the
 * rounding also depends on the order. Both are combined in rank order. The generated data follow
 * from SEED and the rank, so that a run with the same message order prints the same line.
 *
 * DELAY=microseconds in the environment: the program sleeps for a random time, at most this long,
 * wherever it sends or polls. The sleeps differ from run to run and affect only timing. The
 * functions used for them are not recorded and replayed: neither the clock nor the process id is
 * read through an interposed function.
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
	int partners;    /* number of ranks from which a rank receives, in programs with partners */
	uint64_t random; /* state of the generator of the program's data */
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

/* Values of many magnitudes and both signs: sums of a few are rounded differently in another order.
 */
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

/* Records that a message was received by the request with this index, and contained this value. */
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

/* Rank i receives from its partners, the ranks after it, and sends to the ranks before it. */
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

/* Calls MPI_Init for MPI_THREAD_MULTIPLE; if MPI does not support it, the program ends with exit
 * code 77. */
static inline void order_init_threads(int *argc, char ***argv)
{
	int provided;

	MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
	if (provided < MPI_THREAD_MULTIPLE) {
		MPI_Finalize();
		exit(77);
	}
}

/* Call this after MPI_Init. */
static inline void order_begin(struct order *o, int argc, char **argv, int steps)
{
	o->steps = argc > 1 ? atoi(argv[1]) : steps;
	MPI_Comm_rank(MPI_COMM_WORLD, &o->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &o->size);
	o->partners = o->size > 4 ? 4 : o->size - 1;
	order_seed(o, argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
}

/* Appends the hash and sum of another struct order to this one. */
static inline void order_join(struct order *o, const struct order *other)
{
	order_fold(o, other->hash);
	o->sum += other->sum;
}

/* Combines the results of all ranks on rank 0, where it returns true. */
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

/* Prints the line and calls MPI_Finalize. */
static inline int order_end(struct order *o)
{
	if (order_gather(o))
		printf("hash=%016llx sum=%.17g\n", (unsigned long long)o->hash, o->sum);
	fflush(stdout); /* some launchers kill processes that have not exited yet */
	MPI_Finalize();
	return 0;
}

#endif
