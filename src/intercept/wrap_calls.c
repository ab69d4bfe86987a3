/*
 * wrap_calls.c - the wrappers: one for each function that the MPI library has.
 */
#include "intercept/wrap.h"

#include <string.h>

#include "calls.h"
