/* wrappers.c - the wrappers, one for each function of the MPI library. */
#include "trace/wrapper_macros.h"

#include <string.h>

#include "calls.h"
