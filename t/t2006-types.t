#!/bin/sh
# Datatypes, from each constructor, and packing.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

each_mpi lossless prog_type 2
each_mpi lossless_large prog_type 2

finish
