/* prog_invalid.c - Calls with every kind of invalid argument that the MPI library survives: NULL,
 * negative and much too large lengths, null handles and invalid handles. Prints the result of each,
 * and the number of error handler calls meanwhile: a tracer must not change them. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NO(handle) ((handle)(uintptr_t)0x1234560)

static int handled;

static void handle_comm(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	handled++;
}

static void handle_win(MPI_Win *win, int *code, ...)
{
	(void)win;
	(void)code;
	handled++;
}

static void print(const char *call, int ret)
{
	int class = ret, before = handled;

	if (ret != 4711)
		MPI_Error_class(ret, &class);
	printf("%s = %d, handled %d\n", call, class, before);
	fflush(stdout);
	handled = 0;
}

#define CALL(call) print(#call, call)

static int i, flag, many[4] = { 1, 1, 1, 1 };
static char text[MPI_MAX_INFO_VAL + 1];
static MPI_Aint address;
static MPI_Comm comm;
static MPI_Datatype type;
static MPI_Group group;
static MPI_Request request;
static MPI_Status status, statuses[4];
static const MPI_Comm world = MPI_COMM_WORLD;

/* Calls that crash with the other implementation. */
#ifdef OPEN_MPI
#define IN_OMPI(call)  CALL(call)
#define IN_MPICH(call) (void)0
#else
#define IN_OMPI(call)  (void)0
#define IN_MPICH(call) CALL(call)
#endif

static void messages(void)
{
	CALL(MPI_Send(&i, -1, MPI_INT, 0, 1, world));
	CALL(MPI_Send(&i, 1, MPI_DATATYPE_NULL, 0, 1, world));
	CALL(MPI_Send(&i, 1, MPI_INT, 77, 1, world));
	CALL(MPI_Send(&i, 1, MPI_INT, 0, -5, world));
	CALL(MPI_Send(&i, 1, MPI_INT, 0, 1, MPI_COMM_NULL));
	IN_MPICH(MPI_Send(&i, 1, MPI_INT, 0, 1, NO(MPI_Comm)));
	IN_MPICH(MPI_Send(&i, 1, NO(MPI_Datatype), 0, 1, world));
	CALL(MPI_Recv(&i, -1, MPI_INT, 0, 1, world, &status));
	CALL(MPI_Recv(&i, 1, MPI_INT, -77, 1, world, MPI_STATUS_IGNORE));
	CALL(MPI_Irecv(&i, 1, MPI_INT, -77, 1, world, &request));
	CALL(MPI_Isend(&i, 1, MPI_INT, 0, 1, world, NULL));
	CALL(MPI_Sendrecv(NULL, -1, MPI_INT, 0, 1, NULL, 1, MPI_INT, 0, 1, world, &status));
	CALL(MPI_Probe(77, 1, world, &status));
	CALL(MPI_Iprobe(0, -5, world, &flag, MPI_STATUS_IGNORE));
	CALL(MPI_Get_count(&status, MPI_DATATYPE_NULL, &i));
	CALL(MPI_Start(NULL));
	CALL(MPI_Startall(-1, NULL));
	CALL(MPI_Startall(0, NULL));
	CALL(MPI_Cancel(NULL));
	CALL(MPI_Request_free(NULL));
	IN_MPICH(MPI_Get_count(NULL, MPI_INT, &i));
	IN_MPICH(MPI_Test_cancelled(NULL, &flag));
}

