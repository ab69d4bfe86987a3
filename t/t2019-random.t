#!/bin/sh
# Random calls in random loops, on ranks that do the same, nearly the same, or something else.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

for seed in 1 2 "${RONDO_SEED:-3}"; do
	each_mpi lossless prog_random 5 "$seed" 60
done

finish
