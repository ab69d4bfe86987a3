#!/bin/sh
# Neighbourhood collectives: arrays are as long as there are neighbours.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

for form in blocking nonblocking persistent; do
	each_mpi lossless prog_neighbor 4 $form
	each_mpi lossless_large prog_neighbor 4 $form
done

finish
