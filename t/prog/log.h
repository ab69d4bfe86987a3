/*
 * log.h - a test program's own account of the MPI calls it makes, to hold against `rondo dump`.
 *
 * A program makes each call through DO, and says beside it what it passed and what it got, in the
 * text form of `rondo dump` (parameter names, constants and handles by name):
 *
 *	DO(MPI_Send(a, 3, MPI_INT, next, 7, MPI_COMM_WORLD),
 *	   "buf=%p, count=3, datatype=MPI_INT, dest=%d, tag=7, comm=MPI_COMM_WORLD", a, next);
 *
 * The calls of rank N go to the file rank-N.jsonl in the folder $RONDO_TEST_LOG, as
 * `rondo dump --json` would print them; t/compare-log compares the two. What a program knows itself
 * (its types, its communicators) stands in the text by name. The account is written with system
 * calls, from static memory, without MPI, and does not look at MPI's own tables. Without
 * $RONDO_TEST_LOG nothing is written.
 *
 * A value is a number, a word, a 'string', a [list], an {object:1,of:2}, null, or
 *	?       anything: the program cannot know it
 *	stack:* anything that begins so
 *	comm:$x the same, and each time this is said the same value
 *	%d int   %l long long   %c count_t   %s const char *, the program's string
 *	%n const char *: a word as above, an object's name
 *	%r int, a rank   %t int, a tag   %i int, an index or a colour: some of these have names
 *	%p void *, in a block of grab() or adopt(), or MPI_IN_PLACE
 *	%+ MPI_Request *, where this call made a request   %q MPI_Request *, which it used
 *	%S MPI_Status *, which it filled: those fields that mean something, by what the call's
 *	requests were for   %x int, an index: the status is of that request
 *	%*d and so on: a list; an int, its length, comes before the pointer. %*l are MPI_Aint,
 *	%*c count_t, %*a disp_t
 * Behind a semicolon come values beside the arguments: "...; matched={source:1,tag:2}". A name
 * that ends in "?" may also be missing in the trace.
 *
 * Calls made inside another (in callbacks) are numbered behind it, in order of entry. One thread
 * at a time is in here.
 */
#ifndef LOG_H
#define LOG_H

#include <mpi.h>
#include <stddef.h>

/* The same program calls MPI_Send or MPI_Send_c: see large.h. */
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

/* A call that succeeds; if it does not, the program ends with a message. The name in the log is
 * what stands before the parenthesis, after macros. */
#define DO(call, ...)                                                          \
	do {                                                                   \
		long seq_ = log_enter();                                       \
		int ret_ = (call);                                             \
		log_leave(seq_, LOG_TEXT2(call), ret_, LOG_DONE, __VA_ARGS__); \
	} while (0)

/* A call that fails: error codes belong to the implementation, so the class is said, by name. */
#define FAILS(class, call, ...)                                                  \
	do {                                                                     \
		long seq_ = log_enter();                                         \
		int ret_ = (call);                                               \
		log_returned(class);                                             \
		log_leave(seq_, LOG_TEXT2(call), ret_, LOG_FAILED, __VA_ARGS__); \
	} while (0)

/* A call that may fail, in whatever way; `done` says whether it succeeded. */
#define TRY(done, call, ...)                                                           \
	do {                                                                           \
		long seq_ = log_enter();                                               \
		int ret_ = (call);                                                     \
		(done) = ret_ == MPI_SUCCESS;                                          \
		log_returned("?");                                                     \
		log_leave(seq_, LOG_TEXT2(call), ret_, (done) ? LOG_DONE : LOG_FAILED, \
			  __VA_ARGS__);                                                \
	} while (0)

/* A call that returns a value instead of an error code; the log has `shown` as its return value,
 * in the form above, or no return value if `shown` is NULL. */
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

/* What DO writes for a language without it: `call` is a name, `args` has no conversions. */
void log_plain(long seq, const char *call, int ret, const char *args);

/* Heap memory. A block gets its id in the log, the lowest free one, when it is first used. */
void *grab(size_t size);
void drop(void *block);

/* The same for memory that somebody else allocates and frees; the class is "heap", "mmap"... */
void adopt(const char *class, void *block, size_t size);
void forget(void *block);

/* The program has copied a request to another variable. */
void moved(const MPI_Request *from, const MPI_Request *to);

/* This thread's number in the log; the one that calls MPI_Init has 0. A thread may have the number
 * of one that has ended. */
void log_thread(int number);

/* Nothing is logged from here on, or again (Pcontrol, a child process). */
void log_off(void);
void log_on(void);

/* MPI_Init, MPI_Comm_rank, MPI_Comm_size, with their lines; and MPI_Finalize. */
void begin(void);
void end(void);
extern int me, procs;

/* Ends the program with a message unless the condition holds: what it was told by MPI is wrong. */
#define EXPECT(condition)                                        \
	do {                                                     \
		if (!(condition))                                \
			log_die(__FILE__, __LINE__, #condition); \
	} while (0)
void log_die(const char *file, int line, const char *what);

#endif
