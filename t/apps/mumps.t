#!/bin/sh
# MUMPS: a sparse solver in Fortran, with dynamic scheduling.
. "$(dirname "$0")/../lib.sh"
. t/lib-mpi.sh
. t/apps/lib-apps.sh
needs mumps-test test -x /usr/lib/mumps/dsimpletest

t/apps/matrix >"$tmp/matrix"
stdin=$tmp/matrix

# Sums come in the order in which messages do, so the last digits differ from run to run.
results() {
	awk '/Solution is/ { for (i = 3; i <= NF; i++) printf "%.4f\n", $i + 1e-9 }' out
}

traced_alike 4 /usr/lib/mumps/dsimpletest
messages_arrive
is "... all of the solution" "$(wc -l <"$tmp/got")" 1000

finish
