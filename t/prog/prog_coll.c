/* prog_coll.c - Collectives: at the root and on other ranks, in place, with arrays; in the form
 * that the first argument names (forms.h). Needs three ranks or more. */
#include "forms.h"

#include <stdlib.h>
#include <string.h>

#define MOST 8 /* ranks */

static int *a, *b; /* heap: room for MOST * MOST numbers */

static count_t counts[MOST];  /* rank r has r + 1 numbers, */
static disp_t displs[MOST];   /* after those of the lower ranks */
static count_t mine[MOST];    /* the same count for every peer */
static disp_t places[MOST];   /* ... at these */
static disp_t bytes[MOST];    /* ... in bytes, for Alltoallw */
static disp_t my_bytes[MOST]; /* of displs */

static void fill(void)
{
	for (int r = 0, sum = 0; r < procs; r++) {
		counts[r] = r + 1;
		displs[r] = sum;
		mine[r] = me + 1;
		places[r] = r * MOST;
		bytes[r] = r * MOST * (int)sizeof(int);
		my_bytes[r] = sum * (int)sizeof(int);
		sum += r + 1;
	}
}

static void one_to_all(int root)
{
	COLL(Bcast, bcast, (a, 3, MPI_INT, root, MPI_COMM_WORLD),
	     "buffer=%p, count=3, datatype=MPI_INT, root=%d, comm=MPI_COMM_WORLD", a, root);
	if (me != root) {
		COLL(Scatter, scatter, (NULL, 2, MPI_INT, b, 2, MPI_INT, root, MPI_COMM_WORLD),
		     "sendbuf=?, sendcount=2, sendtype=MPI_INT, recvbuf=%p, recvcount=2, "
		     "recvtype=MPI_INT, root=%d, comm=MPI_COMM_WORLD",
		     b, root);
		COLL(Scatterv, scatterv,
		     (NULL, NULL, NULL, MPI_INT, b, me + 1, MPI_INT, root, MPI_COMM_WORLD),
		     "sendbuf=?, sendcounts=?, displs=?, sendtype=MPI_INT, recvbuf=%p, "
		     "recvcount=%d, recvtype=MPI_INT, root=%d, comm=MPI_COMM_WORLD",
		     b, me + 1, root);
		return;
	}
	COLL(Scatter, scatter, (a, 2, MPI_INT, b, 2, MPI_INT, root, MPI_COMM_WORLD),
	     "sendbuf=%p, sendcount=2, sendtype=MPI_INT, recvbuf=%p, recvcount=2, "
	     "recvtype=MPI_INT, root=%d, comm=MPI_COMM_WORLD",
	     a, b, root);
	COLL(Scatterv, scatterv,
	     (a, counts, displs, MPI_INT, MPI_IN_PLACE, 7, MPI_INT, root, MPI_COMM_WORLD),
	     "sendbuf=%p, sendcounts=%*c, displs=%*a, sendtype=MPI_INT, recvbuf=MPI_IN_PLACE, "
	     "recvcount=7, recvtype=MPI_INT, root=%d, comm=MPI_COMM_WORLD",
	     a, procs, counts, procs, displs, root);
}

static void all_to_one(int root)
{
	if (me != root) {
		COLL(Gather, gather, (a, 2, MPI_INT, NULL, 2, MPI_INT, root, MPI_COMM_WORLD),
		     "sendbuf=%p, sendcount=2, sendtype=MPI_INT, recvbuf=?, recvcount=2, "
		     "recvtype=MPI_INT, root=%d, comm=MPI_COMM_WORLD",
		     a, root);
		COLL(Gatherv, gatherv,
		     (a, me + 1, MPI_INT, NULL, NULL, NULL, MPI_INT, root, MPI_COMM_WORLD),
		     "sendbuf=%p, sendcount=%d, sendtype=MPI_INT, recvbuf=?, recvcounts=?, "
		     "displs=?, recvtype=MPI_INT, root=%d, comm=MPI_COMM_WORLD",
		     a, me + 1, root);
		COLL(Reduce, reduce, (a, NULL, 4, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD),
		     "sendbuf=%p, recvbuf=?, count=4, datatype=MPI_INT, op=MPI_SUM, root=%d, "
		     "comm=MPI_COMM_WORLD",
		     a, root);
		return;
	}
	COLL(Gather, gather, (MPI_IN_PLACE, 9, MPI_CHAR, b, 2, MPI_INT, root, MPI_COMM_WORLD),
	     "sendbuf=MPI_IN_PLACE, sendcount=9, sendtype=MPI_CHAR, recvbuf=%p, recvcount=2, "
	     "recvtype=MPI_INT, root=%d, comm=MPI_COMM_WORLD",
	     b, root);
	COLL(Gatherv, gatherv,
	     (a, me + 1, MPI_INT, b, counts, displs, MPI_INT, root, MPI_COMM_WORLD),
	     "sendbuf=%p, sendcount=%d, sendtype=MPI_INT, recvbuf=%p, recvcounts=%*c, "
	     "displs=%*a, recvtype=MPI_INT, root=%d, comm=MPI_COMM_WORLD",
	     a, me + 1, b, procs, counts, procs, displs, root);
	COLL(Reduce, reduce, (MPI_IN_PLACE, b, 4, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD),
	     "sendbuf=MPI_IN_PLACE, recvbuf=%p, count=4, datatype=MPI_INT, op=MPI_SUM, root=%d, "
	     "comm=MPI_COMM_WORLD",
	     b, root);
}

