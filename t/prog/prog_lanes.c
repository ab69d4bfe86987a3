/* prog_lanes.c - Threads that start and end, up to eight at a time, and all call MPI concurrently,
 * on two ranks: communicators, types, attributes, collectives, and requests that any thread may
 * complete, also after the thread that created them has ended.
 *
 *	prog_lanes STEPS [SEED]
 *
 * A new thread gets the lowest free lane. That is its number in the trace once there have been so
 * many threads that numbers are reused. Lane L of one rank does the same as lane L of the other, on
 * a separate communicator. Actions that both must share follow from `shared`, the others from `own`
 * and from the thread schedule. */
#include "log.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LANES   8
#define OWN     32 /* number of threads, including the one that calls MPI_Init */
#define PARCELS 16
#define PAIR    2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* --- lanes -------------------------------------------------------------------------------- */

static struct lane {
	int number;
	pthread_t thread;
	bool busy, ready, leave; /* state of the thread */
	int words;               /* destructor calls; the destructor repeats while it is below 3 */
	MPI_Comm comm;
	char name[32];
	int names; /* number of object names used; a name stands for any value */
	int tags;
	uint64_t shared, own;
} lanes[LANES];

static unsigned below(uint64_t *state, unsigned n)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*state >> 33) % n;
}

static const char *named(struct lane *l, const char *kind, char *text)
{
	sprintf(text, "%s:$%d", kind, l->names++);
	return text;
}

/* --- requests that threads pass to each other ------------------------------------------------ */

/* A receive and a send of a message to this rank itself: waiting for it depends on no other rank.
 */
struct parcel {
	enum { FREE, HELD, FULL } state;
	bool persistent;
	MPI_Request q[PAIR];
	int x[PAIR];
};

static struct parcel parcels[PARCELS];

static struct parcel *find_parcel(int state)
{
	struct parcel *found = NULL;

	pthread_mutex_lock(&lock);
	for (struct parcel *p = parcels; !found && p < parcels + PARCELS; p++)
		if ((int)p->state == state)
			found = p;
	if (found)
		found->state = HELD;
	pthread_mutex_unlock(&lock);
	return found;
}

static void put_parcel(struct parcel *p, int state)
{
	pthread_mutex_lock(&lock);
	p->state = state;
	pthread_mutex_unlock(&lock);
}

static void wait_all(MPI_Request *q)
{
	MPI_Status s[PAIR];

	memset(s, 0, sizeof(s));
	DO(MPI_Waitall(PAIR, q, s), "count=2, array_of_requests=%*q, array_of_statuses=%*S", PAIR,
	   q, PAIR, s);
}

static void wait_each(MPI_Request *q)
{
	MPI_Status s;

	memset(&s, 0, sizeof(s));
	DO(MPI_Wait(&q[1], MPI_STATUS_IGNORE), "request=%q, status=MPI_STATUS_IGNORE", &q[1]);
	DO(MPI_Wait(&q[0], &s), "request=%q, status=%S", &q[0], &s);
}

static void wait_any(MPI_Request *q)
{
	MPI_Status s;
	int index;

	memset(&s, 0, sizeof(s));
	for (int i = 0; i < PAIR; i++)
		DO(MPI_Waitany(PAIR, q, &index, &s),
		   "count=2, array_of_requests=%*q, index=%x, status=%S", PAIR, q, index, &s);
}

static void test_some(MPI_Request *q)
{
	MPI_Status s[PAIR];
	int n, index[PAIR];

	memset(s, 0, sizeof(s));
	for (int left = PAIR; left; left -= n) {
		DO(MPI_Testsome(PAIR, q, &n, index, s),
		   "incount=2, array_of_requests=%*q, outcount=%d, array_of_indices=%*x, "
		   "array_of_statuses=%*S",
		   PAIR, q, n, n, index, n, s);
		if (n == 0)
			sched_yield();
	}
}

static void test_then_wait(MPI_Request *q)
{
	MPI_Status s;
	int flag;

	memset(&s, 0, sizeof(s));
	DO(MPI_Test(&q[0], &flag, &s),
	   flag ? "request=%q, flag=1, status=%S" : "request=%q, flag=0, status=?", &q[0], &s);
	wait_all(q);
}

