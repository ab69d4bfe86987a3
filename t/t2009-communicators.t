#!/bin/sh
# Groups and communicators, by name of their creation.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

each_mpi lossless prog_comm 4

finish
