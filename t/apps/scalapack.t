#!/bin/sh
# ScaLAPACK's tests of LU factorisation, with both MPIs.
. "$(dirname "$0")/../lib.sh"
. t/lib-mpi.sh
. t/apps/lib-apps.sh

xdlu() {
	set -- /usr/lib/*/scalapack/"$mpi"-tests/xdlu
	if [ -x "$1" ]; then
		traced_alike 4 "$1"
		like "... nothing failed" "$(cat "$tmp/got")" '^ *0 tests completed and failed'
	else
		skip "$mpi: xdlu" "the package scalapack-mpi-test is not installed"
	fi
}

input t/apps/LU.dat

# Without times and rates.
results() {
	sed 's/^\(WALL.\{36\}\).* \([A-Z]*\)$/\1 \2/' out
}

each_mpi xdlu

finish
