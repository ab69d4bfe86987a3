#!/bin/sh
# Calls that fail: with arguments that MPI refuses, a traced program gets the errors that it gets
# untraced, and its error handlers are called as often.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

refused() {
	trace=$tmp/$mpi/trace.rondo
	ok "$mpi: prog_invalid compiles" build_prog prog_invalid
	ok "... runs untraced" run_mpi 1 "$tmp/$mpi/prog_invalid"
	cp "$tmp/out" "$tmp/untraced"
	ok "... and traced" trace_mpi "$trace" 1 "$tmp/$mpi/prog_invalid"
	cp "$tmp/out" "$tmp/traced"
	ok "... with the same result" diff "$tmp/untraced" "$tmp/traced"
	ok "... which is a sound trace" "$RONDO" check "$trace"
}

# Exit status of a command whose output is of no interest.
status_of() {
	"$@" >"$tmp/out" 2>"$tmp/err"
	echo $?
}

# With Open MPI, the exit status is that of the launcher after an abort.
world_handler() {
	trace=$tmp/$mpi/handler.rondo
	ok "$mpi: prog_world_handler compiles" build_prog prog_world_handler
	untraced=$(status_of run_mpi 1 "$tmp/$mpi/prog_world_handler")
	grep -c 'error was returned' "$tmp/out" >"$tmp/untraced"
	is "... and a duplicate of MPI_COMM_WORLD has the error handler that it has untraced" \
		"$(status_of trace_mpi "$trace" 1 "$tmp/$mpi/prog_world_handler")" "$untraced"
	is "... with the same number of returned errors" \
		"$(grep -c 'error was returned' "$tmp/out")" "$(cat "$tmp/untraced")"
}

each_mpi refused
each_mpi world_handler

finish
