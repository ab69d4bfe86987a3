/* prog_env.c - Infos, errors and their handlers, memory, and queries about the MPI library. */
#include "log.h"

#include <string.h>

static int flag, n;

static void about(void)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING];
	double when;
	int version, subversion, level;

	DO(MPI_Initialized(&flag), "flag=%d", flag);
	DO(MPI_Finalized(&flag), "flag=%d", flag);
	DO(MPI_Get_version(&version, &subversion), "version=%d, subversion=%d", version,
	   subversion);
	DO(MPI_Get_library_version(text, &n), "version=%s, resultlen=%d", text, n);
	DO(MPI_Get_processor_name(text, &n), "name=%s, resultlen=%d", text, n);
	DO(MPI_Query_thread(&level), "provided=MPI_THREAD_SINGLE");
	EXPECT(level == MPI_THREAD_SINGLE);
	DO(MPI_Is_thread_main(&flag), "flag=1");
	GETS(when, MPI_Wtime(), NULL, "");
	EXPECT(when >= 0);
	GETS(when, MPI_Wtick(), "?", "");
}

static void look_up(MPI_Info info, const char *key)
{
	char text[64];

	DO(MPI_Info_get(info, key, 63, text, &flag),
	   flag ? "info=info:0, key=%s, valuelen=63, value=%s, flag=1"
		: "info=info:0, key=%s, valuelen=63, value=?, flag=0",
	   key, text);
	DO(MPI_Info_get_valuelen(info, key, &n, &flag),
	   flag ? "info=info:0, key=%s, valuelen=%d, flag=1"
		: "info=info:0, key=%s, valuelen=?, flag=0",
	   key, n);
#if MPI_VERSION >= 4
	n = 64;
	DO(MPI_Info_get_string(info, key, &n, text, &flag),
	   flag ? "info=info:0, key=%s, buflen=%d, value=%s, flag=1"
		: "info=info:0, key=%s, buflen=?, value=?, flag=0",
	   key, n, text);
#endif
}

static void infos(void)
{
	char key[MPI_MAX_INFO_KEY + 1];
	MPI_Info info, copy;

	DO(MPI_Info_create(&info), "info=info:0");
	DO(MPI_Info_set(info, "first", "1"), "info=info:0, key='first', value='1'");
	DO(MPI_Info_set(info, "second key", "a \"longer\" value"),
	   "info=info:0, key='second key', value=%s", "a \"longer\" value");
	DO(MPI_Info_set(info, "umlaut", "\xc3\xa4"), "info=info:0, key='umlaut', value=%s",
	   "\xc3\xa4");
	DO(MPI_Info_get_nkeys(info, &n), "info=info:0, nkeys=3");
	DO(MPI_Info_get_nthkey(info, 1, key), "info=info:0, n=1, key=%s", key);
	look_up(info, "first");
	look_up(info, "second key");
	look_up(info, "none");
	DO(MPI_Info_dup(info, &copy), "info=info:0, newinfo=info:1");
	DO(MPI_Info_delete(info, "first"), "info=info:0, key='first'");
	DO(MPI_Info_free(&info), "info=info:0");
	EXPECT(info == MPI_INFO_NULL);
	DO(MPI_Info_create(&info), "info=info:0");
	DO(MPI_Info_free(&copy), "info=info:1");
	DO(MPI_Info_free(&info), "info=info:0");
	DO(MPI_Info_get(MPI_INFO_ENV, "no such key", 8, key, &flag),
	   "info=MPI_INFO_ENV, key='no such key', valuelen=8, value=?, flag=0");
}

/* The values of classes and codes depend on the implementation. */
static void errors(void)
{
	int class, code;
	char text[MPI_MAX_ERROR_STRING];

	DO(MPI_Add_error_class(&class), "errorclass=?");
	DO(MPI_Add_error_code(class, &code), "errorclass=?, errorcode=?");
	DO(MPI_Add_error_string(code, "too blue"), "errorcode=?, string='too blue'");
	DO(MPI_Error_string(code, text, &n), "errorcode=?, string='too blue', resultlen=8");
	DO(MPI_Error_class(code, &class), "errorcode=?, errorclass=?");
	DO(MPI_Error_class(MPI_ERR_RANK, &class),
	   "errorcode=MPI_ERR_RANK, errorclass=MPI_ERR_RANK");
	DO(MPI_Error_string(MPI_ERR_TAG, text, &n),
	   "errorcode=MPI_ERR_TAG, string=%s, resultlen=%d", text, n);
}

