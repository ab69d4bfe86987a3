/* prog_attr.c - Attributes of communicators, types and windows, with callbacks that make MPI calls.
 * Also user-defined reductions and error handlers that make MPI calls. */
#include "log.h"

static int value, state;
static int copies, deletes;

/* Called inside Comm_dup: its calls are between the entry and the return of Comm_dup. */
static int copy_comm(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
	int size;

	(void)keyval;
	EXPECT(extra == &state);
	DO(MPI_Comm_size(comm, &size), "comm=MPI_COMM_WORLD, size=%d", size);
	*(void **)out = in;
	*flag = 1;
	copies++;
	return MPI_SUCCESS;
}

static int delete_comm(MPI_Comm comm, int keyval, void *val, void *extra)
{
	int flag;

	(void)keyval;
	(void)val;
	EXPECT(extra == &state);
	DO(MPI_Initialized(&flag), "flag=1");
	DO(MPI_Comm_test_inter(comm, &flag), "comm=%n, flag=0",
	   comm == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "comm:world.0");
	deletes++;
	return MPI_SUCCESS;
}

static void ask(MPI_Comm comm, const char *name, int keyval, int expected)
{
	void *got;
	int flag;

	DO(MPI_Comm_get_attr(comm, keyval, &got, &flag),
	   flag ? "comm=%n, comm_keyval=keyval:0, attribute_val=static:*, flag=1"
		: "comm=%n, comm_keyval=keyval:0, attribute_val=?, flag=0",
	   name);
	EXPECT(flag == expected && (!flag || got == &value));
}

static void on_communicators(void)
{
	int key, plain;
	MPI_Comm dup;

	DO(MPI_Comm_create_keyval(copy_comm, delete_comm, &key, &state),
	   "comm_copy_attr_fn=static:*, comm_delete_attr_fn=static:*, comm_keyval=keyval:0, "
	   "extra_state=static:*");
	DO(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &plain, NULL),
	   "comm_copy_attr_fn=MPI_COMM_NULL_COPY_FN, comm_delete_attr_fn=MPI_COMM_NULL_DELETE_FN, "
	   "comm_keyval=keyval:1, extra_state=NULL");
	ask(MPI_COMM_WORLD, "MPI_COMM_WORLD", key, 0);
	DO(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value),
	   "comm=MPI_COMM_WORLD, comm_keyval=keyval:0, attribute_val=static:*");
	DO(MPI_Comm_set_attr(MPI_COMM_WORLD, plain, NULL),
	   "comm=MPI_COMM_WORLD, comm_keyval=keyval:1, attribute_val=0");
	ask(MPI_COMM_WORLD, "MPI_COMM_WORLD", key, 1);
	DO(MPI_Comm_dup(MPI_COMM_WORLD, &dup), "comm=MPI_COMM_WORLD, newcomm=comm:world.0");
	EXPECT(copies == 1);
	ask(dup, "comm:world.0", key, 1);
	DO(MPI_Comm_delete_attr(MPI_COMM_WORLD, key), "comm=MPI_COMM_WORLD, comm_keyval=keyval:0");
	DO(MPI_Comm_delete_attr(MPI_COMM_WORLD, plain),
	   "comm=MPI_COMM_WORLD, comm_keyval=keyval:1");
	DO(MPI_Comm_free(&dup), "comm=comm:world.0");
	EXPECT(deletes == 2);
	DO(MPI_Comm_free_keyval(&key), "comm_keyval=keyval:0");
	DO(MPI_Comm_free_keyval(&plain), "comm_keyval=keyval:1");
	EXPECT(key == MPI_KEYVAL_INVALID);
}

static void predefined(void)
{
	void *got;
	int flag;

	DO(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &got, &flag),
	   "comm=MPI_COMM_WORLD, comm_keyval=MPI_TAG_UB, attribute_val=?, flag=1");
	DO(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &got, &flag),
	   "comm=MPI_COMM_WORLD, comm_keyval=MPI_UNIVERSE_SIZE, attribute_val=?, flag=%d", flag);
}

