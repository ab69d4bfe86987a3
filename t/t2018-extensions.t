#!/bin/sh
# Functions that only one MPI has.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

mpich_only() {
	if [ $mpi = mpich ]; then
		"$@"
	else
		skip "$mpi: $*" "MPICH's alone"
	fi
}

each_mpi mpich_only lossless prog_mpix 2

finish
