#!/bin/sh
# Grids and graphs.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

each_mpi lossless prog_topo 4

finish