static void complete(struct lane *l, struct parcel *p)
{
	static void (*const ways[])(MPI_Request *) = { wait_all, wait_each, wait_any, test_some,
						       test_then_wait };

	/* Persistent requests remain after completion and can be waited for again. Therefore only
	 * the first two ways end with them. */
	ways[below(&l->own, p->persistent ? 2 : 5)](p->q);
	for (int i = 0; p->persistent && i < PAIR; i++)
		DO(MPI_Request_free(&p->q[i]), "request=%q", &p->q[i]);
	EXPECT(p->q[0] == MPI_REQUEST_NULL && p->q[1] == MPI_REQUEST_NULL);
}

static void complete_one(struct lane *l)
{
	struct parcel *p = find_parcel(FULL);

	if (!p)
		return;
	complete(l, p);
	put_parcel(p, FREE);
}

#define ARGUMENTS(peer) "buf=?, count=1, datatype=MPI_INT, " peer "=%d, tag=%d, comm=%n, request=%+"

static void post(struct lane *l, struct parcel *p, int tag)
{
	DO(MPI_Irecv(&p->x[0], 1, MPI_INT, me, tag, l->comm, &p->q[0]), ARGUMENTS("source"), me,
	   tag, l->name, &p->q[0]);
	DO(MPI_Isend(&p->x[1], 1, MPI_INT, me, tag, l->comm, &p->q[1]), ARGUMENTS("dest"), me, tag,
	   l->name, &p->q[1]);
}

static void post_again(struct lane *l, struct parcel *p, int tag)
{
	DO(MPI_Recv_init(&p->x[0], 1, MPI_INT, me, tag, l->comm, &p->q[0]), ARGUMENTS("source"), me,
	   tag, l->name, &p->q[0]);
	DO(MPI_Send_init(&p->x[1], 1, MPI_INT, me, tag, l->comm, &p->q[1]), ARGUMENTS("dest"), me,
	   tag, l->name, &p->q[1]);
	DO(MPI_Startall(PAIR, p->q), "count=2, array_of_requests=%*q", PAIR, p->q);
}

/* Starts an exchange. Any thread may complete it, unless there is no room for more. */
static void exchange(struct lane *l)
{
	struct parcel *p = find_parcel(FREE), mine = { 0 }, *used = p ? p : &mine;
	int tag = l->tags++ % 1000;

	used->persistent = below(&l->shared, 4) == 0;
	if (used->persistent)
		post_again(l, used, tag);
	else
		post(l, used, tag);
	if (p)
		put_parcel(p, FULL);
	else
		complete(l, &mine);
}

/* --- other actions ---------------------------------------------------------------------------- */

static void duplicate(struct lane *l)
{
	char name[64];
	MPI_Comm c;
	int x = 1, y;

	DO(MPI_Comm_dup(l->comm, &c), "comm=%n, newcomm=%n", l->name, named(l, "comm", name));
	DO(MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, c),
	   "sendbuf=stack:*, recvbuf=stack:*, count=1, datatype=MPI_INT, op=MPI_SUM, comm=%n",
	   name);
	EXPECT(y == 2);
	DO(MPI_Comm_free(&c), "comm=%n", name);
}

static void split(struct lane *l)
{
	char name[64];
	MPI_Comm c;
	int rank;

	DO(MPI_Comm_split(l->comm, 0, -me, &c), "comm=%n, color=0, key=%d, newcomm=%n", l->name,
	   -me, named(l, "comm", name));
	DO(MPI_Comm_rank(c, &rank), "comm=%n, rank=%d", name, rank);
	EXPECT(rank == 1 - me);
	DO(MPI_Comm_free(&c), "comm=%n", name);
}

static void duplicate_later(struct lane *l)
{
	char name[64];
	MPI_Request q;
	MPI_Comm c;

	DO(MPI_Comm_idup(l->comm, &c, &q), "comm=%n, newcomm=%n, request=%+", l->name,
	   named(l, "comm", name), &q);
	DO(MPI_Wait(&q, MPI_STATUS_IGNORE), "request=%q, status=MPI_STATUS_IGNORE", &q);
	DO(MPI_Barrier(c), "comm=%n", name);
	DO(MPI_Comm_free(&c), "comm=%n", name);
}

