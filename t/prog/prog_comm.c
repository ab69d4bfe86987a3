/* prog_comm.c - MPI groups and communicators: all functions that create and query them. Four ranks.
 * The name of a communicator is that of its parent and the number of the call that created it
 * there. */
#include "log.h"

#include <stdio.h>
#include <string.h>

static MPI_Status status;

static void ask(MPI_Comm comm, const char *name)
{
	int rank, size;

	DO(MPI_Comm_rank(comm, &rank), "comm=%n, rank=%d", name, rank);
	DO(MPI_Comm_size(comm, &size), "comm=%n, size=%d", name, size);
}

/* Peers are ranks in this communicator. */
static void ring(MPI_Comm comm, const char *name, int rank, int size)
{
	static int x, y;
	int next = (rank + 1) % size, prev = (rank + size - 1) % size;

	DO(MPI_Sendrecv(&x, 1, MPI_INT, next, 9, &y, 1, MPI_INT, prev, 9, comm, &status),
	   "sendbuf=static:*, sendcount=1, sendtype=MPI_INT, dest=%d, sendtag=9, "
	   "recvbuf=static:*, recvcount=1, recvtype=MPI_INT, source=%d, recvtag=9, comm=%n, "
	   "status=%S",
	   next, prev, name, &status);
}

static void two_groups(MPI_Group world, MPI_Group odd)
{
	int to[4], from[4] = { 0, 1, 2, 3 }, result, size, rank;
	MPI_Group g;

	DO(MPI_Group_size(odd, &size), "group=group:1, size=2");
	DO(MPI_Group_rank(odd, &rank), "group=group:1, rank=%r", rank);
	DO(MPI_Group_translate_ranks(world, 4, from, odd, to),
	   "group1=group:0, n=4, ranks1=[0,1,2,3], group2=group:1, ranks2=%*r", 4, to);
	EXPECT(to[0] == MPI_UNDEFINED && to[3] == 1);
	DO(MPI_Group_compare(world, odd, &result), "group1=group:0, group2=group:1, "
						   "result=MPI_UNEQUAL");
	DO(MPI_Group_compare(world, world, &result), "group1=group:0, group2=group:0, "
						     "result=MPI_IDENT");
	DO(MPI_Group_union(odd, world, &g), "group1=group:1, group2=group:0, newgroup=group:2");
	DO(MPI_Group_compare(world, g, &result), "group1=group:0, group2=group:2, "
						 "result=MPI_SIMILAR");
	DO(MPI_Group_free(&g), "group=group:2");
	DO(MPI_Group_difference(world, odd, &g),
	   "group1=group:0, group2=group:1, newgroup=group:2");
	DO(MPI_Group_free(&g), "group=group:2");
	DO(MPI_Group_intersection(world, odd, &g),
	   "group1=group:0, group2=group:1, newgroup=group:2");
	DO(MPI_Group_free(&g), "group=group:2");
	EXPECT(g == MPI_GROUP_NULL);
	DO(MPI_Group_difference(odd, world, &g), "group1=group:1, group2=group:0, "
						 "newgroup=MPI_GROUP_EMPTY");
	EXPECT(g == MPI_GROUP_EMPTY);
}

static void groups(void)
{
	int odd_ranks[2] = { 1, 3 }, ranges[2][3] = { { 0, 2, 2 }, { 3, 3, 1 } };
	MPI_Group world, odd, g;

	DO(MPI_Comm_group(MPI_COMM_WORLD, &world), "comm=MPI_COMM_WORLD, group=group:0");
	DO(MPI_Group_incl(world, 2, odd_ranks, &odd),
	   "group=group:0, n=2, ranks=[1,3], newgroup=group:1");
	two_groups(world, odd);
	DO(MPI_Group_excl(world, 2, odd_ranks, &g),
	   "group=group:0, n=2, ranks=[1,3], newgroup=group:2");
	DO(MPI_Group_free(&odd), "group=group:1");
	DO(MPI_Group_range_incl(world, 2, ranges, &odd),
	   "group=group:0, n=2, ranges=[[0,2,2],[3,3,1]], newgroup=group:1");
	DO(MPI_Group_free(&g), "group=group:2");
	DO(MPI_Group_range_excl(world, 1, ranges, &g),
	   "group=group:0, n=1, ranges=[[0,2,2]], newgroup=group:2");
	DO(MPI_Group_free(&world), "group=group:0");
	DO(MPI_Group_free(&odd), "group=group:1");
	DO(MPI_Group_free(&g), "group=group:2");
}

