/*
 * order_shared.c - Threads of each rank that compete on one communicator with the same tags.
 *
 *	order_shared [STEPS [SEED]]
 *
 * In each step all threads send the same messages to the partners of their rank, and:
 *
 *	mixed      receive from any source, with receives and with probes
 *	directed   receive from one rank: the order of the receives determines which thread gets
 *	           which message. All sends and half of the receives use persistent requests.
 *	handed     receive with requests that one thread starts and another completes
 *
 * The value of a message is added to the hash of the thread that received it, so the hash depends
 * on which thread that was. Exits with 77 if MPI does not support MPI_THREAD_MULTIPLE.
 */
#include <pthread.h>

#include "order_prog.h"

enum { THREADS = 3, EACH = 3, MOST = 4 * EACH };
enum { MIXED = 1, DIRECTED, HANDED };

/* Belongs to its thread while the thread runs. Exception: between two barriers, `in` and `inbox`
 * belong to the next thread. */
struct worker {
	struct order o;
	int number, total;
	struct worker *before;
	MPI_Comm comm;
	MPI_Request in[MOST], out[MOST], to[EACH], from;
	double inbox[MOST], outbox[MOST], kept[EACH], last;
};

static pthread_barrier_t together;

static void saw(struct worker *w, int index, const MPI_Status *status, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	order_saw(&w->o, index, status, value);
	order_fold(&w->o, bits);
}

/* Some of the sends are blocking. */
static void send_all(struct worker *w, int tag)
{
	for (int i = 0; i < w->total; i++) {
		int to = order_receiver(&w->o, i % w->o.partners);

		w->outbox[i] = order_value(&w->o);
		w->out[i] = MPI_REQUEST_NULL;
		order_delay();
		if (i % 3 == 0)
			MPI_Send(&w->outbox[i], 1, MPI_DOUBLE, to, tag, w->comm);
		else
			MPI_Isend(&w->outbox[i], 1, MPI_DOUBLE, to, tag, w->comm, &w->out[i]);
	}
}

/* Receives a message in one of several ways. */
static void take(struct worker *w, int how, int source, int tag)
{
	MPI_Request request;
	MPI_Message message;
	MPI_Status status;
	double value;
	int flag = 0;

	order_delay();
	switch (how) {
	case 0:
		MPI_Recv(&value, 1, MPI_DOUBLE, source, tag, w->comm, &status);
		break;
	case 1:
		MPI_Irecv(&value, 1, MPI_DOUBLE, source, tag, w->comm, &request);
		order_delay();
		MPI_Wait(&request, &status);
		break;
	case 2:
		MPI_Mprobe(source, tag, w->comm, &message, &status);
		MPI_Mrecv(&value, 1, MPI_DOUBLE, &message, &status);
		break;
	default:
		for (; !flag; order_fold(&w->o, (uint64_t)flag)) {
			MPI_Improbe(source, tag, w->comm, &flag, &message, &status);
			if (!flag)
				order_pause();
		}
		MPI_Mrecv(&value, 1, MPI_DOUBLE, &message, &status);
	}
	saw(w, how, &status, value);
}

static void mixed(struct worker *w, int step)
{
	send_all(w, MIXED);
	for (int i = 0; i < w->total; i++)
		take(w, (i + step + w->number) % 4, MPI_ANY_SOURCE, MIXED);
	MPI_Waitall(w->total, w->out, MPI_STATUSES_IGNORE);
}

/* Only the rank after this one sends this way. */
static void directed(struct worker *w, int step)
{
	int source = (w->o.rank + 1) % w->o.size;
	MPI_Status status;

	for (int i = 0; i < EACH; i++)
		w->kept[i] = order_value(&w->o);
	MPI_Startall(EACH, w->to);
	for (int i = 0; i < EACH; i++) {
		take(w, (i + step + w->number) % 4, i ? source : MPI_ANY_SOURCE, DIRECTED);
		if (++i == EACH)
			break;
		order_delay();
		MPI_Start(&w->from);
		MPI_Wait(&w->from, &status);
		saw(w, i, &status, w->last);
	}
	MPI_Waitall(EACH, w->to, MPI_STATUSES_IGNORE);
}

/* Each thread completes the requests that the previous thread started. */
static void handed(struct worker *w)
{
	struct worker *b = w->before;
	MPI_Status status;
	int i, flag;

	send_all(w, HANDED);
	for (i = 0; i < w->total; i++) {
		order_delay();
		MPI_Irecv(&w->inbox[i], 1, MPI_DOUBLE, MPI_ANY_SOURCE, HANDED, w->comm, &w->in[i]);
	}
	pthread_barrier_wait(&together);
	MPI_Wait(&b->in[1], &status);
	saw(w, 1, &status, b->inbox[1]);
	for (int n = 1; n < w->total; n += flag) {
		MPI_Testany(w->total, b->in, &i, &flag, &status);
		if (flag)
			saw(w, i, &status, b->inbox[i]);
		else
			order_pause();
	}
	MPI_Waitall(w->total, w->out, MPI_STATUSES_IGNORE);
}

/* A rank is in one phase at a time, so that there are as many messages as receives. */
static void *work(void *worker)
{
	struct worker *w = worker;

	for (int step = 0; step < w->o.steps; step++) {
		mixed(w, step);
		pthread_barrier_wait(&together);
		directed(w, step);
		pthread_barrier_wait(&together);
		handed(w);
		pthread_barrier_wait(&together);
	}
	return NULL;
}

static void begin(struct worker *w, const struct order *o, int number, MPI_Comm comm)
{
	int behind = (o->rank + 1) % o->size, before = (o->rank + o->size - 1) % o->size;

	w->o = *o;
	order_seed(&w->o, o->random + (uint64_t)number);
	w->number = number;
	w->total = o->partners * EACH;
	w->comm = comm;
	for (int i = 0; i < EACH; i++)
		MPI_Send_init(&w->kept[i], 1, MPI_DOUBLE, before, DIRECTED, comm, &w->to[i]);
	MPI_Recv_init(&w->last, 1, MPI_DOUBLE, number ? behind : MPI_ANY_SOURCE, DIRECTED, comm,
		      &w->from);
}

static void run_all(struct order *o)
{
	static struct worker worker[THREADS];
	pthread_t thread[THREADS];
	MPI_Comm comm;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	pthread_barrier_init(&together, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		begin(&worker[i], o, i, comm);
		worker[i].before = &worker[(i + THREADS - 1) % THREADS];
	}
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, &worker[i]))
			MPI_Abort(MPI_COMM_WORLD, 9);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		order_join(o, &worker[i].o);
		for (int k = 0; k < EACH; k++)
			MPI_Request_free(&worker[i].to[k]);
		MPI_Request_free(&worker[i].from);
	}
	MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
	struct order o;

	order_init_threads(&argc, &argv);
	order_begin(&o, argc, argv, 10);
	run_all(&o);
	return order_end(&o);
}
