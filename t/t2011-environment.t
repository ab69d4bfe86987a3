#!/bin/sh
# Infos, errors, memory, and what MPI tells about itself; what is old.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

each_mpi lossless prog_env 2
each_mpi lossless prog_old 2

todo="the trace is written inside MPI_Finalize"
each_mpi lossless prog_env 2 after
todo=

finish
