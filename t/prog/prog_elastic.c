/*
 * prog_elastic.c - A random program whose calls have arguments that change in random ways.
 *
 *	prog_elastic SEED CALLS
 *
 * A block consists of calls, inner loops and branches. Each call has a function, and for each of
 * its numbers a way to change: fixed, one of a few values, counting, repeating, random, by rank.
 * Everything follows from the seed and the rank, so that two runs make the same calls.
 */
#include <mpi.h>

#include <stdlib.h>

#define NODES   40
#define NUMBERS 3

enum kind { SENDRECV, IPROBE, REQUESTS, TYPE, REDUCE, LOOP, BRANCH, KINDS };
enum way { FIXED, FEW, COUNTING, AGAIN, RANDOM, BY_RANK, WAYS };

struct node {
	int kind, first, n, rounds;
	int way[NUMBERS], base[NUMBERS];
	unsigned long done;
};

static struct node node[NODES];
static int nodes = 1, me, left;
static char *buffer;
static unsigned long long state;

static unsigned any(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

/* Returns the k-th number of a call, below `limit`; random numbers also differ between ranks. */
static int number(const struct node *x, int k, unsigned limit)
{
	unsigned long i = x->done, base = (unsigned)x->base[k],
		      r = (i + 1) * 2654435761u + (unsigned)me * 40503u;

	switch (x->way[k]) {
	case FEW:
		base += r / 128 % 3;
		break;
	case COUNTING:
		base += i * 3;
		break;
	case AGAIN:
		base = i % 41 * 7;
		break;
	case RANDOM:
		base = r / 32;
		break;
	case BY_RANK:
		base += (unsigned)me;
		break;
	default:
		break;
	}
	return (int)(base % limit);
}

static void make_block(int at, int depth)
{
	struct node *x = &node[at];

	x->n = 1 + (int)any(4);
	if (nodes + x->n > NODES)
		x->n = 0;
	x->first = nodes;
	nodes += x->n;
	x->rounds = 1 + (int)any(60);
	for (int i = x->first; i < x->first + x->n; i++) {
		node[i].kind = (int)any(depth < 3 ? KINDS : LOOP);
		for (int k = 0; k < NUMBERS; k++) {
			node[i].way[k] = (int)any(WAYS);
			node[i].base[k] = (int)any(100);
		}
		if (node[i].kind >= LOOP)
			make_block(i, depth + 1);
	}
}

static void requests(const struct node *x)
{
	MPI_Request r[2];
	int tag = number(x, 0, 30000);

	MPI_Irecv(buffer, 5000, MPI_CHAR, 0, tag, MPI_COMM_SELF, &r[0]);
	MPI_Isend(buffer + 5000 + number(x, 1, 900), number(x, 2, 4000), MPI_CHAR, 0, tag,
		  MPI_COMM_SELF, &r[1]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void sendrecv(const struct node *x)
{
	MPI_Status s;
	int tag = number(x, 0, 30000);

	MPI_Sendrecv(buffer + number(x, 1, 900), number(x, 2, 4000), MPI_CHAR, 0, tag,
		     buffer + 5000, 5000, MPI_CHAR, 0, x->way[1] ? tag : MPI_ANY_TAG, MPI_COMM_SELF,
		     &s);
}

static void call(const struct node *x)
{
	MPI_Datatype type;
	int flag, out = 0;

	switch (x->kind) {
	case SENDRECV:
		sendrecv(x);
		break;
	case IPROBE:
		MPI_Iprobe(MPI_ANY_SOURCE, number(x, 0, 30000), MPI_COMM_WORLD, &flag,
			   MPI_STATUS_IGNORE);
		break;
	case REQUESTS:
		requests(x);
		break;
	case TYPE:
		MPI_Type_vector(number(x, 0, 50), number(x, 1, 20), number(x, 2, 1000) - 100,
				MPI_INT, &type);
		MPI_Type_free(&type);
		break;
	default:
		MPI_Reduce_local(buffer + 8 * (size_t)number(x, 0, 100), &out, 1, MPI_INT, MPI_MAX);
	}
}

/* Iteration counts of loops and decisions of branches change like other numbers. */
static void run(struct node *x)
{
	int rounds = x->kind == BRANCH ? number(x, 0, 2) : 1 + number(x, 0, (unsigned)x->rounds);

	x->done++;
	for (int i = 0; i < rounds && left > 0; i++)
		for (int k = x->first; k < x->first + x->n; k++) {
			if (node[k].kind >= LOOP) {
				run(&node[k]);
				continue;
			}
			call(&node[k]);
			node[k].done++;
			left--;
		}
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	buffer = calloc(20000, 1);
	state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	left = argc > 2 ? atoi(argv[2]) : 1000;
	node[0].kind = LOOP;
	make_block(0, 0);
	for (int i = 0; i < 1000 && left > 0; i++)
		run(&node[0]);
	free(buffer);
	MPI_Finalize();
	return 0;
}
