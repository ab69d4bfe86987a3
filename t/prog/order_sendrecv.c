/*
 * order_sendrecv.c - MPI_Sendrecv, MPI_Sendrecv_replace and MPI_Recv from any source.
 *
 *	order_sendrecv [STEPS [SEED]]
 *
 * In each exchange a rank sends to the rank at a given distance, and receives the first message
 * that arrives, also from ranks that are ahead. Every other status is ignored; messages contain
 * their sender. They are so short that MPI buffers them.
 */
#include "order_prog.h"

enum { TAGS = 3 };

struct message {
	double value, source;
};

static struct order o;

static void sendrecv(struct message *m, int to, MPI_Status *status)
{
	struct message out = *m;

	MPI_Sendrecv(&out, 2, MPI_DOUBLE, to, o.rank % TAGS, m, 2, MPI_DOUBLE, MPI_ANY_SOURCE,
		     MPI_ANY_TAG, MPI_COMM_WORLD, status);
}

static void replace(struct message *m, int to, MPI_Status *status)
{
	MPI_Sendrecv_replace(m, 2, MPI_DOUBLE, to, o.rank % TAGS, MPI_ANY_SOURCE, MPI_ANY_TAG,
			     MPI_COMM_WORLD, status);
}

static void receive(struct message *m, int to, MPI_Status *status)
{
	struct message out = *m;
	MPI_Request request;

	MPI_Isend(&out, 2, MPI_DOUBLE, to, o.rank % TAGS, MPI_COMM_WORLD, &request);
	MPI_Recv(m, 2, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	static void (*const ways[])(struct message *, int, MPI_Status *) = { sendrecv, replace,
									     receive };

	MPI_Init(&argc, &argv);
	order_begin(&o, argc, argv, 300);
	for (int step = 0; step < o.steps; step++) {
		struct message m = { order_value(&o), o.rank };
		int to = (o.rank + 1 + step % (o.size - 1)) % o.size;
		MPI_Status status;

		order_delay();
		if (step / 3 % 2) {
			ways[step % 3](&m, to, &status);
			order_saw(&o, step, &status, m.value);
		} else {
			ways[step % 3](&m, to, MPI_STATUS_IGNORE);
			order_fold(&o, (uint64_t)m.source);
			o.sum += m.value;
		}
	}
	return order_end(&o);
}
