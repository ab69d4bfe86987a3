/*
 * order_asks.c - Counts the failed calls of MPI_Win_test, MPI_Parrived and MPI_Request_get_status.
 *
 *	order_asks [STEPS [SEED]]
 */
#include "order_prog.h"

enum { PARTS = 3, TAG = 5 };

static struct order o;
static MPI_Group left, right; /* of one rank each */
static double memory[2];

static int before(void)
{
	return (o.rank + o.size - 1) % o.size;
}

static int behind(void)
{
	return (o.rank + 1) % o.size;
}

static void of_one(MPI_Group all, int rank, MPI_Group *group)
{
	MPI_Group_incl(all, 1, &rank, group);
}

static void ask_win(MPI_Win win)
{
	double value = order_value(&o);
	int flag = 0;

	MPI_Win_post(right, 0, win);
	MPI_Win_start(left, 0, win);
	order_delay();
	MPI_Put(&value, 1, MPI_DOUBLE, before(), 0, 1, MPI_DOUBLE, win);
	MPI_Win_complete(win);
	for (; !flag; order_pause()) {
		MPI_Win_test(win, &flag);
		order_fold(&o, (uint64_t)flag);
	}
	o.sum += memory[0];
}

static void ask_request(void)
{
	double value = order_value(&o), got;
	MPI_Request in, out;
	int flag = 0;

	MPI_Irecv(&got, 1, MPI_DOUBLE, behind(), TAG, MPI_COMM_WORLD, &in);
	order_delay();
	MPI_Isend(&value, 1, MPI_DOUBLE, before(), TAG, MPI_COMM_WORLD, &out);
	for (; !flag; order_pause()) {
		MPI_Request_get_status(in, &flag, MPI_STATUS_IGNORE);
		order_fold(&o, (uint64_t)flag);
	}
	MPI_Wait(&in, MPI_STATUS_IGNORE);
	MPI_Wait(&out, MPI_STATUS_IGNORE);
	o.sum += got;
}

#if MPI_VERSION >= 4
static void ask_parts(void)
{
	double value[PARTS], got[PARTS];
	MPI_Request in, out;
	int arrived[PARTS] = { 0 };

	MPI_Precv_init(got, PARTS, 1, MPI_DOUBLE, behind(), TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
		       &in);
	MPI_Psend_init(value, PARTS, 1, MPI_DOUBLE, before(), TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
		       &out);
	MPI_Start(&in);
	MPI_Start(&out);
	for (int i = 0; i < PARTS; i++) {
		value[i] = order_value(&o);
		order_delay();
		MPI_Pready(i, out);
	}
	for (int left_over = PARTS; left_over > 0; order_pause())
		for (int i = 0; i < PARTS; i++) {
			if (arrived[i])
				continue;
			MPI_Parrived(in, i, &arrived[i]);
			order_fold(&o, (uint64_t)arrived[i]);
			left_over -= arrived[i];
		}
	MPI_Wait(&in, MPI_STATUS_IGNORE);
	MPI_Wait(&out, MPI_STATUS_IGNORE);
	for (int i = 0; i < PARTS; i++)
		o.sum += got[i];
	MPI_Request_free(&in);
	MPI_Request_free(&out);
}
#endif

int main(int argc, char **argv)
{
	MPI_Group all;
	MPI_Win win;

	MPI_Init(&argc, &argv);
	order_begin(&o, argc, argv, 30);
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	of_one(all, before(), &left);
	of_one(all, behind(), &right);
	MPI_Win_create(memory, sizeof(memory), sizeof(*memory), MPI_INFO_NULL, MPI_COMM_WORLD,
		       &win);
	for (int step = 0; step < o.steps; step++) {
		ask_win(win);
		ask_request();
#if MPI_VERSION >= 4
		ask_parts();
#endif
	}
	MPI_Win_free(&win);
	MPI_Group_free(&left);
	MPI_Group_free(&right);
	MPI_Group_free(&all);
	return order_end(&o);
}
