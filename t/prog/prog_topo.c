/* prog_topo.c - topologies: Cartesian, graph, distributed graph. Four ranks. */
#include "log.h"

static void kind_of(MPI_Comm comm, const char *name, const char *expected)
{
	int kind;

	DO(MPI_Topo_test(comm, &kind), "comm=%n, status=%n", name, expected);
}

static void ask_grid(MPI_Comm grid)
{
	int ndims, dims[2], periods[2], coords[2], there, from, to;

	DO(MPI_Cartdim_get(grid, &ndims), "comm=comm:world.0, ndims=2");
	DO(MPI_Cart_get(grid, 2, dims, periods, coords),
	   "comm=comm:world.0, maxdims=2, dims=[2,2], periods=[1,0], coords=%*d", 2, coords);
	DO(MPI_Cart_coords(grid, 3, 2, coords), "comm=comm:world.0, rank=3, maxdims=2, coords=%*d",
	   2, coords);
	EXPECT(coords[0] == 1 && coords[1] == 1);
	DO(MPI_Cart_rank(grid, coords, &there), "comm=comm:world.0, coords=[1,1], rank=3");
	EXPECT(there == 3);
	for (int d = 0; d < 2; d++)
		DO(MPI_Cart_shift(grid, d, 1, &from, &to),
		   "comm=comm:world.0, direction=%d, disp=1, rank_source=%r, rank_dest=%r", d, from,
		   to);
}

static void grids(void)
{
	int dims[3] = { 0, 2, 0 }, square[2] = { 2, 2 }, periods[2] = { 1, 0 }, line = 3;
	int along[2] = { 0, 1 }, place;
	MPI_Comm grid, row, part, again;

	DO(MPI_Dims_create(4, 3, dims), "nnodes=4, ndims=3, dims=%*d", 3, dims);
	DO(MPI_Cart_map(MPI_COMM_WORLD, 2, square, periods, &place),
	   "comm=MPI_COMM_WORLD, ndims=2, dims=[2,2], periods=[1,0], newrank=%r", place);
	DO(MPI_Cart_create(MPI_COMM_WORLD, 2, square, periods, 0, &grid),
	   "comm_old=MPI_COMM_WORLD, ndims=2, dims=[2,2], periods=[1,0], reorder=0, "
	   "comm_cart=comm:world.0");
	ask_grid(grid);
	DO(MPI_Cart_sub(grid, along, &row),
	   "comm=comm:world.0, remain_dims=[0,1], newcomm=comm:world.0.0");
	kind_of(row, "comm:world.0.0", "MPI_CART");
	DO(MPI_Cart_create(MPI_COMM_WORLD, 1, &line, periods, 0, &part),
	   "comm_old=MPI_COMM_WORLD, ndims=1, dims=[3], periods=[1], reorder=0, comm_cart=%n",
	   me < 3 ? "comm:world.1" : "MPI_COMM_NULL");
	EXPECT((part == MPI_COMM_NULL) == (me == 3));
	DO(MPI_Comm_dup(grid, &again), "comm=comm:world.0, newcomm=comm:world.0.1");
	if (part != MPI_COMM_NULL)
		DO(MPI_Comm_free(&part), "comm=comm:world.1");
	DO(MPI_Comm_free(&again), "comm=comm:world.0.1");
	DO(MPI_Comm_free(&row), "comm=comm:world.0.0");
	DO(MPI_Comm_free(&grid), "comm=comm:world.0");
}

/* A star: rank 0 and every other rank are neighbors. */
static void graphs(void)
{
	int index[4] = { 3, 4, 5, 6 }, edges[6] = { 1, 2, 3, 0, 0, 0 };
	int nodes, links, n, around[3], index2[4], edges2[6], place;
	MPI_Comm star;

	DO(MPI_Graph_map(MPI_COMM_WORLD, 4, index, edges, &place),
	   "comm=MPI_COMM_WORLD, nnodes=4, index=[3,4,5,6], edges=[1,2,3,0,0,0], newrank=%r",
	   place);
	DO(MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 0, &star),
	   "comm_old=MPI_COMM_WORLD, nnodes=4, index=[3,4,5,6], edges=[1,2,3,0,0,0], reorder=0, "
	   "comm_graph=comm:world.2");
	kind_of(star, "comm:world.2", "MPI_GRAPH");
	DO(MPI_Graphdims_get(star, &nodes, &links), "comm=comm:world.2, nnodes=4, nedges=6");
	DO(MPI_Graph_get(star, 4, 6, index2, edges2),
	   "comm=comm:world.2, maxindex=4, maxedges=6, index=[3,4,5,6], edges=[1,2,3,0,0,0]");
	EXPECT(index2[3] == 6 && edges2[2] == 3);
	DO(MPI_Graph_neighbors_count(star, me, &n), "comm=comm:world.2, rank=%d, nneighbors=%d", me,
	   me ? 1 : 3);
	DO(MPI_Graph_neighbors(star, me, 3, around),
	   "comm=comm:world.2, rank=%d, maxneighbors=3, neighbors=%*d", me, n, around);
	DO(MPI_Comm_free(&star), "comm=comm:world.2");
}