static int delete_type(MPI_Datatype type, int keyval, void *val, void *extra)
{
	double now;

	(void)type;
	(void)keyval;
	(void)val;
	(void)extra;
	GETS(now, MPI_Wtime(), NULL, "");
	return now < 0;
}

static void on_types(void)
{
	int key, flag;
	void *got;
	MPI_Datatype t, u;

	DO(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, delete_type, &key, NULL),
	   "type_copy_attr_fn=MPI_TYPE_DUP_FN, type_delete_attr_fn=static:*, type_keyval=keyval:0, "
	   "extra_state=NULL");
	DO(MPI_Type_contiguous(3, MPI_INT, &t), "count=3, oldtype=MPI_INT, newtype=type:0");
	DO(MPI_Type_set_attr(t, key, &value),
	   "datatype=type:0, type_keyval=keyval:0, attribute_val=static:*");
	DO(MPI_Type_dup(t, &u), "oldtype=type:0, newtype=type:1");
	DO(MPI_Type_get_attr(u, key, &got, &flag),
	   "datatype=type:1, type_keyval=keyval:0, attribute_val=static:*, flag=1");
	DO(MPI_Type_delete_attr(u, key), "datatype=type:1, type_keyval=keyval:0");
	DO(MPI_Type_free(&t), "datatype=type:0");
	DO(MPI_Type_free(&u), "datatype=type:1");
	DO(MPI_Type_free_keyval(&key), "type_keyval=keyval:0");
}

static int delete_win(MPI_Win win, int keyval, void *val, void *extra)
{
	int flag;

	(void)win;
	(void)keyval;
	(void)val;
	(void)extra;
	DO(MPI_Finalized(&flag), "flag=0");
	return MPI_SUCCESS;
}

static void on_windows(void)
{
	int key, flag;
	void *got;
	MPI_Win win;

	DO(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, &key, NULL),
	   "win_copy_attr_fn=MPI_WIN_NULL_COPY_FN, win_delete_attr_fn=static:*, "
	   "win_keyval=keyval:0, "
	   "extra_state=NULL");
	DO(MPI_Win_create(&value, sizeof(value), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win),
	   "base=static:*, size=4, disp_unit=1, info=MPI_INFO_NULL, comm=MPI_COMM_WORLD, "
	   "win=win:0");
	DO(MPI_Win_get_attr(win, MPI_WIN_BASE, &got, &flag),
	   "win=win:0, win_keyval=MPI_WIN_BASE, attribute_val=static:*, flag=1");
	DO(MPI_Win_get_attr(win, MPI_WIN_SIZE, &got, &flag),
	   "win=win:0, win_keyval=MPI_WIN_SIZE, attribute_val=?, flag=1");
	DO(MPI_Win_set_attr(win, key, &value),
	   "win=win:0, win_keyval=keyval:0, attribute_val=static:*");
	DO(MPI_Win_get_attr(win, key, &got, &flag),
	   "win=win:0, win_keyval=keyval:0, attribute_val=static:*, flag=1");
	DO(MPI_Win_delete_attr(win, key), "win=win:0, win_keyval=keyval:0");
	DO(MPI_Win_set_attr(win, key, NULL), "win=win:0, win_keyval=keyval:0, attribute_val=0");
	DO(MPI_Win_free(&win), "win=win:0");
	DO(MPI_Win_free_keyval(&key), "win_keyval=keyval:0");
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
	int *x = in, *y = inout;
	int size;

	DO(MPI_Type_size(*type, &size), "datatype=MPI_INT, size=4");
	for (int i = 0; i < *n; i++)
		y[i] += x[i];
}

