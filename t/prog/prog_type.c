/* prog_type.c - Datatypes: all constructors, all queries, packing. */
#include "log.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

/* Displacements in elements and in bytes, and the log format of a list of them. */
#ifdef LARGE
typedef MPI_Count bytes_t;
typedef MPI_Count place_t;
#define BYTES "%*c"
#define PLACE "%*c"
typedef MPI_Count external_t; /* positions and sizes in external data */
#else
typedef MPI_Aint bytes_t;
typedef int place_t;
#define BYTES "%*l"
#define PLACE "%*d"
typedef MPI_Aint external_t;
#endif

static MPI_Datatype t, u;

static void release(void)
{
	DO(MPI_Type_free(&t), "datatype=type:0");
	EXPECT(t == MPI_DATATYPE_NULL);
}

static void ask(void)
{
	count_t size;
	MPI_Count large, low;
#ifdef LARGE
	MPI_Count lb, extent;
#else
	MPI_Aint lb, extent;
#endif

	DO(MPI_Type_commit(&t), "datatype=type:0");
	DO(MPI_Type_size(t, &size), "datatype=type:0, size=%c", size);
	DO(MPI_Type_size_x(t, &large), "datatype=type:0, size=%l", (long long)large);
	DO(MPI_Type_get_extent(t, &lb, &extent), "datatype=type:0, lb=%l, extent=%l", (long long)lb,
	   (long long)extent);
	DO(MPI_Type_get_extent_x(t, &low, &large), "datatype=type:0, lb=%l, extent=%l",
	   (long long)low, (long long)large);
	DO(MPI_Type_get_true_extent_x(t, &low, &large),
	   "datatype=type:0, true_lb=%l, true_extent=%l", (long long)low, (long long)large);
	DO(MPI_Type_get_true_extent(t, &lb, &extent), "datatype=type:0, true_lb=%l, true_extent=%l",
	   (long long)lb, (long long)extent);
}

#ifndef LARGE
/* Open MPI uses the size of the datatype array instead of their number, so the array has exactly
 * that size. */
static void contents(const char *combiner)
{
	int ni, na, nt, how, ints[64];
	MPI_Aint addresses[16];
	MPI_Datatype types[16];

	DO(MPI_Type_get_envelope(t, &ni, &na, &nt, &how),
	   "datatype=type:0, num_integers=%d, num_addresses=%d, num_datatypes=%d, combiner=%n", ni,
	   na, nt, combiner);
	EXPECT(ni <= 64 && na <= 16 && nt == 1);
	DO(MPI_Type_get_contents(t, 64, 16, 1, ints, addresses, types),
	   "datatype=type:0, max_integers=64, max_addresses=16, max_datatypes=1, "
	   "array_of_integers=%*d, array_of_addresses=%*l, array_of_datatypes=[MPI_INT]",
	   ni, ints, na, addresses);
	EXPECT(types[0] == MPI_INT);
}
#else
/* MPI_Type_get_envelope does not support types made with large counts. */
static void contents(const char *combiner)
{
	(void)combiner;
}
#endif

static void made(const char *combiner)
{
	ask();
	contents(combiner);
	release();
}

static void vectors(void)
{
	DO(MPI_Type_contiguous(5, MPI_INT, &t), "count=5, oldtype=MPI_INT, newtype=type:0");
	made("MPI_COMBINER_CONTIGUOUS");
	DO(MPI_Type_vector(3, 2, 4, MPI_INT, &t),
	   "count=3, blocklength=2, stride=4, oldtype=MPI_INT, newtype=type:0");
	made("MPI_COMBINER_VECTOR");
	DO(MPI_Type_vector(3, 2, -4, MPI_INT, &t),
	   "count=3, blocklength=2, stride=-4, oldtype=MPI_INT, newtype=type:0");
	made("MPI_COMBINER_VECTOR");
	DO(MPI_Type_create_hvector(3, 2, 100, MPI_INT, &t),
	   "count=3, blocklength=2, stride=100, oldtype=MPI_INT, newtype=type:0");
	made("MPI_COMBINER_HVECTOR");
	DO(MPI_Type_create_resized(MPI_INT, -4, 32, &t),
	   "oldtype=MPI_INT, lb=-4, extent=32, newtype=type:0");
	made("MPI_COMBINER_RESIZED");
	DO(MPI_Type_dup(MPI_INT, &t), "oldtype=MPI_INT, newtype=type:0");
	made("MPI_COMBINER_DUP");
}