static void waits(void)
{
	MPI_Request none[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };

	CALL(MPI_Wait(NULL, &status));
	CALL(MPI_Wait(NULL, MPI_STATUS_IGNORE));
	CALL(MPI_Test(NULL, &flag, &status));
	CALL(MPI_Test(none, NULL, &status));
	CALL(MPI_Request_get_status(MPI_REQUEST_NULL, NULL, &status));
	CALL(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
	CALL(MPI_Waitall(-1, NULL, statuses));
	CALL(MPI_Waitall(2, NULL, statuses));
	CALL(MPI_Waitall(2, none, MPI_STATUSES_IGNORE));
	CALL(MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE));
	CALL(MPI_Testall(-1, NULL, &flag, statuses));
	CALL(MPI_Testall(2, none, NULL, statuses));
	CALL(MPI_Testall(2, NULL, &flag, MPI_STATUSES_IGNORE));
	CALL(MPI_Waitany(0, NULL, &i, MPI_STATUS_IGNORE));
	CALL(MPI_Waitany(-1, none, &i, &status));
	CALL(MPI_Waitany(2, none, NULL, &status));
	CALL(MPI_Waitany(2, NULL, &i, &status));
	CALL(MPI_Testany(0, NULL, &i, &flag, &status));
	CALL(MPI_Testany(2, none, NULL, NULL, &status));
	CALL(MPI_Testany(-1, NULL, &i, &flag, MPI_STATUS_IGNORE));
	CALL(MPI_Waitsome(0, NULL, &i, NULL, MPI_STATUSES_IGNORE));
	CALL(MPI_Waitsome(2, none, NULL, NULL, statuses));
	CALL(MPI_Waitsome(-1, none, &i, many, statuses));
	CALL(MPI_Testsome(0, NULL, &i, many, statuses));
	CALL(MPI_Testsome(2, NULL, &i, many, statuses));
	CALL(MPI_Testsome(2, none, NULL, many, statuses));
	IN_MPICH(MPI_Wait(none, NULL));
	IN_MPICH(MPI_Waitall(2, none, NULL));
}

static void collectives(void)
{
	CALL(MPI_Barrier(MPI_COMM_NULL));
	IN_MPICH(MPI_Barrier(NO(MPI_Comm)));
	CALL(MPI_Bcast(NULL, -1, MPI_INT, 0, world));
	CALL(MPI_Bcast(&i, 1, MPI_INT, 77, world));
	CALL(MPI_Bcast(&i, 1, MPI_INT, MPI_ROOT, world));
	CALL(MPI_Bcast(&i, 1, MPI_INT, MPI_PROC_NULL, world));
	CALL(MPI_Gather(&i, 1, MPI_DATATYPE_NULL, many, 1, MPI_INT, 0, world));
	CALL(MPI_Gather(&i, 1, MPI_INT, many, -1, MPI_INT, 0, world));
	CALL(MPI_Gather(&i, 1, MPI_INT, many, 1, MPI_INT, 0, MPI_COMM_NULL));
	IN_OMPI(MPI_Gatherv(&i, 1, MPI_INT, many, NULL, NULL, MPI_INT, 0, world));
	CALL(MPI_Gatherv(&i, 1, MPI_INT, many, many, many, MPI_INT, 0, MPI_COMM_NULL));
	IN_MPICH(MPI_Gatherv(&i, 1, MPI_INT, many, many, many, MPI_INT, 0, NO(MPI_Comm)));
	IN_MPICH(MPI_Gather(&i, 1, NO(MPI_Datatype), many, 1, NO(MPI_Datatype), 0, world));
	IN_OMPI(MPI_Scatterv(many, NULL, NULL, MPI_INT, &i, 1, MPI_INT, 0, world));
	IN_OMPI(MPI_Allgatherv(&i, 1, MPI_INT, many, NULL, NULL, MPI_INT, world));
	IN_OMPI(MPI_Alltoallv(&i, NULL, NULL, MPI_INT, many, NULL, NULL, MPI_INT, world));
	IN_OMPI(MPI_Alltoallw(&i, NULL, NULL, NULL, many, NULL, NULL, NULL, world));
	CALL(MPI_Alltoallw(&i, many, many, NULL, many, many, many, NULL, MPI_COMM_NULL));
	CALL(MPI_Reduce(&i, many, 1, MPI_INT, MPI_OP_NULL, 0, world));
	CALL(MPI_Reduce(&i, many, 1, MPI_DATATYPE_NULL, MPI_SUM, 0, world));
	IN_OMPI(MPI_Allreduce(&i, many, -1, MPI_INT, MPI_SUM, world));
	IN_OMPI(MPI_Reduce_scatter(&i, many, NULL, MPI_INT, MPI_SUM, world));
	CALL(MPI_Reduce_local(&i, many, 1, MPI_INT, MPI_OP_NULL));
	CALL(MPI_Ibarrier(MPI_COMM_NULL, &request));
	CALL(MPI_Ibcast(&i, -1, MPI_INT, 0, world, &request));
	CALL(MPI_Neighbor_allgather(&i, 1, MPI_INT, many, 1, MPI_INT, world));
	CALL(MPI_Neighbor_allgatherv(&i, 1, MPI_INT, many, NULL, NULL, MPI_INT, MPI_COMM_NULL));
}

