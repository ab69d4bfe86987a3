#!/bin/sh
# Threads: a stream each.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

each_mpi lossless prog_thread 2

finish
