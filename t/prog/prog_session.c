/* prog_session.c - Sessions (MPI-4), together with the world; with the argument "only", without it.
 */
#include "log.h"

#include <string.h>

static MPI_Session session;
static int rank, size;

static void handle(MPI_Session *s, int *code, ...)
{
	(void)s;
	(void)code;
}

static void psets(void)
{
	char name[MPI_MAX_PSET_NAME_LEN];
	int n, length;
	MPI_Info info;

	DO(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n),
	   "session=session:0, info=MPI_INFO_NULL, npset_names=%d", n);
	for (int i = 0; i < n; i++) {
		length = 0;
		DO(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL),
		   "session=session:0, info=MPI_INFO_NULL, n=%d, pset_len=%d, pset_name=?", i,
		   length);
		DO(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name),
		   "session=session:0, info=MPI_INFO_NULL, n=%d, pset_len=%d, pset_name=%s", i,
		   length, name);
		DO(MPI_Session_get_pset_info(session, name, &info),
		   "session=session:0, pset_name=%s, info=info:0", name);
		DO(MPI_Info_free(&info), "info=info:0");
	}
	DO(MPI_Session_get_info(session, &info), "session=session:0, info_used=info:0");
	DO(MPI_Info_free(&info), "info=info:0");
}

static void handlers(void)
{
	MPI_Errhandler own, got;

	DO(MPI_Session_create_errhandler(handle, &own),
	   "session_errhandler_fn=static:*, errhandler=errhandler:0");
	DO(MPI_Session_set_errhandler(session, own), "session=session:0, errhandler=errhandler:0");
	DO(MPI_Session_get_errhandler(session, &got), "session=session:0, errhandler=errhandler:0");
	DO(MPI_Session_call_errhandler(session, MPI_ERR_OTHER),
	   "session=session:0, errorcode=MPI_ERR_OTHER");
	DO(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN),
	   "session=session:0, errhandler=MPI_ERRORS_RETURN");
	DO(MPI_Errhandler_free(&own), "errhandler=errhandler:0");
}

static void communicate(MPI_Comm comm)
{
	int x = 1, y;

	DO(MPI_Comm_rank(comm, &rank), "comm=comm:$first, rank=%d", rank);
	DO(MPI_Comm_size(comm, &size), "comm=comm:$first, size=%d", size);
	DO(MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, comm),
	   "sendbuf=stack:*, recvbuf=stack:*, count=1, datatype=MPI_INT, op=MPI_SUM, "
	   "comm=comm:$first");
	EXPECT(y == size);
}

/* The lower half and the upper half, which have never had a common communicator. */
static void between(MPI_Group world)
{
	int low = size / 2, inside = rank < low, n;
	int lower[3] = { 0, low - 1, 1 }, upper[3] = { low, size - 1, 1 };
	MPI_Group ours, theirs;
	MPI_Comm inter;

	DO(MPI_Group_range_incl(world, 1, inside ? &lower : &upper, &ours),
	   "group=group:0, n=1, ranges=[%*d], newgroup=group:1", 3, inside ? lower : upper);
	DO(MPI_Group_range_incl(world, 1, inside ? &upper : &lower, &theirs),
	   "group=group:0, n=1, ranges=[%*d], newgroup=group:2", 3, inside ? upper : lower);
	DO(MPI_Intercomm_create_from_groups(ours, 0, theirs, 0, "test://between", MPI_INFO_NULL,
					    MPI_ERRORS_RETURN, &inter),
	   "local_group=group:1, local_leader=0, remote_group=group:2, remote_leader=0, "
	   "stringtag='test://between', info=MPI_INFO_NULL, errhandler=MPI_ERRORS_RETURN, "
	   "newintercomm=comm:$inter");
	DO(MPI_Comm_remote_size(inter, &n), "comm=comm:$inter, size=%d", inside ? size - low : low);
	DO(MPI_Comm_free(&inter), "comm=comm:$inter");
	DO(MPI_Group_free(&ours), "group=group:1");
	DO(MPI_Group_free(&theirs), "group=group:2");
}

int main(int argc, char **argv)
{
	int only = argc > 1 && !strcmp(argv[1], "only");
	MPI_Group world;
	MPI_Comm comm;

	if (!only)
		begin();
	DO(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session),
	   "info=MPI_INFO_NULL, errhandler=MPI_ERRORS_RETURN, session=session:0");
	psets();
	handlers();
	DO(MPI_Group_from_session_pset(session, "mpi://WORLD", &world),
	   "session=session:0, pset_name='mpi://WORLD', newgroup=group:0");
	DO(MPI_Comm_create_from_group(world, "test://first", MPI_INFO_NULL, MPI_ERRORS_RETURN,
				      &comm),
	   "group=group:0, stringtag='test://first', info=MPI_INFO_NULL, "
	   "errhandler=MPI_ERRORS_RETURN, newcomm=comm:$first");
	communicate(comm);
	if (!only)
		between(world);
	DO(MPI_Comm_free(&comm), "comm=comm:$first");
	DO(MPI_Group_free(&world), "group=group:0");
	DO(MPI_Session_finalize(&session), "session=session:0");
	if (!only)
		end();
	return 0;
}