/* comm:world.0 and .1 are two kinds of halves; .2 excludes rank 3. */
static void splits(void)
{
	MPI_Comm half, parity, most, deeper, node;
	int color = me == 3 ? MPI_UNDEFINED : 0;

	DO(MPI_Comm_split(MPI_COMM_WORLD, me / 2, me, &half),
	   "comm=MPI_COMM_WORLD, color=%d, key=%d, newcomm=comm:world.0", me / 2, me);
	DO(MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &parity),
	   "comm=MPI_COMM_WORLD, color=%d, key=%d, newcomm=comm:world.1", me % 2, -me);
	ask(half, "comm:world.0");
	ask(parity, "comm:world.1");
	ring(half, "comm:world.0", me % 2, 2);
	ring(parity, "comm:world.1", 1 - me / 2, 2);
	DO(MPI_Comm_split(MPI_COMM_WORLD, color, 0, &most),
	   "comm=MPI_COMM_WORLD, color=%i, key=0, newcomm=%n", color,
	   me == 3 ? "MPI_COMM_NULL" : "comm:world.2");
	if (most != MPI_COMM_NULL)
		ring(most, "comm:world.2", me, 3);
	DO(MPI_Comm_split(half, 0, 0, &deeper),
	   "comm=comm:world.0, color=0, key=0, newcomm=comm:world.0.0");
	ring(deeper, "comm:world.0.0", me % 2, 2);
	DO(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
	   "comm=MPI_COMM_WORLD, split_type=MPI_COMM_TYPE_SHARED, key=0, info=MPI_INFO_NULL, "
	   "newcomm=comm:world.3");
	DO(MPI_Comm_free(&half), "comm=comm:world.0");
	DO(MPI_Comm_free(&node), "comm=comm:world.3");
	DO(MPI_Comm_split_type(deeper, MPI_UNDEFINED, 0, MPI_INFO_NULL, &node),
	   "comm=comm:world.0.0, split_type=MPI_UNDEFINED, key=0, info=MPI_INFO_NULL, "
	   "newcomm=MPI_COMM_NULL");
	DO(MPI_Comm_free(&deeper), "comm=comm:world.0.0");
	DO(MPI_Comm_free(&parity), "comm=comm:world.1");
	if (most != MPI_COMM_NULL)
		DO(MPI_Comm_free(&most), "comm=comm:world.2");
}

static void copies(void)
{
	int result;
	MPI_Comm one, two, three, four, own;
	MPI_Request r, s;

	DO(MPI_Comm_dup(MPI_COMM_WORLD, &one), "comm=MPI_COMM_WORLD, newcomm=comm:world.4");
	DO(MPI_Comm_compare(MPI_COMM_WORLD, one, &result),
	   "comm1=MPI_COMM_WORLD, comm2=comm:world.4, result=MPI_CONGRUENT");
	DO(MPI_Comm_dup_with_info(one, MPI_INFO_NULL, &two),
	   "comm=comm:world.4, info=MPI_INFO_NULL, newcomm=comm:world.4.0");
	DO(MPI_Comm_idup(one, &three, &r), "comm=comm:world.4, newcomm=comm:world.4.1, request=%+",
	   &r);
	DO(MPI_Comm_idup(one, &four, &s), "comm=comm:world.4, newcomm=comm:world.4.2, request=%+",
	   &s);
	DO(MPI_Wait(&s, MPI_STATUS_IGNORE), "request=%q, status=MPI_STATUS_IGNORE", &s);
	ring(four, "comm:world.4.2", me, 4);
	DO(MPI_Wait(&r, MPI_STATUS_IGNORE), "request=%q, status=MPI_STATUS_IGNORE", &r);
	ring(three, "comm:world.4.1", me, 4);
	DO(MPI_Comm_dup(MPI_COMM_SELF, &own), "comm=MPI_COMM_SELF, newcomm=comm:self.0");
	ring(own, "comm:self.0", 0, 1);
	DO(MPI_Comm_free(&own), "comm=comm:self.0");
	DO(MPI_Comm_free(&one), "comm=comm:world.4");
	DO(MPI_Comm_disconnect(&three), "comm=comm:world.4.1");
	DO(MPI_Comm_free(&four), "comm=comm:world.4.2");
	DO(MPI_Comm_free(&two), "comm=comm:world.4.0");
}

#if MPI_VERSION >= 4
static void copy_with_info(void)
{
	MPI_Comm copy;
	MPI_Request r;

	DO(MPI_Comm_idup_with_info(MPI_COMM_SELF, MPI_INFO_NULL, &copy, &r),
	   "comm=MPI_COMM_SELF, info=MPI_INFO_NULL, newcomm=comm:self.1, request=%+", &r);
	DO(MPI_Wait(&r, MPI_STATUS_IGNORE), "request=%q, status=MPI_STATUS_IGNORE", &r);
	DO(MPI_Comm_free(&copy), "comm=comm:self.1");
}
#else
static void copy_with_info(void)
{
}
#endif

