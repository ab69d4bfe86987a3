#!/bin/sh
# MPI_Pcontrol switches tracing off and on.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

each_mpi lossless prog_pcontrol 2

finish
