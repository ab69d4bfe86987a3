#!/bin/sh
# The tools interface.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

each_mpi lossless prog_tool 2

finish
