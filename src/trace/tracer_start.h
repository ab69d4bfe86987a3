/*
 * tracer_start.h - start of the tracer in a process: configuration, the functions of the MPI
 * library, tables, and hooks of the wrappers.
 *
 * The constructor of the tracer (tracer.c) does this. A constructor of another library that calls
 * MPI earlier, as that of the C++ bindings does, starts it with its first call.
 */
#ifndef RN_TRACE_TRACER_START_H
#define RN_TRACE_TRACER_START_H

#include <stdbool.h>

/* Starts the tracer, once. rn_tracer.active is set if calls can be recorded. */
void rn_tracer_start(void);

/* Whether the program uses another MPI than the tracer; called before the first call. If so,
 * nothing is recorded, and a message says so. */
bool rn_tracer_is_for_other(void);

#endif
