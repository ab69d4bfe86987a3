#!/bin/sh
# Arrays and texts that are longer than usual: what is kept apart from a call is not lost.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

for n in 31 33 500; do
	each_mpi lossless prog_long 2 $n
done

finish