static void failing(void)
{
	MPI_Errhandler old;
	int x = 0;

	DO(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &old),
	   "comm=MPI_COMM_WORLD, errhandler=MPI_ERRORS_ARE_FATAL");
	DO(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN),
	   "comm=MPI_COMM_WORLD, errhandler=MPI_ERRORS_RETURN");
	FAILS("MPI_ERR_RANK", MPI_Send(&x, 1, MPI_INT, procs + 5, 0, MPI_COMM_WORLD),
	      "buf=stack:*, count=1, datatype=MPI_INT, dest=%d, tag=0, comm=MPI_COMM_WORLD",
	      procs + 5);
	FAILS("MPI_ERR_TAG", MPI_Recv(&x, 1, MPI_INT, 0, -7, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
	      "buf=stack:*, count=1, datatype=MPI_INT, source=0, tag=-7, comm=MPI_COMM_WORLD, "
	      "status=MPI_STATUS_IGNORE");
	FAILS("MPI_ERR_COUNT", MPI_Bcast(&x, -1, MPI_INT, 0, MPI_COMM_WORLD),
	      "buffer=stack:*, count=-1, datatype=MPI_INT, root=0, comm=MPI_COMM_WORLD");
	DO(MPI_Comm_set_errhandler(MPI_COMM_WORLD, old),
	   "comm=MPI_COMM_WORLD, errhandler=MPI_ERRORS_ARE_FATAL");
}

static int handled;

static void handle_win(MPI_Win *win, int *code, ...)
{
	(void)win;
	(void)code;
	handled++;
}

static void handle_file(MPI_File *file, int *code, ...)
{
	(void)file;
	(void)code;
	handled++;
}

/* The name identifies the handler: two kinds of handlers are one kind of object. */
static void handlers(void)
{
	static int x;
	MPI_Errhandler of_win, of_file, got;
	MPI_Win win;

	DO(MPI_Win_create(&x, sizeof(x), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win),
	   "base=static:*, size=4, disp_unit=1, info=MPI_INFO_NULL, comm=MPI_COMM_WORLD, "
	   "win=win:0");
	DO(MPI_Win_create_errhandler(handle_win, &of_win),
	   "win_errhandler_fn=static:*, errhandler=errhandler:0");
	DO(MPI_File_create_errhandler(handle_file, &of_file),
	   "file_errhandler_fn=static:*, errhandler=errhandler:1");
	DO(MPI_Win_set_errhandler(win, of_win), "win=win:0, errhandler=errhandler:0");
	DO(MPI_Win_call_errhandler(win, MPI_ERR_OTHER), "win=win:0, errorcode=MPI_ERR_OTHER");
	DO(MPI_Win_get_errhandler(win, &got), "win=win:0, errhandler=errhandler:0");
	EXPECT(got == of_win);
	DO(MPI_Errhandler_free(&got), "errhandler=errhandler:0");
	DO(MPI_File_set_errhandler(MPI_FILE_NULL, of_file),
	   "file=MPI_FILE_NULL, errhandler=errhandler:1");
	DO(MPI_File_get_errhandler(MPI_FILE_NULL, &got),
	   "file=MPI_FILE_NULL, errhandler=errhandler:1");
	DO(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN),
	   "file=MPI_FILE_NULL, errhandler=MPI_ERRORS_RETURN");
	EXPECT(handled == 1);
	DO(MPI_Win_free(&win), "win=win:0");
}

static void memory(void)
{
	int *p;

	DO(MPI_Alloc_mem(400, MPI_INFO_NULL, &p), "size=400, info=MPI_INFO_NULL, baseptr=?");
	p[2] = me;
	DO(MPI_Bcast(p + 2, 1, MPI_INT, 0, MPI_COMM_SELF),
	   "buffer=?, count=1, datatype=MPI_INT, root=0, comm=MPI_COMM_SELF");
	DO(MPI_Free_mem(p), "base=?");
}

