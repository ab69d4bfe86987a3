/*
 * wrappers.c - the wrappers: one for each function that the MPI library has.
 */
#include "trace/wrapper_macros.h"

#include <string.h>

#include "calls.h"
