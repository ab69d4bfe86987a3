/* prog_garbage.c - Garbage values in arguments that MPI ignores: counts, handles and invalid
 * addresses that neither MPI nor the tracer may read. In the form that the first argument names
 * (forms.h). Three ranks. */
#include "forms.h"

#include <stdint.h>

#define MOST 8

/* Not NULL, so that it is not treated as an absent array. */
#define WILD       ((void *)(uintptr_t)0x1234560)
#define NO(handle) ((handle)(uintptr_t)0x1234560)
#define NONE       "'-'"

static int *a, *b; /* heap */
static count_t counts[MOST];
static disp_t displs[MOST];

static void fill(void)
{
	for (int r = 0; r < procs; r++) {
		counts[r] = 1;
		displs[r] = r;
	}
}

static void not_at_root(void)
{
	COLL(Gather, gather, (a, 1, MPI_INT, WILD, -7, NO(MPI_Datatype), 0, MPI_COMM_WORLD),
	     "sendbuf=%p, sendcount=1, sendtype=MPI_INT, recvbuf=?, recvcount=-7, "
	     "recvtype=" NONE ", root=0, comm=MPI_COMM_WORLD",
	     a);
	COLL(Gatherv, gatherv,
	     (a, 1, MPI_INT, WILD, WILD, WILD, NO(MPI_Datatype), 0, MPI_COMM_WORLD),
	     "sendbuf=%p, sendcount=1, sendtype=MPI_INT, recvbuf=?, recvcounts=" NONE
	     ", displs=" NONE ", recvtype=" NONE ", root=0, comm=MPI_COMM_WORLD",
	     a);
	COLL(Scatter, scatter, (WILD, -7, NO(MPI_Datatype), b, 1, MPI_INT, 0, MPI_COMM_WORLD),
	     "sendbuf=?, sendcount=-7, sendtype=" NONE ", recvbuf=%p, recvcount=1, "
	     "recvtype=MPI_INT, root=0, comm=MPI_COMM_WORLD",
	     b);
	COLL(Scatterv, scatterv,
	     (WILD, WILD, WILD, NO(MPI_Datatype), b, 1, MPI_INT, 0, MPI_COMM_WORLD),
	     "sendbuf=?, sendcounts=" NONE ", displs=" NONE ", sendtype=" NONE
	     ", recvbuf=%p, recvcount=1, recvtype=MPI_INT, root=0, comm=MPI_COMM_WORLD",
	     b);
	COLL(Reduce, reduce, (a, WILD, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD),
	     "sendbuf=%p, recvbuf=?, count=1, datatype=MPI_INT, op=MPI_SUM, root=0, "
	     "comm=MPI_COMM_WORLD",
	     a);
}

static void at_root(void)
{
	COLL(Gather, gather, (MPI_IN_PLACE, -7, NO(MPI_Datatype), b, 1, MPI_INT, 0, MPI_COMM_WORLD),
	     "sendbuf=MPI_IN_PLACE, sendcount=-7, sendtype=" NONE ", recvbuf=%p, "
	     "recvcount=1, recvtype=MPI_INT, root=0, comm=MPI_COMM_WORLD",
	     b);
	COLL(Gatherv, gatherv,
	     (MPI_IN_PLACE, -7, NO(MPI_Datatype), b, counts, displs, MPI_INT, 0, MPI_COMM_WORLD),
	     "sendbuf=MPI_IN_PLACE, sendcount=-7, sendtype=" NONE ", recvbuf=%p, "
	     "recvcounts=%*c, displs=%*a, recvtype=MPI_INT, root=0, comm=MPI_COMM_WORLD",
	     b, procs, counts, procs, displs);
	COLL(Scatter, scatter,
	     (a, 1, MPI_INT, MPI_IN_PLACE, -7, NO(MPI_Datatype), 0, MPI_COMM_WORLD),
	     "sendbuf=%p, sendcount=1, sendtype=MPI_INT, recvbuf=MPI_IN_PLACE, recvcount=-7, "
	     "recvtype=" NONE ", root=0, comm=MPI_COMM_WORLD",
	     a);
	COLL(Scatterv, scatterv,
	     (a, counts, displs, MPI_INT, MPI_IN_PLACE, -7, NO(MPI_Datatype), 0, MPI_COMM_WORLD),
	     "sendbuf=%p, sendcounts=%*c, displs=%*a, sendtype=MPI_INT, recvbuf=MPI_IN_PLACE, "
	     "recvcount=-7, recvtype=" NONE ", root=0, comm=MPI_COMM_WORLD",
	     a, procs, counts, procs, displs);
	COLL(Reduce, reduce, (MPI_IN_PLACE, b, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD),
	     "sendbuf=MPI_IN_PLACE, recvbuf=%p, count=1, datatype=MPI_INT, op=MPI_SUM, root=0, "
	     "comm=MPI_COMM_WORLD",
	     b);
}

