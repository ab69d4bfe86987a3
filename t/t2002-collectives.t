#!/bin/sh
# Collectives, blocking, non-blocking and persistent: dump prints what the program did.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

for form in blocking nonblocking persistent; do
	each_mpi lossless prog_coll 3 $form
	each_mpi lossless_large prog_coll 3 $form
done

finish
