/*
 * log.h - An independent log of the MPI calls of a test program, for comparison with `rondo dump`.
 *
 * A program makes each call through DO. Next to the call it states the arguments and the results in
 * the text form of `rondo dump` (parameter names; constants and handles by name):
 *
 *	DO(MPI_Send(a, 3, MPI_INT, next, 7, MPI_COMM_WORLD),
 *	   "buf=%p, count=3, datatype=MPI_INT, dest=%d, tag=7, comm=MPI_COMM_WORLD", a, next);
 *
 * The calls of rank N are written to the file rank-N.jsonl in the directory $RONDO_TEST_LOG, in the
 * format of `rondo dump --json`. t/compare-log compares the two. The objects of the program (its
 * types, its communicators) are named in the text. The log is written with system calls, from
 * static memory and without MPI. It does not read MPI's own tables. Without $RONDO_TEST_LOG nothing
 * is written.
 *
 * A value is a number, a word, a 'string', a [list], an {object:1,of:2}, null, or one of:
 *	?       any value: the program cannot determine it
 *	stack:* any value that begins with `stack:`
 *	comm:$x any value that begins with `comm:`, but the same one wherever comm:$x occurs
 *	%d int   %l long long   %c count_t   %s const char *, the program's string
 *	%n const char *: a word as above, the name of an object
 *	%r int, a rank   %t int, a tag   %i int, an index or a color: some of these have names
 *	%p void *, in a block of grab() or adopt(), or MPI_IN_PLACE
 *	%+ MPI_Request *, created by this call   %q MPI_Request *, used by this call
 *	%S MPI_Status *, set by this call: the fields that are defined for the operations of the
 *	call's requests   %x int, an index: the status belongs to that request
 *	%*d and so on: a list; an int argument, its length, precedes the pointer. The elements of
 *	%*l are MPI_Aint, of %*c count_t, of %*a disp_t
 * Values other than arguments follow a semicolon: "...; matched={source:1,tag:2}". A value whose
 * name ends in "?" may be missing in the trace.
 *
 * Calls made inside another call (in callbacks) are numbered after it, in order of entry. Only one
 * thread at a time executes this code.
 */
#ifndef LOG_H
#define LOG_H

#include <mpi.h>
#include <stddef.h>

/* With LARGE, the program calls MPI_Send_c instead of MPI_Send: see large.h. */
#ifdef LARGE
#include "large.h"
typedef MPI_Count count_t;
typedef MPI_Aint disp_t;
#else
typedef int count_t;
typedef int disp_t;
#endif

#define LOG_TEXT(call)  #call
#define LOG_TEXT2(call) LOG_TEXT(call)

/* A call that must succeed; if it fails, the program ends with a message. The name in the log is
 * the text before the parenthesis, after macro expansion. */
#define DO(call, ...)                                                          \
	do {                                                                   \
		long seq_ = log_enter();                                       \
		int ret_ = (call);                                             \
		log_leave(seq_, LOG_TEXT2(call), ret_, LOG_DONE, __VA_ARGS__); \
	} while (0)

/* A call that must fail. The log contains the name of the error class, because error codes depend
 * on the implementation. */
#define FAILS(class, call, ...)                                                  \
	do {                                                                     \
		long seq_ = log_enter();                                         \
		int ret_ = (call);                                               \
		log_returned(class);                                             \
		log_leave(seq_, LOG_TEXT2(call), ret_, LOG_FAILED, __VA_ARGS__); \
	} while (0)

/* A call that may fail with any error; `done` is set to whether it succeeded. */
#define TRY(done, call, ...)                                                           \
	do {                                                                           \
		long seq_ = log_enter();                                               \
		int ret_ = (call);                                                     \
		(done) = ret_ == MPI_SUCCESS;                                          \
		log_returned("?");                                                     \
		log_leave(seq_, LOG_TEXT2(call), ret_, (done) ? LOG_DONE : LOG_FAILED, \
			  __VA_ARGS__);                                                \
	} while (0)

/* A call that returns a value instead of an error code. `shown` is its return value in the log, in
 * the form above; if `shown` is NULL, the log has no return value. */
#define GETS(lvalue, call, shown, ...)                                       \
	do {                                                                 \
		long seq_ = log_enter();                                     \
		(lvalue) = (call);                                           \
		log_returned(shown);                                         \
		log_leave(seq_, LOG_TEXT2(call), 0, LOG_VALUE, __VA_ARGS__); \
	} while (0)

enum log_outcome { LOG_DONE, LOG_FAILED, LOG_VALUE };

long log_enter(void);
void log_leave(long seq, const char *call, int ret, enum log_outcome outcome, const char *args,
	       ...);
void log_returned(const char *shown);

/* The expansion of DO, for languages without macros: `call` is a name, `args` contains no
 * conversions. */
void log_plain(long seq, const char *call, int ret, const char *args);

/* Allocates heap memory. A block gets its id in the log, the lowest free one, when it is first
 * used. */
void *grab(size_t size);
void drop(void *block);

/* Registers memory that other code allocates and frees; the class is "heap", "mmap"... */
void adopt(const char *class, void *block, size_t size);
void forget(void *block);

/* Reports that the program has copied a request to another variable. */
void moved(const MPI_Request *from, const MPI_Request *to);

/* The number of this thread in the log; the thread that calls MPI_Init has 0. The number of a
 * thread that has ended can be reused. */
void log_thread(int number);

/* Disables or enables logging from here on (Pcontrol, a child process). */
void log_off(void);
void log_on(void);

/* Call and log MPI_Init, MPI_Comm_rank and MPI_Comm_size; and MPI_Finalize. */
void begin(void);
void end(void);
extern int me, procs;

/* Ends the program with a message unless the condition holds: MPI returned a wrong result. */
#define EXPECT(condition)                                        \
	do {                                                     \
		if (!(condition))                                \
			log_die(__FILE__, __LINE__, #condition); \
	} while (0)
void log_die(const char *file, int line, const char *what);

#endif
