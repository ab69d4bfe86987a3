#!/bin/sh
# Infos, errors, memory, and what MPI tells about itself; what is old.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

each_mpi lossless prog_env 2
each_mpi lossless prog_old 2

todo="the trace is written inside MPI_Finalize"
each_mpi lossless prog_env 2 after
todo=

# Until they are in the trace, they are counted.
late() {
	new_log
	ok "$mpi: calls after MPI_Finalize" trace_mpi "$trace" 2 "$tmp/$mpi/prog_env" after
	like "... are told of" "$(cat "$tmp/err")" '^rondo: 2 calls on 2 ranks came when the trace'
	ok "$mpi: behind the launcher" run_mpi 2 "$RONDO" trace -o "$trace" "$tmp/$mpi/prog_env" after
	like "... too" "$(cat "$tmp/err")" '^rondo: 1 calls on rank 0 came when the trace'
	ok "$mpi: one that completes many requests" build_prog prog_late
	ok "... runs" trace_mpi "$trace" 1 "$tmp/$mpi/prog_late"
	like "... is one" "$(cat "$tmp/err")" '^rondo: 1 calls on 1 ranks came when the trace'
}
each_mpi late

finish
