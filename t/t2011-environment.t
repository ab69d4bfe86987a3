#!/bin/sh
# Infos, errors, memory, and what MPI tells about itself; what is old.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

each_mpi lossless prog_env 2
each_mpi lossless prog_old 2

each_mpi lossless prog_env 2 after

# The trace is written inside MPI_Finalize, and made again with them; that is told.
late() {
	new_log
	ok "$mpi: calls after MPI_Finalize" trace_mpi "$trace" 2 "$tmp/$mpi/prog_env" after
	like "... are told of" "$(cat "$tmp/err")" '^rondo: with 2 calls behind MPI_Finalize: .*trace.rondo: 2 of 2 ranks'
	ok "$mpi: behind the launcher" run_mpi 2 "$RONDO" trace -o "$trace" "$tmp/$mpi/prog_env" after
	like "... too" "$(cat "$tmp/err")" '^rondo: 1 calls on rank 0 came when the trace.*rondo recover '
	ok "... and how to add them" "$RONDO" recover "$trace.part"
	ok "$mpi: one that completes many requests" build_prog prog_late
	ok "... runs" trace_mpi "$trace" 1 "$tmp/$mpi/prog_late"
	like "... is one" "$(cat "$tmp/err")" '^rondo: with 1 calls behind MPI_Finalize: '
}
each_mpi late

finish
