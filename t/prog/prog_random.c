/*
 * prog_random.c - Random calls in random loops: prog_random SEED STEPS. Decisions that affect
 * several ranks use random numbers that all ranks share. Decisions that affect one rank (message
 * sizes, types, memory, order of completion) use that rank's own. Thus some of a run is identical
 * on all ranks, some is similar, and some is different.
 */
#include "log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 8
#define COMMS  6
#define TYPES  6
#define BATCH  5
#define ROOM   4096 /* bytes of a block */

static unsigned long shared_state, own_state;

static int draw(unsigned long *state, int n)
{
	*state = *state * 6364136223846793005ul + 1442695040888963407ul;
	return (int)((*state >> 33) % (unsigned long)n);
}

/* A random number below n: the same on all ranks; and different on each. */
static int ours(int n)
{
	return draw(&shared_state, n);
}

static int mine(int n)
{
	return draw(&own_state, n);
}

/* --- memory, types, communicators ----------------------------------------------------------- */

static char *blocks[BLOCKS];

static void change_block(void)
{
	int i = mine(BLOCKS);

	drop(blocks[i]);
	blocks[i] = grab(ROOM);
}

static char *place(void)
{
	return blocks[mine(BLOCKS)] + 8 * mine(4);
}

static struct type {
	MPI_Datatype type; /* MPI_DATATYPE_NULL: this id is free */
	char name[16];
} types[TYPES];

static void make_type(struct type *t, int number)
{
	int blocklength = 1 + mine(3), stride = 3 + mine(4);

	snprintf(t->name, sizeof(t->name), "type:%d", number);
	DO(MPI_Type_vector(2, blocklength, stride, MPI_INT, &t->type),
	   "count=2, blocklength=%d, stride=%d, oldtype=MPI_INT, newtype=%n", blocklength, stride,
	   t->name);
	DO(MPI_Type_commit(&t->type), "datatype=%n", t->name);
}

/* A new type gets the lowest free id. */
static void change_types(void)
{
	int drop_it = mine(TYPES);

	if (types[drop_it].type != MPI_DATATYPE_NULL)
		DO(MPI_Type_free(&types[drop_it].type), "datatype=%n", types[drop_it].name);
	if (mine(3) == 0)
		return;
	for (int i = 0; i < TYPES; i++)
		if (types[i].type == MPI_DATATYPE_NULL) {
			make_type(&types[i], i);
			return;
		}
}

static struct comm {
	MPI_Comm comm; /* MPI_COMM_NULL: no communicator */
	char name[64], path[48];
	int made; /* on it */
	int rank, size;
} comms[COMMS];

static void set_comm(struct comm *c, const char *path, int rank, int size)
{
	snprintf(c->path, sizeof(c->path), "%s", path);
	snprintf(c->name, sizeof(c->name), "comm:%s", path);
	c->made = 0;
	c->rank = rank;
	c->size = size;
}

/* Alternating ranks of a parent in one MPI group or the other: all groups do the same. */
static void split(struct comm *parent, struct comm *child)
{
	int ways = 1 + ours(3), color = parent->rank % ways;
	int size = (parent->size - color + ways - 1) / ways;
	char path[48];

	snprintf(path, sizeof(path), "%.40s.%d", parent->path, parent->made++);
	set_comm(child, path, parent->rank / ways, size);
	DO(MPI_Comm_split(parent->comm, color, 0, &child->comm),
	   "comm=%n, color=%d, key=0, newcomm=%n", parent->name, color, child->name);
}

static void change_comms(void)
{
	struct comm *c = &comms[1 + ours(COMMS - 1)], *parent = &comms[ours(COMMS)];

	if (c->comm != MPI_COMM_NULL) {
		DO(MPI_Comm_free(&c->comm), "comm=%n", c->name);
		return;
	}
	if (parent->comm != MPI_COMM_NULL && strlen(parent->path) < 40)
		split(parent, c);
}

static struct comm *some_comm(void)
{
	struct comm *c = &comms[ours(COMMS)];

	return c->comm != MPI_COMM_NULL ? c : &comms[0];
}

/* --- messages -------------------------------------------------------------------------------- */

static MPI_Status status;

