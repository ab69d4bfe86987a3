/*
 * array_lengths.h - functions that api/mpi.api uses in lengths, conditions and tags.
 *
 * Cost: evaluated only in calls with array parameters. The values are from the tracer's tables or
 * from the MPI library. The MPI library is queried only with valid handles, because an error would
 * be reported to the program.
 */
#ifndef RN_TRACE_ARRAY_LENGTHS_H
#define RN_TRACE_ARRAY_LENGTHS_H

#include <string.h>

#include "base/hash.h"
#include "preload/next_mpi.h"
#include "trace/comm_registry.h"

/* Uses the tracer's record of the communicator. An invalid handle has 0 processes. */
static inline int rn_len_peers(struct rn_stream *t, MPI_Comm comm)
{
	const struct rn_comm *c = rn_comm_look(t, comm);

	return c->remote.n ? c->remote.n : c->local.n;
}

static inline int rn_len_at_root(struct rn_stream *t, int root, MPI_Comm comm)
{
	const struct rn_comm *c = rn_comm_look(t, comm);

	return c->remote.n ? root == MPI_ROOT : c->local.n && root == c->rank;
}

static inline int rn_len_topology(struct rn_stream *t, MPI_Comm comm)
{
	int topology = MPI_UNDEFINED;

	if (rn_comm_look(t, comm)->local.n)
		rn_real.MPI_Topo_test(comm, &topology);
	return topology;
}

static inline int rn_len_ndims(struct rn_stream *t, MPI_Comm comm)
{
	int n = 0;

	if (rn_len_topology(t, comm) == MPI_CART)
		rn_real.MPI_Cartdim_get(comm, &n);
	return n;
}

/* The indegree (0) or outdegree (1) of a distributed graph, or whether it is weighted (2). */
static inline int rn_len_dist_graph(MPI_Comm comm, int which)
{
	int n[3] = { 0 };

	rn_real.MPI_Dist_graph_neighbors_count(comm, &n[0], &n[1], &n[2]);
	return n[which];
}

static inline int rn_len_neighbors(MPI_Comm comm, int rank)
{
	int n = 0;

	rn_real.MPI_Graph_neighbors_count(comm, rank, &n);
	return n;
}

/* Indegree (0) or outdegree (1) of the calling process in the topology. */
static inline int rn_len_degree(struct rn_stream *t, MPI_Comm comm, int which)
{
	int topology = rn_len_topology(t, comm);

	if (topology == MPI_CART)
		return 2 * rn_len_ndims(t, comm);
	if (topology == MPI_DIST_GRAPH)
		return rn_len_dist_graph(comm, which);
	return topology == MPI_GRAPH ? rn_len_neighbors(comm, rn_comm_look(t, comm)->rank) : 0;
}

static inline int rn_len_graph(MPI_Comm comm, int edges)
{
	int nodes = 0, n = 0;

	rn_real.MPI_Graphdims_get(comm, &nodes, &n);
	return edges ? n : nodes;
}

static inline int64_t rn_len_sum(const int *a, int n)
{
	int64_t sum = 0;

	for (int i = 0; a && i < n; i++)
		sum += a[i];
	return sum;
}

/* Number of integers (0), addresses (1), datatypes (2) or large counts (3) that a derived type was
 * constructed with. Types constructed with large counts support only the large-count query. */
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

/* Number of control variables (0), performance variables (1), categories (2) or events (3) in a
 * category of the tools interface. */
static inline int rn_len_category(int category, int which)
{
	int name = 0, desc = 0, n[4] = { 0 };

	rn_real.MPI_T_category_get_info(category, NULL, &name, NULL, &desc, &n[0], &n[1], &n[2]);
#if MPI_VERSION >= 4
	rn_real.MPI_T_category_get_num_events(category, &n[3]);
#endif
	return n[which];
}

#define size(comm)          rn_comm_look(t, comm)->local.n
#define peers(comm)         rn_len_peers(t, comm)
#define at_root(root, comm) rn_len_at_root(t, root, comm)
/* Rooted collectives: this process sends to the root or receives from it, as an ordinary member
 * does. */
#define at_leaf(root)         ((root) != MPI_ROOT && (root) != MPI_PROC_NULL)
#define in_place(buffer)      ((buffer) == MPI_IN_PLACE)
#define ndims(comm)           rn_len_ndims(t, comm)
#define indegree(comm)        rn_len_degree(t, comm, 0)
#define outdegree(comm)       rn_len_degree(t, comm, 1)
#define weighted(comm)        rn_len_dist_graph(comm, 2)
#define nnodes(comm)          rn_len_graph(comm, 0)
#define nedges(comm)          rn_len_graph(comm, 1)
#define nneighbors(comm, r)   rn_len_neighbors(comm, r)
#define sum(a, n)             rn_len_sum(a, n)
#define last(a, n)            ((n) > 0 && (a) ? (a)[(n)-1] : 0)
#define ninteger(type)        rn_len_envelope(type, 0)
#define naddress(type)        rn_len_envelope(type, 1)
#define ndatatype(type)       rn_len_envelope(type, 2)
#define ncount(type)          rn_len_envelope(type, 3)
#define ncvars(category)      rn_len_category(category, 0)
#define npvars(category)      rn_len_category(category, 1)
#define ncategories(category) rn_len_category(category, 2)
#define nevents(category)     rn_len_category(category, 3)
#define had(text, length)     (!(text) || rn_had_##length > 0)
#define fit(length)           ((length) ? min(rn_had_##length, (int64_t) * (length)) : 0)
#define text_tag(text)        ((text) ? rn_hash(text, strlen(text)) : 0)
#define min(a, b)             ((a) < (b) ? (a) : (b))

#endif