static void heap_and_type(struct lane *l)
{
	int n = 2 + (int)below(&l->shared, 30), tag = l->tags++ % 1000;
	int *out = calloc((size_t)n, sizeof(int)), *in = calloc((size_t)n, sizeof(int));
	char name[64];
	MPI_Datatype t;
	MPI_Status s;

	memset(&s, 0, sizeof(s));
	named(l, "type", name);
	DO(MPI_Type_contiguous(n, MPI_INT, &t), "count=%d, oldtype=MPI_INT, newtype=%n", n, name);
	DO(MPI_Type_commit(&t), "datatype=%n", name);
	DO(MPI_Sendrecv(out, 1, t, 1 - me, tag, in, 1, t, MPI_ANY_SOURCE, tag, l->comm, &s),
	   "sendbuf=heap:*, sendcount=1, sendtype=%n, dest=%d, sendtag=%d, recvbuf=heap:*, "
	   "recvcount=1, recvtype=%n, source=MPI_ANY_SOURCE, recvtag=%d, comm=%n, status=%S",
	   name, 1 - me, tag, name, tag, l->name, &s);
	DO(MPI_Type_free(&t), "datatype=%n", name);
	free(out);
	free(in);
}

static void message(struct lane *l)
{
	int x = me, y = -1, tag = l->tags++ % 1000;
	char name[64];
	MPI_Message m;
	MPI_Status s;

	memset(&s, 0, sizeof(s));
	named(l, "message", name);
	DO(MPI_Send(&x, 1, MPI_INT, 1 - me, tag, l->comm),
	   "buf=stack:*, count=1, datatype=MPI_INT, dest=%d, tag=%d, comm=%n", 1 - me, tag,
	   l->name);
	DO(MPI_Mprobe(1 - me, tag, l->comm, &m, &s),
	   "source=%d, tag=%d, comm=%n, message=%n, status=%S", 1 - me, tag, l->name, name, &s);
	DO(MPI_Mrecv(&y, 1, MPI_INT, &m, &s),
	   "buf=stack:*, count=1, datatype=MPI_INT, message=%n, status=%S", name, &s);
	EXPECT(y == 1 - me);
}

static int delete_attribute(MPI_Comm comm, int keyval, void *value, void *state)
{
	struct lane *l = value;
	int rank;

	(void)keyval;
	(void)state;
	DO(MPI_Comm_rank(comm, &rank), "comm=%n, rank=%d", l->name, me);
	EXPECT(rank == me);
	return MPI_SUCCESS;
}

static void attribute(struct lane *l)
{
	char name[64];
	int key;

	named(l, "keyval", name);
	DO(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &key, NULL),
	   "comm_copy_attr_fn=MPI_COMM_NULL_COPY_FN, comm_delete_attr_fn=static:*, comm_keyval=%n, "
	   "extra_state=NULL",
	   name);
	DO(MPI_Comm_set_attr(l->comm, key, l), "comm=%n, comm_keyval=%n, attribute_val=static:*",
	   l->name, name);
	DO(MPI_Comm_delete_attr(l->comm, key), "comm=%n, comm_keyval=%n", l->name, name);
	DO(MPI_Comm_free_keyval(&key), "comm_keyval=%n", name);
}

static void info(struct lane *l)
{
	char name[64], value[16];
	MPI_Info i;

	named(l, "info", name);
	sprintf(value, "%u", below(&l->own, 10));
	DO(MPI_Info_create(&i), "info=%n", name);
	DO(MPI_Info_set(i, "key", value), "info=%n, key='key', value=%s", name, value);
	DO(MPI_Info_free(&i), "info=%n", name);
}

static void group(struct lane *l)
{
	char whole[64], part[64];
	const int second[] = { 1 };
	MPI_Group g, h;

	/* Open MPI returns the same handle for a communicator's group repeatedly. */
	named(l, "group", whole);
	DO(MPI_Comm_group(l->comm, &g), "comm=%n, group=%n", l->name, whole);
	named(l, "group", part);
	DO(MPI_Group_incl(g, 1, second, &h), "group=%n, n=1, ranks=[1], newgroup=%n", whole, part);
	DO(MPI_Group_free(&h), "group=%n", part);
	DO(MPI_Group_free(&g), "group=%n", whole);
}

static void look(struct lane *l)
{
	int flag;

	DO(MPI_Iprobe(MPI_ANY_SOURCE, 1001, l->comm, &flag, MPI_STATUS_IGNORE),
	   "source=MPI_ANY_SOURCE, tag=1001, comm=%n, flag=0, status=MPI_STATUS_IGNORE", l->name);
}

/* --- threads ------------------------------------------------------------------------------ */