static void shift(struct comm *c, int by)
{
	int to = (c->rank + by) % c->size, from = (c->rank + c->size - by % c->size) % c->size;
	char *out = place(), *in = place() + 1024;
	int n = 1 + mine(20);

	DO(MPI_Sendrecv(out, n, MPI_INT, to, by, in, 20, MPI_INT, from, by, c->comm, &status),
	   "sendbuf=%p, sendcount=%d, sendtype=MPI_INT, dest=%d, sendtag=%d, recvbuf=%p, "
	   "recvcount=20, recvtype=MPI_INT, source=%d, recvtag=%d, comm=%n, status=%S",
	   out, n, to, by, in, from, by, c->name, &status);
}

/* Ranks without a partner exchange nothing. */
static void swap(struct comm *c, int bit)
{
	int with = (c->rank ^ bit) < c->size ? c->rank ^ bit : MPI_PROC_NULL;
	char *buf = place();

	DO(MPI_Sendrecv_replace(buf, 2, MPI_DOUBLE, with, 7, with, 7, c->comm, &status),
	   "buf=%p, count=2, datatype=MPI_DOUBLE, dest=%r, sendtag=7, source=%r, recvtag=7, "
	   "comm=%n, status=%S",
	   buf, with, with, c->name, &status);
}

static void type_message(void)
{
	struct type *t = &types[mine(TYPES)];
	char *buf = place();

	if (t->type != MPI_DATATYPE_NULL)
		DO(MPI_Bcast(buf, 1, t->type, 0, MPI_COMM_SELF),
		   "buffer=%p, count=1, datatype=%n, root=0, comm=MPI_COMM_SELF", buf, t->name);
}

static MPI_Request requests[2 * BATCH];
static MPI_Status statuses[2 * BATCH];

static void start(struct comm *c, int n)
{
	int to = (c->rank + 1) % c->size, from = (c->rank + c->size - 1) % c->size;

	for (int i = 0; i < n; i++) {
		char *in = place() + 2048 + 64 * i, *out = place();

		DO(MPI_Irecv(in, 4, MPI_INT, from, i, c->comm, &requests[2 * i]),
		   "buf=%p, count=4, datatype=MPI_INT, source=%d, tag=%d, comm=%n, request=%+", in,
		   from, i, c->name, &requests[2 * i]);
		DO(MPI_Isend(out, 4, MPI_INT, to, i, c->comm, &requests[2 * i + 1]),
		   "buf=%p, count=4, datatype=MPI_INT, dest=%d, tag=%d, comm=%n, request=%+", out,
		   to, i, c->name, &requests[2 * i + 1]);
	}
}

static void wait_any(int n)
{
	int i;

	for (int left = n; left > 0; left--)
		DO(MPI_Waitany(n, requests, &i, &status),
		   "count=%d, array_of_requests=%*q, index=%x, status=%S", n, n, requests, i,
		   &status);
}

static void test_some(int n)
{
	int done, indices[2 * BATCH];

	for (int left = n; left > 0; left -= done)
		DO(MPI_Testsome(n, requests, &done, indices, statuses),
		   "incount=%d, array_of_requests=%*q, outcount=%d, array_of_indices=%*x, "
		   "array_of_statuses=%*S",
		   n, n, requests, done, done, indices, done, statuses);
}

static void wait_one_by_one(int n)
{
	for (int i = n; i-- > 0;) {
		int flag = 0;

		while (!flag)
			DO(MPI_Test(&requests[i], &flag, &status),
			   flag ? "request=%q, flag=1, status=%S" : "request=%q, flag=0, status=?",
			   &requests[i], &status);
	}
}

static void batch(struct comm *c)
{
	int n = 1 + ours(BATCH);

	start(c, n);
	memset(statuses, 0, sizeof(statuses));
	memset(&status, 0, sizeof(status));
	switch (mine(4)) {
	case 0:
		DO(MPI_Waitall(2 * n, requests, statuses),
		   "count=%d, array_of_requests=%*q, array_of_statuses=%*S", 2 * n, 2 * n, requests,
		   2 * n, statuses);
		break;
	case 1:
		wait_any(2 * n);
		break;
	case 2:
		test_some(2 * n);
		break;
	default:
		wait_one_by_one(2 * n);
	}
}

/* One rank receives from all, in any order. The tags include the step, so that these messages
 * cannot be confused. */
