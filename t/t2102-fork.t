#!/bin/sh
# Children of a rank are silent, whatever becomes of them, and threads that have ended are in the
# trace with all their calls.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

family() {
	ok "$mpi: prog_fork compiles" build_prog prog_fork
	ok "... and runs" run_mpi 2 "$tmp/$mpi/prog_fork"
	sort "$tmp/out" >"$tmp/$mpi/want"
	rm -rf "$tmp/$mpi/here"
	mkdir "$tmp/$mpi/here"
	new_log
	trace=$tmp/$mpi/here/trace.rondo
	ok "... and runs traced" trace_mpi "$trace" 2 "$tmp/$mpi/prog_fork"
	is "... with the same output" "$(sort "$tmp/out")" "$(cat "$tmp/$mpi/want")"
	is "... and one line from us" "$(grep -c rondo "$tmp/err")" 1
	is "... and nothing but the trace" "$(ls -A "$tmp/$mpi/here")" trace.rondo
	sound_and_as_logged
}

each_mpi family

finish
