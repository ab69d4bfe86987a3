#!/bin/sh
# Files through MPI; the path is a text of the program's.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

each_mpi lossless prog_io 2 "$tmp/a file"
each_mpi lossless_large prog_io 2 "$tmp/a file"

finish
