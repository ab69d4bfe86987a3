/*
 * receive_calls.h - parameters of the functions that receive, for the hooks of record and replay,
 * and the hooks that both have. Each function is there once more for large counts, from MPI 4 on.
 */
#ifndef RN_RECORD_RECEIVE_CALLS_H
#define RN_RECORD_RECEIVE_CALLS_H

#include "preload/next_mpi.h"

#define RN_RECV_PARAMS(count_type) \
	void *buf, count_type count, MPI_Datatype type, int source, int tag, MPI_Comm comm
#define RN_RECV_ARGS buf, count, type, source, tag, comm

#define RN_SENDRECV_PARAMS(count_type)                                                           \
	const void *sendbuf, count_type sendcount, MPI_Datatype sendtype, int dest, int sendtag, \
		void *recvbuf, count_type recvcount, MPI_Datatype recvtype, int source,          \
		int recvtag, MPI_Comm comm
#define RN_SENDRECV_ARGS                                                                   \
	sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, \
		recvtag, comm

#define RN_REPLACE_PARAMS(count_type)                                                      \
	void *buf, count_type count, MPI_Datatype type, int dest, int sendtag, int source, \
		int recvtag, MPI_Comm comm
#define RN_REPLACE_ARGS buf, count, type, dest, sendtag, source, recvtag, comm

#define RN_HOOK_RECEIVES_OF(suffix)                                                            \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Recv##suffix, hook_Recv##suffix);                         \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Sendrecv##suffix, hook_Sendrecv##suffix);                 \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Sendrecv_replace##suffix, hook_Sendrecv_replace##suffix); \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Irecv##suffix, hook_Irecv##suffix);                       \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Recv_init##suffix, hook_Recv_init##suffix)

#define RN_HOOK_ISENDRECVS_OF(suffix)                                            \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Isendrecv##suffix, hook_Isendrecv##suffix); \
	RN_HOOK(RN_LINK_OUTCOME, MPI_Isendrecv_replace##suffix, hook_Isendrecv_replace##suffix)

#if MPI_VERSION >= 4
#define RN_HOOK_LARGE_RECEIVES() \
	RN_HOOK_RECEIVES_OF(_c); \
	RN_HOOK_ISENDRECVS_OF(); \
	RN_HOOK_ISENDRECVS_OF(_c)
#else
#define RN_HOOK_LARGE_RECEIVES()
#endif

/* Installs hook_Recv, ... */
#define RN_HOOK_RECEIVES()                                                     \
	do {                                                                   \
		RN_HOOK_RECEIVES_OF();                                         \
		RN_HOOK_LARGE_RECEIVES();                                      \
		RN_HOOK(RN_LINK_OUTCOME, MPI_Start, hook_Start);               \
		RN_HOOK(RN_LINK_OUTCOME, MPI_Startall, hook_Startall);         \
		RN_HOOK(RN_LINK_OUTCOME, MPI_Request_free, hook_Request_free); \
		RN_HOOK(RN_LINK_OUTCOME, MPI_Cancel, hook_Cancel);             \
	} while (0)

#endif