static void all_to_all(void)
{
	static MPI_Datatype types[MOST];
	static const char *names[MOST];

	for (int r = 0; r < procs; r++) {
		types[r] = r % 2 ? MPI_INT : MPI_FLOAT;
		names[r] = r % 2 ? "MPI_INT" : "MPI_FLOAT";
	}
	COLL(Allgather, allgather, (a, 1, MPI_DOUBLE, b, 2, MPI_INT, MPI_COMM_WORLD),
	     "sendbuf=%p, sendcount=1, sendtype=MPI_DOUBLE, recvbuf=%p, recvcount=2, "
	     "recvtype=MPI_INT, comm=MPI_COMM_WORLD",
	     a, b);
	COLL(Allgatherv, allgatherv,
	     (a, me + 1, MPI_INT, b, counts, displs, MPI_INT, MPI_COMM_WORLD),
	     "sendbuf=%p, sendcount=%d, sendtype=MPI_INT, recvbuf=%p, recvcounts=%*c, "
	     "displs=%*a, recvtype=MPI_INT, comm=MPI_COMM_WORLD",
	     a, me + 1, b, procs, counts, procs, displs);
	COLL(Alltoall, alltoall, (a, 2, MPI_INT, b, 2, MPI_INT, MPI_COMM_WORLD),
	     "sendbuf=%p, sendcount=2, sendtype=MPI_INT, recvbuf=%p, recvcount=2, "
	     "recvtype=MPI_INT, comm=MPI_COMM_WORLD",
	     a, b);
	COLL(Alltoallv, alltoallv,
	     (a, counts, displs, MPI_INT, b, mine, places, MPI_INT, MPI_COMM_WORLD),
	     "sendbuf=%p, sendcounts=%*c, sdispls=%*a, sendtype=MPI_INT, "
	     "recvbuf=%p, recvcounts=%*c, rdispls=%*a, recvtype=MPI_INT, comm=MPI_COMM_WORLD",
	     a, procs, counts, procs, displs, b, procs, mine, procs, places);
	COLL(Alltoallw, alltoallw,
	     (a, counts, my_bytes, types, b, mine, bytes, types, MPI_COMM_WORLD),
	     "sendbuf=%p, sendcounts=%*c, sdispls=%*a, sendtypes=%*s, "
	     "recvbuf=%p, recvcounts=%*c, rdispls=%*a, recvtypes=%*s, comm=MPI_COMM_WORLD",
	     a, procs, counts, procs, my_bytes, procs, names, b, procs, mine, procs, bytes, procs,
	     names);
}

static void in_place(void)
{
	COLL(Allgather, allgather, (MPI_IN_PLACE, 0, MPI_BYTE, b, 2, MPI_INT, MPI_COMM_WORLD),
	     "sendbuf=MPI_IN_PLACE, sendcount=0, sendtype=MPI_BYTE, recvbuf=%p, recvcount=2, "
	     "recvtype=MPI_INT, comm=MPI_COMM_WORLD",
	     b);
	COLL(Alltoall, alltoall, (MPI_IN_PLACE, 0, MPI_BYTE, b, 2, MPI_INT, MPI_COMM_WORLD),
	     "sendbuf=MPI_IN_PLACE, sendcount=0, sendtype=MPI_BYTE, recvbuf=%p, recvcount=2, "
	     "recvtype=MPI_INT, comm=MPI_COMM_WORLD",
	     b);
	for (int r = 0; r < procs; r++)
		counts[r] = 2;
	COLL(Alltoallv, alltoallv,
	     (MPI_IN_PLACE, NULL, NULL, MPI_BYTE, b, counts, places, MPI_INT, MPI_COMM_WORLD),
	     "sendbuf=MPI_IN_PLACE, sendcounts=?, sdispls=?, sendtype=MPI_BYTE, "
	     "recvbuf=%p, recvcounts=%*c, rdispls=%*a, recvtype=MPI_INT, comm=MPI_COMM_WORLD",
	     b, procs, counts, procs, places);
	fill();
	COLL(Allreduce, allreduce, (MPI_IN_PLACE, b, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD),
	     "sendbuf=MPI_IN_PLACE, recvbuf=%p, count=2, datatype=MPI_DOUBLE, op=MPI_MAX, "
	     "comm=MPI_COMM_WORLD",
	     b);
}