static void types(void)
{
	MPI_Datatype null = MPI_DATATYPE_NULL, predefined = MPI_INT;
	int n[4], wanted[1] = { -1 };
	MPI_Datatype found[1];

	CALL(MPI_Type_contiguous(-1, MPI_INT, &type));
	CALL(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type));
	CALL(MPI_Type_contiguous(1, MPI_INT, NULL));
	CALL(MPI_Type_vector(-1, 1, 1, MPI_INT, &type));
	CALL(MPI_Type_indexed(-1, NULL, NULL, MPI_INT, &type));
	CALL(MPI_Type_indexed(2, NULL, NULL, MPI_INT, &type));
	CALL(MPI_Type_create_struct(-1, NULL, NULL, NULL, &type));
	CALL(MPI_Type_create_struct(2, many, NULL, NULL, &type));
	CALL(MPI_Type_create_hindexed(2, many, NULL, MPI_INT, &type));
	CALL(MPI_Type_create_subarray(-1, NULL, NULL, NULL, MPI_ORDER_C, MPI_INT, &type));
	CALL(MPI_Type_create_subarray(2, NULL, NULL, NULL, MPI_ORDER_C, MPI_INT, &type));
	CALL(MPI_Type_create_darray(1, 0, -1, NULL, NULL, NULL, NULL, MPI_ORDER_C, MPI_INT, &type));
	CALL(MPI_Type_create_resized(MPI_DATATYPE_NULL, 0, 1, &type));
	IN_OMPI(MPI_Type_commit(NULL));
	CALL(MPI_Type_commit(&null));
	IN_OMPI(MPI_Type_free(NULL));
	CALL(MPI_Type_free(&null));
	CALL(MPI_Type_free(&predefined));
	CALL(MPI_Type_size(MPI_DATATYPE_NULL, &i));
	CALL(MPI_Type_size(MPI_INT, NULL));
	CALL(MPI_Type_get_envelope(MPI_DATATYPE_NULL, &n[0], &n[1], &n[2], &n[3]));
	CALL(MPI_Type_get_contents(MPI_INT, 1, 1, 1, wanted, &address, found));
	CALL(MPI_Type_get_name(MPI_DATATYPE_NULL, text, &i));
	CALL(MPI_Pack(NULL, -1, MPI_INT, text, 10, &i, world));
	CALL(MPI_Unpack(text, -1, &i, &i, 1, MPI_INT, world));
	CALL(MPI_Get_address(&i, NULL));
	IN_MPICH(MPI_Type_size(NO(MPI_Datatype), &i));
	IN_MPICH(MPI_Type_contiguous(1, NO(MPI_Datatype), &type));
}

static void groups(void)
{
	MPI_Group null = MPI_GROUP_NULL;
	int range[1][3] = { { 0, 77, 1 } };

	MPI_Comm_group(world, &group);
	CALL(MPI_Group_incl(group, -1, NULL, &null));
	IN_OMPI(MPI_Group_incl(group, 2, NULL, &null));
	CALL(MPI_Group_incl(group, 0, NULL, &null));
	CALL(MPI_Group_excl(group, 2, many, &null));
	CALL(MPI_Group_incl(group, 1000000000, many, &null));
	CALL(MPI_Group_range_incl(group, 1, range, &null));
	CALL(MPI_Group_range_excl(group, -1, NULL, &null));
	CALL(MPI_Group_translate_ranks(group, -1, NULL, group, NULL));
	CALL(MPI_Group_translate_ranks(group, 0, NULL, group, NULL));
	CALL(MPI_Group_size(MPI_GROUP_NULL, &i));
	CALL(MPI_Group_free(NULL));
	null = MPI_GROUP_NULL;
	CALL(MPI_Group_free(&null));
	MPI_Group_free(&group);
}