static void from_groups(void)
{
	int first[3] = { 2, 1, 0 };
	MPI_Group world, three;
	MPI_Comm part, alone;

	DO(MPI_Comm_group(MPI_COMM_WORLD, &world), "comm=MPI_COMM_WORLD, group=group:0");
	DO(MPI_Group_incl(world, 3, first, &three),
	   "group=group:0, n=3, ranks=[2,1,0], newgroup=group:1");
	DO(MPI_Comm_create(MPI_COMM_WORLD, three, &part),
	   "comm=MPI_COMM_WORLD, group=group:1, newcomm=%n",
	   me < 3 ? "comm:world.5" : "MPI_COMM_NULL");
	if (me < 3) {
		ring(part, "comm:world.5", 2 - me, 3);
		DO(MPI_Comm_create_group(MPI_COMM_WORLD, three, 44, &alone),
		   "comm=MPI_COMM_WORLD, group=group:1, tag=44, newcomm=comm:$group");
		DO(MPI_Barrier(alone), "comm=comm:$group");
		DO(MPI_Comm_free(&alone), "comm=comm:$group");
		DO(MPI_Comm_free(&part), "comm=comm:world.5");
	}
	DO(MPI_Group_free(&three), "group=group:1");
	DO(MPI_Group_free(&world), "group=group:0");
}

/* Even ranks are on one side, odd ranks on the other. */
static void between(void)
{
	int flag, size, x = 0;
	MPI_Comm side, inter, again, merged;
	MPI_Group theirs;

	DO(MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &side),
	   "comm=MPI_COMM_WORLD, color=%d, key=0, newcomm=comm:world.6", me % 2);
	DO(MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, 1 - me % 2, 17, &inter),
	   "local_comm=comm:world.6, local_leader=0, peer_comm=MPI_COMM_WORLD, "
	   "remote_leader=%d, tag=17, newintercomm=comm:$inter",
	   1 - me % 2);
	DO(MPI_Comm_test_inter(inter, &flag), "comm=comm:$inter, flag=1");
	DO(MPI_Comm_test_inter(side, &flag), "comm=comm:world.6, flag=0");
	DO(MPI_Comm_remote_size(inter, &size), "comm=comm:$inter, size=2");
	DO(MPI_Comm_remote_group(inter, &theirs), "comm=comm:$inter, group=group:0");
	DO(MPI_Group_free(&theirs), "group=group:0");
	DO(MPI_Sendrecv_replace(&x, 1, MPI_INT, me / 2, 5, me / 2, 5, inter, &status),
	   "buf=stack:*, count=1, datatype=MPI_INT, dest=%d, sendtag=5, source=%d, recvtag=5, "
	   "comm=comm:$inter, status=%S",
	   me / 2, me / 2, &status);
	DO(MPI_Comm_dup(inter, &again), "comm=comm:$inter, newcomm=comm:$again");
	DO(MPI_Intercomm_merge(inter, me % 2, &merged),
	   "intercomm=comm:$inter, high=%d, newintracomm=comm:$merged", me % 2);
	ask(merged, "comm:$merged");
	DO(MPI_Comm_free(&again), "comm=comm:$again");
	DO(MPI_Comm_free(&merged), "comm=comm:$merged");
	DO(MPI_Comm_free(&inter), "comm=comm:$inter");
	DO(MPI_Comm_free(&side), "comm=comm:world.6");
}

static void named(void)
{
	char name[MPI_MAX_OBJECT_NAME];
	int n;
	MPI_Comm dup;
	MPI_Info info;

	DO(MPI_Comm_get_name(MPI_COMM_WORLD, name, &n),
	   "comm=MPI_COMM_WORLD, comm_name='MPI_COMM_WORLD', resultlen=14");
	DO(MPI_Comm_dup(MPI_COMM_WORLD, &dup), "comm=MPI_COMM_WORLD, newcomm=comm:world.4");
	DO(MPI_Comm_set_name(dup, "a \"name\"\twith \\ in it"), "comm=comm:world.4, comm_name=%s",
	   "a \"name\"\twith \\ in it");
	DO(MPI_Comm_get_name(dup, name, &n), "comm=comm:world.4, comm_name=%s, resultlen=%d", name,
	   n);
	DO(MPI_Comm_get_info(dup, &info), "comm=comm:world.4, info_used=info:0");
	DO(MPI_Comm_set_info(dup, info), "comm=comm:world.4, info=info:0");
	DO(MPI_Info_free(&info), "info=info:0");
	DO(MPI_Comm_free(&dup), "comm=comm:world.4");
}

/* Each communicator is created from the previous one, until the names exceed the maximum length. */
static void generations(void)
{
	char was[24] = "MPI_COMM_SELF", is[24];
	MPI_Comm parent = MPI_COMM_SELF, child;

	for (int i = 0; i < 150; i++) {
		snprintf(is, sizeof(is), "comm:$g%d", i);
		DO(MPI_Comm_dup(parent, &child), "comm=%n, newcomm=%n", was, is);
		if (i > 0)
			DO(MPI_Comm_free(&parent), "comm=%n", was);
		parent = child;
		memcpy(was, is, sizeof(is));
	}
	DO(MPI_Comm_free(&parent), "comm=%n", was);
}

int main(void)
{
	begin();
	EXPECT(procs == 4);
	groups();
	splits();
	copies();
	copy_with_info();
	from_groups();
	between();
	named();
	generations();
	end();
	return 0;
}