static void indexed(void)
{
	static count_t lengths[3] = { 1, 2, 3 };
	static place_t places[3] = { 0, 5, -7 };
	static bytes_t bytes[3] = { 0, 20, 48 };

	DO(MPI_Type_indexed(3, lengths, places, MPI_INT, &t),
	   "count=3, array_of_blocklengths=%*c, array_of_displacements=" PLACE
	   ", oldtype=MPI_INT, newtype=type:0",
	   3, lengths, 3, places);
	made("MPI_COMBINER_INDEXED");
	DO(MPI_Type_create_hindexed(3, lengths, bytes, MPI_INT, &t),
	   "count=3, array_of_blocklengths=%*c, array_of_displacements=" BYTES
	   ", oldtype=MPI_INT, newtype=type:0",
	   3, lengths, 3, bytes);
	made("MPI_COMBINER_HINDEXED");
	DO(MPI_Type_create_indexed_block(3, 2, places, MPI_INT, &t),
	   "count=3, blocklength=2, array_of_displacements=" PLACE
	   ", oldtype=MPI_INT, newtype=type:0",
	   3, places);
	made("MPI_COMBINER_INDEXED_BLOCK");
	DO(MPI_Type_create_hindexed_block(3, 2, bytes, MPI_INT, &t),
	   "count=3, blocklength=2, array_of_displacements=" BYTES
	   ", oldtype=MPI_INT, newtype=type:0",
	   3, bytes);
	made("MPI_COMBINER_HINDEXED_BLOCK");
}

static void arrays(void)
{
	static count_t sizes[2] = { 8, 6 }, part[2] = { 4, 3 }, starts[2] = { 4, 0 };
	static int distribs[2] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC };
	static int dargs[2] = { MPI_DISTRIBUTE_DFLT_DARG, 2 }, psizes[2] = { 2, 2 };

	DO(MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, MPI_INT, &t),
	   "ndims=2, array_of_sizes=[8,6], array_of_subsizes=[4,3], array_of_starts=[4,0], "
	   "order=MPI_ORDER_C, oldtype=MPI_INT, newtype=type:0");
	made("MPI_COMBINER_SUBARRAY");
	DO(MPI_Type_create_darray(4, 1, 2, sizes, distribs, dargs, psizes, MPI_ORDER_FORTRAN,
				  MPI_INT, &t),
	   "size=4, rank=1, ndims=2, array_of_gsizes=[8,6], "
	   "array_of_distribs=[MPI_DISTRIBUTE_BLOCK,MPI_DISTRIBUTE_CYCLIC], "
	   "array_of_dargs=[MPI_DISTRIBUTE_DFLT_DARG,2], array_of_psizes=[2,2], "
	   "order=MPI_ORDER_FORTRAN, oldtype=MPI_INT, newtype=type:0");
	made("MPI_COMBINER_DARRAY");
}

struct thing {
	double x;
	int n[3];
	char c;
};

