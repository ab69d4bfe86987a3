#!/bin/sh
# Arguments that have no meaning where they stand (of a root, elsewhere; of what is in place) may be
# anything: they are not looked at.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

for form in blocking nonblocking persistent; do
	each_mpi lossless prog_garbage 3 $form
done
each_mpi lossless_large prog_garbage 3 blocking

finish
