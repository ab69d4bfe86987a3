/* prog_rma.c - One-sided communication: windows of all kinds, all accesses, all ways to
 * synchronize. Needs two ranks or more. */
#include "log.h"

#include <stdio.h>
#include <string.h>

static int *memory; /* heap: the memory exposed by the windows of MPI_Win_create */
static int *a, *b, *c;
static int next, prev;
static MPI_Win win; /* win:0, unless stated otherwise */
#ifdef LARGE
typedef MPI_Aint unit_t; /* a displacement unit */
#else
typedef int unit_t;
#endif

static void fence(int assertion, const char *said)
{
	DO(MPI_Win_fence(assertion, win), "assert=%n, win=win:0", said);
}

static void accesses(void)
{
	DO(MPI_Put(a, 2, MPI_INT, next, 1, 2, MPI_INT, win),
	   "origin_addr=%p, origin_count=2, origin_datatype=MPI_INT, target_rank=%d, "
	   "target_disp=1, target_count=2, target_datatype=MPI_INT, win=win:0",
	   a, next);
	DO(MPI_Get(b, 1, MPI_INT, prev, 4, 1, MPI_INT, win),
	   "origin_addr=%p, origin_count=1, origin_datatype=MPI_INT, target_rank=%d, "
	   "target_disp=4, target_count=1, target_datatype=MPI_INT, win=win:0",
	   b, prev);
	DO(MPI_Put(a, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win),
	   "origin_addr=%p, origin_count=1, origin_datatype=MPI_INT, target_rank=MPI_PROC_NULL, "
	   "target_disp=0, target_count=1, target_datatype=MPI_INT, win=win:0",
	   a);
	DO(MPI_Accumulate(a, 1, MPI_INT, next, 5, 1, MPI_INT, MPI_SUM, win),
	   "origin_addr=%p, origin_count=1, origin_datatype=MPI_INT, target_rank=%d, "
	   "target_disp=5, target_count=1, target_datatype=MPI_INT, op=MPI_SUM, win=win:0",
	   a, next);
}

/* The operations that return data, under a lock. */
static void atomics(void)
{
	DO(MPI_Get_accumulate(a, 1, MPI_INT, b, 1, MPI_INT, next, 6, 1, MPI_INT, MPI_NO_OP, win),
	   "origin_addr=%p, origin_count=1, origin_datatype=MPI_INT, result_addr=%p, "
	   "result_count=1, result_datatype=MPI_INT, target_rank=%d, target_disp=6, "
	   "target_count=1, target_datatype=MPI_INT, op=MPI_NO_OP, win=win:0",
	   a, b, next);
	DO(MPI_Fetch_and_op(a, b, MPI_INT, next, 7, MPI_REPLACE, win),
	   "origin_addr=%p, result_addr=%p, datatype=MPI_INT, target_rank=%d, target_disp=7, "
	   "op=MPI_REPLACE, win=win:0",
	   a, b, next);
	DO(MPI_Compare_and_swap(a, b, c, MPI_INT, next, 8, win),
	   "origin_addr=%p, compare_addr=%p, result_addr=%p, datatype=MPI_INT, target_rank=%d, "
	   "target_disp=8, win=win:0",
	   a, b, c, next);
}

static void with_requests(void)
{
	MPI_Request r[4];

	DO(MPI_Rput(a, 1, MPI_INT, next, 1, 1, MPI_INT, win, &r[0]),
	   "origin_addr=%p, origin_count=1, origin_datatype=MPI_INT, target_rank=%d, "
	   "target_disp=1, target_count=1, target_datatype=MPI_INT, win=win:0, request=%+",
	   a, next, &r[0]);
	DO(MPI_Rget(b, 1, MPI_INT, next, 2, 1, MPI_INT, win, &r[1]),
	   "origin_addr=%p, origin_count=1, origin_datatype=MPI_INT, target_rank=%d, "
	   "target_disp=2, target_count=1, target_datatype=MPI_INT, win=win:0, request=%+",
	   b, next, &r[1]);
	DO(MPI_Raccumulate(a, 1, MPI_INT, next, 3, 1, MPI_INT, MPI_MAX, win, &r[2]),
	   "origin_addr=%p, origin_count=1, origin_datatype=MPI_INT, target_rank=%d, "
	   "target_disp=3, target_count=1, target_datatype=MPI_INT, op=MPI_MAX, win=win:0, "
	   "request=%+",
	   a, next, &r[2]);
	DO(MPI_Rget_accumulate(a, 1, MPI_INT, c, 1, MPI_INT, next, 4, 1, MPI_INT, MPI_SUM, win,
			       &r[3]),
	   "origin_addr=%p, origin_count=1, origin_datatype=MPI_INT, result_addr=%p, "
	   "result_count=1, result_datatype=MPI_INT, target_rank=%d, target_disp=4, "
	   "target_count=1, target_datatype=MPI_INT, op=MPI_SUM, win=win:0, request=%+",
	   a, c, next, &r[3]);
	DO(MPI_Waitall(4, r, MPI_STATUSES_IGNORE),
	   "count=4, array_of_requests=%*q, array_of_statuses=MPI_STATUSES_IGNORE", 4, r);
}

