#!/bin/sh
# MUMPS: a sparse solver in Fortran, with dynamic scheduling.
. "$(dirname "$0")/../lib.sh"
. t/lib-mpi.sh
. t/apps/lib-apps.sh
needs mumps-test test -x /usr/lib/mumps/dsimpletest

# A matrix with a few diagonals, as N, the number of entries, the entries, and a right-hand side.
awk -v n=1000 'BEGIN {
	for (i = 1; i <= n; i++) {
		a[++k] = i " " i " " 9 + i % 7
		if (i > 1) a[++k] = i " " i - 1 " -1"
		if (i < n) a[++k] = i " " i + 1 " -2"
		if (i > 31) a[++k] = i " " i - 31 " 1"
		if (i + 17 <= n) a[++k] = i " " i + 17 " 3"
	}
	print n; print k
	for (i = 1; i <= k; i++) print a[i]
	for (i = 1; i <= n; i++) print i % 10
}' >"$tmp/matrix"
stdin=$tmp/matrix

# Sums come in the order in which messages do, so the last digits differ from run to run.
results() {
	awk '/Solution is/ { for (i = 3; i <= NF; i++) printf "%.4f\n", $i + 1e-9 }' out
}

traced_alike 4 /usr/lib/mumps/dsimpletest
messages_arrive
is "... all of the solution" "$(wc -l <"$tmp/got")" 1000

finish