static void reductions(void)
{
	COLL(Allreduce, allreduce, (a, b, 2, MPI_2INT, MPI_MAXLOC, MPI_COMM_WORLD),
	     "sendbuf=%p, recvbuf=%p, count=2, datatype=MPI_2INT, op=MPI_MAXLOC, "
	     "comm=MPI_COMM_WORLD",
	     a, b);
	COLL(Reduce_scatter, reduce_scatter, (a, b, counts, MPI_INT, MPI_BOR, MPI_COMM_WORLD),
	     "sendbuf=%p, recvbuf=%p, recvcounts=%*c, datatype=MPI_INT, op=MPI_BOR, "
	     "comm=MPI_COMM_WORLD",
	     a, b, procs, counts);
	COLL(Reduce_scatter_block, reduce_scatter_block,
	     (a, b, 2, MPI_INT, MPI_PROD, MPI_COMM_WORLD),
	     "sendbuf=%p, recvbuf=%p, recvcount=2, datatype=MPI_INT, op=MPI_PROD, "
	     "comm=MPI_COMM_WORLD",
	     a, b);
	COLL(Scan, scan, (a, b, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
	     "sendbuf=%p, recvbuf=%p, count=3, datatype=MPI_INT, op=MPI_SUM, comm=MPI_COMM_WORLD",
	     a, b);
	COLL(Exscan, exscan, (a, b, 3, MPI_INT, MPI_MIN, MPI_COMM_WORLD),
	     "sendbuf=%p, recvbuf=%p, count=3, datatype=MPI_INT, op=MPI_MIN, comm=MPI_COMM_WORLD",
	     a, b);
	COLL(Barrier, barrier, (MPI_COMM_WORLD), "comm=MPI_COMM_WORLD");
}

#ifdef LARGE
#define MPI_Op_create MPI_Op_create_c
#endif

static void first_is_larger(void *in, void *inout, count_t *n, MPI_Datatype *type)
{
	int *x = in, *y = inout;

	(void)type;
	for (count_t i = 0; i < *n; i++)
		y[i] = x[i] > y[i] ? x[i] : y[i];
}

static void own_op(void)
{
	MPI_Op op;
	int commute;

	DO(MPI_Op_create(first_is_larger, 1, &op), "user_fn=static:*, commute=1, op=op:0");
	DO(MPI_Op_commutative(op, &commute), "op=op:0, commute=%d", commute);
	DO(MPI_Op_commutative(MPI_REPLACE, &commute), "op=MPI_REPLACE, commute=%d", commute);
	COLL(Allreduce, allreduce, (a, b, 2, MPI_INT, op, MPI_COMM_WORLD),
	     "sendbuf=%p, recvbuf=%p, count=2, datatype=MPI_INT, op=op:0, comm=MPI_COMM_WORLD", a,
	     b);
	DO(MPI_Reduce_local(a, b, 5, MPI_INT, op),
	   "inbuf=%p, inoutbuf=%p, count=5, datatype=MPI_INT, op=op:0", a, b);
	DO(MPI_Op_free(&op), "op=op:0");
	EXPECT(op == MPI_OP_NULL);
}

/* Two MPI groups, the lower half and the upper: in rooted calls, one rank of one group is the root.
 */
static void between_groups(void)
{
	int low = procs / 2, inside = me < low, theirs = inside ? procs - low : low;
	int root = inside ? (me == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
	MPI_Comm half, inter;

	DO(MPI_Comm_split(MPI_COMM_WORLD, inside, me, &half),
	   "comm=MPI_COMM_WORLD, color=%d, key=%d, newcomm=comm:world.0", inside, me);
	DO(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, inside ? low : 0, 5, &inter),
	   "local_comm=comm:world.0, local_leader=0, peer_comm=MPI_COMM_WORLD, remote_leader=%d, "
	   "tag=5, newintercomm=comm:*",
	   inside ? low : 0);
	COLL(Bcast, bcast, (a, 3, MPI_INT, root, inter),
	     "buffer=%p, count=3, datatype=MPI_INT, root=%r, comm=comm:*", a, root);
	for (int r = 0; r < procs; r++)
		counts[r] = 2;
	COLL(Allgatherv, allgatherv, (a, 2, MPI_INT, b, counts, places, MPI_INT, inter),
	     "sendbuf=%p, sendcount=2, sendtype=MPI_INT, recvbuf=%p, recvcounts=%*c, displs=%*a, "
	     "recvtype=MPI_INT, comm=comm:*",
	     a, b, theirs, counts, theirs, places);
	fill();
	DO(MPI_Comm_free(&inter), "comm=comm:*");
	DO(MPI_Comm_free(&half), "comm=comm:world.0");
}

int main(int argc, char **argv)
{
	choose_form(argc, argv);
	begin();
	EXPECT(procs <= MOST);
	a = grab(MOST * MOST * sizeof(*a));
	b = grab(MOST * MOST * sizeof(*b));
	fill();
	for (int root = 0; root < procs; root++) {
		one_to_all(root);
		all_to_one(root);
	}
	all_to_all();
	in_place();
	reductions();
	own_op();
	/* Open MPI has no persistent collectives between groups. */
	if (form != PERSISTENT)
		between_groups();
	end();
	return 0;
}