/* The MPI library decides how often the operation runs, and on which rank. */
static void own_reduction(void)
{
	static int x, y;
	MPI_Op op;
	MPI_Request r;

	x = me;
	DO(MPI_Op_create(add, 0, &op), "user_fn=static:*, commute=0, op=op:0");
	DO(MPI_Allreduce(&x, &y, 1, MPI_INT, op, MPI_COMM_WORLD),
	   "sendbuf=static:*, recvbuf=static:*, count=1, datatype=MPI_INT, op=op:0, "
	   "comm=MPI_COMM_WORLD");
	EXPECT(y == procs * (procs - 1) / 2);
	DO(MPI_Iallreduce(&x, &y, 1, MPI_INT, op, MPI_COMM_WORLD, &r),
	   "sendbuf=static:*, recvbuf=static:*, count=1, datatype=MPI_INT, op=op:0, "
	   "comm=MPI_COMM_WORLD, request=%+",
	   &r);
	DO(MPI_Wait(&r, MPI_STATUS_IGNORE), "request=%q, status=MPI_STATUS_IGNORE", &r);
	DO(MPI_Op_free(&op), "op=op:0");
}

static void handle(MPI_Comm *comm, int *code, ...)
{
	int rank;

	(void)code;
	DO(MPI_Comm_rank(*comm, &rank), "comm=comm:world.0, rank=%d", rank);
}

static void own_handler(void)
{
	MPI_Comm dup;
	MPI_Errhandler handler, other;

	DO(MPI_Comm_dup(MPI_COMM_WORLD, &dup), "comm=MPI_COMM_WORLD, newcomm=comm:world.0");
	DO(MPI_Comm_create_errhandler(handle, &handler),
	   "comm_errhandler_fn=static:*, errhandler=errhandler:0");
	DO(MPI_Comm_set_errhandler(dup, handler), "comm=comm:world.0, errhandler=errhandler:0");
	DO(MPI_Comm_get_errhandler(dup, &other), "comm=comm:world.0, errhandler=errhandler:0");
	DO(MPI_Errhandler_free(&other), "errhandler=errhandler:0");
	DO(MPI_Comm_call_errhandler(dup, MPI_ERR_OTHER),
	   "comm=comm:world.0, errorcode=MPI_ERR_OTHER");
	FAILS("MPI_ERR_RANK", MPI_Send(&value, 1, MPI_INT, procs, 0, dup),
	      "buf=static:*, count=1, datatype=MPI_INT, dest=%d, tag=0, comm=comm:world.0", procs);
	DO(MPI_Comm_free(&dup), "comm=comm:world.0");
	DO(MPI_Errhandler_free(&handler), "errhandler=?");
}

/* Called by MPI_Finalize, while MPI still works. */
static int delete_self(MPI_Comm comm, int keyval, void *val, void *extra)
{
	int sum = 0;

	(void)comm;
	(void)keyval;
	(void)val;
	(void)extra;
	DO(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
	   "sendbuf=static:*, recvbuf=stack:*, count=1, datatype=MPI_INT, op=MPI_SUM, "
	   "comm=MPI_COMM_WORLD");
	EXPECT(sum == procs * (procs - 1) / 2);
	return MPI_SUCCESS;
}

static void on_self(void)
{
	static const char *const name[] = { "keyval:0", "keyval:1", "keyval:2" };
	int key;

	for (int i = 0; i < 3; i++) {
		DO(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_self, &key, NULL),
		   "comm_copy_attr_fn=MPI_COMM_NULL_COPY_FN, comm_delete_attr_fn=static:*, "
		   "comm_keyval=%n, extra_state=NULL",
		   name[i]);
		DO(MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL),
		   "comm=MPI_COMM_SELF, comm_keyval=%n, attribute_val=0", name[i]);
	}
}

int main(void)
{
	begin();
	on_communicators();
	predefined();
	on_types();
	on_windows();
	own_reduction();
	own_handler();
	on_self();
	end();
	return 0;
}