/* Types of types; ids are reused, lowest first. */
static void structs(void)
{
	static count_t lengths[3] = { 1, 3, 1 };
	static bytes_t places[3] = { offsetof(struct thing, x), offsetof(struct thing, n),
				     offsetof(struct thing, c) };
	MPI_Datatype types[3] = { MPI_DOUBLE, MPI_INT, MPI_CHAR };
	MPI_Datatype row;
	static struct thing things[4], copy[4];

	DO(MPI_Type_create_struct(3, lengths, places, types, &t),
	   "count=3, array_of_blocklengths=[1,3,1], array_of_displacements=[0,8,20], "
	   "array_of_types=[MPI_DOUBLE,MPI_INT,MPI_CHAR], newtype=type:0");
	DO(MPI_Type_create_resized(t, 0, sizeof(struct thing), &u),
	   "oldtype=type:0, lb=0, extent=%d, newtype=type:1", (int)sizeof(struct thing));
	release();
	DO(MPI_Type_contiguous(2, u, &row), "count=2, oldtype=type:1, newtype=type:0");
	DO(MPI_Type_commit(&row), "datatype=type:0");
	DO(MPI_Type_commit(&u), "datatype=type:1");
	DO(MPI_Sendrecv(things, 2, row, 0, 3, copy, 4, u, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE),
	   "sendbuf=static:*, sendcount=2, sendtype=type:0, dest=0, sendtag=3, "
	   "recvbuf=static:*, recvcount=4, recvtype=type:1, source=0, recvtag=3, "
	   "comm=MPI_COMM_SELF, status=MPI_STATUS_IGNORE; matched?={source:0,tag:3}");
	DO(MPI_Type_free(&row), "datatype=type:0");
	DO(MPI_Type_free(&u), "datatype=type:1");
}

#ifndef LARGE
/* The inner type is returned as a new handle, or as the same one again; it needs to be freed. */
static void nested(void)
{
	int ints[3];
	MPI_Aint none[1];
	MPI_Datatype inside;

	DO(MPI_Type_contiguous(2, MPI_INT, &t), "count=2, oldtype=MPI_INT, newtype=type:0");
	DO(MPI_Type_vector(2, 1, 3, t, &u),
	   "count=2, blocklength=1, stride=3, oldtype=type:0, newtype=type:1");
	DO(MPI_Type_get_contents(u, 3, 0, 1, ints, none, &inside),
	   "datatype=type:1, max_integers=3, max_addresses=0, max_datatypes=1, "
	   "array_of_integers=[2,1,3], array_of_addresses=[], array_of_datatypes=[type:$inside]");
	DO(MPI_Type_free(&inside), "datatype=type:$inside");
	DO(MPI_Type_free(&u), "datatype=type:1");
	release();
}
#else
static void nested(void)
{
}
#endif

/* A type that contains the address of its data; it is used without a buffer. */
static void absolute(void)
{
	static int data[4];
	MPI_Aint address, other;
	count_t one = 1;
	bytes_t place;

	DO(MPI_Get_address(data, &address), "location=static:*, address=static:*");
	DO(MPI_Get_address(data + 2, &other), "location=static:*, address=static:*");
	EXPECT(other - address == 2 * sizeof(int));
	place = address;
	DO(MPI_Type_create_hindexed(1, &one, &place, MPI_INT, &t),
	   "count=1, array_of_blocklengths=[1], array_of_displacements=[static:*], "
	   "oldtype=MPI_INT, "
	   "newtype=type:0");
	DO(MPI_Type_commit(&t), "datatype=type:0");
	DO(MPI_Bcast(MPI_BOTTOM, 1, t, 0, MPI_COMM_SELF),
	   "buffer=MPI_BOTTOM, count=1, datatype=type:0, root=0, comm=MPI_COMM_SELF");
	release();
	/* A value as large as an address that is not an address. */
	place = (bytes_t)1 << 41;
	DO(MPI_Type_create_hindexed(1, &one, &place, MPI_INT, &t),
	   "count=1, array_of_blocklengths=[1], array_of_displacements=[2199023255552], "
	   "oldtype=MPI_INT, newtype=type:0");
	release();
}

static void names(void)
{
	char name[MPI_MAX_OBJECT_NAME];
	int n;

	DO(MPI_Type_get_name(MPI_INT, name, &n),
	   "datatype=MPI_INT, type_name='MPI_INT', resultlen=7");
	DO(MPI_Type_contiguous(2, MPI_INT, &t), "count=2, oldtype=MPI_INT, newtype=type:0");
	DO(MPI_Type_get_name(t, name, &n), "datatype=type:0, type_name='', resultlen=0");
	DO(MPI_Type_set_name(t, "a pair"), "datatype=type:0, type_name='a pair'");
	DO(MPI_Type_get_name(t, name, &n), "datatype=type:0, type_name='a pair', resultlen=6");
	EXPECT(!strcmp(name, "a pair"));
	release();
}

