/* prog_pcontrol.c - MPI_Pcontrol(0) to MPI_Pcontrol(1): nothing of what comes between is in the
 * trace, but objects made or freed there are not forgotten. */
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
	end();
	return 0;
}
