#!/bin/sh
# What came with MPI-4: sessions, and messages in parts.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

mpi4() {
	if has_mpi4; then
		"$@"
	else
		skip "$mpi: $*" "it is older than MPI-4"
	fi
}

# Without a world there is nobody to merge with: each rank leaves its part, for the launcher.
sessions_only() {
	new_log
	ok "$mpi: sessions without a world" trace_mpi "$trace" 2 "$tmp/$mpi/prog_session" only
	like "... are put together" "$(cat "$tmp/err")" ': 2 of 2 ranks, '
	sound_and_as_logged
}

each_mpi mpi4 lossless prog_session 2
each_mpi mpi4 sessions_only
each_mpi mpi4 lossless prog_part 3

finish