static void locks(void)
{
	DO(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win),
	   "lock_type=MPI_LOCK_EXCLUSIVE, rank=%d, assert=0, win=win:0", next);
	atomics();
	DO(MPI_Win_flush(next, win), "rank=%d, win=win:0", next);
	with_requests();
	DO(MPI_Win_flush_local(next, win), "rank=%d, win=win:0", next);
	DO(MPI_Win_unlock(next, win), "rank=%d, win=win:0", next);
	DO(MPI_Barrier(MPI_COMM_WORLD), "comm=MPI_COMM_WORLD");
	DO(MPI_Win_lock(MPI_LOCK_SHARED, prev, MPI_MODE_NOCHECK, win),
	   "lock_type=MPI_LOCK_SHARED, rank=%d, assert=MPI_MODE_NOCHECK, win=win:0", prev);
	DO(MPI_Win_unlock(prev, win), "rank=%d, win=win:0", prev);
	DO(MPI_Barrier(MPI_COMM_WORLD), "comm=MPI_COMM_WORLD");
	DO(MPI_Win_lock_all(0, win), "assert=0, win=win:0");
	atomics();
	DO(MPI_Win_flush_all(win), "win=win:0");
	DO(MPI_Win_flush_local_all(win), "win=win:0");
	DO(MPI_Win_sync(win), "win=win:0");
	DO(MPI_Win_unlock_all(win), "win=win:0");
	DO(MPI_Barrier(MPI_COMM_WORLD), "comm=MPI_COMM_WORLD");
}

/* Exposes memory to the previous rank and accesses the next one. */
static void post_start(void)
{
	MPI_Group world, before, after;
	int flag = 0;

	DO(MPI_Win_get_group(win, &world), "win=win:0, group=group:0");
	DO(MPI_Group_incl(world, 1, &prev, &before),
	   "group=group:0, n=1, ranks=[%d], newgroup=group:1", prev);
	DO(MPI_Group_incl(world, 1, &next, &after),
	   "group=group:0, n=1, ranks=[%d], newgroup=group:2", next);
	for (int round = 0; round < 2; round++) {
		DO(MPI_Win_post(before, MPI_MODE_NOSTORE, win),
		   "group=group:1, assert=MPI_MODE_NOSTORE, win=win:0");
		DO(MPI_Win_start(after, 0, win), "group=group:2, assert=0, win=win:0");
		DO(MPI_Put(a, 1, MPI_INT, next, 9, 1, MPI_INT, win),
		   "origin_addr=%p, origin_count=1, origin_datatype=MPI_INT, target_rank=%d, "
		   "target_disp=9, target_count=1, target_datatype=MPI_INT, win=win:0",
		   a, next);
		DO(MPI_Win_complete(win), "win=win:0");
		if (round == 0)
			DO(MPI_Win_wait(win), "win=win:0");
	}
	while (!flag)
		DO(MPI_Win_test(win, &flag), "win=win:0, flag=%d", flag);
	DO(MPI_Group_free(&before), "group=group:1");
	DO(MPI_Group_free(&after), "group=group:2");
	DO(MPI_Group_free(&world), "group=group:0");
}

static void use(void)
{
	fence(MPI_MODE_NOPRECEDE, "MPI_MODE_NOPRECEDE");
	accesses();
	fence(0, "0");
	fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED,
	      "MPI_MODE_NOSTORE|MPI_MODE_NOPUT|MPI_MODE_NOSUCCEED");
	locks();
	post_start();
}

