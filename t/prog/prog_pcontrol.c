/* prog_pcontrol.c - MPI_Pcontrol(0) to MPI_Pcontrol(1): the calls between them are not in the
 * trace, but objects created or freed there are still tracked. */
#include "log.h"

static void bcast(MPI_Datatype type, const char *name)
{
	static int x[8];

	DO(MPI_Bcast(x, 1, type, 0, MPI_COMM_WORLD),
	   "buffer=static:*, count=1, datatype=%n, root=0, comm=MPI_COMM_WORLD", name);
}

static void trace(int level, const char *level_text)
{
	DO(MPI_Pcontrol(level), "level=%n", level_text);
}

static MPI_Request r[4];

static void begin_request(int i)
{
	DO(MPI_Irecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &r[i]),
	   "buf=?, count=0, datatype=MPI_INT, source=MPI_PROC_NULL, tag=5, comm=MPI_COMM_WORLD, "
	   "request=%+",
	   &r[i]);
}

static void end_request(int i)
{
	DO(MPI_Wait(&r[i], MPI_STATUS_IGNORE), "request=%q, status=MPI_STATUS_IGNORE", &r[i]);
}

/* Some requests complete while recording is off. */
static void requests(void)
{
	for (int i = 0; i < 4; i++)
		begin_request(i);
	trace(0, "0");
	log_off();
	end_request(0);
	MPI_Request_free(&r[1]);
	log_on();
	trace(1, "1");
	begin_request(0);
	begin_request(1);
	for (int i = 0; i < 4; i++)
		end_request(i);
}

int main(void)
{
	MPI_Datatype before, inside;
	MPI_Comm half;

	begin();
	DO(MPI_Type_contiguous(2, MPI_INT, &before), "count=2, oldtype=MPI_INT, newtype=type:0");
	DO(MPI_Type_commit(&before), "datatype=type:0");
	bcast(before, "type:0");
	trace(2, "2");
	bcast(MPI_INT, "MPI_INT");
	trace(0, "0");
	log_off();
	bcast(MPI_INT, "MPI_INT");
	MPI_Type_contiguous(3, MPI_INT, &inside);
	MPI_Type_commit(&inside);
	MPI_Type_free(&before);
	MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &half);
	bcast(inside, "");
	log_on();
	trace(1, "1");
	bcast(inside, "type:*");
	DO(MPI_Type_free(&inside), "datatype=type:*");
	DO(MPI_Barrier(half), "comm=comm:world.0");
	DO(MPI_Comm_free(&half), "comm=comm:world.0");
	requests();
	requests();
	end();
	return 0;
}
