/* prog_old.c - Functions that are deprecated or removed from the standard, but still exist in both
 * libraries. */
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0
#include "log.h"

static int value;

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
	(void)comm;
	(void)keyval;
	(void)extra;
	*(void **)out = in;
	*flag = 1;
	return MPI_SUCCESS;
}

static void attributes(void)
{
	int key, flag;
	void *got;

	DO(MPI_Keyval_create(copy, MPI_NULL_DELETE_FN, &key, NULL),
	   "copy_fn=static:*, delete_fn=MPI_NULL_DELETE_FN, keyval=keyval:0, extra_state=NULL");
	DO(MPI_Attr_put(MPI_COMM_WORLD, key, &value),
	   "comm=MPI_COMM_WORLD, keyval=keyval:0, attribute_val=static:*");
	DO(MPI_Attr_get(MPI_COMM_WORLD, key, &got, &flag),
	   "comm=MPI_COMM_WORLD, keyval=keyval:0, attribute_val=static:*, flag=1");
	DO(MPI_Attr_delete(MPI_COMM_WORLD, key), "comm=MPI_COMM_WORLD, keyval=keyval:0");
	DO(MPI_Keyval_free(&key), "keyval=keyval:0");
}

static void handle(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
}

static void handlers(void)
{
	MPI_Errhandler h, old;

	DO(MPI_Errhandler_create(handle, &h),
	   "comm_errhandler_fn=static:*, errhandler=errhandler:0");
	DO(MPI_Errhandler_get(MPI_COMM_WORLD, &old),
	   "comm=MPI_COMM_WORLD, errhandler=MPI_ERRORS_ARE_FATAL");
	DO(MPI_Errhandler_set(MPI_COMM_WORLD, h), "comm=MPI_COMM_WORLD, errhandler=errhandler:0");
	DO(MPI_Errhandler_set(MPI_COMM_WORLD, old),
	   "comm=MPI_COMM_WORLD, errhandler=MPI_ERRORS_ARE_FATAL");
	DO(MPI_Errhandler_free(&h), "errhandler=errhandler:0");
}

static void types(void)
{
	static int lengths[2] = { 1, 2 };
	static MPI_Aint places[2] = { 0, 16 };
	MPI_Datatype parts[2] = { MPI_INT, MPI_DOUBLE }, t;
	MPI_Aint a;

	DO(MPI_Address(&value, &a), "location=static:*, address=static:*");
	DO(MPI_Type_hvector(2, 1, 32, MPI_INT, &t),
	   "count=2, blocklength=1, stride=32, oldtype=MPI_INT, newtype=type:0");
	DO(MPI_Type_extent(t, &a), "datatype=type:0, extent=36");
	DO(MPI_Type_lb(t, &a), "datatype=type:0, displacement=0");
	DO(MPI_Type_ub(t, &a), "datatype=type:0, displacement=36");
	DO(MPI_Type_free(&t), "datatype=type:0");
	DO(MPI_Type_hindexed(2, lengths, places, MPI_INT, &t),
	   "count=2, array_of_blocklengths=[1,2], array_of_displacements=[0,16], "
	   "oldtype=MPI_INT, newtype=type:0");
	DO(MPI_Type_free(&t), "datatype=type:0");
	DO(MPI_Type_struct(2, lengths, places, parts, &t),
	   "count=2, array_of_blocklengths=[1,2], array_of_displacements=[0,16], "
	   "array_of_types=[MPI_INT,MPI_DOUBLE], newtype=type:0");
	DO(MPI_Type_free(&t), "datatype=type:0");
}

int main(void)
{
	begin();
	attributes();
	handlers();
	types();
	end();
	return 0;
}
