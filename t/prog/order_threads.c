/*
 * order_threads.c - several threads of each rank receive from any source.
 *
 *	order_threads [STEPS [SEED [ROUNDS]]]
 *
 * Each round creates its own threads with pthread_create and thrd_create, which start in any order.
 * First each thread receives on its own communicator, with any tag; then all threads receive on one
 * communicator, each with its own tags. The results of a rank's threads are combined by thread
 * number, so the result depends only on the order that each thread saw. Exits with 77 if MPI does
 * not support MPI_THREAD_MULTIPLE.
 */
#include <pthread.h>
#include <threads.h>

#include "order_prog.h"

#ifdef __SANITIZE_THREAD__
/* ThreadSanitizer does not support threads of thrd_create. */
#define thrd_create(thread, start, arg) ((void)(start), pthread_create(thread, NULL, work, arg))
#define thrd_join(thread, result)       pthread_join(thread, NULL)
#endif

enum { THREADS = 3, EACH = 3, MOST = 4 * EACH, TAGS = 1000 };

/* Belongs to its thread while the thread runs. */
struct worker {
	struct order o;
	int number, total;
	MPI_Comm own, shared;
	MPI_Request in[MOST], out[MOST];
	double inbox[MOST], outbox[MOST];
};

/* On the thread's own communicator tags differ; on the shared one they contain thread and step. */
static void send_all(struct worker *w, MPI_Comm comm, int tag)
{
	for (int i = 0; i < w->total; i++) {
		w->outbox[i] = order_value(&w->o);
		order_delay();
		MPI_Isend(&w->outbox[i], 1, MPI_DOUBLE, order_receiver(&w->o, i % w->o.partners),
			  tag == MPI_ANY_TAG ? i : tag, comm, &w->out[i]);
	}
}

static void blocking(struct worker *w, MPI_Comm comm, int tag)
{
	MPI_Status status;
	double value;

	for (int i = 0; i < w->total; i++) {
		MPI_Recv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, tag, comm, &status);
		order_saw(&w->o, i, &status, value);
		order_delay();
	}
}

static void testing(struct worker *w, MPI_Comm comm, int tag)
{
	MPI_Status status;
	int i, flag;

	for (i = 0; i < w->total; i++)
		MPI_Irecv(&w->inbox[i], 1, MPI_DOUBLE, MPI_ANY_SOURCE, tag, comm, &w->in[i]);
	for (int n = 0; n < w->total; n += flag) {
		MPI_Testany(w->total, w->in, &i, &flag, &status);
		order_fold(&w->o, (uint64_t)flag);
		if (flag)
			order_saw(&w->o, i, &status, w->inbox[i]);
		else
			order_pause();
	}
}

static void exchange(struct worker *w, MPI_Comm comm, int tag, int step)
{
	send_all(w, comm, tag);
	if ((step + w->number) % 2)
		blocking(w, comm, tag);
	else
		testing(w, comm, tag);
	MPI_Waitall(w->total, w->out, MPI_STATUSES_IGNORE);
}

static void *work(void *worker)
{
	struct worker *w = worker;

	order_stagger();
	for (int step = 0; step < w->o.steps; step++) {
		exchange(w, w->own, MPI_ANY_TAG, step);
		MPI_Barrier(w->own); /* receives match the next step's messages, too */
	}
	for (int step = 0; step < w->o.steps; step++)
		exchange(w, w->shared, w->number * TAGS + step % TAGS, step);
	return NULL;
}

static int work_thrd(void *worker)
{
	work(worker);
	return 0;
}

static void begin(struct worker *w, const struct order *o, int number, MPI_Comm shared)
{
	w->o = *o;
	order_seed(&w->o, o->random + (uint64_t)number);
	w->number = number;
	w->total = o->partners * EACH;
	w->shared = shared;
	MPI_Comm_dup(MPI_COMM_WORLD, &w->own);
}

static void run_all(struct order *o)
{
	static struct worker worker[THREADS];
	pthread_t thread[THREADS - 1];
	thrd_t last;
	MPI_Comm shared;

	MPI_Comm_dup(MPI_COMM_WORLD, &shared);
	for (int i = 0; i < THREADS; i++)
		begin(&worker[i], o, i, shared);
	for (int i = 0; i < THREADS - 1; i++)
		if (pthread_create(&thread[i], NULL, work, &worker[i]))
			MPI_Abort(MPI_COMM_WORLD, 9);
	if (thrd_create(&last, work_thrd, &worker[THREADS - 1]) != thrd_success)
		MPI_Abort(MPI_COMM_WORLD, 9);
	thrd_join(last, NULL);
	for (int i = 0; i < THREADS; i++) {
		if (i < THREADS - 1)
			pthread_join(thread[i], NULL);
		order_join(o, &worker[i].o);
		MPI_Comm_free(&worker[i].own);
	}
	MPI_Comm_free(&shared);
}

int main(int argc, char **argv)
{
	struct order o;

	order_init_threads(&argc, &argv);
	order_begin(&o, argc, argv, 15);
	for (int rounds = argc > 3 ? atoi(argv[3]) : 1; rounds > 0; rounds--)
		run_all(&o);
	return order_end(&o);
}