static void release(void)
{
	DO(MPI_Win_free(&win), "win=win:0");
	EXPECT(win == MPI_WIN_NULL);
}

static void created(void)
{
	char name[MPI_MAX_OBJECT_NAME];
	int n;
	MPI_Info info;

	DO(MPI_Win_create(memory, 256, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win),
	   "base=%p, size=256, disp_unit=4, info=MPI_INFO_NULL, comm=MPI_COMM_WORLD, win=win:0",
	   memory);
	DO(MPI_Win_set_name(win, "shown"), "win=win:0, win_name='shown'");
	DO(MPI_Win_get_name(win, name, &n), "win=win:0, win_name='shown', resultlen=5");
	DO(MPI_Win_get_info(win, &info), "win=win:0, info_used=info:0");
	DO(MPI_Win_set_info(win, info), "win=win:0, info=info:0");
	DO(MPI_Info_free(&info), "info=info:0");
	use();
	release();
}

static void allocated(void)
{
	int *base;

	DO(MPI_Win_allocate(256, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
	   "size=256, disp_unit=4, info=MPI_INFO_NULL, comm=MPI_COMM_WORLD, baseptr=?, "
	   "win=win:0");
	use();
	release();
	DO(MPI_Win_allocate(0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
	   "size=0, disp_unit=1, info=MPI_INFO_NULL, comm=MPI_COMM_WORLD, baseptr='-', "
	   "win=win:0");
	release();
}

/* The id of a window belongs to its communicator: this one is win:1. */
static void shared(void)
{
	int *base, *other;
	MPI_Aint size;
	unit_t unit;
	static const char name[] = "comm:world.0";
	MPI_Comm node;

	DO(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &node),
	   "comm=MPI_COMM_WORLD, split_type=MPI_COMM_TYPE_SHARED, key=%d, info=MPI_INFO_NULL, "
	   "newcomm=%n",
	   me, name);
	DO(MPI_Win_allocate_shared(256, sizeof(int), MPI_INFO_NULL, node, &base, &win),
	   "size=256, disp_unit=4, info=MPI_INFO_NULL, comm=%n, baseptr=?, win=win:1", name);
	DO(MPI_Win_shared_query(win, next, &size, &unit, &other),
	   "win=win:1, rank=%d, size=256, disp_unit=4, baseptr=?", next);
	DO(MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &other),
	   "win=win:1, rank=MPI_PROC_NULL, size=256, disp_unit=4, baseptr=?");
	DO(MPI_Win_fence(0, win), "assert=0, win=win:1");
	base[0] = me;
	DO(MPI_Win_fence(0, win), "assert=0, win=win:1");
	EXPECT(other != NULL);
	DO(MPI_Win_free(&win), "win=win:1");
	DO(MPI_Comm_free(&node), "comm=%n", name);
}

/* Here displacements are addresses of the other rank. */
static void dynamic(void)
{
	MPI_Aint mine, theirs;

	DO(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win),
	   "info=MPI_INFO_NULL, comm=MPI_COMM_WORLD, win=win:0");
	DO(MPI_Win_attach(win, memory, 256), "win=win:0, base=%p, size=256", memory);
	DO(MPI_Get_address(memory, &mine), "location=%p, address=?", memory);
	DO(MPI_Sendrecv(&mine, 1, MPI_AINT, prev, 1, &theirs, 1, MPI_AINT, next, 1, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE),
	   "sendbuf=stack:*, sendcount=1, sendtype=MPI_AINT, dest=%d, sendtag=1, "
	   "recvbuf=stack:*, recvcount=1, recvtype=MPI_AINT, source=%d, recvtag=1, "
	   "comm=MPI_COMM_WORLD, status=MPI_STATUS_IGNORE; matched?={source:%d,tag:1}",
	   prev, next, next);
	fence(0, "0");
	DO(MPI_Put(a, 1, MPI_INT, next, theirs, 1, MPI_INT, win),
	   "origin_addr=%p, origin_count=1, origin_datatype=MPI_INT, target_rank=%d, "
	   "target_disp=?, target_count=1, target_datatype=MPI_INT, win=win:0",
	   a, next);
	fence(0, "0");
	DO(MPI_Win_detach(win, memory), "win=win:0, base=%p", memory);
	release();
}

