#!/bin/sh
# Requests, by all that makes, completes and frees them.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

each_mpi lossless prog_request 3
each_mpi lossless_large prog_request 3

# Two libraries with the same file name contain different buffers.
twins() {
	trace=$tmp/$mpi/twins.rondo
	mkdir -p "$tmp/$mpi/one" "$tmp/$mpi/two"
	for _folder in one two; do
		"mpicc.$mpi" -shared -fPIC -DTWIN -o "$tmp/$mpi/$_folder/libtwin.so" t/prog/prog_twins.c
	done
	ok "$mpi: prog_twins compiles" build_prog prog_twins
	ok "$mpi: prog_twins runs" trace_mpi "$trace" 1 "$tmp/$mpi/prog_twins" \
		"$tmp/$mpi/one/libtwin.so" "$tmp/$mpi/two/libtwin.so"
	ok "$mpi: check accepts the trace of requests for both libraries" "$RONDO" check "$trace"
	"$RONDO" dump "$trace" >"$tmp/dump"
	ok "$mpi: dump prints both libraries under different names" \
		grep -q 'buf=static:libtwin.so#2+' "$tmp/dump"
	is "$mpi: dump names every request" "$(grep -c 'request:?' "$tmp/dump")" 0
}

each_mpi twins

# The log of the program contains only the fields that MPI defines.
each_mpi lossless prog_status 1 "$tmp/written"

finish