static void gather_any(struct comm *c, int tag)
{
	static int word[2];
	int root = ours(c->size), ignore = ours(2);

	word[0] = c->rank;
	if (c->rank != root) {
		DO(MPI_Send(word, 1, MPI_INT, root, tag, c->comm),
		   "buf=static:*, count=1, datatype=MPI_INT, dest=%d, tag=%d, comm=%n", root, tag,
		   c->name);
		return;
	}
	for (int i = 1; i < c->size; i++)
		if (ignore)
			DO(MPI_Recv(word + 1, 1, MPI_INT, MPI_ANY_SOURCE, tag, c->comm,
				    MPI_STATUS_IGNORE),
			   "buf=static:*, count=1, datatype=MPI_INT, source=MPI_ANY_SOURCE, "
			   "tag=%d, comm=%n, status=MPI_STATUS_IGNORE; "
			   "matched={source:%d,tag:%d}",
			   tag, c->name, word[1], tag);
		else
			DO(MPI_Recv(word + 1, 1, MPI_INT, MPI_ANY_SOURCE, tag, c->comm, &status),
			   "buf=static:*, count=1, datatype=MPI_INT, source=MPI_ANY_SOURCE, "
			   "tag=%d, comm=%n, status=%S",
			   tag, c->name, &status);
}

static void collective(struct comm *c)
{
	static int counts[64];
	int root = ours(c->size);
	char *a = place(), *b = place() + 1024;

	switch (ours(4)) {
	case 0:
		DO(MPI_Bcast(a, 3, MPI_INT, root, c->comm),
		   "buffer=%p, count=3, datatype=MPI_INT, root=%d, comm=%n", a, root, c->name);
		break;
	case 1:
		DO(MPI_Reduce(a, b, 3, MPI_INT, MPI_SUM, root, c->comm),
		   "sendbuf=%p, recvbuf=%p, count=3, datatype=MPI_INT, op=MPI_SUM, root=%d, "
		   "comm=%n",
		   a, b, root, c->name);
		break;
	case 2:
		DO(MPI_Barrier(c->comm), "comm=%n", c->name);
		break;
	default:
		for (int i = 0; i < c->size; i++)
			counts[i] = 1 + (i + root) % 3;
		DO(MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_MAX, c->comm),
		   "sendbuf=%p, recvbuf=%p, recvcounts=%*d, datatype=MPI_INT, op=MPI_MAX, comm=%n",
		   a, b, c->size, counts, c->name);
	}
}

static void alone(void)
{
	switch (mine(4)) {
	case 0:
		change_block();
		break;
	case 1:
		change_types();
		break;
	case 2:
		type_message();
		break;
	}
}

/* --- a run --------------------------------------------------------------------------------------
 */

static void act(int what, struct comm *c, int by, int step)
{
	switch (what) {
	case 0:
	case 1:
		shift(c, by);
		break;
	case 2:
		swap(c, by);
		break;
	case 3:
	case 4:
		batch(c);
		break;
	case 5:
		gather_any(c, 1000 + step % 4);
		collective(&comms[0]);
		break;
	default:
		collective(c);
	}
}

static void run(int steps)
{
	for (int step = 0; step < steps; step++) {
		int what = ours(8), rounds = ours(3) ? 1 : 1 + ours(20), by = 1 + ours(3);
		struct comm *c;

		if (ours(10) == 0)
			change_comms();
		c = some_comm();
		if (mine(3) == 0)
			alone();
		for (int i = 0; i < rounds; i++)
			act(what, c, by, step);
	}
}

int main(int argc, char **argv)
{
	unsigned long seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;

	begin();
	shared_state = seed;
	own_state = seed * 1000 + (unsigned long)me;
	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = grab(ROOM);
	for (int i = 0; i < TYPES; i++)
		types[i].type = MPI_DATATYPE_NULL;
	for (int i = 0; i < COMMS; i++)
		comms[i].comm = MPI_COMM_NULL;
	set_comm(&comms[0], "world", me, procs);
	snprintf(comms[0].name, sizeof(comms[0].name), "MPI_COMM_WORLD");
	comms[0].comm = MPI_COMM_WORLD;
	run(argc > 2 ? atoi(argv[2]) : 200);
	for (int i = 0; i < TYPES; i++)
		if (types[i].type != MPI_DATATYPE_NULL)
			DO(MPI_Type_free(&types[i].type), "datatype=%n", types[i].name);
	end();
	return 0;
}
