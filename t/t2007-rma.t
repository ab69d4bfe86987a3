#!/bin/sh
# One-sided communication.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

each_mpi lossless prog_rma 3
each_mpi lossless_large prog_rma 3

finish
