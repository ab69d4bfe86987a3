#!/bin/sh
# A program that starts others: its own side.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

each_mpi lossless prog_spawn 2

finish