/* Predefined types of MPI, which are never freed. Those without a name occupy an id permanently. */
static void by_precision(void)
{
	DO(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &u),
	   "typeclass=MPI_TYPECLASS_REAL, size=8, datatype=?");
	DO(MPI_Type_create_f90_integer(9, &u), "r=9, newtype=?");
	DO(MPI_Type_create_f90_real(15, 307, &u), "p=15, r=307, newtype=?");
	DO(MPI_Type_create_f90_complex(15, 307, &u), "p=15, r=307, newtype=?");
}

static void packing(void)
{
	int *from = grab(64), *to = grab(64);
	char *room = grab(256);
	count_t size, position = 0;
	external_t large, at = 0;

	DO(MPI_Pack_size(5, MPI_INT, MPI_COMM_SELF, &size),
	   "incount=5, datatype=MPI_INT, comm=MPI_COMM_SELF, size=%c", size);
	for (int i = 0; i < 2; i++)
		DO(MPI_Pack(from, 5, MPI_INT, room, 256, &position, MPI_COMM_SELF),
		   "inbuf=%p, incount=5, datatype=MPI_INT, outbuf=%p, outsize=256, position=%c, "
		   "comm=MPI_COMM_SELF",
		   from, room, position);
	position = 0;
	DO(MPI_Unpack(room, 256, &position, to, 5, MPI_INT, MPI_COMM_SELF),
	   "inbuf=%p, insize=256, position=%c, outbuf=%p, outcount=5, datatype=MPI_INT, "
	   "comm=MPI_COMM_SELF",
	   room, position, to);
	DO(MPI_Pack_external_size("external32", 5, MPI_INT, &large),
	   "datarep='external32', incount=5, datatype=MPI_INT, size=%l", (long long)large);
	DO(MPI_Pack_external("external32", from, 5, MPI_INT, room, 256, &at),
	   "datarep='external32', inbuf=%p, incount=5, datatype=MPI_INT, outbuf=%p, "
	   "outsize=256, position=%l",
	   from, room, (long long)at);
	at = 0;
	DO(MPI_Unpack_external("external32", room, 256, &at, to, 5, MPI_INT),
	   "datarep='external32', inbuf=%p, insize=256, position=%l, outbuf=%p, outcount=5, "
	   "datatype=MPI_INT",
	   room, (long long)at, to);
	drop(from);
	drop(to);
	drop(room);
}

#ifdef LARGE
static void beyond_32_bits(void)
{
	MPI_Count ni, na, nc, nt, counts[8];
	MPI_Datatype types[2];
	int how;

	DO(MPI_Type_contiguous(1LL << 33, MPI_INT, &t),
	   "count=8589934592, oldtype=MPI_INT, newtype=type:0");
	ask();
	DO(MPI_Type_get_envelope_c(t, &ni, &na, &nc, &nt, &how),
	   "datatype=type:0, num_integers=%l, num_addresses=%l, num_large_counts=%l, "
	   "num_datatypes=%l, combiner=MPI_COMBINER_CONTIGUOUS",
	   (long long)ni, (long long)na, (long long)nc, (long long)nt);
	EXPECT(nc == 1);
	DO(MPI_Type_get_contents_c(t, 0, 0, 8, 2, NULL, NULL, counts, types),
	   "datatype=type:0, max_integers=0, max_addresses=0, max_large_counts=8, "
	   "max_datatypes=2, array_of_integers=?, array_of_addresses=?, "
	   "array_of_large_counts=[8589934592], array_of_datatypes=[MPI_INT]");
	release();
}
#else
static void beyond_32_bits(void)
{
}
#endif

int main(void)
{
	begin();
	for (int round = 0; round < 2; round++) {
		vectors();
		indexed();
		arrays();
		structs();
		nested();
		absolute();
		names();
		packing();
		beyond_32_bits();
	}
	by_precision();
	end();
	return 0;
}