static void gather_in_place(void)
{
	COLL(Allgather, allgather,
	     (MPI_IN_PLACE, -7, NO(MPI_Datatype), b, 1, MPI_INT, MPI_COMM_WORLD),
	     "sendbuf=MPI_IN_PLACE, sendcount=-7, sendtype=" NONE ", recvbuf=%p, "
	     "recvcount=1, recvtype=MPI_INT, comm=MPI_COMM_WORLD",
	     b);
	COLL(Allgatherv, allgatherv,
	     (MPI_IN_PLACE, -7, NO(MPI_Datatype), b, counts, displs, MPI_INT, MPI_COMM_WORLD),
	     "sendbuf=MPI_IN_PLACE, sendcount=-7, sendtype=" NONE ", recvbuf=%p, "
	     "recvcounts=%*c, displs=%*a, recvtype=MPI_INT, comm=MPI_COMM_WORLD",
	     b, procs, counts, procs, displs);
}

static void all_in_place(void)
{
	COLL(Alltoall, alltoall,
	     (MPI_IN_PLACE, -7, NO(MPI_Datatype), b, 1, MPI_INT, MPI_COMM_WORLD),
	     "sendbuf=MPI_IN_PLACE, sendcount=-7, sendtype=" NONE ", recvbuf=%p, "
	     "recvcount=1, recvtype=MPI_INT, comm=MPI_COMM_WORLD",
	     b);
	COLL(Alltoallv, alltoallv,
	     (MPI_IN_PLACE, WILD, WILD, NO(MPI_Datatype), b, counts, displs, MPI_INT,
	      MPI_COMM_WORLD),
	     "sendbuf=MPI_IN_PLACE, sendcounts=" NONE ", sdispls=" NONE ", sendtype=" NONE
	     ", recvbuf=%p, "
	     "recvcounts=%*c, rdispls=%*a, recvtype=MPI_INT, comm=MPI_COMM_WORLD",
	     b, procs, counts, procs, displs);
}

/* Ranks 0 and 1 on one side, 2 on the other: rank 1 does not take part in transfers from rank 0.
 * The invalid communicator handle is only passed by ranks that are not leaders. */
static void between(void)
{
	const int root = me == 0 ? MPI_ROOT : me == 1 ? MPI_PROC_NULL : 0;
	MPI_Comm half, inter;

	DO(MPI_Comm_split(MPI_COMM_WORLD, me / 2, me, &half),
	   "comm=MPI_COMM_WORLD, color=%d, key=%d, newcomm=comm:world.0", me / 2, me);
	DO(MPI_Intercomm_create(half, 0, me == 1 ? NO(MPI_Comm) : MPI_COMM_WORLD, me == 2 ? 0 : 2,
				5, &inter),
	   "local_comm=comm:world.0, local_leader=0, peer_comm=%n, remote_leader=%d, tag=5, "
	   "newintercomm=comm:world.0.0",
	   me == 1 ? "-" : "MPI_COMM_WORLD", me == 2 ? 0 : 2);
	if (root == MPI_PROC_NULL) {
		COLL(Gather, gather,
		     (WILD, -7, NO(MPI_Datatype), WILD, -7, NO(MPI_Datatype), root, inter),
		     "sendbuf=?, sendcount=-7, sendtype=" NONE ", recvbuf=?, recvcount=-7, "
		     "recvtype=" NONE ", root=%r, comm=comm:world.0.0",
		     root);
	} else {
		COLL(Gather, gather, (a, 1, MPI_INT, b, 1, MPI_INT, root, inter),
		     "sendbuf=%p, sendcount=1, sendtype=MPI_INT, recvbuf=%p, recvcount=1, "
		     "recvtype=MPI_INT, root=%r, comm=comm:world.0.0",
		     a, b, root);
	}
	DO(MPI_Comm_free(&inter), "comm=comm:world.0.0");
	DO(MPI_Comm_free(&half), "comm=comm:world.0");
}

/* A freed type and a later type that reuses its id are distinguished. */
static void freed(void)
{
	MPI_Datatype old, new;

	DO(MPI_Type_contiguous(2, MPI_INT, &old), "count=2, oldtype=MPI_INT, newtype=type:0");
	new = old;
	DO(MPI_Type_free(&old), "datatype=type:0");
	if (me != 0) {
		DO(MPI_Gather(a, 1, MPI_INT, NULL, 0, new, 0, MPI_COMM_WORLD),
		   "sendbuf=%p, sendcount=1, sendtype=MPI_INT, recvbuf=?, recvcount=0, "
		   "recvtype=" NONE ", root=0, comm=MPI_COMM_WORLD",
		   a);
	} else {
		DO(MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, 0, MPI_COMM_WORLD),
		   "sendbuf=%p, sendcount=1, sendtype=MPI_INT, recvbuf=%p, recvcount=1, "
		   "recvtype=MPI_INT, root=0, comm=MPI_COMM_WORLD",
		   a, b);
	}
	DO(MPI_Type_contiguous(3, MPI_INT, &new), "count=3, oldtype=MPI_INT, newtype=type:0");
	DO(MPI_Type_free(&new), "datatype=type:0");
}

int main(int argc, char **argv)
{
	choose_form(argc, argv);
	begin();
	a = grab(MOST * sizeof(int));
	b = grab(MOST * sizeof(int));
	fill();
	if (me == 0)
		at_root();
	else
		not_at_root();
	gather_in_place();
#ifdef OPEN_MPI
	if (form == BLOCKING) /* the other implementations read it, and crash */
#endif
		all_in_place();
	between();
	freed();
	drop(a);
	drop(b);
	end();
	return 0;
}
