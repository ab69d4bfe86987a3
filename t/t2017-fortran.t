#!/bin/sh
# Fortran, through each of its three bindings: every call once, as C sees it.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

build_fortran() {
	log_object && (cd "$tmp/$mpi" && "mpifort.$mpi" -g -ffree-line-length-none \
		-fallow-argument-mismatch "-D$1" -o prog_fortran "$root/t/prog/fort_log.f90" \
		"$root/t/prog/prog_fortran.F90" "$log_o" -lpthread)
}

# fortran BINDING: mpif.h (MPIFH), the module mpi (USEMPI) or the module mpi_f08 (F08)
fortran() {
	if ! command -v "mpifort.$mpi" >/dev/null; then
		skip "$mpi: $1" "mpifort.$mpi is not installed"
		return
	fi
	ok "$mpi: prog_fortran compiles with $1" build_fortran "$1"
	traced_as_logged "prog_fortran with $1" 3 "$tmp/$mpi/prog_fortran"
}

for binding in MPIFH USEMPI F08; do
	each_mpi fortran $binding
done

finish