/* Two windows at a time: ids are the lowest free ones of the communicator. */
static void several(void)
{
	MPI_Win other;

	DO(MPI_Win_create(memory, 128, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win),
	   "base=%p, size=128, disp_unit=1, info=MPI_INFO_NULL, comm=MPI_COMM_WORLD, win=win:0",
	   memory);
	DO(MPI_Win_create(memory + 32, 128, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &other),
	   "base=%p, size=128, disp_unit=4, info=MPI_INFO_NULL, comm=MPI_COMM_WORLD, win=win:2",
	   memory + 32);
	release();
	DO(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win),
	   "base=?, size=0, disp_unit=1, info=MPI_INFO_NULL, comm=MPI_COMM_WORLD, win=win:0");
	DO(MPI_Win_free(&other), "win=win:2");
	release();
}

/* Requests of operations on MPI_PROC_NULL. Calls on different communicators differ only in the
 * window. */
static void nowhere(MPI_Comm comm, const char *comm_name, const char *name)
{
	MPI_Request r[4];

	DO(MPI_Win_create(memory, 256, sizeof(int), MPI_INFO_NULL, comm, &win),
	   "base=%p, size=256, disp_unit=4, info=MPI_INFO_NULL, comm=%n, win=%n", memory, comm_name,
	   name);
	DO(MPI_Win_lock_all(0, win), "assert=0, win=%n", name);
	DO(MPI_Rput(a, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &r[0]),
	   "origin_addr=%p, origin_count=1, origin_datatype=MPI_INT, target_rank=MPI_PROC_NULL, "
	   "target_disp=0, target_count=1, target_datatype=MPI_INT, win=%n, request=%+",
	   a, name, &r[0]);
	DO(MPI_Rget(b, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &r[1]),
	   "origin_addr=%p, origin_count=1, origin_datatype=MPI_INT, target_rank=MPI_PROC_NULL, "
	   "target_disp=0, target_count=1, target_datatype=MPI_INT, win=%n, request=%+",
	   b, name, &r[1]);
	DO(MPI_Raccumulate(a, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, win, &r[2]),
	   "origin_addr=%p, origin_count=1, origin_datatype=MPI_INT, target_rank=MPI_PROC_NULL, "
	   "target_disp=0, target_count=1, target_datatype=MPI_INT, op=MPI_SUM, win=%n, "
	   "request=%+",
	   a, name, &r[2]);
	DO(MPI_Rget_accumulate(a, 1, MPI_INT, c, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM,
			       win, &r[3]),
	   "origin_addr=%p, origin_count=1, origin_datatype=MPI_INT, result_addr=%p, "
	   "result_count=1, result_datatype=MPI_INT, target_rank=MPI_PROC_NULL, target_disp=0, "
	   "target_count=1, target_datatype=MPI_INT, op=MPI_SUM, win=%n, request=%+",
	   a, c, name, &r[3]);
	DO(MPI_Waitall(4, r, MPI_STATUSES_IGNORE),
	   "count=4, array_of_requests=%*q, array_of_statuses=MPI_STATUSES_IGNORE", 4, r);
	DO(MPI_Win_unlock_all(win), "win=%n", name);
	DO(MPI_Win_free(&win), "win=%n", name);
}

static void nowhere_twice(void)
{
	static const char name[] = "comm:world.1";
	MPI_Comm other;

	DO(MPI_Comm_dup(MPI_COMM_WORLD, &other), "comm=MPI_COMM_WORLD, newcomm=%n", name);
	for (int round = 0; round < 2; round++) {
		nowhere(MPI_COMM_WORLD, "MPI_COMM_WORLD", "win:0");
		nowhere(other, name, "win:3");
	}
	DO(MPI_Comm_free(&other), "comm=%n", name);
}

int main(void)
{
	begin();
	next = (me + 1) % procs;
	prev = (me + procs - 1) % procs;
	memory = grab(256);
	a = grab(64);
	b = grab(64);
	c = grab(64);
	for (int round = 0; round < 2; round++) {
		created();
		allocated();
		shared();
		dynamic();
		several();
		nowhere_twice();
	}
	end();
	return 0;
}
