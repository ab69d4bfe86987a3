/*
 * order_isendrecv.c - MPI_Isendrecv and MPI_Isendrecv_replace from any source, two at a time.
 *
 *	order_isendrecv [STEPS [SEED]]
 *
 * The messages are those of order_sendrecv.c. Needs an MPI library with MPI 4.
 */
#include "order_prog.h"

enum { TAGS = 3 };

struct message {
	double value, source;
};

static struct order o;

static struct message message(void)
{
	return (struct message){ order_value(&o), o.rank };
}

static void saw(const struct message *m, int index)
{
	order_fold(&o, (uint64_t)index);
	order_fold(&o, (uint64_t)m->source);
	o.sum += m->value;
}

static void start(struct message m[3], MPI_Request q[2], int to)
{
	m[0] = message();
	m[1] = message();
	order_delay();
	if (o.rank % 2) {
		MPI_Isendrecv(&m[0], 2, MPI_DOUBLE, to, o.rank % TAGS, &m[2], 2, MPI_DOUBLE,
			      MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &q[0]);
		MPI_Isendrecv_replace(&m[1], 2, MPI_DOUBLE, to, o.rank % TAGS, MPI_ANY_SOURCE,
				      MPI_ANY_TAG, MPI_COMM_WORLD, &q[1]);
	} else {
		MPI_Isendrecv_c(&m[0], 2, MPI_DOUBLE, to, o.rank % TAGS, &m[2], 2, MPI_DOUBLE,
				MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &q[0]);
		MPI_Isendrecv_replace_c(&m[1], 2, MPI_DOUBLE, to, o.rank % TAGS, MPI_ANY_SOURCE,
					MPI_ANY_TAG, MPI_COMM_WORLD, &q[1]);
	}
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	order_begin(&o, argc, argv, 100);
	for (int step = 0; step < o.steps; step++) {
		struct message m[3];
		MPI_Request q[2];

		start(m, q, (o.rank + 1 + step % (o.size - 1)) % o.size);
		if (step % 2) {
			MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
			saw(&m[2], 0);
			saw(&m[1], 1);
			continue;
		}
		for (int left = 2; left > 0; order_pause()) {
			int index, flag;

			MPI_Testany(2, q, &index, &flag, MPI_STATUS_IGNORE);
			order_fold(&o, (uint64_t)flag);
			if (!flag)
				continue;
			saw(&m[2 - index], index);
			left--;
		}
	}
	return order_end(&o);
}
