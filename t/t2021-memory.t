#!/bin/sh
# Buffers in memory of every kind: blocks have the lowest free number of their class.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

each_mpi lossless prog_memory 2

finish
