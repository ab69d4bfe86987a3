#!/bin/sh
# Attributes; calls made inside callbacks are calls of the program's.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

each_mpi lossless prog_attr 2

finish