static void set(bool *flag)
{
	pthread_mutex_lock(&lock);
	*flag = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void wait_until(const bool *flag)
{
	pthread_mutex_lock(&lock);
	while (!*flag)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

/* Makes calls after the tracer's own destructor, and in the next round of destructors. */
static pthread_key_t last_words;

static void speak(void *arg)
{
	struct lane *l = arg;

	look(l);
	if (++l->words < 3)
		pthread_setspecific(last_words, l);
}

static void *run(void *arg)
{
	static void (*const tasks[])(struct lane *) = { exchange,  exchange,  exchange,
							duplicate, split,     duplicate_later,
							message,   attribute, heap_and_type,
							info,      group };
	struct lane *l = arg;
	int size;

	log_thread(l->number + 1);
	DO(MPI_Comm_size(l->comm, &size), "comm=%n, size=2", l->name);
	set(&l->ready);
	for (unsigned n = 1 + below(&l->shared, 8); n; n--) {
		tasks[below(&l->shared, sizeof(tasks) / sizeof(*tasks))](l);
		if (below(&l->own, 2))
			complete_one(l);
	}
	wait_until(&l->leave);
	l->words = (int)below(&l->own, 3);
	if (l->words)
		pthread_setspecific(last_words, l);
	if (below(&l->own, 2))
		pthread_exit(NULL);
	return NULL;
}

/* A thread is on its lane only after it has made a call. */
static void start(struct lane *l)
{
	l->ready = l->leave = false;
	l->busy = true;
	EXPECT(pthread_create(&l->thread, NULL, run, l) == 0);
	wait_until(&l->ready);
}

static void join(struct lane *l)
{
	if (!l->busy)
		return;
	set(&l->leave);
	EXPECT(pthread_join(l->thread, NULL) == 0);
	l->busy = false;
}

static struct lane *lowest_free(void)
{
	for (struct lane *l = lanes; l < lanes + LANES; l++)
		if (!l->busy)
			return l;
	return NULL;
}

/* The first threads have numbers of their own; then a new thread gets the lowest free one. */
static void *first(void *number)
{
	int flag;

	log_thread(*(int *)number);
	DO(MPI_Initialized(&flag), "flag=1");
	return NULL;
}

static void use_numbers(void)
{
	for (int i = 1; i < OWN; i++) {
		pthread_t t;

		EXPECT(pthread_create(&t, NULL, first, &i) == 0 && pthread_join(t, NULL) == 0);
	}
}

/* --- main --------------------------------------------------------------------------------- */

static void make_lanes(uint64_t seed)
{
	for (int i = 0; i < LANES; i++) {
		struct lane *l = &lanes[i];

		l->number = i;
		l->shared = seed * LANES + (uint64_t)i;
		l->own = l->shared * 2 + (uint64_t)me;
		sprintf(l->name, "comm:world.%d", i);
		DO(MPI_Comm_dup(MPI_COMM_WORLD, &l->comm), "comm=MPI_COMM_WORLD, newcomm=%n",
		   l->name);
	}
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 50, provided;
	uint64_t seed = argc > 2 ? (uint64_t)atoi(argv[2]) : 1, schedule = seed;
	struct lane *l;

	DO(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided),
	   "argc=NULL, argv=NULL, required=MPI_THREAD_MULTIPLE, provided=MPI_THREAD_MULTIPLE");
	EXPECT(provided == MPI_THREAD_MULTIPLE);
	DO(MPI_Comm_rank(MPI_COMM_WORLD, &me), "comm=MPI_COMM_WORLD, rank=%d", me);
	DO(MPI_Comm_size(MPI_COMM_WORLD, &procs), "comm=MPI_COMM_WORLD, size=%d", procs);
	EXPECT(procs == 2 && pthread_key_create(&last_words, speak) == 0);
	use_numbers();
	make_lanes(seed);
	for (int i = 0; i < steps; i++) {
		if (below(&schedule, 3) == 0)
			join(&lanes[below(&schedule, LANES)]);
		while (!(l = lowest_free()))
			join(&lanes[below(&schedule, LANES)]);
		start(l);
	}
	for (l = lanes; l < lanes + LANES; l++)
		join(l);
	for (struct parcel *p = parcels; p < parcels + PARCELS; p++)
		if (p->state == FULL)
			complete(lanes, p);
	for (l = lanes; l < lanes + LANES; l++)
		DO(MPI_Comm_free(&l->comm), "comm=%n", l->name);
	end();
	return 0;
}
