/*
 * order_particles.c - Particles that move between neighbors on a torus.
 *
 *	order_particles [STEPS [SEED [WORK]]]     800 steps: 100,000 receives on 16 ranks
 *
 * A rank has several receives from MPI_ANY_SOURCE open at any time. It calls MPI_Testsome between
 * the particles that it moves, usually without a completion. Neighbors may be one step ahead: their
 * messages arrive in any order, and count for the step in which they arrive. The messages of a rank
 * depend on the messages that it received before. WORK is the number of collisions of a particle
 * between two exchanges; each takes some 20 ns. It is 0 except for measuring the cost of recording
 * in a program that computes.
 */
#include "order_prog.h"

enum { SIDES = 4, MOST = 3, OPEN = 8, PARTICLES = 6, TAG = 7 };

struct message {
	double particle[PARTICLES];
};

static struct order o;
static uint64_t seed;
static int neighbour[SIDES], work;
static double energy;

static int left;    /* number of receives that are still to be posted, in all steps */
static int missing; /* messages due up to this step, not received; < 0: others are ahead */
static MPI_Request in[OPEN], out[SIDES * MOST];
static struct message inbox[OPEN], outbox[SIDES * MOST];

/* Number of messages that a rank sends to a side in a step. The receiver computes the same number.
 */
static int messages(int rank, int side, int step)
{
	return 1 +
	       (int)(order_mix(seed + (uint64_t)((rank * SIDES + side) * 100003 + step)) % MOST);
}

/* Side i of a rank is side i ^ 1 of its neighbor at side i. */
static int expected(int step)
{
	int n = 0;

	for (int i = 0; i < SIDES; i++)
		n += messages(neighbour[i], i ^ 1, step);
	return n;
}

static void find_neighbours(void)
{
	int dims[2] = { 0, 0 }, periods[2] = { 1, 1 };
	MPI_Comm torus;

	MPI_Dims_create(o.size, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &torus);
	MPI_Cart_shift(torus, 0, 1, &neighbour[0], &neighbour[1]);
	MPI_Cart_shift(torus, 1, 1, &neighbour[2], &neighbour[3]);
	MPI_Comm_free(&torus);
}

static void post(int i)
{
	in[i] = MPI_REQUEST_NULL;
	if (left == 0)
		return;
	left--;
	MPI_Irecv(&inbox[i], PARTICLES, MPI_DOUBLE, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &in[i]);
}

/* Particles are absorbed in the order in which they arrive. */
static void absorb(int i, const MPI_Status *status)
{
	order_saw(&o, i, status, inbox[i].particle[0]);
	for (int p = 0; p < PARTICLES; p++)
		energy = energy * 0.75 + inbox[i].particle[p] / 3;
}

static void look(void)
{
	MPI_Status status[OPEN];
	int n, index[OPEN];

	MPI_Testsome(OPEN, in, &n, index, status);
	if (n == MPI_UNDEFINED)
		return;
	missing -= n;
	order_fold(&o, (uint64_t)n);
	for (int i = 0; i < n; i++) {
		absorb(index[i], &status[i]);
		post(index[i]);
	}
}

/* Computes a free path and a change of direction repeatedly; the effect on the result is below the
 * rounding error. */
static double track(double x)
{
	double at = x;

	for (int i = 0; i < work; i++)
		at = 1 / (1 + sqrt(fabs(at)) / (i + 1));
	return x + at * 1e-300;
}

static void fill(struct message *m)
{
	for (int p = 0; p < PARTICLES; p++) {
		m->particle[p] = track(order_value(&o) + energy / 2);
		if (p % 3 == 0)
			look();
	}
}

static int send_all(int step)
{
	int n = 0;

	for (int side = 0; side < SIDES; side++)
		for (int i = messages(o.rank, side, step); i > 0; i--, n++) {
			fill(&outbox[n]);
			order_delay();
			MPI_Isend(&outbox[n], PARTICLES, MPI_DOUBLE, neighbour[side], TAG,
				  MPI_COMM_WORLD, &out[n]);
		}
	return n;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	order_begin(&o, argc, argv, 800);
	seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	work = argc > 3 ? atoi(argv[3]) : 0;
	find_neighbours();
	for (int step = 0; step < o.steps; step++)
		left += expected(step);
	for (int i = 0; i < OPEN; i++)
		post(i);
	for (int step = 0; step < o.steps; step++) {
		int sends, sent = 0;

		missing += expected(step);
		sends = send_all(step);
		/* Receives stay open, so that sends can complete without buffers. */
		for (; missing > 0 || !sent; order_pause()) {
			look();
			if (!sent)
				MPI_Testall(sends, out, &sent, MPI_STATUSES_IGNORE);
			order_fold(&o, (uint64_t)sent);
		}
	}
	o.sum += energy;
	return order_end(&o);
}