static void communicators(void)
{
	MPI_Comm null = MPI_COMM_NULL;

	CALL(MPI_Comm_size(MPI_COMM_NULL, &i));
	CALL(MPI_Comm_rank(world, NULL));
	CALL(MPI_Comm_dup(MPI_COMM_NULL, &comm));
	CALL(MPI_Comm_split(world, -77, 0, &comm));
	CALL(MPI_Comm_split(world, 0, 0, NULL));
	CALL(MPI_Comm_create(world, MPI_GROUP_NULL, &comm));
	IN_MPICH(MPI_Comm_free(NULL));
	CALL(MPI_Comm_free(&null));
	IN_MPICH(MPI_Comm_disconnect(NULL));
	CALL(MPI_Comm_get_name(world, NULL, &i));
	CALL(MPI_Comm_set_name(world, NULL));
	CALL(MPI_Intercomm_create(world, 77, world, 0, 1, &comm));
	IN_OMPI(MPI_Intercomm_merge(world, 0, &comm));
	CALL(MPI_Comm_remote_size(world, &i));
	CALL(MPI_Cart_create(world, -1, NULL, NULL, 0, &comm));
	CALL(MPI_Cart_create(world, 1, NULL, NULL, 0, &comm));
	IN_OMPI(MPI_Cart_get(world, 1, many, many, many));
	CALL(MPI_Cart_coords(world, 0, 1, many));
	CALL(MPI_Cart_rank(world, many, &i));
	CALL(MPI_Cart_sub(world, many, &comm));
	CALL(MPI_Cart_shift(world, 0, 1, &i, &i));
	CALL(MPI_Dims_create(-1, 1, many));
	CALL(MPI_Graph_create(world, 1, NULL, NULL, 0, &comm));
	CALL(MPI_Graph_get(world, 1, 1, many, many));
	CALL(MPI_Graph_neighbors(world, 0, 1, many));
	CALL(MPI_Dist_graph_create_adjacent(world, -1, NULL, NULL, 0, NULL, NULL, MPI_INFO_NULL, 0,
					    &comm));
	CALL(MPI_Dist_graph_neighbors(world, 1, many, many, 1, many, many));
	CALL(MPI_Topo_test(MPI_COMM_NULL, &i));
	IN_MPICH(MPI_Comm_size(NO(MPI_Comm), &i));
	IN_MPICH(MPI_Comm_dup(NO(MPI_Comm), &comm));
	IN_MPICH(MPI_Cart_coords(NO(MPI_Comm), 0, 1, many));
}

/* The calls return as many dimensions as there is room for, and no more. */
static void too_little_room(void)
{
	int dims[] = { 1, 1, 1 }, room[] = { -1, -1, -1 };
	MPI_Comm grid;

	MPI_Cart_create(world, 3, dims, (int[]){ 0, 0, 0 }, 0, &grid);
	CALL(MPI_Cart_coords(grid, 0, 1, room));
	CALL(MPI_Cart_get(grid, 1, room, room, room));
	MPI_Comm_free(&grid);
}

static int refuse(MPI_Comm c, int keyval, void *value, void *state)
{
	(void)c;
	(void)keyval;
	(void)value;
	(void)state;
	return 4711;
}

