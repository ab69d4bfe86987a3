/*
 * forms.h - A collective in each of its forms: MPI_Bcast, MPI_Ibcast, MPI_Bcast_init.
 *
 *	COLL(Bcast, bcast, (a, 3, MPI_INT, 0, MPI_COMM_WORLD), "buffer=%p, count=3, ...", a);
 *
 * makes the call in the form selected by `form`, and completes it. The parameters that the forms
 * share are stated once. The non-blocking form has a request as its last parameter, the persistent
 * form an info and a request. The arguments must stay valid and unchanged until COLL is done.
 */
#ifndef FORMS_H
#define FORMS_H

#include <string.h>

#include "log.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#define INIT(Name) MPIX_##Name##_init
#define STARTS     2
#else
#define INIT(Name) MPI_##Name##_init
#define STARTS     1 /* MPICH 4.0.2 fails at the second start of most collectives */
#endif

static enum form { BLOCKING, NONBLOCKING, PERSISTENT } form;

#define ARGS(...) __VA_ARGS__

/* The form is BLOCKING unless argv[1] names a form. */
static void choose_form(int argc, char **argv)
{
	static const char *const names[] = { "blocking", "nonblocking", "persistent" };

	for (int i = 0; i < 3; i++)
		if (argc > 1 && !strcmp(argv[1], names[i]))
			form = (enum form)i;
}

static void complete(MPI_Request *r)
{
	static MPI_Status status;
	int flag = 0;

	memset(&status, 0, sizeof(status));
	if (form == NONBLOCKING) {
		while (!flag)
			DO(MPI_Test(r, &flag, &status),
			   flag ? "request=%q, flag=1, status=%S" : "request=%q, flag=0, status=?",
			   r, &status);
		return;
	}
	for (int i = 0; i < STARTS; i++) {
		DO(MPI_Start(r), "request=%q", r);
		DO(MPI_Wait(r, MPI_STATUS_IGNORE), "request=%q, status=MPI_STATUS_IGNORE", r);
	}
	DO(MPI_Request_free(r), "request=%q", r);
}

#define COLL(Name, name, args, said, ...)                                                         \
	do {                                                                                      \
		MPI_Request request_;                                                             \
		if (form == BLOCKING) {                                                           \
			DO(MPI_##Name args, said, ##__VA_ARGS__);                                 \
			break;                                                                    \
		}                                                                                 \
		if (form == NONBLOCKING)                                                          \
			DO(MPI_I##name(ARGS args, &request_), said ", request=%+", ##__VA_ARGS__, \
			   &request_);                                                            \
		else                                                                              \
			DO(INIT(Name)(ARGS args, MPI_INFO_NULL, &request_),                       \
			   said ", info=MPI_INFO_NULL, request=%+", ##__VA_ARGS__, &request_);    \
		complete(&request_);                                                              \
	} while (0)

#endif
