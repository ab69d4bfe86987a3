/*
 * order_workers.c - A master that assigns tasks to workers in the order of their requests.
 *
 *	order_workers [STEPS [SEED]]     STEPS is the number of tasks
 *
 * Results have a length and a tag that depend on the task. Therefore the master probes for any
 * source and tag (alternating between MPI_Probe and MPI_Iprobe) and receives the message that it
 * found.
 */
#include "order_prog.h"

enum { LONGEST = 50, TAG_READY = 1, TAG_RESULT = 10, TAG_TASK = 20, TAG_STOP = 29, KINDS = 4 };

static struct order o;

static void find(int task, MPI_Status *status)
{
	int found = 0, failed = 0;

	if (task % 2) {
		MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status);
		return;
	}
	for (;; failed++) {
		MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, status);
		if (found)
			break;
		order_pause();
	}
	order_fold(&o, (uint64_t)failed);
}

static void lead(void)
{
	double result[LONGEST];
	MPI_Status status;

	for (int task = 0, stopped = 0; stopped < o.size - 1; task++) {
		int length, tag = task < o.steps ? TAG_TASK + task % KINDS : TAG_STOP;

		find(task, &status);
		MPI_Get_count(&status, MPI_DOUBLE, &length);
		MPI_Recv(result, length, MPI_DOUBLE, status.MPI_SOURCE, status.MPI_TAG,
			 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		order_saw(&o, length, &status, 0);
		for (int i = 0; i < length; i++)
			o.sum += result[i];
		order_delay();
		MPI_Send(&task, 1, MPI_INT, status.MPI_SOURCE, tag, MPI_COMM_WORLD);
		stopped += tag == TAG_STOP;
	}
}

/* The result of a task depends on the earlier tasks of this worker. */
static int work_on(int task, double *result)
{
	int length = 1 + (int)(order_mix((uint64_t)task) % LONGEST);

	for (int i = 0; i < length; i++)
		result[i] = order_value(&o) / (task + 1);
	return length;
}

static void work(void)
{
	double result[LONGEST] = { 0 };
	MPI_Status status;
	int length = 0, task, tag = TAG_READY;

	for (;;) {
		order_delay();
		MPI_Send(result, length, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD);
		MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		order_saw(&o, task, &status, 1. / (task + 1));
		if (status.MPI_TAG == TAG_STOP)
			return;
		length = work_on(task, result);
		tag = TAG_RESULT + task % KINDS;
	}
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	order_begin(&o, argc, argv, 2000);
	if (o.rank == 0)
		lead();
	else
		work();
	return order_end(&o);
}
