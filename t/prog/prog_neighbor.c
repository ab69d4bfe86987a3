/* prog_neighbor.c - Neighborhood collectives on a line (the ends have one neighbor less) and on a
 * graph where ranks have different numbers of neighbors; forms as in forms.h. Four ranks. */
#include "forms.h"

#define MOST 4 /* number of neighbors */

static int *a, *b; /* heap */

/* The data that a rank exchanges with each neighbor. */
static int in, out;
static count_t sendcounts[MOST], recvcounts[MOST];
static disp_t sdispls[MOST], rdispls[MOST];
static MPI_Aint sbytes[MOST], rbytes[MOST];
static MPI_Datatype types[MOST];
static const char *names[MOST];

static void fill(int indegree, int outdegree)
{
	in = indegree;
	out = outdegree;
	for (int i = 0; i < MOST; i++) {
		sendcounts[i] = recvcounts[i] = 2;
		sdispls[i] = 3 * i;
		rdispls[i] = 4 * i;
		sbytes[i] = 12 * i;
		rbytes[i] = 16 * i;
		types[i] = MPI_INT;
		names[i] = "MPI_INT";
	}
}

static void exchange(MPI_Comm comm, const char *name)
{
	COLL(Neighbor_allgather, neighbor_allgather, (a, 2, MPI_INT, b, 2, MPI_INT, comm),
	     "sendbuf=%p, sendcount=2, sendtype=MPI_INT, recvbuf=%p, recvcount=2, "
	     "recvtype=MPI_INT, comm=%n",
	     a, b, name);
	COLL(Neighbor_allgatherv, neighbor_allgatherv,
	     (a, 2, MPI_INT, b, recvcounts, rdispls, MPI_INT, comm),
	     "sendbuf=%p, sendcount=2, sendtype=MPI_INT, recvbuf=%p, recvcounts=%*c, displs=%*a, "
	     "recvtype=MPI_INT, comm=%n",
	     a, b, in, recvcounts, in, rdispls, name);
	COLL(Neighbor_alltoall, neighbor_alltoall, (a, 1, MPI_INT, b, 1, MPI_INT, comm),
	     "sendbuf=%p, sendcount=1, sendtype=MPI_INT, recvbuf=%p, recvcount=1, "
	     "recvtype=MPI_INT, comm=%n",
	     a, b, name);
	COLL(Neighbor_alltoallv, neighbor_alltoallv,
	     (a, sendcounts, sdispls, MPI_INT, b, recvcounts, rdispls, MPI_INT, comm),
	     "sendbuf=%p, sendcounts=%*c, sdispls=%*a, sendtype=MPI_INT, "
	     "recvbuf=%p, recvcounts=%*c, rdispls=%*a, recvtype=MPI_INT, comm=%n",
	     a, out, sendcounts, out, sdispls, b, in, recvcounts, in, rdispls, name);
	COLL(Neighbor_alltoallw, neighbor_alltoallw,
	     (a, sendcounts, sbytes, types, b, recvcounts, rbytes, types, comm),
	     "sendbuf=%p, sendcounts=%*c, sdispls=%*l, sendtypes=%*s, "
	     "recvbuf=%p, recvcounts=%*c, rdispls=%*l, recvtypes=%*s, comm=%n",
	     a, out, sendcounts, out, sbytes, out, names, b, in, recvcounts, in, rbytes, in, names,
	     name);
}

static void on_a_line(void)
{
	int dims = 4, periods = 0;
	MPI_Comm line;

	DO(MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periods, 0, &line),
	   "comm_old=MPI_COMM_WORLD, ndims=1, dims=[4], periods=[0], reorder=0, "
	   "comm_cart=comm:world.0");
	fill(2, 2);
	exchange(line, "comm:world.0");
	DO(MPI_Comm_free(&line), "comm=comm:world.0");
}

/* Rank r receives from all lower ranks, and sends to all higher ranks. */
static void on_a_staircase(void)
{
	int below[4] = { 0, 1, 2, 3 }, above[4] = { me + 1, me + 2, me + 3, 0 };
	MPI_Comm stairs;

	DO(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, me, below, MPI_UNWEIGHTED, 3 - me, above,
					  MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &stairs),
	   "comm_old=MPI_COMM_WORLD, indegree=%d, sources=%*d, sourceweights=MPI_UNWEIGHTED, "
	   "outdegree=%d, destinations=%*d, destweights=MPI_UNWEIGHTED, info=MPI_INFO_NULL, "
	   "reorder=0, comm_dist_graph=comm:world.1",
	   me, me, below, 3 - me, 3 - me, above);
	fill(me, 3 - me);
	exchange(stairs, "comm:world.1");
	DO(MPI_Comm_free(&stairs), "comm=comm:world.1");
}

int main(int argc, char **argv)
{
	choose_form(argc, argv);
	begin();
	EXPECT(procs == 4);
	a = grab(64 * sizeof(*a));
	b = grab(64 * sizeof(*b));
	on_a_line();
	on_a_staircase();
	end();
	return 0;
}
