/*
 * lib_talk.c - A library of a program that makes MPI calls with its own memory and logs them. With
 * -DBINDING it imitates a Fortran binding of MPI, whose calls count as internal to MPI.
 */
#include "log.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void talk(void);

static int sent[4], got[4];

/* static:libtalk.so+16400 */
static void say_place(char *text, size_t n, const void *p)
{
	Dl_info here;

	EXPECT(dladdr(p, &here));
	snprintf(text, n, "static:%s+%td", strrchr(here.dli_fname, '/') + 1,
		 (const char *)p - (const char *)here.dli_fbase);
}

void talk(void)
{
	char from[256], to[256];

	say_place(from, sizeof(from), sent);
	say_place(to, sizeof(to), got);
	DO(MPI_Sendrecv(sent, 4, MPI_INT, me, 1, got, 4, MPI_INT, me, 1, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE),
	   "sendbuf=%n, sendcount=4, sendtype=MPI_INT, dest=%d, sendtag=1, recvbuf=%n, "
	   "recvcount=4, recvtype=MPI_INT, source=%d, recvtag=1, comm=MPI_COMM_WORLD, "
	   "status=MPI_STATUS_IGNORE; matched?={source:%d,tag:1}",
	   from, me, to, me, me);
}

#ifdef BINDING
void mpi_init_(void);
void mpi_init_(void)
{
}
#endif
