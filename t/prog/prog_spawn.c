/* prog_spawn.c - Processes that start other processes, and processes that connect to each other.
 * The children run this program and do not log, because their calls belong to another world.
 * Debian's MPICH supports none of this, and returns errors. Two ranks. */
#include "log.h"

#include <stdint.h>
#include <string.h>

/* Garbage for arguments that only the root may read. */
#define WILD ((void *)(uintptr_t)0x1234560)

static char *self;

static int child(void)
{
	MPI_Comm parent, all;
	int x;

	log_off();
	begin();
	MPI_Comm_get_parent(&parent);
	EXPECT(parent != MPI_COMM_NULL);
	MPI_Bcast(&x, 1, MPI_INT, 0, parent);
	EXPECT(x == 42);
	MPI_Intercomm_merge(parent, 1, &all);
	MPI_Comm_free(&all);
	MPI_Comm_disconnect(&parent);
	end();
	return 0;
}

static void talk(MPI_Comm children, const char *name, const char *merged)
{
	int x = 42, size, root = me == 0 ? MPI_ROOT : MPI_PROC_NULL;
	MPI_Comm all;

	DO(MPI_Comm_remote_size(children, &size), "comm=%n, size=2", name);
	DO(MPI_Bcast(&x, 1, MPI_INT, root, children),
	   "buffer=stack:*, count=1, datatype=MPI_INT, root=%r, comm=%n", root, name);
	DO(MPI_Intercomm_merge(children, 0, &all), "intercomm=%n, high=0, newintracomm=%n", name,
	   merged);
	DO(MPI_Comm_size(all, &size), "comm=%n, size=4", merged);
	DO(MPI_Comm_free(&all), "comm=%n", merged);
}

static void spawn(void)
{
	char *arguments[] = { "child", "one", NULL };
	int codes[2], done;
	MPI_Comm children;

	if (me == 0)
		TRY(done,
		    MPI_Comm_spawn(self, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
				   codes),
		    done ? "command=%s, argv=['child','one'], maxprocs=2, info=MPI_INFO_NULL, "
			   "root=0, comm=MPI_COMM_WORLD, intercomm=comm:world.0, "
			   "array_of_errcodes=[0,0]"
			 : "command=%s, argv=['child','one'], maxprocs=2, info=MPI_INFO_NULL, "
			   "root=0, comm=MPI_COMM_WORLD, intercomm=?, array_of_errcodes=?",
		    self);
	else
		TRY(done,
		    MPI_Comm_spawn(NULL, WILD, 0, (MPI_Info)(uintptr_t)WILD, 0, MPI_COMM_WORLD,
				   &children, MPI_ERRCODES_IGNORE),
		    "command='-', argv='-', maxprocs=0, info='-', root=0, "
		    "comm=MPI_COMM_WORLD, intercomm=%n, array_of_errcodes=?",
		    done ? "comm:world.0" : "?");
	if (!done)
		return;
	talk(children, "comm:world.0", "comm:world.0.0");
	DO(MPI_Comm_disconnect(&children), "comm=comm:world.0");
}

static void spawn_multiple(void)
{
	char *commands[] = { self, self }, *first[] = { "child", NULL };
	char *second[] = { "child", "other", NULL }, **arguments[] = { first, second };
	int most[] = { 1, 1 }, done;
	MPI_Info infos[] = { MPI_INFO_NULL, MPI_INFO_NULL };
	MPI_Comm children;

	if (me == 0)
		TRY(done,
		    MPI_Comm_spawn_multiple(2, commands, arguments, most, infos, 0, MPI_COMM_WORLD,
					    &children, MPI_ERRCODES_IGNORE),
		    "count=2, array_of_commands=%*s, "
		    "array_of_argv=[['child'],['child','other']], array_of_maxprocs=[1,1], "
		    "array_of_info=[MPI_INFO_NULL,MPI_INFO_NULL], root=0, "
		    "comm=MPI_COMM_WORLD, intercomm=%n, "
		    "array_of_errcodes=MPI_ERRCODES_IGNORE",
		    2, commands, done ? "comm:world.1" : "?");
	else
		TRY(done,
		    MPI_Comm_spawn_multiple(0, WILD, WILD, WILD, WILD, 0, MPI_COMM_WORLD, &children,
					    MPI_ERRCODES_IGNORE),
		    "count=0, array_of_commands='-', array_of_argv='-', array_of_maxprocs='-', "
		    "array_of_info='-', root=0, comm=MPI_COMM_WORLD, intercomm=%n, "
		    "array_of_errcodes=?",
		    done ? "comm:world.1" : "?");
	if (!done)
		return;
	talk(children, "comm:world.1", "comm:world.1.0");
	DO(MPI_Comm_disconnect(&children), "comm=comm:world.1");
}

/* Rank 0 opens a port and rank 1 connects to it, if there is a rank 1. */
static void tell_port(char port[MPI_MAX_PORT_NAME])
{
	DO(MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD),
	   "buffer=static:*, count=%d, datatype=MPI_CHAR, root=0, comm=MPI_COMM_WORLD",
	   MPI_MAX_PORT_NAME);
}

static void meet(void)
{
	static char port[MPI_MAX_PORT_NAME];
	MPI_Comm other;
	int size, done = 1;

	if (me == 0)
		TRY(done, MPI_Open_port(MPI_INFO_NULL, port),
		    done ? "info=MPI_INFO_NULL, port_name=%s" : "info=MPI_INFO_NULL, port_name=?",
		    port);
	if (!done)
		port[0] = 0;
	tell_port(port);
	if (!port[0])
		return;
	if (me == 0)
		DO(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other),
		   "port_name=%s, info=MPI_INFO_NULL, root=0, comm=MPI_COMM_SELF, "
		   "newcomm=comm:$other",
		   port);
	else
		DO(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other),
		   "port_name=%s, info=MPI_INFO_NULL, root=0, comm=MPI_COMM_SELF, "
		   "newcomm=comm:$other",
		   port);
	DO(MPI_Comm_remote_size(other, &size), "comm=comm:$other, size=1");
	DO(MPI_Comm_disconnect(&other), "comm=comm:$other");
	if (me == 0)
		DO(MPI_Close_port(port), "port_name=%s", port);
}

/* With Open MPI, mpirun stores the published names. */
static void names(void)
{
	static const char port[] = "a-port";
	char found[MPI_MAX_PORT_NAME];
	int done;

	if (me != 0)
		return;
	TRY(done, MPI_Publish_name("a service", MPI_INFO_NULL, port),
	    "service_name='a service', info=MPI_INFO_NULL, port_name='a-port'");
	if (!done)
		return;
	DO(MPI_Lookup_name("a service", MPI_INFO_NULL, found),
	   "service_name='a service', info=MPI_INFO_NULL, port_name='a-port'");
	DO(MPI_Unpublish_name("a service", MPI_INFO_NULL, port),
	   "service_name='a service', info=MPI_INFO_NULL, port_name='a-port'");
}

int main(int argc, char **argv)
{
	MPI_Comm parent;

	self = argv[0];
	if (argc > 1 && !strcmp(argv[1], "child"))
		return child();
	begin();
	EXPECT(procs == 2);
	DO(MPI_Comm_get_parent(&parent), "parent=MPI_COMM_NULL");
	DO(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN),
	   "comm=MPI_COMM_WORLD, errhandler=MPI_ERRORS_RETURN");
	spawn();
	spawn_multiple();
	meet();
	names();
	end();
	return 0;
}