static void ask_ring(MPI_Comm ring, const char *name, int weighted)
{
	int in, out, w, sources[2], destinations[2], sw[2], dw[2];

	DO(MPI_Dist_graph_neighbors_count(ring, &in, &out, &w),
	   "comm=%n, indegree=1, outdegree=1, weighted=%d", name, w);
	EXPECT(in == 1 && out == 1 && w == weighted);
	if (weighted)
		DO(MPI_Dist_graph_neighbors(ring, 1, sources, sw, 1, destinations, dw),
		   "comm=%n, maxindegree=1, sources=%*d, sourceweights=%*d, maxoutdegree=1, "
		   "destinations=%*d, destweights=%*d",
		   name, 1, sources, 1, sw, 1, destinations, 1, dw);
	else
		DO(MPI_Dist_graph_neighbors(ring, 1, sources, MPI_UNWEIGHTED, 1, destinations,
					    MPI_UNWEIGHTED),
		   "comm=%n, maxindegree=1, sources=%*d, sourceweights=MPI_UNWEIGHTED, "
		   "maxoutdegree=1, destinations=%*d, destweights=MPI_UNWEIGHTED",
		   name, 1, sources, 1, destinations);
	kind_of(ring, name, "MPI_DIST_GRAPH");
}

/* Rings. Each rank specifies its own edge; or rank 0 specifies all edges; or each rank specifies
 * both of its sides. */
static void rings(void)
{
	int next = (me + 1) % 4, prev = (me + 3) % 4, weight = 10 + me, one = 1;
	int all[4] = { 0, 1, 2, 3 }, ones[4] = { 1, 1, 1, 1 }, round[4] = { 1, 2, 3, 0 };
	MPI_Comm own, told, adjacent;

	DO(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &me, &one, &next, &weight, MPI_INFO_NULL, 0,
				 &own),
	   "comm_old=MPI_COMM_WORLD, n=1, sources=[%d], degrees=[1], destinations=[%d], "
	   "weights=[%d], info=MPI_INFO_NULL, reorder=0, comm_dist_graph=comm:world.3",
	   me, next, weight);
	ask_ring(own, "comm:world.3", 1);
	DO(MPI_Dist_graph_create(MPI_COMM_WORLD, me ? 0 : 4, all, ones, round, MPI_UNWEIGHTED,
				 MPI_INFO_NULL, 0, &told),
	   me ? "comm_old=MPI_COMM_WORLD, n=0, sources=[], degrees=[], destinations=[], "
		"weights=MPI_UNWEIGHTED, info=MPI_INFO_NULL, reorder=0, "
		"comm_dist_graph=comm:world.4"
	      : "comm_old=MPI_COMM_WORLD, n=4, sources=[0,1,2,3], degrees=[1,1,1,1], "
		"destinations=[1,2,3,0], weights=MPI_UNWEIGHTED, info=MPI_INFO_NULL, reorder=0, "
		"comm_dist_graph=comm:world.4");
	ask_ring(told, "comm:world.4", 0);
	DO(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &prev, MPI_UNWEIGHTED, 1, &next,
					  MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &adjacent),
	   "comm_old=MPI_COMM_WORLD, indegree=1, sources=[%d], sourceweights=MPI_UNWEIGHTED, "
	   "outdegree=1, destinations=[%d], destweights=MPI_UNWEIGHTED, info=MPI_INFO_NULL, "
	   "reorder=0, comm_dist_graph=comm:world.5",
	   prev, next);
	ask_ring(adjacent, "comm:world.5", 0);
	DO(MPI_Comm_free(&own), "comm=comm:world.3");
	DO(MPI_Comm_free(&told), "comm=comm:world.4");
	DO(MPI_Comm_free(&adjacent), "comm=comm:world.5");
}

int main(void)
{
	begin();
	EXPECT(procs == 4);
	kind_of(MPI_COMM_WORLD, "MPI_COMM_WORLD", "MPI_UNDEFINED");
	grids();
	graphs();
	rings();
	end();
	return 0;
}
