/*
 * lengths.h - the functions that api/mpi.api uses in lengths, conditions and tags.
 *
 * Asked of the MPI library when a call is made that needs them: only those with arrays.
 */
#ifndef RN_INTERCEPT_LENGTHS_H
#define RN_INTERCEPT_LENGTHS_H

#include <string.h>

#include "base/hash.h"
#include "intercept/real.h"

static inline int rn_len_size(MPI_Comm comm)
{
	int n = 0;

	if (comm != MPI_COMM_NULL)
		rn_real.MPI_Comm_size(comm, &n);
	return n;
}

static inline int rn_len_peers(MPI_Comm comm)
{
	int n = 0, inter = 0;

	if (comm == MPI_COMM_NULL)
		return 0;
	rn_real.MPI_Comm_test_inter(comm, &inter);
	if (inter)
		rn_real.MPI_Comm_remote_size(comm, &n);
	else
		rn_real.MPI_Comm_size(comm, &n);
	return n;
}

static inline int rn_len_at_root(int root, MPI_Comm comm)
{
	int rank = MPI_UNDEFINED, inter = 0;

	if (comm == MPI_COMM_NULL)
		return 0;
	rn_real.MPI_Comm_test_inter(comm, &inter);
	if (inter)
		return root == MPI_ROOT;
	rn_real.MPI_Comm_rank(comm, &rank);
	return root == rank;
}

static inline int rn_len_ndims(MPI_Comm comm)
{
	int n = 0, topology = MPI_UNDEFINED;

	if (comm != MPI_COMM_NULL)
		rn_real.MPI_Topo_test(comm, &topology);
	if (topology == MPI_CART)
		rn_real.MPI_Cartdim_get(comm, &n);
	return n;
}

/* In- or outdegree of the calling process in the topology. */
static inline int rn_len_degree(MPI_Comm comm, int in)
{
	int topology = MPI_UNDEFINED, n = 0, out = 0, weighted = 0, rank = 0;

	if (comm != MPI_COMM_NULL)
		rn_real.MPI_Topo_test(comm, &topology);
	if (topology == MPI_CART)
		return 2 * rn_len_ndims(comm);
	if (topology == MPI_DIST_GRAPH) {
		rn_real.MPI_Dist_graph_neighbors_count(comm, &n, &out, &weighted);
		return in ? n : out;
	}
	if (topology == MPI_GRAPH) {
		rn_real.MPI_Comm_rank(comm, &rank);
		rn_real.MPI_Graph_neighbors_count(comm, rank, &n);
	}
	return n;
}

static inline int rn_len_weighted(MPI_Comm comm)
{
	int in = 0, out = 0, weighted = 0;

	rn_real.MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
	return weighted;
}

static inline int rn_len_graph(MPI_Comm comm, int edges)
{
	int nodes = 0, n = 0;

	rn_real.MPI_Graphdims_get(comm, &nodes, &n);
	return edges ? n : nodes;
}

static inline int rn_len_neighbors(MPI_Comm comm, int rank)
{
	int n = 0;

	rn_real.MPI_Graph_neighbors_count(comm, rank, &n);
	return n;
}

static inline int rn_len_sum(const int *a, int n)
{
	int sum = 0;

	for (int i = 0; a && i < n; i++)
		sum += a[i];
	return sum;
}

/* How many integers (0), addresses (1), datatypes (2) or large counts (3) a derived type was made
 * with. Types made with large counts can only be asked for in the large way. */
static inline int rn_len_envelope(MPI_Datatype type, int which)
{
#if MPI_VERSION >= 4
	MPI_Count n[4] = { 0 };
	int combiner;

	rn_real.MPI_Type_get_envelope_c(type, &n[0], &n[1], &n[3], &n[2], &combiner);
	return (int)n[which];
#else
	int n[4] = { 0 };

	rn_real.MPI_Type_get_envelope(type, &n[0], &n[1], &n[2], &n[3]);
	return which == 3 ? 0 : n[which];
#endif
}

static inline uint64_t rn_text_tag(const char *text)
{
	return text ? rn_hash(text, strlen(text)) : 0;
}

#define size(comm)          rn_len_size(comm)
#define peers(comm)         rn_len_peers(comm)
#define at_root(root, comm) rn_len_at_root(root, comm)
#define in_place(buffer)    ((buffer) == MPI_IN_PLACE)
#define ndims(comm)         rn_len_ndims(comm)
#define indegree(comm)      rn_len_degree(comm, 1)
#define outdegree(comm)     rn_len_degree(comm, 0)
#define weighted(comm)      rn_len_weighted(comm)
#define nnodes(comm)        rn_len_graph(comm, 0)
#define nedges(comm)        rn_len_graph(comm, 1)
#define nneighbors(comm, r) rn_len_neighbors(comm, r)
#define sum(a, n)           rn_len_sum(a, n)
#define ninteger(type)      rn_len_envelope(type, 0)
#define naddress(type)      rn_len_envelope(type, 1)
#define ndatatype(type)     rn_len_envelope(type, 2)
#define ncount(type)        rn_len_envelope(type, 3)
#define had(text, length)   (!(text) || rn_had_##length > 0)
#define text_tag(text)      rn_text_tag(text)
#define min(a, b)           ((a) < (b) ? (a) : (b))

#endif