#ifdef OPEN_MPI
/* MPICH defines these functions as macros or lacks them. For the functions after #else, the same
 * holds in Open MPI. */
static void of_one_mpi(void)
{
	MPI_Fint f;
	MPI_Comm comm;
	MPI_Datatype type;
	MPI_Group group;
	MPI_Info info;
	MPI_Op op;
	MPI_Errhandler handler;
	MPI_Request request;
	MPI_Message message;
	MPI_Win win;
	MPI_File file;

	GETS(f, MPI_Comm_c2f(MPI_COMM_WORLD), NULL, "comm=MPI_COMM_WORLD");
	GETS(comm, MPI_Comm_f2c(f), NULL, "comm=?");
	EXPECT(comm == MPI_COMM_WORLD);
	GETS(f, MPI_Type_c2f(MPI_INT), NULL, "datatype=MPI_INT");
	GETS(type, MPI_Type_f2c(f), NULL, "datatype=?");
	EXPECT(type == MPI_INT);
	GETS(f, MPI_Group_c2f(MPI_GROUP_EMPTY), NULL, "group=MPI_GROUP_EMPTY");
	GETS(group, MPI_Group_f2c(f), NULL, "group=?");
	GETS(f, MPI_Info_c2f(MPI_INFO_NULL), NULL, "info=MPI_INFO_NULL");
	GETS(info, MPI_Info_f2c(f), NULL, "info=?");
	GETS(f, MPI_Op_c2f(MPI_SUM), NULL, "op=MPI_SUM");
	GETS(op, MPI_Op_f2c(f), NULL, "op=?");
	GETS(f, MPI_Errhandler_c2f(MPI_ERRORS_RETURN), NULL, "errhandler=MPI_ERRORS_RETURN");
	GETS(handler, MPI_Errhandler_f2c(f), NULL, "errhandler=?");
	GETS(f, MPI_Request_c2f(MPI_REQUEST_NULL), NULL, "request=MPI_REQUEST_NULL");
	GETS(request, MPI_Request_f2c(f), NULL, "request=?");
	GETS(f, MPI_Message_c2f(MPI_MESSAGE_NULL), NULL, "message=MPI_MESSAGE_NULL");
	GETS(message, MPI_Message_f2c(f), NULL, "message=?");
	GETS(f, MPI_Win_c2f(MPI_WIN_NULL), NULL, "win=MPI_WIN_NULL");
	GETS(win, MPI_Win_f2c(f), NULL, "win=?");
	GETS(f, MPI_File_c2f(MPI_FILE_NULL), NULL, "file=MPI_FILE_NULL");
	GETS(file, MPI_File_f2c(f), NULL, "file=?");
	EXPECT(handler == MPI_ERRORS_RETURN && request == MPI_REQUEST_NULL && win == MPI_WIN_NULL);
	EXPECT(message == MPI_MESSAGE_NULL && file == MPI_FILE_NULL);
	EXPECT(group == MPI_GROUP_EMPTY && info == MPI_INFO_NULL && op == MPI_SUM);
}
#else
static void of_one_mpi(void)
{
	char *arguments[] = { "prog_env", "x", NULL };
	MPI_Info info;
	MPI_Aint a;

	DO(MPI_Info_create_env(2, arguments, &info), "argc=2, argv=['prog_env','x'], info=info:0");
	DO(MPI_Info_free(&info), "info=info:0");

	GETS(a, MPI_Aint_add(100, 20), NULL, "base=100, disp=20");
	GETS(a, MPI_Aint_diff(a, 100), NULL, "addr1=120, addr2=100");
	EXPECT(a == 20);
}
#endif

/* With an argument, the program also makes a call at the end. */
int main(int argc, char **argv)
{
	(void)argv;
	DO(MPI_Initialized(&flag), "flag=0");
	begin();
	about();
	infos();
	errors();
	failing();
	handlers();
	memory();
	of_one_mpi();
	end();
	if (argc > 1)
		DO(MPI_Finalized(&flag), "flag=1");
	return 0;
}
