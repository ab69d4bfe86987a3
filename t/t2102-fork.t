#!/bin/sh
# Children of a rank are silent, whatever becomes of them, and threads that have ended are in the
# trace with all their calls. A process that makes a child before it uses MPI is no rank yet.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

# as_untraced WHAT ARGUMENTS...
as_untraced() {
	_what=$1
	shift
	ok "$_what" run_mpi 2 "$tmp/$mpi/prog_fork" "$@"
	sort "$tmp/out" >"$tmp/$mpi/want"
	rm -rf "$tmp/$mpi/here"
	mkdir "$tmp/$mpi/here"
	new_log
	trace=$tmp/$mpi/here/trace.rondo
	ok "... and runs traced" trace_mpi "$trace" 2 "$tmp/$mpi/prog_fork" "$@"
	is "... with the same output" "$(sort "$tmp/out")" "$(cat "$tmp/$mpi/want")"
	is "... and one line from us" "$(grep -c rondo "$tmp/err")" 1
	is "... and nothing but the trace" "$(ls -A "$tmp/$mpi/here")" trace.rondo
	sound_and_as_logged
}

family() {
	ok "$mpi: prog_fork compiles" build_prog prog_fork
	as_untraced "... and runs"
	as_untraced "... and runs in a child of the process that was started" early
}

# A child has the streams of its parent's other threads as they were at that moment.
many_children() {
	ok "$mpi: prog_forks compiles" build_prog prog_forks
	ok "... no child dies while threads make streams" \
		trace_mpi "$tmp/$mpi/forks.rondo" 1 "$tmp/$mpi/prog_forks" 1000
}

each_mpi family
each_mpi many_children

finish
