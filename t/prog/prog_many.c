/*
 * prog_many.c - Continually new calls, more than fit into a small memory, while some of the objects
 * that they create exist from beginning to end.
 *
 *	prog_many STEPS
 *
 * The calls are the same in each run. Requests with many creators complete in another order than
 * they started, after a few steps or at the end. Persistent requests are used repeatedly. A second
 * thread waits for requests of the first. Texts, long arrays and calls inside callbacks are new in
 * each step. Rank 0 prints its peak memory, in kilobytes.
 */
#include <mpi.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW 40 /* number of active requests of one kind */
#define LONG   160

static int me, procs, next_rank, last_rank;
static int data[4096];

/* ---- long-lived requests ---- */

static MPI_Request later[WINDOW][2];

/* A request that completes WINDOW steps later, or only at the end. */
static void lasting(int i)
{
	MPI_Request *r = later[i % WINDOW];

	if (i >= WINDOW && i % WINDOW != 7)
		MPI_Wait(&r[(i / WINDOW) % 2], MPI_STATUS_IGNORE);
	if (i >= WINDOW && i % WINDOW != 7)
		MPI_Wait(&r[!((i / WINDOW) % 2)], MPI_STATUS_IGNORE);
	if (i >= WINDOW && i % WINDOW == 7)
		return;
	MPI_Irecv(&data[i % 1000], 1, MPI_INT, last_rank, i % 30000, MPI_COMM_WORLD, &r[0]);
	MPI_Isend(&data[1000 + i % 999], 1, MPI_INT, next_rank, i % 30000, MPI_COMM_WORLD, &r[1]);
}

static void end_lasting(void)
{
	for (int i = 0; i < WINDOW; i++)
		MPI_Waitall(2, later[i], MPI_STATUSES_IGNORE);
}

/* ---- many requests of one creator, in an array too long for a call ---- */

static MPI_Request same[LONG];

/* Completes the older requests. The requests that reuse their slots stay until the next time, or
 * the end. */
static void alike(int i, int n)
{
	MPI_Status st[LONG];

	for (int k = 0; k < LONG; k++)
		if (same[k] == MPI_REQUEST_NULL)
			MPI_Irecv(data, 0, MPI_INT, 0, 5, MPI_COMM_SELF, &same[k]);
	for (int k = 0; k < n; k++)
		MPI_Send(&data[2000 + i % 1000], 0, MPI_INT, 0, 5, MPI_COMM_SELF);
	MPI_Waitall(n, n < LONG ? same + i / 10 % 2 * n : same, st);
}

/* ---- persistent requests ---- */

static MPI_Request kept[3];

static void start_kept(int i)
{
	if (i == 0) {
		MPI_Send_init(data, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &kept[0]);
		MPI_Recv_init(data + 1, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &kept[1]);
	}
	if (i % 100 == 0)
		MPI_Send_init(data, 1, MPI_INT, MPI_PROC_NULL, i, MPI_COMM_SELF, &kept[2]);
	MPI_Startall(3, kept);
	MPI_Waitall(3, kept, MPI_STATUSES_IGNORE);
	if (i % 100 == 99)
		MPI_Request_free(&kept[2]);
}

/* ---- texts, arrays, callbacks ---- */

static void texts(int i)
{
	char text[64], got[MPI_MAX_OBJECT_NAME];
	int n, flag;
	MPI_Info info;

	snprintf(text, sizeof(text), "name %d of %d", i, i * 7);
	MPI_Comm_set_name(MPI_COMM_SELF, text);
	MPI_Comm_get_name(MPI_COMM_SELF, got, &n);
	MPI_Info_create(&info);
	MPI_Info_set(info, "key", text);
	MPI_Info_get(info, "key", sizeof(got) - 1, got, &flag);
	MPI_Info_free(&info);
}

static void arrays(int i)
{
	int lengths[LONG], where[LONG];
	MPI_Datatype type;

	for (int k = 0; k < LONG; k++) {
		lengths[k] = 1;
		where[k] = k * (1 + i % 50) + (k > 3 ? i : 0);
	}
	MPI_Type_indexed(LONG, lengths, where, MPI_INT, &type);
	MPI_Type_free(&type);
}

static int deleted(MPI_Comm comm, int keyval, void *value, void *state)
{
	int size;

	(void)keyval;
	(void)value;
	(void)state;
	MPI_Comm_size(comm, &size);
	MPI_Comm_set_name(comm, "going");
	return MPI_SUCCESS;
}

static void nested(int i)
{
	static int keyval = MPI_KEYVAL_INVALID;
	MPI_Comm comm;

	if (keyval == MPI_KEYVAL_INVALID)
		MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &keyval, NULL);
	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	MPI_Comm_set_attr(comm, keyval, &data[i % 4096]);
	MPI_Comm_free(&comm);
}

/* ---- another thread ---- */

static MPI_Request theirs[4];
static sem_t go, done;
static int over;

static void *wait_for_them(void *arg)
{
	(void)arg;
	for (sem_wait(&go); !over; sem_wait(&go)) {
		for (int k = 0; k < 3; k++)
			MPI_Wait(&theirs[k], MPI_STATUS_IGNORE);
		sem_post(&done);
	}
	MPI_Wait(&theirs[3], MPI_STATUS_IGNORE);
	return NULL;
}

static void hand_over(int i)
{
	for (int k = 0; k < 3; k++)
		MPI_Irecv(&data[k], 1, MPI_INT, 0, 100 + i + k / 2, MPI_COMM_SELF, &theirs[k]);
	for (int k = 0; k < 3; k++)
		MPI_Send(&data[3000], 1, MPI_INT, 0, 100 + i + k / 2, MPI_COMM_SELF);
	sem_post(&go);
	sem_wait(&done);
}

/* ---- */

static int peak_kilobytes(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	int n = 0;

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmHWM: %d", &n);
	if (f)
		fclose(f);
	return n;
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 1000, provided;
	pthread_t thread;

	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &procs);
	next_rank = (me + 1) % procs;
	last_rank = (me + procs - 1) % procs;
	for (int k = 0; k < LONG; k++)
		same[k] = MPI_REQUEST_NULL;
	sem_init(&go, 0, 0);
	sem_init(&done, 0, 0);
	pthread_create(&thread, NULL, wait_for_them, NULL);
	MPI_Irecv(&data[3], 1, MPI_INT, 0, 30000, MPI_COMM_SELF, &theirs[3]);
	for (int i = 0; i < steps; i++) {
		lasting(i);
		start_kept(i);
		texts(i);
		arrays(i);
		nested(i);
		if (i % 10 == 0)
			alike(i, LONG / 2);
		hand_over(i);
	}
	alike(steps, LONG);
	end_lasting();
	MPI_Send(&data[3000], 1, MPI_INT, 0, 30000, MPI_COMM_SELF);
	over = 1;
	sem_post(&go);
	pthread_join(thread, NULL);
	for (int k = 0; k < 2; k++)
		MPI_Request_free(&kept[k]);
	MPI_Finalize();
	if (me == 0)
		printf("%d\n", peak_kilobytes());
	return 0;
}