static void attributes(void)
{
	MPI_Info info;
	int keyval;

	CALL(MPI_Comm_get_attr(world, MPI_KEYVAL_INVALID, &address, &flag));
	CALL(MPI_Comm_delete_attr(world, MPI_KEYVAL_INVALID));
	CALL(MPI_Comm_free_keyval(NULL));
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse, &keyval, NULL);
	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	MPI_Comm_set_attr(comm, keyval, &i);
	handled = 0;
	CALL(MPI_Comm_delete_attr(comm, keyval));
	MPI_Info_create(&info);
	CALL(MPI_Info_set(info, NULL, NULL));
	CALL(MPI_Info_set(info, "key", NULL));
	CALL(MPI_Info_set(MPI_INFO_NULL, "key", "value"));
	CALL(MPI_Info_get(info, "key", -1, text, &flag));
	CALL(MPI_Info_get(info, NULL, 1, text, &flag));
	CALL(MPI_Info_get_nthkey(info, 77, text));
	CALL(MPI_Info_delete(info, "key"));
	CALL(MPI_Info_free(NULL));
	MPI_Info_free(&info);
	CALL(MPI_Op_create(NULL, 1, NULL));
	CALL(MPI_Op_free(NULL));
	CALL(MPI_Errhandler_free(NULL));
	CALL(MPI_Comm_set_errhandler(world, MPI_ERRHANDLER_NULL));
	IN_MPICH(MPI_Error_string(0, NULL, &i));
	CALL(MPI_Add_error_string(-1, "none"));
}

static void windows(void)
{
	MPI_Win null = MPI_WIN_NULL, win;
	MPI_Errhandler eh;

	MPI_Win_create(many, sizeof(many), 1, MPI_INFO_NULL, world, &win);
	MPI_Win_create_errhandler(handle_win, &eh);
	MPI_Win_set_errhandler(win, eh);
	CALL(MPI_Put(&i, -1, MPI_INT, 0, 0, 1, MPI_INT, win));
	CALL(MPI_Put(&i, 1, MPI_INT, 77, 0, 1, MPI_INT, win));
	CALL(MPI_Get(&i, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win));
	CALL(MPI_Accumulate(&i, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win));
	CALL(MPI_Win_lock(-7, 0, 0, win));
	CALL(MPI_Win_fence(0, MPI_WIN_NULL));
	IN_MPICH(MPI_Win_free(NULL));
	CALL(MPI_Win_free(&null));
	CALL(MPI_Win_create(NULL, -1, 1, MPI_INFO_NULL, world, &null));
	IN_MPICH(MPI_Win_free(&(MPI_Win){ NO(MPI_Win) }));
	MPI_Win_free(&win);
	MPI_Errhandler_free(&eh);
}

/* Errors of files are returned by default. */
static void files(void)
{
	MPI_File file;

	CALL(MPI_File_open(world, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
	CALL(MPI_File_open(world, "/nowhere/at/all", 0, MPI_INFO_NULL, &file));
	CALL(MPI_File_read(MPI_FILE_NULL, many, 1, MPI_INT, MPI_STATUS_IGNORE));
	CALL(MPI_File_write_at(MPI_FILE_NULL, 0, many, 1, MPI_INT, &status));
	CALL(MPI_File_get_size(MPI_FILE_NULL, NULL));
	MPI_File_open(world, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
	CALL(MPI_File_write(file, many, -1, MPI_INT, &status));
	CALL(MPI_File_write(file, many, 1, MPI_DATATYPE_NULL, &status));
	CALL(MPI_File_seek(file, -1, MPI_SEEK_SET));
	MPI_File_close(&file);
}

static void tools(void)
{
	int provided, length = 0, indices[1];

	CALL(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
	CALL(MPI_T_category_get_num(NULL));
	CALL(MPI_T_category_get_cvars(-1, 1, indices));
	CALL(MPI_T_category_get_cvars(0, 0, NULL));
	CALL(MPI_T_category_get_cvars(100000, 1, indices));
	CALL(MPI_T_category_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
	CALL(MPI_T_category_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
	CALL(MPI_T_cvar_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
	CALL(MPI_T_cvar_get_info(0, text, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
	CALL(MPI_T_cvar_get_info(-1, text, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
	CALL(MPI_T_cvar_get_index("no such variable", &i));
	CALL(MPI_T_finalize());
}

int main(int argc, char **argv)
{
	MPI_Errhandler eh;

	MPI_Init(&argc, &argv);
	MPI_Comm_create_errhandler(handle_comm, &eh);
	MPI_Comm_set_errhandler(world, eh);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, eh);
	messages();
	waits();
	collectives();
	types();
	groups();
	communicators();
	too_little_room();
	attributes();
	windows();
	files();
	tools();
	MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
	MPI_Errhandler_free(&eh);
	MPI_Finalize();
	return 0;
}
